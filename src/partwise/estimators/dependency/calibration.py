"""Calibrating the probabilities of arcs on development data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.calibration import (
    Calibration,
    best_scale,
    split_dev,
    strangeness,
)
from partwise.estimators.dependency import features
from partwise.estimators.dependency.corpus import (
    TreeSettings,
    as_sentences,
    check_training_trees,
)
from partwise.estimators.labels import LabelCodes
from partwise.structures.dependency.arc_parts import arc_shares
from partwise.structures.interface import FloatArray
from partwise.trees import is_projective


class DevTrees(NamedTuple):
    """Sentences with trees, and features of arcs of your own if there are any."""

    trees: Sequence[Sentence]
    arc_features: list[Any] | None

    def chosen(self, numbers: Sequence[int]) -> DevTrees:
        """Return some of the sentences."""
        own = self.arc_features
        return DevTrees(
            [self.trees[i] for i in numbers],
            None if own is None else [own[i] for i in numbers],
        )


def split_trees(dev: Any, arc_features: Any, method: str) -> tuple[DevTrees, DevTrees]:
    """Divide development data: to stop and scale by, and to be held out for sets."""
    trees = None if dev is None else as_sentences(dev, "dev")
    split_dev(None if trees is None else (trees, trees), method)
    own = None if arc_features is None else list(arc_features)
    whole = DevTrees(trees or [], own)
    n = len(whole.trees)
    return whole.chosen(range(0, n, 2)), whole.chosen(range(1, n, 2))


def make_calibrator(
    asked: DevTrees,
    unseen: DevTrees,
    settings: TreeSettings,
    labels: LabelCodes,
    n_jobs: int,
    build: Callable[..., Any],
) -> Callable[[FloatArray], Calibration]:
    """Make the function that calibrates weights.

    Trees that the parser could not predict are not asked for the scale. `build` makes
    a structure of sentences.
    """
    any_tree = replace(settings, single_root=False)
    for part in (asked, unseen):
        check_training_trees(part.trees, any_tree, "dev")
    possible = [
        i for i, one in enumerate(asked.trees) if _is_possible(one, settings, labels)
    ]
    if not possible:
        raise DataError("dev: no sentence has a tree that the parser could predict")

    def corpus(part: DevTrees, gold: bool) -> Any:
        listed = features.arcs_as_trained(
            part.arc_features,
            part.trees,
            settings.n_arc_features,
            "dev_arc_features",
        )
        return build(part.trees, gold=gold, listed=listed)

    right, held_out = corpus(asked.chosen(possible), True), corpus(unseen, False)

    def calibrate(w: FloatArray) -> Calibration:
        scale = best_scale(right, w, n_jobs)
        lengths = np.array([len(sentence) for sentence in unseen.trees], np.int64)
        shares = arc_shares(held_out, scale * w, lengths, n_jobs)
        found = [
            float(rows[head, m])
            for sentence, rows in zip(unseen.trees, shares, strict=True)
            for m, head in enumerate(sentence.heads or (), 1)
        ]
        return Calibration(scale, np.zeros(0), np.zeros(0), strangeness(found))

    return calibrate


def _is_possible(
    sentence: Sentence, settings: TreeSettings, labels: LabelCodes
) -> bool:
    """Say whether a parser could predict the tree of a sentence."""
    heads = list(sentence.heads or ())
    if settings.single_root and heads.count(0) != 1:
        return False
    if settings.projective and not is_projective(heads):
        return False
    known = set(labels.classes)
    return not known or set(sentence.labels or [None]) <= known
