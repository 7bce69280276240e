"""The settings of graph labelers."""

from __future__ import annotations

from typing import Any, ClassVar

from partwise.estimators.allowed_values import ATTRIBUTE, COUNT, FLAG, metric, one_of
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import (
    LabelCostSettings,
    LearningSettings,
    VocabularySettings,
)


@declares_settings
class GraphSettings(LabelCostSettings, VocabularySettings, LearningSettings):
    """The settings of a graph labeler.

    Parameters
    ----------
    C
        ... The larger the graphs, the smaller it has to be: their nodes' losses add up.
    decoder
        How the best labels are found. "exact" refuses graphs that are too wide;
        "relaxed" takes all, finds good labels, and bounds how much better others could
        be. It has no probabilities, so that it goes with margin losses only.
    scale_vectors
        Whether the columns of features that are arrays are brought to mean 0 and the
        same standard deviation, as in the training data.
    max_table
        The most numbers in the tables that exact inference makes for one graph; each
        thread needs 8 bytes for every one.
    node_kind
        The attribute of networkx graphs that tells nodes of different kinds apart.
        Nodes of a kind have their own labels and weights.
    edge_kind
        The attribute that tells edges of different kinds apart. Each kind has its own
        weights.
    dev_metric
        What is measured on development data. A function takes lists of the right and
        the predicted labels, a list for each graph.
    """

    default_C: ClassVar = {"squared_hinge": 0.01, "hinge": 0.1, "log_loss": 1.0}

    C: float | None = setting(default=None, kw_only=False)
    decoder: str = setting(default="exact", allowed=one_of("exact", "relaxed"))
    scale_vectors: bool = setting(default=False, allowed=FLAG)
    max_table: int = setting(default=2**24, allowed=COUNT)
    node_kind: str | None = setting(default=None, allowed=ATTRIBUTE)
    edge_kind: str | None = setting(default=None, allowed=ATTRIBUTE)
    dev_metric: Any = setting(
        default="accuracy", allowed=metric("accuracy", "label_f1_macro")
    )
