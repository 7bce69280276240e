"""Small lattices of all shapes, with all their paths and what is true of them."""

import itertools

import numpy as np
from hypothesis import strategies as st

from laws import Case, draw_scores
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows
from partwise.structures.lattice import LatticeLayout, Words, make_lattice

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)


def draw_graph(random, n_nodes, n_edges):
    """Draw edges between any nodes, in any order; nodes 0 and 1 are the ends.

    Some edges lead nowhere, some come from nowhere, some lie side by side.
    """
    order = [0, *random.permutation(np.arange(2, n_nodes)).tolist(), 1]
    edges = []
    for _ in range(n_edges):
        a, b = sorted(random.choice(n_nodes, 2, replace=False).tolist())
        edges.append((order[a], order[b]))
    # One path at least.
    edges.append((0, order[1]))
    if order[1] != 1:
        edges.append((order[1], 1))
    return [edges[e] for e in random.permutation(len(edges))]


def all_paths(edges, start=0, end=1):
    """List all paths, each as the numbers of its edges."""
    found = [((), start)]
    paths = []
    while found:
        path, v = found.pop()
        if v == end:
            paths.append(path)
        else:
            found += [((*path, e), b) for e, (a, b) in enumerate(edges) if a == v]
    return sorted(paths)


def words_of(path, words):
    """Return what a path yields."""
    return tuple(itertools.chain.from_iterable(words[e] for e in path))


class Drawn:
    """A corpus of lattices, its paths, features, words and costs in plain lists."""

    def __init__(
        self, n_lattices, n_nodes, n_edges, weighted, n_good, seed, by_words=False,
        values=True,
    ):  # fmt: skip
        random = np.random.default_rng(seed)
        self.random = random
        self.edges, self.paths, self.good, self.words = [], [], [], []
        for _ in range(n_lattices):
            while True:
                edges = draw_graph(random, n_nodes, n_edges)
                paths = all_paths(edges)
                words = [
                    tuple(random.integers(0, 2, random.integers(0, 3)).tolist())
                    for _ in edges
                ]
                outputs = {words_of(path, words) for path in paths}
                if len(paths) > 1 and (not by_words or len(outputs) > 1):
                    break
            chosen = random.permutation(len(paths))[: min(n_good, len(paths) - 1)]
            if by_words:
                first = words_of(paths[chosen[0]], words)
                chosen = [c for c in chosen if words_of(paths[c], words) == first]
            self.edges.append(edges)
            self.paths.append(paths)
            self.good.append([paths[c] for c in chosen])
            self.words.append(words)
        flat = [edge for edges in self.edges for edge in edges]
        self.n_columns = 3
        self.matrix = random.normal(size=(len(flat), 3)).round(1)
        self.matrix[random.random(self.matrix.shape) < 0.4] = 0.0
        if not values:
            self.matrix[self.matrix != 0] = 1.0
        owner, columns = np.nonzero(self.matrix)
        ptr = np.searchsorted(owner, np.arange(len(flat) + 1))
        val = self.matrix[self.matrix != 0] if values else None
        self.rows = make_sparse_rows(ptr, columns, val, 3)
        self.ptr = np.cumsum([0, *map(len, self.edges)])
        self.costs = np.ones(len(flat))
        for i, good in enumerate(self.good):
            for path in good:
                self.costs[self.ptr[i] + np.array(path, int)] = 0.0
        if weighted:
            self.costs = random.random(len(flat)).round(1)
            for i, good in enumerate(self.good):
                self.costs[self.ptr[i] + np.array(good[0], int)] = 0.0
        sizes = [len(own) for words in self.words for own in words]
        numbers = [w for words in self.words for own in words for w in own]
        self.layout = LatticeLayout(
            [n_nodes] * n_lattices,
            self.ptr,
            [a for a, _ in flat],
            [b for _, b in flat],
            [0] * n_lattices,
            [1] * n_lattices,
        )
        self.s = make_lattice(
            self.layout,
            self.rows,
            self.good,
            costs=self.costs if weighted else None,
            words=Words(np.cumsum([0, *sizes]), np.array(numbers, np.int32)),
            by_words=by_words,
        )

    def code(self, i, path):
        """Return a path as the structure writes it."""
        s = self.s
        own = s.given[s.ptr[i] : s.ptr[i + 1]].tolist()
        size = waist.output_size(s, i)
        return (*(own.index(e) for e in path), *[-1] * (size - len(path)))

    def path(self, i, y):
        """Return the path that the structure wrote as edges that were given."""
        own = self.s.given[self.s.ptr[i] : self.s.ptr[i + 1]]
        return tuple(int(own[e]) for e in y if e >= 0)


def make_case(n_lattices, n_nodes, n_edges, weighted, n_good, values, scale, seed):
    drawn = Drawn(n_lattices, n_nodes, n_edges, weighted, n_good, seed, values=values)
    i = int(drawn.random.integers(n_lattices))

    def own(y):
        return drawn.ptr[i] + np.array(drawn.path(i, y), int)

    return Case(
        s=drawn.s,
        i=i,
        outputs=[drawn.code(i, path) for path in drawn.paths[i]],
        theta=draw_scores(drawn.random, waist.n_parts(drawn.s, i), scale),
        w=drawn.random.normal(size=drawn.n_columns),
        features=lambda y: drawn.matrix[own(y)].sum(axis=0),
        cost=lambda y: float(drawn.costs[own(y)].sum()),
        seed=seed,
    )


CHOICES = {
    "n_lattices": st.integers(1, 2),
    "n_nodes": st.integers(2, 6),
    "n_edges": st.integers(1, 9),
    "weighted": st.booleans(),
    "n_good": st.integers(1, 3),
    "values": st.booleans(),
    "scale": st.sampled_from(SCALES),
    "seed": st.integers(0, 2**32 - 1),
}
