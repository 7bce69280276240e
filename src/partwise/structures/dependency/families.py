"""The two families of trees, and what dependency structures ask of both.

A family is an empty NamedTuple: which one is used is known when kernels are compiled.
Scores and probabilities of arcs are matrices ``[head, modifier]`` with the root as 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import generic
from partwise.structures.dependency import projective, projective_kbest
from partwise.structures.dependency.arborescence import (
    ArborescenceSpace,
    arborescence,
    make_arborescence_space,
)
from partwise.structures.dependency.matrix_tree import (
    MatrixTreeSpace,
    make_matrix_tree_space,
    matrix_tree,
)
from partwise.structures.dependency.partition import (
    PartitionSpace,
    best_allowed,
    best_trees_by_partition,
    make_partition_space,
)
from partwise.structures.dependency.projective_marginals import (
    projective_log_partition,
    projective_marginals,
)
from partwise.structures.interface import CodeArray, FloatArray


class Projective(NamedTuple):
    """Trees whose arcs, drawn above the sentence, do not cross."""


class NonProjective(NamedTuple):
    """All trees."""


@generic
def tree_space(family: Any, n_words: int, k: int) -> Any:
    """Make scratch arrays for up to `n_words` words and the `k` best trees."""
    raise NotImplementedError("tree_space is required of every family of trees")


@generic
def best_tree(
    family: Any, score: FloatArray, single_root: bool, heads: CodeArray, space: Any
) -> float:
    """Write the heads of the best tree; return its score, -inf if there is none."""
    raise NotImplementedError("best_tree is required of every family of trees")


@generic
def best_trees(
    family: Any,
    ranked: FloatArray,
    single_root: bool,
    k: int,
    heads: CodeArray,
    ranks: CodeArray,
    scores: FloatArray,
    space: Any,
) -> int:
    """Write the `k` best trees, one per row; return how many there are.

    An arc may have several labels: ``ranked[head, modifier]`` lists their scores, best
    first and then ``-inf``. `ranks` says which of them a tree has.
    """
    raise NotImplementedError("best_trees is required of every family of trees")


@generic
def arc_marginals(
    family: Any, score: FloatArray, single_root: bool, mu: FloatArray, space: Any
) -> float:
    """Write the probability of every arc; return ``log Z``."""
    raise NotImplementedError("arc_marginals is required of every family of trees")


@generic
def log_sum_of_trees(
    family: Any, score: FloatArray, single_root: bool, space: Any
) -> float:
    """Return ``log Z``."""
    raise NotImplementedError("log_sum_of_trees is required of every family of trees")


class ProjectiveSpace(NamedTuple):
    """Charts of scores and of probabilities, and the rows of one span."""

    chart: projective.EisnerChart
    mass: projective.EisnerChart
    buffers: projective.Buffers
    kbest: projective_kbest.KBestChart


@tree_space.implement(Projective)
def _(family: Projective, n_words: int, k: int) -> Any:
    return ProjectiveSpace(
        projective.make_eisner_chart(n_words),
        projective.make_eisner_chart(n_words),
        projective.make_buffers(n_words),
        projective_kbest.make_kbest_chart(n_words, k),
    )


@best_tree.implement(Projective)
def _(
    family: Projective,
    score: FloatArray,
    single_root: bool,
    heads: CodeArray,
    space: Any,
) -> float:
    return projective.best_projective_tree(
        score, single_root, heads, space.chart, space.buffers
    )


@best_trees.implement(Projective)
def _(
    family: Projective,
    ranked: FloatArray,
    single_root: bool,
    k: int,
    heads: CodeArray,
    ranks: CodeArray,
    scores: FloatArray,
    space: Any,
) -> int:
    return projective_kbest.best_projective_trees(
        ranked, single_root, k, heads, ranks, scores, space.kbest
    )


@arc_marginals.implement(Projective)
def _(
    family: Projective, score: FloatArray, single_root: bool, mu: FloatArray, space: Any
) -> float:
    return projective_marginals(
        score, single_root, mu, space.chart, space.mass, space.buffers
    )


@log_sum_of_trees.implement(Projective)
def _(family: Projective, score: FloatArray, single_root: bool, space: Any) -> float:
    return projective_log_partition(score, single_root, space.chart, space.buffers)


class NonProjectiveSpace(NamedTuple):
    """What the best tree, the best trees and the sum over trees need."""

    best: ArborescenceSpace
    kbest: PartitionSpace
    sum: MatrixTreeSpace
    unused: FloatArray


@tree_space.implement(NonProjective)
def _(family: NonProjective, n_words: int, k: int) -> Any:
    return NonProjectiveSpace(
        make_arborescence_space(n_words),
        make_partition_space(n_words, k),
        make_matrix_tree_space(n_words),
        np.zeros((1, 1)),
    )


@best_tree.implement(NonProjective)
def _(
    family: NonProjective,
    score: FloatArray,
    single_root: bool,
    heads: CodeArray,
    space: Any,
) -> float:
    return arborescence(score, single_root, heads, space.best)


@best_allowed.implement(ArborescenceSpace)
def _(
    search: ArborescenceSpace, allowed: FloatArray, single_root: bool, heads: CodeArray
) -> float:
    return arborescence(allowed, single_root, heads, search)


@best_trees.implement(NonProjective)
def _(
    family: NonProjective,
    ranked: FloatArray,
    single_root: bool,
    k: int,
    heads: CodeArray,
    ranks: CodeArray,
    scores: FloatArray,
    space: Any,
) -> int:
    return best_trees_by_partition(
        ranked, single_root, k, heads, ranks, scores, space.kbest, space.best
    )


@arc_marginals.implement(NonProjective)
def _(
    family: NonProjective,
    score: FloatArray,
    single_root: bool,
    mu: FloatArray,
    space: Any,
) -> float:
    return matrix_tree(score, single_root, mu, space.sum, True)


@log_sum_of_trees.implement(NonProjective)
def _(family: NonProjective, score: FloatArray, single_root: bool, space: Any) -> float:
    return matrix_tree(score, single_root, space.unused, space.sum, False)
