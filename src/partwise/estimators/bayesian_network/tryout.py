"""Networks of three variables, which use all that others use."""

from __future__ import annotations

from typing import Any

from partwise.estimators.bayesian_network.classifier import BayesianNetworkClassifier

ROWS = [
    {"rain": "yes", "hose": "off", "grass": "wet"},
    {"rain": "no", "hose": "on", "grass": "wet"},
    {"rain": "no", "hose": "off", "grass": "dry"},
]
EDGES = [("rain", "grass"), ("hose", "grass"), ("rain", "hose")]


def try_out(**settings: Any) -> None:
    """Train networks, by counting and for a margin, and ask them everything."""
    for objective in ("likelihood", "margin"):
        for target in ("rain", ["rain", "hose"]):
            model = BayesianNetworkClassifier(
                EDGES, target=target, objective=objective, **settings
            )
            model.fit(ROWS)
            model.predict(ROWS)
            model.predict_marginals(ROWS)
            model.log_likelihood(ROWS)
