"""The settings of Bayesian networks."""

from __future__ import annotations

from typing import Any

from partwise.estimators.allowed_values import OneOf, OneOfOr
from partwise.estimators.generative.settings import (
    BY_MARGIN,
    REFERENCE,
    WEIGHT,
    GenerativeSettings,
)
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import COUNT, POSITIVE


@declares_settings
class BayesianNetworkSettings(GenerativeSettings):
    """What a Bayesian network has to be told."""

    graph: Any = setting(
        default=None,
        kw_only=False,
        type_text="networkx.DiGraph or list of (parent, child) pairs",
        doc="What depends on what. By default it is learnt (`structure`).",
    )
    objective: str = setting(
        default="margin",
        kw_only=False,
        allowed=OneOf("margin", "likelihood"),
        doc=BY_MARGIN,
    )
    C: float | None = setting(
        default=None, kw_only=False, allowed=POSITIVE, optional=True, doc=WEIGHT
    )
    reference: Any = setting(
        default=None,
        kw_only=False,
        allowed=OneOfOr("likelihood", "uniform", other="distributions"),
        type_text='{"likelihood", "uniform"} or mapping',
        optional=True,
        doc=f"{REFERENCE} tables by the name of a variable, laid out as "
        "`probabilities_`.",
    )
    target: Any = setting(
        default=None,
        type_text="str, int or list of them",
        doc="The column to predict, or several. With a `y` in `fit`, what it is "
        'called; "class" by default.',
    )
    structure: str = setting(
        default="tan",
        allowed=OneOf("tan", "naive"),
        doc="The graph that is learnt for a single class: a tree of the most "
        "informative dependencies below it (tree-augmented naive Bayes), or none "
        "(naive Bayes).",
    )
    missing: str = setting(
        default="marginalise",
        allowed=OneOf("marginalise", "maximise"),
        doc="What becomes of other values that are missing when predicting: they are "
        "summed over, or taken at their most probable together with the prediction.",
    )
    unseen: str = setting(
        default="unknown",
        allowed=OneOf("unknown", "missing", "error"),
        doc="What becomes of values that training has not seen: they have the "
        "probability that the known ones leave to one, and what depends on them tells "
        "nothing; or they count as missing; or they are refused.",
    )
    max_table: int = setting(
        default=2**24,
        allowed=COUNT,
        doc="The most numbers in the tables that exact inference makes for one row, as "
        "in `GraphLabeler`: what is hidden together must not hang together too much.",
    )
    costs: Any = setting(
        default=None,
        type_text="matrix, dict or callable",
        doc="What predicting one value for another costs; 1 for every wrong one by "
        "default. A dict is keyed by ``(right, predicted)``, a callable takes the two. "
        "Of several targets, a dict of these by name.",
    )
