"""The best tree with, or without, one arc."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.scratch import Scratch, make_scratch


@kernel
def _decode_restricted(
    s: DependencyTrees,
    w: FloatArray,
    head: int,
    word: int,
    with_arc: bool,
    y: CodeArray,
    scratch: Scratch,
    ws: Any,
) -> float:
    n = n_words(s, 0)
    waist.visit(s, 0, ws)
    waist.part_scores(s, 0, w, scratch.theta, ws)
    score = as_matrix(scratch.theta, n)
    for h in range(n + 1):
        if (h == head) != with_arc:
            score[h, word] = -np.inf
    return waist.argmax(s, 0, scratch.theta, y, ws)


def best_tree_with(
    s: DependencyTrees, w: FloatArray, head: int, word: int, with_arc: bool = True
) -> tuple[float, CodeArray]:
    """Return the best tree of sentence 0 with an arc, or without it, and its score."""
    scratch, ws = make_scratch(s), waist.workspace(s, 1)
    y = np.zeros_like(scratch.y)
    value = _decode_restricted(s, w, head, word, with_arc, y, scratch, ws)
    return float(value), y
