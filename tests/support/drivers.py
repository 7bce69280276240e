"""Every question asked from compiled code, as a solver does.

Those of the waist are in `partwise.testing`; here are those about rows of features,
and structures that compare outputs by the defaults of the waist.
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
from partwise.structures.lattice import Lattice
from partwise.testing.questions import (
    add_block,
    add_costs,
    add_parts,
    argmax,
    block_scores,
    cost,
    diff_add,
    diff_dot,
    diff_sqnorm,
    gold,
    kbest,
    log_partition,
    marginals,
    part_row,
    part_scores,
    parts_of,
)

__all__ = [
    "add_block",
    "add_costs",
    "add_parts",
    "argmax",
    "block_scores",
    "cost",
    "diff_add",
    "diff_dot",
    "diff_sqnorm",
    "gold",
    "kbest",
    "log_partition",
    "marginals",
    "part_row",
    "part_scores",
    "parts_of",
]


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
        waist.diff_entries,
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
