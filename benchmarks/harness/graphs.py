"""Graphs for benchmarks: words with skip edges, noisy pictures, random fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows
from partwise.structures.chain import Chain, make_chain
from partwise.structures.graph import (
    CliqueKind,
    Graph,
    Layout,
    make_graph,
    symmetric_classes,
)

ALIKE = 12
"""Letters that differ in no more pixels get a skip edge."""

SKIP_COLUMNS = 4


def grid_edges(n: int) -> list[tuple[int, int]]:
    """Return the edges of a square grid, its rows one after the other."""
    across = [(v, v + 1) for v in range(n * n) if (v + 1) % n]
    return across + [(v, v + n) for v in range(n * n - n)]


class Field(NamedTuple):
    """A random field: scores of labels and of pairs of labels."""

    nodes: Any
    edges: Sequence[tuple[int, int]]
    pairs: Any

    def graph(self) -> Graph:
        """Return the field as a graph whose parts are all weights of their own."""
        return bare_graph(len(self.nodes), self.nodes.shape[1], self.edges)

    def theta(self) -> Any:
        """Return the scores of all parts."""
        return np.concatenate([self.nodes.ravel(), self.pairs.ravel()])


def draw_field(n_nodes: int, n_labels: int, edges: Any, seed: int = 0) -> Field:
    """Draw a field at random."""
    random = np.random.default_rng(seed)
    shape = (len(edges), n_labels, n_labels)
    return Field(
        random.normal(size=(n_nodes, n_labels)), edges, random.normal(size=shape)
    )


def bare_graph(n_nodes: int, n_labels: int, edges: Any) -> Graph:
    """Return one graph with a constant feature on all nodes and edges."""
    cliques = [(v,) for v in range(n_nodes)] + [tuple(edge) for edge in edges]
    return _make([n_nodes], n_labels, [cliques], None, None)


def _make(
    sizes: Sequence[int], n_labels: int, cliques: Any, rows: Any, labels: Any
) -> Graph:
    flat = [clique for own in cliques for clique in own]
    layout = Layout(
        np.cumsum([0, *sizes]),
        np.full(sum(sizes), n_labels),
        np.cumsum([0, *map(len, cliques)]),
        np.cumsum([0, *map(len, flat)]),
        [v for clique in flat for v in clique],
        [len(clique) - 1 for clique in flat],
    )
    kinds = [CliqueKind((n_labels,)), CliqueKind((n_labels, n_labels))]
    if rows is None:
        rows = make_sparse_rows(range(len(flat) + 1), [0] * len(flat))
    return make_graph(layout, kinds, rows, labels)


@kernel
def ask_marginals(graph: Graph, theta: Any, mu: Any, ws: Any) -> float:
    """Compute all marginals of the only example of a corpus, as solvers do."""
    return waist.marginals(graph, 0, theta, mu, ws)  # type: ignore[no-any-return]


# --- words ---------------------------------------------------------------------------


class Words(NamedTuple):
    """Pixels, borders and letters of words."""

    pixels: Any
    ptr: Any
    labels: Any


def word_chain(words: Words) -> Chain:
    """Return the words as chains."""
    return make_chain(_pixel_rows(words.pixels), words.ptr, words.labels, 26)


def _pixel_rows(pixels: Any) -> Any:
    owner, columns = np.nonzero(pixels)
    ptr = np.searchsorted(owner, np.arange(len(pixels) + 1))
    return make_sparse_rows(ptr, columns, None, pixels.shape[1])


def _skips(pixels: Any) -> list[tuple[int, int, int]]:
    """Return, for every letter, the earlier one most like it, and the difference."""
    found = []
    for t in range(2, len(pixels)):
        different = np.abs(pixels[: t - 1] - pixels[t]).sum(axis=1)
        before = int(np.argmin(different))
        if different[before] <= ALIKE:
            found.append((before, t, int(different[before])))
    return found


def word_graph(words: Words, skips: bool) -> Graph:
    """Return the words as graphs, with skip edges between letters that look alike."""
    n_pixels = words.pixels.shape[1]
    idx: list[int] = []
    row_ptr, counts, members, kinds, sizes = [0], [0], [], [], []
    for first, last in pairwise(words.ptr.tolist()):
        own = words.pixels[first:last]
        joined = [((t - 1, t), 1, 0) for t in range(1, last - first)]
        if skips:
            joined += [
                ((a, b), 2, different * SKIP_COLUMNS // (ALIKE + 1))
                for a, b, different in _skips(own)
            ]
        for t, letter in enumerate(own):
            members.append(t)
            idx += np.flatnonzero(letter).tolist()
            row_ptr.append(len(idx))
            kinds.append(0)
            sizes.append(1)
        for edge, kind, column in joined:
            members += edge
            idx.append(column)
            row_ptr.append(len(idx))
            kinds.append(kind)
            sizes.append(2)
        counts.append(len(kinds))
    layout = Layout(
        words.ptr,
        np.full(len(words.pixels), 26),
        counts,
        np.cumsum([0, *sizes]),
        members,
        kinds,
    )
    # Skip edges: letters that are the same, or not.
    same = 1 - np.eye(26, dtype=np.int64).ravel()
    of_kinds = [
        CliqueKind((26,), n_pixels),
        CliqueKind((26, 26)),
        CliqueKind((26, 26), SKIP_COLUMNS, same),
    ]
    rows = make_sparse_rows(row_ptr, idx, None, n_pixels)
    return make_graph(layout, of_kinds, rows, words.labels)


# --- pictures ------------------------------------------------------------------------


def pictures(count: int, n: int, seed: int, edges: bool = True) -> Graph:
    """Draw smooth black and white pictures with noisy pixels."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng(seed)
    joined = grid_edges(n) if edges else []
    cliques = [(v,) for v in range(n * n)] + joined
    idx: list[int] = []
    val: list[float] = []
    row_ptr, labels = [0], []
    for _ in range(count):
        smooth = gaussian_filter(random.normal(size=(n, n)), 1.5, mode="wrap")
        black = (smooth > np.median(smooth)).ravel()
        labels += black.astype(int).tolist()
        for value in (black + random.normal(0.0, 0.8, n * n)).tolist():
            idx += [0, 1]
            val += [value, 1.0]
            row_ptr.append(len(idx))
        for _edge in joined:
            idx.append(0)
            val.append(1.0)
            row_ptr.append(len(idx))
    layout = Layout(
        np.arange(count + 1) * n * n,
        np.full(count * n * n, 2),
        np.arange(count + 1) * len(cliques),
        np.cumsum([0, *map(len, cliques * count)]),
        [v for clique in cliques * count for v in clique],
        [len(clique) - 1 for clique in cliques * count],
    )
    kinds = [CliqueKind((2,), 2), CliqueKind((2, 2), 1, symmetric_classes(2))]
    return make_graph(layout, kinds, make_sparse_rows(row_ptr, idx, val, 2), labels)
