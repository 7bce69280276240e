"""The settings of Bayesian networks."""

from __future__ import annotations

from typing import Any

from partwise.estimators.allowed_values import COUNT, POSITIVE, one_of
from partwise.estimators.generative.settings import GenerativeSettings
from partwise.estimators.settings import declares_settings, setting


@declares_settings
class BayesianNetworkSettings(GenerativeSettings):
    """The settings of a Bayesian network.

    Parameters
    ----------
    graph : networkx.DiGraph or list of (parent, child) pairs
        What depends on what. By default it is learnt (`structure`).
    reference
        ... Your own are tables by the name of a variable, laid out as `probabilities_`.
    target : str, int or list of them
        The column to predict, or several. With a `y` in `fit`, what it is called;
        "class" by default.
    structure
        The graph that is learnt for a single class: a tree of the most informative
        dependencies below it (tree-augmented naive Bayes), or none (naive Bayes).
    missing
        What to do with other values that are missing when predicting: they are summed
        over, or taken at their most probable together with the prediction.
    unseen
        What to do with values that are not in the training data. "unknown": take the
        probability that is left for unknown values, and ignore what depends on them;
        "missing": treat them as missing; "error": refuse them.
    max_table
        The most numbers in the tables that exact inference makes for one row, as in
        `GraphLabeler`: hidden variables must not depend on each other too much.
    costs : matrix, dict or callable
        What predicting one value for another costs; 1 for every wrong one by default. A
        dict is keyed by ``(right, predicted)``, a callable takes the two. Of several
        targets, a dict of these by name.
    """

    graph: Any = setting(default=None, kw_only=False)
    objective: str = setting(
        default="margin", allowed=one_of("margin", "likelihood"), kw_only=False
    )
    C: float | None = setting(default=None, allowed=POSITIVE, kw_only=False)
    reference: Any = setting(
        default=None,
        allowed=one_of("likelihood", "uniform", other="distributions"),
        kw_only=False,
    )
    target: Any = None
    structure: str = setting(default="tan", allowed=one_of("tan", "naive"))
    missing: str = setting(
        default="marginalise", allowed=one_of("marginalise", "maximise")
    )
    unseen: str = setting(
        default="unknown", allowed=one_of("unknown", "missing", "error")
    )
    max_table: int = setting(default=2**24, allowed=COUNT)
    costs: Any = None
