"""Moving scores between cliques and vertices, so that they bound the best labelling.

The score of no labelling changes (a *reparametrisation*). At any time the best label of
every vertex and the best configuration of every clique, each on its own, add up to a
bound on the score of all labellings: the dual of a linear programming relaxation. A
clique at a time, the scores around it are spread evenly over its vertices, which never
raises the bound (MPLP: Globerson and Jaakkola, NIPS 2007). Labels are read off the
moved scores and improved one by one. Where the bound meets their score, they are proved
to be the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.graph.corpus import CliqueTable, Vertices
from partwise.structures.graph.parts import configuration
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import copy, largest

SAME = 1e-9
"""Bounds this close to a score, relative to it, differ from it by rounding."""


class Relaxation(NamedTuple):
    """The cliques with several vertices around every vertex, and an order of these.

    Vertex `v` of the corpus is in ``cliques[ptr[v]:ptr[v + 1]]``, where it has
    `strides`. In `order`, neighbours of what came before come next.
    """

    ptr: IntArray
    cliques: IntArray
    strides: IntArray
    order: IntArray
    n_sweeps: int


class RelaxedSpace(NamedTuple):
    """Scratch arrays: the moved scores, and labels.

    ``vertex`` holds the scores of the labels of all vertices, ``clique`` those of all
    parts; ``shortfall`` what the last argmax may lack.
    """

    vertex: FloatArray
    clique: FloatArray
    label: FloatArray
    y: CodeArray
    is_set: NDArray[np.bool_]
    shortfall: FloatArray
    classes: FloatArray


# --- moving scores ------------------------------------------------------------------


@kernel
def _labels_of(vertices: Vertices, i: int, v: int, scores: FloatArray) -> FloatArray:
    """Return the scores of the labels of vertex `v`, counted within its example."""
    first = vertices.ptr[i]
    at = vertices.cost_at[first + v] - vertices.cost_at[first]
    return scores[at : at + vertices.n_labels[first + v]]


@kernel
def _parts_of(cliques: CliqueTable, i: int, c: int, scores: FloatArray) -> FloatArray:
    """Return the scores of the configurations of clique `c`."""
    part_at, start = cliques.part_at, cliques.part_at[cliques.ptr[i]]
    return scores[part_at[c] - start : part_at[c + 1] - start]


@kernel
def _add_labels(
    table: FloatArray, labels: FloatArray, stride: int, sign: float
) -> None:
    """Add the scores of a vertex's labels to the configurations of a clique."""
    at = 0
    while at < table.size:
        for label in range(labels.size):
            value = sign * labels[label]
            here = table[at : at + stride]
            for a in range(stride):
                here[a] += value
            at += stride


@kernel
def _best_by_label(table: FloatArray, stride: int, best: FloatArray) -> None:
    """Write the best score of a configuration with each label of a vertex."""
    best[:] = -np.inf
    at = 0
    while at < table.size:
        for label in range(best.size):
            top = largest(table[at : at + stride])
            best[label] = max(best[label], top)
            at += stride


@kernel
def start(
    vertices: Vertices,
    cliques: CliqueTable,
    i: int,
    theta: FloatArray,
    ws: RelaxedSpace,
) -> None:
    """Begin with the scores as they are; those of single vertices are theirs."""
    ws.vertex[:] = 0.0
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        table = _parts_of(cliques, i, c, ws.clique)
        given = _parts_of(cliques, i, c, theta)
        first = cliques.member_ptr[c]
        if cliques.member_ptr[c + 1] - first == 1:
            labels = _labels_of(vertices, i, cliques.members[first], ws.vertex)
            for a in range(table.size):
                labels[a] += given[a]
                table[a] = 0.0
        else:
            copy(given, table)


@kernel
def spread_scores(
    vertices: Vertices, cliques: CliqueTable, i: int, ws: RelaxedSpace
) -> None:
    """Take in, at every clique, the scores of its vertices, and spread them evenly."""
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        first, last = cliques.member_ptr[c], cliques.member_ptr[c + 1]
        if last - first == 1:
            continue
        table = _parts_of(cliques, i, c, ws.clique)
        for j in range(first, last):
            labels = _labels_of(vertices, i, cliques.members[j], ws.vertex)
            _add_labels(table, labels, cliques.strides[j], 1.0)
        for j in range(first, last):
            labels = _labels_of(vertices, i, cliques.members[j], ws.vertex)
            _best_by_label(table, cliques.strides[j], labels)
            for k in range(labels.size):
                labels[k] /= last - first
        for j in range(first, last):
            labels = _labels_of(vertices, i, cliques.members[j], ws.vertex)
            _add_labels(table, labels, cliques.strides[j], -1.0)


@kernel
def upper_bound(
    vertices: Vertices, cliques: CliqueTable, i: int, ws: RelaxedSpace
) -> float:
    """Return the sum of what is best for each vertex and clique alone."""
    total = 0.0
    for v in range(vertices.ptr[i + 1] - vertices.ptr[i]):
        total += largest(_labels_of(vertices, i, v, ws.vertex))
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        total += largest(_parts_of(cliques, i, c, ws.clique))
    return total


# --- reading labels off ---------------------------------------------------------------


@kernel
def _is_possible(
    cliques: CliqueTable, c: int, a: int, n_labels: IntArray, ws: RelaxedSpace
) -> bool:
    """Say whether a configuration agrees with the labels that are set."""
    for j in range(cliques.member_ptr[c], cliques.member_ptr[c + 1]):
        u = cliques.members[j]
        if ws.is_set[u] and a // cliques.strides[j] % n_labels[u] != ws.y[u]:
            return False
    return True


@kernel
def _choose_label(
    vertices: Vertices,
    cliques: CliqueTable,
    around: Relaxation,
    i: int,
    v: int,
    ws: RelaxedSpace,
) -> None:
    """Give a vertex the label that goes best with those that are set."""
    own = _labels_of(vertices, i, v, ws.vertex)
    score = ws.label[: own.size]
    copy(own, score)
    first = vertices.ptr[i]
    n_labels = vertices.n_labels[first:]
    for j in range(around.ptr[first + v], around.ptr[first + v + 1]):
        c, stride = around.cliques[j], around.strides[j]
        table = _parts_of(cliques, i, c, ws.clique)
        for label in range(own.size):
            best = -np.inf
            for block in range(0, table.size, stride * own.size):
                for a in range(block + label * stride, block + (label + 1) * stride):
                    if table[a] > best and _is_possible(cliques, c, a, n_labels, ws):
                        best = table[a]
            score[label] += best
    ws.y[v] = 0
    for label in range(1, own.size):
        if score[label] > score[ws.y[v]]:
            ws.y[v] = label
    ws.is_set[v] = True


@kernel
def _improve(
    vertices: Vertices,
    cliques: CliqueTable,
    around: Relaxation,
    i: int,
    ws: RelaxedSpace,
) -> bool:
    """Change labels one by one where that is better; say whether any was."""
    first = vertices.ptr[i]
    changed = False
    for v in range(vertices.ptr[i + 1] - first):
        own = _labels_of(vertices, i, v, ws.vertex)
        score = ws.label[: own.size]
        copy(own, score)
        for j in range(around.ptr[first + v], around.ptr[first + v + 1]):
            c, stride = around.cliques[j], around.strides[j]
            table = _parts_of(cliques, i, c, ws.clique)
            a = configuration(cliques, c, ws.y) - ws.y[v] * stride
            for label in range(own.size):
                score[label] += table[a + label * stride]
        now = ws.y[v]
        for label in range(own.size):
            if score[label] > score[ws.y[v]] + SAME * (1.0 + abs(score[ws.y[v]])):
                ws.y[v] = label
        changed = changed or ws.y[v] != now
    return changed


@kernel
def read_labelling(
    vertices: Vertices,
    cliques: CliqueTable,
    around: Relaxation,
    i: int,
    theta: FloatArray,
    ws: RelaxedSpace,
) -> float:
    """Leave good labels in the workspace; return their score."""
    first, last = vertices.ptr[i], vertices.ptr[i + 1]
    ws.is_set[: last - first] = False
    for at in range(first, last):
        _choose_label(vertices, cliques, around, i, around.order[at], ws)
    for _ in range(around.n_sweeps):
        if not _improve(vertices, cliques, around, i, ws):
            break
    score = 0.0
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        score += _parts_of(cliques, i, c, theta)[configuration(cliques, c, ws.y)]
    return score
