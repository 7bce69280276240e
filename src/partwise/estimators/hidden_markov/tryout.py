"""Hidden Markov models of a few symbols, which use all that others use."""

from __future__ import annotations

from typing import Any

from partwise.estimators.hidden_markov.model import HiddenMarkovModel

SYMBOLS = [["walk", "shop", "clean"], ["clean", "clean", "walk"]]
STATES = [["sun", "sun", "rain"], ["rain", "rain", "sun"]]


def try_out(**settings: Any) -> None:
    """Train models, by counting and for a margin, and ask them everything."""
    for objective in ("likelihood", "margin"):
        model = HiddenMarkovModel(objective=objective, **settings).fit(SYMBOLS, STATES)
        for decoding in ("best", "minimum_risk"):
            model.predict(SYMBOLS, decoding=decoding)
        model.predict_marginals(SYMBOLS)
        model.predict_kbest(SYMBOLS, 2)
        model.log_likelihood(SYMBOLS)
