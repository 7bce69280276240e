"""The best tree with, or without, one arc."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.dependency.arc_parts import arc_parts
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch


@kernel
def _decode_without(
    s: Structure,
    w: FloatArray,
    forbidden: IntArray,
    y: CodeArray,
    scratch: Scratch,
    ws: Any,
) -> float:
    waist.visit(s, 0, ws)
    waist.part_scores(s, 0, w, scratch.theta, ws)
    for j in range(forbidden.size):
        scratch.theta[forbidden[j]] = -np.inf
    return waist.argmax(s, 0, scratch.theta, y, ws)


def best_tree_with(
    s: Any, w: FloatArray, head: int, word: int, with_arc: bool = True
) -> tuple[float, CodeArray]:
    """Return the best tree of sentence 0 with an arc, or without it, and its score."""
    scratch, ws = make_scratch(s), waist.workspace(s, 1)
    arcs = arc_parts(s, 0)
    forbidden = arcs.part[(arcs.word == word) & ((arcs.head == head) != with_arc)]
    y = np.zeros_like(scratch.y)
    value = _decode_without(s, w, forbidden, y, scratch, ws)
    return float(value), y
