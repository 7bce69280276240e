"""The waist as a solver meets it: every question asked from compiled code.

A waist function called from Python runs its plain body; these kernels of the same
names do nothing but call it from compiled code. With ``NUMBA_DISABLE_JIT=1`` they
are plain Python as well. Examples are visited first, as solvers do.
"""

from __future__ import annotations

from types import FunctionType

from partwise._jit import kernel
from partwise.structures import Chain, Multiclass, Segments
from partwise.structures import interface as waist
from partwise.structures import rows as feature_rows
from partwise.structures.bayesian_network import BayesianNetwork
from partwise.structures.dependency import DependencyTrees
from partwise.structures.grammar import ConstituencyTrees
from partwise.structures.graph import Graph
from partwise.structures.interface import Structure
from partwise.structures.lattice import Lattice


class PlainChain(Chain):
    """A chain that compares outputs part by part, by the defaults of the waist."""


class PlainSegments(Segments):
    """Segments compared by the defaults of the waist."""


class PlainMulticlass(Multiclass):
    """Classes compared by the defaults of the waist."""


class PlainTrees(DependencyTrees):
    """Trees compared by the defaults of the waist."""


class PlainDerivations(ConstituencyTrees):
    """Derivations compared by the defaults of the waist."""


class PlainGraph(Graph):
    """Graphs compared by the defaults of the waist."""


class PlainLattice(Lattice):
    """Lattices compared by the defaults of the waist."""


class PlainNetwork(BayesianNetwork):
    """Networks compared by the defaults of the waist."""


PLAIN_CLASSES = {
    Chain: PlainChain,
    Segments: PlainSegments,
    Multiclass: PlainMulticlass,
    DependencyTrees: PlainTrees,
    Graph: PlainGraph,
    Lattice: PlainLattice,
    BayesianNetwork: PlainNetwork,
    ConstituencyTrees: PlainDerivations,
}

for _plain in PLAIN_CLASSES.values():
    for _question in (
        waist.diff_dot,
        waist.diff_add,
        waist.diff_collect,
        waist.diff_sqnorm,
    ):
        _question.implement(_plain)(_question.stub)


@waist.parts_of.implement(PlainMulticlass)
def _(s, i, y, ids, counts):
    # The one part in two pieces: counts need not be one, and add up.
    ids[0] = ids[1] = y[0]
    counts[0], counts[1] = 0.25, 0.75
    return 2


@kernel
def part_scores(s: Structure, i, w, theta, ws):
    waist.visit(s, i, ws)
    waist.part_scores(s, i, w, theta, ws)


@kernel
def add_parts(s: Structure, i, mu, scale, w, ws):
    waist.visit(s, i, ws)
    return waist.add_parts(s, i, mu, scale, w, ws)


@kernel
def block_scores(s: Structure, start, stop, w, theta, ws):
    waist.block_scores(s, start, stop, w, theta, ws)


@kernel
def add_block(s: Structure, start, stop, mu, w, ws):
    waist.add_block(s, start, stop, mu, w, ws)


@kernel
def parts_of(s: Structure, i, y, ids, counts):
    return waist.parts_of(s, i, y, ids, counts)


@kernel
def part_row(s: Structure, i, r, idx, val, ws):
    waist.visit(s, i, ws)
    return waist.part_row(s, i, r, idx, val, ws)


@kernel
def gold(s: Structure, i, y):
    waist.gold(s, i, y)


@kernel
def add_costs(s: Structure, i, theta):
    waist.add_costs(s, i, theta)


@kernel
def cost(s: Structure, i, y):
    return waist.cost(s, i, y)


@kernel
def argmax(s: Structure, i, theta, y, ws):
    waist.visit(s, i, ws)
    return waist.argmax(s, i, theta, y, ws)


@kernel
def kbest(s: Structure, i, theta, k, ys, scores, ws):
    waist.visit(s, i, ws)
    return waist.kbest(s, i, theta, k, ys, scores, ws)


@kernel
def marginals(s: Structure, i, theta, mu, ws):
    waist.visit(s, i, ws)
    return waist.marginals(s, i, theta, mu, ws)


@kernel
def log_partition(s: Structure, i, theta, ws):
    waist.visit(s, i, ws)
    return waist.log_partition(s, i, theta, ws)


@kernel
def diff_dot(s: Structure, i, y, y_ref, w, diff, ws):
    waist.visit(s, i, ws)
    return waist.diff_dot(s, i, y, y_ref, w, diff, ws)


@kernel
def diff_add(s: Structure, i, y, y_ref, scale, w, diff, ws):
    waist.visit(s, i, ws)
    waist.diff_add(s, i, y, y_ref, scale, w, diff, ws)


@kernel
def diff_sqnorm(s: Structure, i, y, y_ref, diff, ws):
    waist.visit(s, i, ws)
    return waist.diff_sqnorm(s, i, y, y_ref, diff, ws)


@kernel
def row_dot(rows, t, w, out):
    feature_rows.row_dot(rows, t, w, out)


@kernel
def row_add(rows, t, mu, scale, w):
    return feature_rows.row_add(rows, t, mu, scale, w)


@kernel
def rows_dot(rows, first, last, n_labels, w, out):
    feature_rows.rows_dot(rows, first, last, n_labels, w, out)


@kernel
def rows_add(rows, first, last, n_labels, mu, scale, w):
    return feature_rows.rows_add(rows, first, last, n_labels, mu, scale, w)


@kernel
def row_diff_dot(rows, t, a, b, n_labels, w):
    return feature_rows.row_diff_dot(rows, t, a, b, n_labels, w)


@kernel
def row_diff_add(rows, t, a, b, n_labels, scale, w):
    feature_rows.row_diff_add(rows, t, a, b, n_labels, scale, w)


@kernel
def row_entries(rows, t, k, n_labels, idx, val):
    return feature_rows.row_entries(rows, t, k, n_labels, idx, val)


IS_COMPILED = not isinstance(argmax, FunctionType)
