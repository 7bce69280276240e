"""Small problems that the tests of losses and solvers share, and their enumeration.

A corpus is made from a list of examples, so that a test can leave an example out
or repeat one. All of them are small enough to list every legal output.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from all_derivations import all_derivations
from all_trees import all_trees
from partwise.structures import (
    Chain,
    Multiclass,
    make_chain,
    make_dense_rows,
    make_multiclass,
    make_pair_rows,
    make_sparse_rows,
    observed_pairs,
)
from partwise.structures.bayesian_network import BayesianNetwork
from partwise.structures.dependency import (
    DependencyTrees,
    arcs,
    make_dependency_trees,
    make_hashed_arcs,
    make_label_templates,
    make_labels,
    make_listed_arcs,
    make_templates,
)
from partwise.structures.dependency.families import Projective
from partwise.structures.grammar import (
    Applications,
    ConstituencyTrees,
    make_applications,
    make_constituency_trees,
    make_grammar,
)
from partwise.structures.graph import (
    CliqueKind,
    Graph,
    Layout,
    make_graph,
    symmetric_classes,
)
from partwise.structures.interface import (
    add_costs,
    cost,
    gold,
    make_diff,
    n_examples,
    n_parts,
    n_weights,
    output_size,
    part_row,
    parts_of,
    visit,
    workspace,
)
from partwise.structures.lattice import Lattice, LatticeLayout, make_lattice
from partwise.trees import is_projective
from remembered import remembered

Floats = NDArray[np.float64]
Example = tuple[Floats, NDArray[np.int32]]

N_LABELS = 3
N_COLUMNS = 4
PLAIN_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def examples(count: int, lengths: Sequence[int], seed: int = 0) -> list[Example]:
    """Draw examples whose labels follow the features, but not always."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(N_COLUMNS, N_LABELS))
    drawn = []
    for j in range(count):
        x = rng.normal(size=(lengths[j % len(lengths)], N_COLUMNS))
        x[np.abs(x) < 0.5] = 0.0
        y = np.argmax(x @ truth + rng.normal(size=(len(x), N_LABELS)), axis=1)
        drawn.append((x, y.astype(np.int32)))
    return drawn


def _stack(chosen: Sequence[Example]) -> tuple[Floats, NDArray[np.int32], Any]:
    x = np.vstack([x for x, _ in chosen])
    y = np.concatenate([y for _, y in chosen])
    return x, y, np.cumsum([0] + [len(y) for _, y in chosen])


def _sparse(x: Floats, values: bool = True) -> Any:
    owner, columns = np.nonzero(x)
    ptr = np.searchsorted(owner, np.arange(len(x) + 1))
    return make_sparse_rows(ptr, columns, x[x != 0] if values else None, x.shape[1])


def classes_dense(chosen: Sequence[Example]) -> Multiclass:
    x, y, _ = _stack(chosen)
    return make_multiclass(make_dense_rows(x), y, N_LABELS)


def classes_sparse(chosen: Sequence[Example]) -> Multiclass:
    x, y, _ = _stack(chosen)
    return make_multiclass(_sparse(x), y, N_LABELS)


COSTS = [[0.0, 1.0, 3.0], [0.5, 0.0, 2.0], [1.0, 0.25, 0.0]]


def classes_costs(chosen: Sequence[Example]) -> Multiclass:
    x, y, _ = _stack(chosen)
    return make_multiclass(_sparse(x, values=False), y, N_LABELS, costs=COSTS)


def chain_sparse(chosen: Sequence[Example], **options: Any) -> Chain:
    x, y, ptr = _stack(chosen)
    return make_chain(_sparse(x), ptr, y, N_LABELS, **options)


def chain_dense(chosen: Sequence[Example]) -> Chain:
    x, y, ptr = _stack(chosen)
    return make_chain(make_dense_rows(x), ptr, y, N_LABELS, start=True, end=True)


def chain_pairs(chosen: Sequence[Example]) -> Chain:
    x, y, ptr = _stack(chosen)
    rows = _sparse(x, values=False)
    pairs = observed_pairs(rows, y, N_LABELS)
    return make_chain(make_pair_rows(rows, pairs), ptr, y, N_LABELS, start=True)


def chain_costs(chosen: Sequence[Example]) -> Chain:
    return chain_sparse(chosen, costs=COSTS)


def chain_edges(chosen: Sequence[Example]) -> Chain:
    x, _, _ = _stack(chosen)
    return chain_sparse(chosen, edges=_sparse(x[:, :2], values=False), end=True)


FORBIDDEN_PAIRS = ((0, 2), (2, 1))
FORBIDDEN_START = 2


def chain_masked(chosen: Sequence[Example]) -> Chain:
    """Forbid transitions, a start, and one wrong label at the start of each chain."""
    _, y, ptr = _stack(chosen)
    transitions = np.zeros((N_LABELS, N_LABELS), bool)
    transitions[tuple(zip(*FORBIDDEN_PAIRS, strict=True))] = True
    tokens = np.zeros((y.size, N_LABELS), bool)
    tokens[ptr[:-1], (y[ptr[:-1]] + 1) % N_LABELS] = True
    return chain_sparse(
        chosen,
        forbidden_transitions=transitions,
        forbidden_labels=tokens,
        forbidden_start=np.arange(N_LABELS) == FORBIDDEN_START,
        start=True,
    )


def _legalise(y: NDArray[np.int32]) -> NDArray[np.int32]:
    """Change the labels that `chain_masked` forbids."""
    y[0] = 0 if y[0] == FORBIDDEN_START else y[0]
    for t in range(1, y.size):
        if (y[t - 1], y[t]) in FORBIDDEN_PAIRS:
            y[t] = y[t - 1]
    return y


def graph_triangle(chosen: Sequence[Example]) -> Graph:
    """Join neighbours, and three of them as a whole, with weights that are shared."""
    x, y, ptr = _stack(chosen)
    cliques: list[tuple[int, ...]] = []
    features, counts = [], [0]
    for first, last in itertools.pairwise(ptr.tolist()):
        n = last - first
        joined = [(v, v + 1) for v in range(n - 1)] + [(0, n - 1, 1)] * (n > 2)
        cliques += [(v,) for v in range(n)] + joined
        features += [*x[first:last], *(np.abs(x[first + c[0]]) for c in joined)]
        counts.append(len(cliques))
    layout = Layout(
        ptr,
        np.full(len(x), 2),
        counts,
        np.cumsum([0, *map(len, cliques)]),
        [v for clique in cliques for v in clique],
        [len(clique) - 1 for clique in cliques],
    )
    kinds = [
        CliqueKind((2,) * size, N_COLUMNS, symmetric_classes(2, size))
        for size in (1, 2, 3)
    ]
    weight = np.where(x[:, 0], 1.0, 0.5)
    rows = _sparse(np.array(features))
    return make_graph(layout, kinds, rows, np.minimum(y, 1), vertex_weight=weight)


# --- dependency trees: the output is the heads, and after them the labels ---


class StrictArcs(NamedTuple):
    """Listed arcs that answer only about the sentence visited last."""

    listed: Any


@arcs.n_arc_weights.implement(StrictArcs)
def _(strict: StrictArcs) -> int:
    return arcs.n_arc_weights(strict.listed)


@arcs.n_arc_features.implement(StrictArcs)
def _(strict: StrictArcs) -> int:
    return arcs.n_arc_features(strict.listed)


@arcs.arc_space.implement(StrictArcs)
def _(strict: StrictArcs, n_words: int) -> Any:
    return np.full(1, -1)  # the sentence visited last


@arcs.prepare_arcs.implement(StrictArcs)
def _(strict: StrictArcs, i: int, n: int, space: Any) -> None:
    space[0] = i


@arcs.arc_scores.implement(StrictArcs)
def _(strict: StrictArcs, i: int, w: Floats, score: Floats, space: Any) -> None:
    assert space[0] == i, "the scores of an example that was not visited"
    arcs.arc_scores(strict.listed, i, w, score, arcs.NoSpace())


@arcs.add_arcs.implement(StrictArcs)
def _(
    strict: StrictArcs, i: int, mu: Floats, scale: float, w: Floats, space: Any
) -> float:
    assert space[0] == i, "parts added of an example that was not visited"
    return arcs.add_arcs(strict.listed, i, mu, scale, w, arcs.NoSpace())


@arcs.arc_entries.implement(StrictArcs)
def _(
    strict: StrictArcs, i: int, n: int, h: int, m: int, idx: Any, val: Any, space: Any
) -> int:
    assert space[0] == i, "the features of an example that was not visited"
    return arcs.arc_entries(strict.listed, i, n, h, m, idx, val, arcs.NoSpace())


def _with_roots(chosen: Sequence[Example]) -> tuple[list[Floats], list[int]]:
    """Return the rows of every sentence, those of the root first, and the lengths."""
    rows = [np.vstack([np.ones(N_COLUMNS), x]) for x, _ in chosen]
    return rows, [len(x) for x, _ in chosen]


def _listed_arcs(chosen: Sequence[Example]) -> Any:
    """List features of arcs: where head and modifier agree, and the direction."""
    rows, lengths = _with_roots(chosen)
    both = [
        np.concatenate([head * modifier, [1.0 if h < m else 0.0]])
        for x in rows
        for h, head in enumerate(x)
        for m, modifier in enumerate(x)
    ]
    return make_listed_arcs(_sparse(np.array(both)), lengths)


def _word_codes(chosen: Sequence[Example]) -> tuple[Any, list[int]]:
    """Tell words apart by the signs of their columns."""
    rows, lengths = _with_roots(chosen)
    signs = np.sign(np.vstack(rows)).astype(np.int32) + 1
    return np.stack([signs[:, 0], 3 * signs[:, 1] + signs[:, 2]], axis=1), lengths


def _hashed_arcs(chosen: Sequence[Example]) -> Any:
    codes, lengths = _word_codes(chosen)
    templates = make_templates([(0, 0), (1, 0), (0, 1)], (0, 0), (0, 0))
    attributes = np.stack([codes[:, 1] % 3] * 4, axis=1)
    return make_hashed_arcs(codes, codes[:, 0], attributes, lengths, templates, 6)


def _trees(of_arcs: Any, chosen: Sequence[Example], **options: Any) -> DependencyTrees:
    lengths = [len(x) for x, _ in chosen]
    heads = [y[: len(x)] for x, y in chosen]
    return make_dependency_trees(of_arcs, lengths, np.concatenate(heads), **options)


def trees_projective(chosen: Sequence[Example]) -> DependencyTrees:
    """Take features from lists, and insist on visits; several roots."""
    return _trees(StrictArcs(_listed_arcs(chosen)), chosen, single_root=False)


def trees_labelled(chosen: Sequence[Example]) -> DependencyTrees:
    """Give arcs labels, costs of their own, and words weights; arcs may cross."""
    codes, lengths = _word_codes(chosen)
    templates = make_label_templates([0, 1], [1], [(0, 0)])
    return _trees(
        _hashed_arcs(chosen),
        chosen,
        labels=make_labels(codes, 0, lengths, templates, N_ARC_LABELS, 2),
        word_labels=np.concatenate([y[len(x) :] for x, y in chosen]),
        projective=False,
        label_cost=0.5,
        word_weight=np.concatenate([np.where(x[:, 0], 1.0, 0.5) for x, _ in chosen]),
    )


N_ARC_LABELS = 2


def _hang(chosen: Sequence[Example], make: Maker, seed: int) -> list[Example]:
    """Give every example a tree, and labels, in the place of its classes."""
    rng = np.random.default_rng(seed)
    hung = []
    for x, y in chosen:
        trees = all_trees(len(x), make is not trees_projective)
        if make is trees_projective:
            trees = np.array([heads for heads in trees if is_projective(heads)])
        heads = trees[rng.integers(len(trees))]
        labels = y % N_ARC_LABELS if make is trees_labelled else y[:0]
        hung.append((x, np.concatenate([heads, labels]).astype(np.int32)))
    return hung


# --- grammars: the output is a derivation ---

# The first symbol is the root; a phrase may be either, and a word mostly, too.
GRAMMAR = make_grammar([(0, 1, 0), (0, 0, 0), (1, 0, 1), (0, 1, 1)], 2, [0])


def _word_symbols(x: Floats) -> list[list[int]]:
    return [[0, 1] if row[0] or row[1] else [0] for row in x]


def _applications(chosen: Sequence[Example]) -> Applications:
    """Give features of their own to two rules, in sentences of three words or more."""
    table, features = [], [np.zeros((0, 2 * N_COLUMNS))]
    for i, (own, _) in enumerate(chosen):
        for a, m, b in itertools.combinations(range(len(own) + 1), 3):
            for r in range(2) if len(own) > 2 else ():
                table.append((i, r, a, m, b))
                features.append(np.kron(np.eye(2)[r], own[a] + own[m] * own[b - 1]))
    lengths = [len(own) for own, _ in chosen]
    rows = _sparse(np.vstack(features))
    return make_applications(GRAMMAR, lengths, np.array(table), rows)


def derivations(chosen: Sequence[Example]) -> ConstituencyTrees:
    """Describe words by their columns, spans by their borders and splits by theirs."""
    x, y, _ = _stack(chosen)
    of_words = [own for x, _ in chosen for own in _word_symbols(x)]
    spans, splits = [np.zeros((0, N_COLUMNS))], [np.zeros((0, N_COLUMNS))]
    for own, _ in chosen:
        for start, end in itertools.combinations(range(len(own) + 1), 2):
            if end - start > 1:
                spans.append(own[start] * own[end - 1])
                splits += [own[m - 1] - own[m] for m in range(start + 1, end)]
    return make_constituency_trees(
        GRAMMAR,
        [len(own) for own, _ in chosen],
        np.cumsum([0, *map(len, of_words)]),
        np.concatenate(of_words),
        _sparse(x),
        _sparse(np.vstack(spans)),
        _sparse(np.vstack(splits)),
        y,
        applications=_applications(chosen),
        word_cost=0.5,
    )


def _derive(chosen: Sequence[Example], seed: int) -> list[Example]:
    """Give every example a derivation in the place of its classes."""
    rng = np.random.default_rng(seed)
    derived = []
    for x, _ in chosen:
        outputs = list(all_derivations(GRAMMAR, _word_symbols(x)))
        derived.append((x, np.array(outputs[rng.integers(len(outputs))], np.int32)))
    return derived


# --- lattices: the output is a path ---


def _lattice_edges(x: Floats) -> list[tuple[int, int, Floats]]:
    """Lead past every row by two edges side by side, and past two rows by a third."""
    n = len(x)
    return [
        (t, min(t + 1 + (kind == 2), n), np.kron(np.eye(3)[kind], row))
        for t, row in enumerate(x)
        for kind in range(3)
    ]


def lattice_paths(chosen: Sequence[Example]) -> Lattice:
    edges = [_lattice_edges(x) for x, _ in chosen]
    source, target, features = zip(*itertools.chain(*edges), strict=True)
    n_nodes = [len(x) + 1 for x, _ in chosen]
    layout = LatticeLayout(
        n_nodes,
        np.cumsum([0, *map(len, edges)]),
        source,
        target,
        [0] * len(n_nodes),
        [n - 1 for n in n_nodes],
    )
    good = [[y[y >= 0].tolist()] for _, y in chosen]
    # No two edges cost the same, so that there are no ties.
    costs = [
        0.0 if e in path else 1.0 + 0.1 * e
        for own, [path] in zip(edges, good, strict=True)
        for e in range(len(own))
    ]
    return make_lattice(layout, _sparse(np.array(features)), good, costs=costs)


def _walk(chosen: Sequence[Example]) -> list[Example]:
    """Give every example the path that its classes choose, padded."""
    walked = []
    for x, y in chosen:
        edges, path, t = _lattice_edges(x), [], 0
        while t < len(x):
            path.append(3 * t + int(y[t]))
            t = edges[path[-1]][1]
        codes = path + [-1] * (len(x) - len(path))
        walked.append((x, np.array(codes, np.int32)))
    return walked


Maker = Callable[[Sequence[Example]], Any]

CLASSES: tuple[Maker, ...] = (classes_dense, classes_sparse, classes_costs)
CHAINS: tuple[Maker, ...] = (
    chain_sparse,
    chain_dense,
    chain_pairs,
    chain_costs,
    chain_edges,
    chain_masked,
)
TREES: tuple[Maker, ...] = (trees_projective, trees_labelled)
# Trees are many, and slow in plain Python.
LENGTHS = {
    graph_triangle: (3, 1, 1),
    lattice_paths: (2, 1, 1),
    trees_projective: (3, 1, 2, 2),
    trees_labelled: (2, 1, 1),
    derivations: (2, 2, 1, 3, 1, 1),
}
# Solvers never see what kind of rows features are in: one kind a structure will do. The
# compiler works long on trees: they run in plain Python only.
COMPILED = (classes_dense, chain_sparse, chain_costs, chain_edges, chain_masked)
# Of solvers that are compiled for one or two structures, in plain Python.
EACH_KIND = (
    *(classes_costs, chain_edges, chain_masked),
    *(graph_triangle, lattice_paths, trees_projective, derivations),
)
# What is compiled need not run once more in plain Python.
MAKERS = (
    (graph_triangle, lattice_paths, *TREES, derivations) if PLAIN_PYTHON else COMPILED
)
# From marginals of these there is no way back to scores (`gibbs_scores`).
ONE_WAY = (*TREES, derivations)
REVERSIBLE = tuple(make for make in EACH_KIND if make not in ONE_WAY)
# For what does not depend on the structure: classes are cheap to compile.
ANY = chain_sparse if PLAIN_PYTHON else classes_dense
plain_only = pytest.mark.skipif(
    not PLAIN_PYTHON, reason="of chains, in plain Python: nothing more to compile"
)


def draw(make: Maker, count: int = 6, seed: int = 0) -> list[Example]:
    """Draw the examples that suit a kind of corpus, and are small enough."""
    lengths = LENGTHS.get(make, (1,) if make in CLASSES else (3, 1, 2))
    drawn = examples(count, lengths, seed)
    if make is chain_masked:
        return [(x, _legalise(y)) for x, y in drawn]
    if make is derivations:
        return _derive(drawn, seed)
    if make is lattice_paths:
        return _walk(drawn)
    return _hang(drawn, make, seed) if make in TREES else drawn


def make_small(make: Maker, count: int = 6, seed: int = 0) -> Any:
    return make(draw(make, count, seed))


# --- every output of a small corpus ---


class Outputs(NamedTuple):
    """Every legal output of one example: codes, cost, and ``Phi(gold) - Phi(y)``."""

    codes: NDArray[np.int32]
    cost: Floats
    dphi: Floats


def _legal(s: Any, i: int) -> Iterator[tuple[int, ...]]:
    if isinstance(s, Multiclass):
        yield from ((k,) for k in range(s.n_classes))
        return
    if isinstance(s, ConstituencyTrees):
        ptr = s.sentences.symbol_ptr[s.sentences.ptr[i] : s.sentences.ptr[i + 1] + 1]
        words = [s.sentences.symbol[a:b].tolist() for a, b in itertools.pairwise(ptr)]
        yield from all_derivations(s.grammar, words)
        return
    if isinstance(s, Graph):
        own = s.vertices.n_labels[s.vertices.ptr[i] : s.vertices.ptr[i + 1]]
        yield from itertools.product(*map(range, own.tolist()))
        return
    if isinstance(s, Lattice):
        yield from _legal_paths(s, i, (), 0)
        return
    if isinstance(s, BayesianNetwork):
        yield from _legal(s.graph, i)
        return
    if isinstance(s, DependencyTrees):
        yield from _legal_trees(s, int(s.ptr[i + 1] - s.ptr[i]))
        return
    first, last = s.ptr[i], s.ptr[i + 1]
    for y in itertools.product(range(s.layout.n_labels), repeat=int(last - first)):
        fine = [s.mask.transitions[a, b] for a, b in itertools.pairwise(y)]
        if y:
            fine += [s.mask.start[y[0]], s.mask.end[y[-1]]]
        if s.mask.tokens.size:
            fine += [s.mask.tokens[first + t, k] for t, k in enumerate(y)]
        if all(fine):
            yield y


def _legal_paths(
    s: Lattice, i: int, path: tuple[int, ...], v: int
) -> Iterator[tuple[int, ...]]:
    if v == s.paths.n_nodes[i] - 1:
        yield (*path, *[-1] * (int(s.paths.longest[i]) - len(path)))
    own = slice(s.ptr[i], s.ptr[i + 1])
    for e in np.flatnonzero(s.source[own] == v).tolist():
        yield from _legal_paths(s, i, (*path, e), int(s.target[own][e]))


def _legal_trees(s: DependencyTrees, n: int) -> Iterator[tuple[int, ...]]:
    labels = range(s.labels.n_labels)
    for heads in all_trees(n, s.layout.single_root > 0).tolist():
        if not isinstance(s.family, Projective) or is_projective(heads):
            for own in itertools.product(labels, repeat=n if labels else 0):
                yield (*heads, *own)


def _phi(s: Any, i: int, y: NDArray[np.int32]) -> Floats:
    diff, ws = make_diff(s), workspace(s, 1)
    total = np.zeros(n_weights(s))
    visit(s, i, ws)
    for p in range(parts_of(s, i, y, diff.ids, diff.counts)):
        found = part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)
        np.add.at(total, diff.idx[:found], diff.counts[p] * diff.val[:found])
    return total


@remembered
def enumerate_outputs(s: Any) -> list[Outputs]:
    """List every legal output of every example, the right one among them."""
    listed = []
    for i in range(n_examples(s)):
        codes = np.array(list(_legal(s, i)), np.int32)
        right = np.zeros(output_size(s, i), np.int32)
        gold(s, i, right)
        assert (codes == right).all(axis=1).any(), "the right output is illegal"
        costs = np.array([float(cost(s, i, y)) for y in codes])
        dphi = np.array([_phi(s, i, right) - _phi(s, i, y) for y in codes])
        listed.append(Outputs(codes, costs, dphi))
    return listed


def cost_by_parts(s: Any, i: int, y: NDArray[np.int32]) -> float:
    """Return the cost of an output as the sum over its parts."""
    theta = np.zeros(n_parts(s, i))
    add_costs(s, i, theta)
    diff = make_diff(s)
    found = parts_of(s, i, y, diff.ids, diff.counts)
    return float(diff.counts[:found] @ theta[diff.ids[:found]])


@remembered
def best_squared_hinge(outputs: list[Outputs], C: Floats) -> tuple[float, Floats]:
    """Minimise the squared hinge exactly: return the objective and the weights.

    With ``u = (w, sqrt(2 C_i) xi_i)`` the problem is that of the shortest `u` with
    ``dPhi . w + xi_i >= cost`` for every output: least distance programming, which
    Lawson and Hanson (1974, chapter 23) solve by non-negative least squares.
    """
    d, n = outputs[0].dphi.shape[1], len(outputs)
    blocks = []
    for i in np.flatnonzero(C):
        slack = np.zeros((len(outputs[i].cost), n))
        slack[:, i] = 1 / np.sqrt(2 * C[i])
        blocks.append(np.hstack([outputs[i].dphi, slack, outputs[i].cost[:, None]]))
    system = np.vstack(blocks).T
    goal = np.zeros(d + n + 1)
    goal[-1] = 1.0
    z, _ = nnls(system, goal, maxiter=50 * system.shape[1])
    residual = system @ z - goal
    u = -residual[:-1] / residual[-1]
    return float(0.5 * u @ u), u[:d]


@remembered
def best_hinge(outputs: list[Outputs], C: Floats) -> tuple[float, Floats]:
    """Minimise the hinge: return the objective and the weights.

    Over weights and slacks, with a constraint ``dPhi . w + xi_i >= cost`` for every
    output, by sequential quadratic programming (one programme here, so exact).
    """
    used = np.flatnonzero(C)
    d, unit = outputs[0].dphi.shape[1], np.eye(used.size)
    blocks = [
        np.hstack([outputs[i].dphi, np.tile(unit[j], (len(outputs[i].cost), 1))])
        for j, i in enumerate(used)
    ]
    rows, costs = np.vstack(blocks), np.concatenate([outputs[i].cost for i in used])
    found = minimize(
        lambda u: 0.5 * u[:d] @ u[:d] + C[used] @ u[d:],
        np.concatenate([np.zeros(d), [outputs[i].cost.max() for i in used]]),
        jac=lambda u: np.concatenate([u[:d], C[used]]),
        constraints={
            "type": "ineq",
            "fun": lambda u: rows @ u - costs,
            "jac": lambda u: rows,
        },
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    # At this precision it may not call itself done; what counts is the point.
    w = found.x[:d]
    slack = [max(outputs[i].cost - outputs[i].dphi @ w) for i in used]
    return float(0.5 * w @ w + C[used] @ slack), w
