"""Inference on lattices: what the waist asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import (
    CodeArray,
    CodeTable,
    FloatArray,
    IntArray,
)
from partwise.structures.lattice import kbest_paths, kbest_words
from partwise.structures.lattice.best_path import score_nodes, trace_back
from partwise.structures.lattice.corpus import Lattice
from partwise.structures.lattice.sums import (
    SumSpace,
    draw_edges,
    make_sum_space,
    sum_backward,
    sum_forward,
)


class LatticeSpace(NamedTuple):
    """Scratch arrays of a lattice."""

    score: FloatArray
    best: CodeArray
    sums: SumSpace
    paths: kbest_paths.PathSpace
    words: kbest_words.WordSpace


@waist.workspace.implement(Lattice)
def _(s: Lattice, k: int) -> Any:
    n_nodes = int(s.paths.n_nodes.max(initial=0))
    n_edges = int(np.diff(s.ptr).max(initial=0))
    longest = int(s.paths.longest.max(initial=0))
    by_words = bool(s.by_words) and k > 1
    n_words = int(s.words.number.max(initial=-1)) + 1
    return LatticeSpace(
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int32),
        make_sum_space(n_nodes),
        kbest_paths.make_path_space(n_nodes, n_edges, longest, 1 if by_words else k),
        kbest_words.make_word_space(n_nodes, n_words)
        if by_words
        else kbest_words.make_word_space(0, 0),
    )


@kernel
def _ends(s: Lattice, i: int) -> tuple[CodeArray, CodeArray]:
    """Return the sources and targets of a lattice's edges."""
    first, last = s.ptr[i], s.ptr[i + 1]
    return s.source[first:last], s.target[first:last]


@kernel
def _best_path(s: Lattice, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    source, target = _ends(s, i)
    n = s.paths.n_nodes[i]
    result = score_nodes(source, target, theta, n, ws.score, ws.best)
    trace_back(source, ws.best, n, y, s.paths.longest[i])
    return result


@waist.argmax.implement(Lattice)
def _(s: Lattice, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    return _best_path(s, i, theta, y, ws)


@waist.log_partition.implement(Lattice)
def _(s: Lattice, i: int, theta: FloatArray, ws: Any) -> float:
    source, target = _ends(s, i)
    return sum_forward(source, target, theta, s.paths.n_nodes[i], ws.sums)


@waist.marginals.implement(Lattice)
def _(s: Lattice, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    source, target = _ends(s, i)
    n = s.paths.n_nodes[i]
    log_z = sum_forward(source, target, theta, n, ws.sums)
    sum_backward(source, target, theta, n, mu, ws.sums)
    return log_z


@waist.kbest.implement(Lattice)
def _(
    s: Lattice, i: int, theta: FloatArray, k: int, ys: CodeArray, scores: FloatArray,
    ws: Any,
) -> int:  # fmt: skip
    """Write the best paths; where words tell outputs apart, of the best sequences."""
    if k == 1:
        scores[0] = _best_path(s, i, theta, ys[0], ws)
        return 1
    source, target = _ends(s, i)
    n, size = s.paths.n_nodes[i], s.paths.longest[i]
    if s.by_words:
        word_ptr = s.words.ptr[s.ptr[i] : s.ptr[i + 1] + 1]
        return kbest_words.best_word_sequences(
            source, target, theta, n, word_ptr, s.words.number, k, ys, size, scores,
            ws.words,
        )  # fmt: skip
    return kbest_paths.best_paths(
        source, target, theta, n, k, ys, size, scores, ws.score, ws.best, ws.paths
    )


@waist.sample.implement(Lattice)
def _(
    s: Lattice, i: int, theta: FloatArray, space: waist.SamplingSpace, state: IntArray,
    ys: CodeTable, ws: Any,
) -> bool:  # fmt: skip
    source, target = _ends(s, i)
    n = s.paths.n_nodes[i]
    sum_forward(source, target, theta, n, ws.sums)
    for j in range(ys.shape[0]):
        draw_edges(source, target, theta, n, ws.best, state, ws.sums)
        trace_back(source, ws.best, n, ys[j], s.paths.longest[i])
    return True
