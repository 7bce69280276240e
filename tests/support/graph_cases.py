"""Small graphs of all shapes, with all their labellings and what is true of them."""

import itertools

import numpy as np
from hypothesis import strategies as st

from laws import Case, draw_scores
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows
from partwise.structures.graph import CliqueKind, Layout, make_graph

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)


# --- topologies: vertices, and cliques with more than one of them ---------------------


def tree(random):
    n = int(random.integers(1, 6))
    return n, [(int(random.integers(v)), v) for v in range(1, n)]


def cycle(random):
    n = int(random.integers(3, 6))
    return n, [(v, (v + 1) % n) for v in range(n)]


def grid(random):
    rows, columns = 2, int(random.integers(2, 4))
    across = [(v, v + 1) for v in range(rows * columns) if (v + 1) % columns]
    return rows * columns, across + [(v, v + columns) for v in range(columns)]


def triples(random):
    n = int(random.integers(3, 6))
    cliques = [tuple(random.permutation(n)[:3].tolist()) for _ in range(2)]
    return n, [*cliques, (0, n - 1)]


def forest(random):
    n = int(random.integers(0, 6))
    edges = [(int(random.integers(v)), v) for v in range(1, n)]
    return n, [edge for edge in edges if random.random() < 0.5]


TOPOLOGIES = {f.__name__: f for f in (tree, cycle, grid, triples, forest)}


def make_case(shape, n_graphs, mixed, forbid, weighted, scale, seed, make=make_graph):
    random = np.random.default_rng(seed)
    graphs = [TOPOLOGIES[shape](random) for _ in range(n_graphs)]
    n_labels, lists, kinds, tables = [], [], {}, []
    for n, cliques in graphs:
        counts = random.integers(1, 4, n).tolist() if mixed else [2] * n
        # Some vertices have a clique of their own, some only edges, some nothing.
        alone = [(v,) for v in range(n) if random.random() < 0.7]
        lists.append([*alone, *cliques])
        n_labels.append(counts)
    for counts, cliques in zip(n_labels, lists, strict=True):
        for clique in cliques:
            sizes = tuple(counts[v] for v in clique)
            if sizes not in kinds:
                kinds[sizes] = len(kinds)
                n = int(np.prod(sizes))
                table = random.integers(0, n, n) if random.random() < 0.5 else None
                if forbid and random.random() < 0.5:
                    table = np.arange(n) if table is None else table
                    table[random.random(n) < 0.3] = -1
                tables.append(CliqueKind(sizes, int(random.integers(0, 3)), table))
    kind = [
        kinds[tuple(counts[v] for v in clique)]
        for counts, cliques in zip(n_labels, lists, strict=True)
        for clique in cliques
    ]
    flat = [clique for cliques in lists for clique in cliques]
    width = max([1, *(k.n_columns for k in tables)])
    matrix = random.normal(size=(len(flat), width)).round(1)
    matrix[random.random(matrix.shape) < 0.4] = 0.0
    for c, k in enumerate(kind):
        matrix[c, tables[k].n_columns :] = 0.0
    owner, columns = np.nonzero(matrix)
    ptr = np.searchsorted(owner, np.arange(len(flat) + 1))
    rows = make_sparse_rows(ptr, columns, matrix[matrix != 0], width)

    vertex_ptr = np.cumsum([0, *map(len, n_labels)])
    clique_ptr = np.cumsum([0, *map(len, lists)])
    layout = Layout(
        vertex_ptr,
        [count for counts in n_labels for count in counts],
        clique_ptr,
        np.cumsum([0, *map(len, flat)]),
        [v for clique in flat for v in clique],
        kind,
    )

    def configuration(i, c, y):
        return int(np.ravel_multi_index([y[v] for v in flat[c]], tables[kind[c]].shape))

    def class_of(i, c, y):
        table = tables[kind[c]].classes
        a = configuration(i, c, y)
        return a if table is None else int(table[a])

    def legal(i):
        return [
            y
            for y in itertools.product(*map(range, n_labels[i]))
            if all(
                class_of(i, c, y) >= 0 for c in range(clique_ptr[i], clique_ptr[i + 1])
            )
        ]

    possible = [legal(i) for i in range(n_graphs)]
    gold = [y[random.integers(len(y))] if y else None for y in possible]
    known = [y if y else (0,) * len(n_labels[i]) for i, y in enumerate(gold)]
    labels = [label for y in known for label in y]
    weight = random.random(len(labels)).round(1) if weighted else np.ones(len(labels))
    most = max([1, *layout.n_labels])
    matrix_of_costs = random.random((most, most)).round(1) if weighted else None
    if weighted:
        np.fill_diagonal(matrix_of_costs, 0.0)
    some_impossible = any(y is None for y in gold)
    s = make(
        layout,
        tables,
        rows,
        None if some_impossible else labels,
        costs=matrix_of_costs,
        vertex_weight=weight if weighted else None,
    )
    i = int(random.integers(n_graphs))
    right = (0,) * len(n_labels[i]) if some_impossible else known[i]
    n_classes = [
        int(np.prod(k.shape))
        if k.classes is None
        else int(k.classes.max(initial=-1)) + 1
        for k in tables
    ]
    sizes = [k.n_columns * n for k, n in zip(tables, n_classes, strict=True)]
    first = np.cumsum([0, *sizes])

    def features(y):
        result = np.zeros(first[-1])
        for c in range(clique_ptr[i], clique_ptr[i + 1]):
            k = kind[c]
            for column in range(tables[k].n_columns):
                at = first[k] + column * n_classes[k] + class_of(i, c, y)
                result[at] += matrix[c, column]
        return result

    def cost(y):
        total = 0.0
        for v, (a, b) in enumerate(zip(right, y, strict=True)):
            one = float(a != b) if matrix_of_costs is None else matrix_of_costs[a, b]
            total += weight[vertex_ptr[i] + v] * one
        return total

    return Case(
        s=s,
        i=i,
        outputs=possible[i],
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=int(first[-1])),
        features=features,
        cost=cost,
        seed=seed,
    )


CHOICES = {
    "shape": st.sampled_from(list(TOPOLOGIES)),
    "n_graphs": st.integers(1, 2),
    "mixed": st.booleans(),
    "forbid": st.booleans(),
    "weighted": st.booleans(),
    "scale": st.sampled_from(SCALES),
    "seed": st.integers(0, 2**32 - 1),
}
