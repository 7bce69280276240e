"""The settings of lattice rankers."""

from __future__ import annotations

from typing import Any, ClassVar

from partwise.estimators.allowed_values import metric, one_of
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import LearningSettings, VocabularySettings


@declares_settings
class LatticeSettings(VocabularySettings, LearningSettings):
    """The settings of a lattice ranker.

    Parameters
    ----------
    outputs
        What tells outputs apart: their edges, or the words that they yield. With
        "words" all paths with the words of a good path are good, and `compare` must be
        "worst".
    compare
        Which of several good paths a bad path must score below: the one with the lowest
        score, and so all of them, or the closest one. "closest" is for the hinge with
        an L1 penalty.
    distance
        How to find the closest good path with `compare` "closest": by the number of
        edges that only one of the two has, by the distance of their features, or by the
        number of places where their lists of edges differ.
    dev_metric
        What is measured on development data. A function takes the good and the
        predicted paths: lists of `LatticePath` for every lattice, and one for each. See
        `partwise.metrics.lattices`.
    """

    default_C: ClassVar = {"squared_hinge": 0.1, "hinge": 0.1, "log_loss": 1.0}

    outputs: str = setting(default="paths", allowed=one_of("paths", "words"))
    compare: str = setting(default="worst", allowed=one_of("worst", "closest"))
    distance: str = setting(
        default="parts", allowed=one_of("parts", "features", "codes")
    )
    dev_metric: Any = setting(
        default="good_paths", allowed=metric("good_paths", "good_words", "edge_f1")
    )
