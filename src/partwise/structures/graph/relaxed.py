"""Graphs too wide for exact inference: a good labelling, a bound on the best one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partwise.structures import interface as waist
from partwise.structures.graph.corpus import FactorGraph, make_factor_graph
from partwise.structures.graph.layout import CliqueKind, Layout
from partwise.structures.graph.reparametrisation import (
    SAME,
    Relaxation,
    RelaxedSpace,
    read_labelling,
    spread_scores,
    start,
    upper_bound,
)
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.rows import SparseRows
from partwise.structures.vectors import copy

STALLED = 1e-3
"""A sweep that lowers the bound by less than this part of the gap is the last."""


class RelaxedGraph(FactorGraph):
    """A corpus of graphs with bounds instead of exact inference.

    Its argmax is a good labelling; `shortfall` says how much better the best one can
    be. Make one with `make_relaxed_graph`.
    """

    inference: Relaxation


def make_relaxed_graph(
    layout: Layout,
    kinds: Sequence[CliqueKind],
    rows: SparseRows,
    labels: ArrayLike | None,
    *,
    costs: ArrayLike | None = None,
    vertex_weight: ArrayLike | None = None,
    n_sweeps: int = 100,
) -> RelaxedGraph:
    """Check the arrays of a corpus of graphs, which may be of any width.

    Parameters
    ----------
    layout, kinds, rows, labels, costs, vertex_weight
        As in `make_graph`; but no configuration may be forbidden.
    n_sweeps : int
        The most sweeps over the cliques for one labelling.

    Examples
    --------
    >>> from partwise.structures import make_sparse_rows
    >>> layout = Layout([0, 2], [2, 2], [0, 1], [0, 2], [0, 1], [0])
    >>> s = make_relaxed_graph(
    ...     layout, [CliqueKind((2, 2))], make_sparse_rows([0, 1], [0]), None
    ... )
    >>> waist.marginals.provided_by(type(s)), waist.shortfall.changed_by(type(s))
    (False, True)
    """
    if n_sweeps < 1:
        raise ValueError(f"n_sweeps must be at least 1, not {n_sweeps!r}")
    s = make_factor_graph(layout, kinds, rows, labels, costs, vertex_weight)
    if not s.kinds.is_free.all():
        raise ValueError(
            f"kind {int(np.argmin(s.kinds.is_free))} forbids configurations, which the "
            "relaxation cannot; use make_graph, or features that tell them apart"
        )
    return RelaxedGraph(*s._replace(inference=_find_surroundings(s, n_sweeps)))


def _find_surroundings(s: FactorGraph, n_sweeps: int) -> Relaxation:
    cliques, first = s.cliques, s.vertices.ptr
    sizes = np.diff(cliques.member_ptr)
    clique = np.repeat(np.arange(sizes.size), sizes)
    owner = np.searchsorted(cliques.ptr, clique, side="right") - 1
    vertex = first[owner] + cliques.members
    several = np.flatnonzero(sizes[clique] > 1)
    around = several[np.argsort(vertex[several], kind="stable")]
    ptr = np.searchsorted(vertex[around], np.arange(first[-1] + 1)).astype(np.int64)
    found = Relaxation(
        ptr, clique[around], cliques.strides[around], np.zeros(0, np.int64), n_sweeps
    )
    order = [v for i in range(first.size - 1) for v in _walk(s, found, i)]
    return found._replace(order=np.array(order, np.int64))


def _walk(s: FactorGraph, found: Relaxation, i: int) -> list[int]:
    """Return the vertices of an example, each with neighbours of earlier ones next."""
    first, last = int(s.vertices.ptr[i]), int(s.vertices.ptr[i + 1])
    seen, order = [False] * (last - first), []
    for earliest in range(last - first):
        queue = deque([earliest])
        while queue:
            v = queue.popleft()
            if seen[v]:
                continue
            seen[v] = True
            order.append(v)
            for c in found.cliques[found.ptr[first + v] : found.ptr[first + v + 1]]:
                ends = s.cliques.member_ptr[c : c + 2]
                queue.extend(s.cliques.members[ends[0] : ends[1]].tolist())
    return order


@waist.workspace.implement(RelaxedGraph)
def _(s: RelaxedGraph, k: int) -> Any:
    vertices = s.vertices
    ends = np.append(vertices.cost_at, vertices.costs.size)[vertices.ptr]
    most_parts, most_codes = waist.largest_sizes(s)
    return RelaxedSpace(
        np.zeros(int(np.diff(ends).max(initial=0))),
        np.zeros(most_parts),
        np.zeros(int(vertices.n_labels.max(initial=0))),
        np.zeros(most_codes, np.int32),
        np.zeros(most_codes, np.bool_),
        np.zeros(1),
        np.zeros(int(s.kinds.n_classes.max(initial=0))),
    )


@waist.argmax.implement(RelaxedGraph)
def _(s: RelaxedGraph, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    vertices, cliques = s.vertices, s.cliques
    start(vertices, cliques, i, theta, ws)
    best, bound = -np.inf, upper_bound(vertices, cliques, i, ws)
    for _sweeps in range(s.inference.n_sweeps + 1):
        score = read_labelling(vertices, cliques, s.inference, i, theta, ws)
        if score > best:
            best = score
            copy(ws.y[: vertices.ptr[i + 1] - vertices.ptr[i]], y)
        if not bound - best > SAME * (1.0 + abs(bound)):
            ws.shortfall[0] = 0.0
            return best
        spread_scores(vertices, cliques, i, ws)
        lower = min(upper_bound(vertices, cliques, i, ws), bound)
        is_last = bound - lower < STALLED * (bound - best)
        bound = lower
        if is_last:
            break
    ws.shortfall[0] = max(bound - best, 0.0)
    return best


@waist.shortfall.implement(RelaxedGraph)
def _(s: RelaxedGraph, i: int, ws: Any) -> float:
    return ws.shortfall[0]
