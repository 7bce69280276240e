"""Sums over all non-projective trees: log Z and the probability of every arc.

The matrix-tree theorem (Tutte, 1984; Koo et al., 2007) gives Z as a determinant, and
the probabilities as differences of entries of an inverse matrix. Where scores are far
apart, the differences leave nothing but rounding errors. Here nothing is subtracted:
every sum and every probability comes out to nearly full *relative* precision.

**The walk.** Let a walk go from each word to a head, in proportion to the weights
``exp(score)``, until it comes to the root. Eliminating a word (Grassmann, Taksar and
Heyman, 1985) leaves a walk on the others that skips it. The sum of the weights of the
steps by which the walk leaves word `k`, at the time when `k` is eliminated, is the
pivot of `k`, and Z is the product of the pivots. A step from a word to itself changes
nothing and is dropped, which is where other methods subtract.

**The probabilities.** Word `m` takes head `h` with a probability proportional to the
weight of the arc times the probability that the walk from `h` comes to the root without
meeting `m`. These probabilities follow from the steps of the other words by
substitution, when `m` is the last word that is left. To make each word the last one,
eliminate one half of the words and turn to the other half, and the other way round:
O(n^3) in all.

**A single root.** Trees with one arc from the root are what remains if the arcs from
the root are scaled by a factor that goes to zero. Only the terms with the lowest power
of the factor count, and all terms are positive, so that none of them cancels: the arcs
from the root do not count in a pivot as long as there is another way to leave. The way
to the root has two columns, `NEAR` and `FAR`, for the powers zero and one; trees with
any number of roots know only the first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.structures.dependency import semiring
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.vectors import copy, largest

# The columns of a matrix of steps; column WORDS + j is for word j, from 0.
NEAR, FAR, WORDS = 0, 1, 2

# What vanishes among real numbers is below 1e-307. As long as the pivots below one
# multiply to no less than this, it cannot grow to anything that matters: what is lost
# of a probability is far less than 1e-100.
LEAST_LOG = math.log(1e-100)


class Levels(NamedTuple):
    """Where we are in halving: at each level a range of words that are left.

    `matrices` holds the steps among these words, one matrix after the other, the
    first with the weights of all arcs. Of the pivots so far: the sum of the
    logarithms, that of the negative ones alone, and how many came from the root.
    """

    begin: IntArray
    end: IntArray
    at: IntArray
    matrices: FloatArray
    log_pivots: FloatArray
    log_shrunk: FloatArray
    n_far: IntArray


class MatrixTreeSpace(NamedTuple):
    """Scratch arrays.

    `matrix` is the one that words are being eliminated from; `steps` are those of the
    words eliminated in this `order`, to the words ``begin[k]:end[k]`` left after `k`.
    """

    levels: Levels
    matrix: FloatArray
    steps: FloatArray
    order: IntArray
    begin: IntArray
    end: IntArray
    reach: FloatArray
    shares: FloatArray


def make_matrix_tree_space(n_max: int) -> MatrixTreeSpace:
    """Make the scratch arrays for sentences of up to `n_max` words."""
    sizes = [n_max]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    depth = len(sizes) + 1
    levels = Levels(
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros(sum(size * (WORDS + size) for size in sizes)),
        np.zeros(depth),
        np.zeros(depth),
        np.zeros(depth, np.int64),
    )
    return MatrixTreeSpace(
        levels,
        np.zeros((n_max, WORDS + n_max)),
        np.zeros((n_max, WORDS + n_max)),
        np.zeros(n_max, np.int64),
        np.zeros(n_max, np.int64),
        np.zeros(n_max, np.int64),
        np.zeros(WORDS + n_max),
        np.zeros(WORDS + n_max),
    )


@kernel
def matrix_tree(
    score: FloatArray,
    single_root: bool,
    mu: FloatArray,
    space: MatrixTreeSpace,
    want_mu: bool,
) -> float:
    """Return log Z, -inf if there is no tree; write the arcs' probabilities to `mu`.

    Parameters
    ----------
    score : array of shape (n + 1, n + 1)
        ``score[h, m]`` of the arc from head `h` to word `m`; 0 is the root, and -inf
        forbids the arc. Column 0 and the diagonal are not read.
    single_root : bool
        Whether only one word may have the root for a head.
    mu : array of shape (n + 1, n + 1)
        The probabilities, zero in column 0, on the diagonal, and if there is no tree.
    space : MatrixTreeSpace
        Made by `make_matrix_tree_space`.
    want_mu : bool
        If not, `mu` is left alone, which takes a quarter of the time.

    Returns
    -------
    float
        The logarithm of the sum over all trees of ``exp(score of the tree)``.

    Examples
    --------
    Two words have three trees, one of them with both words below the root:

    >>> score, mu, space = np.zeros((3, 3)), np.zeros((3, 3)), make_matrix_tree_space(2)
    >>> round(math.exp(matrix_tree(score, False, mu, space, True)), 12)
    3.0
    >>> mu.round(3).tolist()
    [[0.0, 0.667, 0.667], [0.0, 0.0, 0.333], [0.0, 0.333, 0.0]]
    >>> round(math.exp(matrix_tree(score, True, mu, space, True)), 12)
    2.0
    """
    if want_mu:
        mu[:] = 0.0  # what stays if there is no tree
    log_z, is_safe = _sum_trees(
        semiring.Reals(), score, single_root, mu, space, want_mu, LEAST_LOG
    )
    if not is_safe:
        log_z, _ = _sum_trees(
            semiring.Logs(), score, single_root, mu, space, want_mu, -np.inf
        )
    return log_z


@kernel
def _sum_trees(
    numbers: semiring.Semiring,
    score: FloatArray,
    single_root: bool,
    mu: FloatArray,
    space: MatrixTreeSpace,
    want_mu: bool,
    least_log: float,
) -> tuple[float, bool]:
    """Return log Z, and whether it and `mu` are right if something small vanished."""
    n, levels = score.shape[0] - 1, space.levels
    if n == 0:
        return 0.0, True
    log_scale = _weigh(numbers, score, single_root, space)
    if log_scale == -np.inf:
        return -np.inf, True
    log_z, level = -np.inf, 0
    levels.begin[0], levels.end[0] = 0, n
    for m in range(n):
        while levels.end[level] <= m:
            level -= 1
        while levels.end[level] - levels.begin[level] > 1:
            if not _halve(numbers, m, level, n, space):
                return -np.inf, False
            level += 1
            if levels.log_shrunk[level] < least_log:
                return -np.inf, False
        last = levels.matrices[levels.at[level] :]
        column = NEAR if last[NEAR] > semiring.zero(numbers) else FAR
        if last[column] == semiring.zero(numbers) or levels.n_far[level] + column > 1:
            return -np.inf, False
        log_pivot = semiring.logarithm(numbers, last[column])
        if levels.log_shrunk[level] + min(log_pivot, 0.0) < least_log:
            return -np.inf, False
        if m == 0:
            log_z = log_scale + levels.log_pivots[level] + log_pivot
        if not want_mu:
            break
        _share_heads(numbers, m, column, n, mu, space)
    return log_z, True


@kernel
def _weigh(
    numbers: semiring.Semiring,
    score: FloatArray,
    single_root: bool,
    space: MatrixTreeSpace,
) -> float:
    """Write the weights of all arcs, scaled; return the logarithm of the scale.

    Each word's are relative to the largest. If one arc from the root is to be in
    every tree, these arcs have a scale of their own. The scale is -inf if there is no
    tree.
    """
    n = score.shape[0] - 1
    weights = space.levels.matrices[: n * (WORDS + n)].reshape((n, WORDS + n))
    logs, from_root = space.reach[: WORDS + n], space.shares[:n]
    log_scale = 0.0
    for m in range(n):
        for h in range(n):
            logs[WORDS + h] = score[h + 1, m + 1]
        logs[WORDS + m] = -np.inf
        logs[NEAR] = -np.inf if single_root else score[0, m + 1]
        logs[FAR] = -np.inf
        top = largest(logs)
        if top == -np.inf:
            top = score[0, m + 1]
        if top == -np.inf:
            return -np.inf
        log_scale += top
        semiring.from_logs(numbers, logs, top, weights[m])
        from_root[m] = score[0, m + 1] - top
    if single_root:
        top = largest(from_root)
        if top == -np.inf:
            return -np.inf
        log_scale += top
        scaled = logs[:n]
        semiring.from_logs(numbers, from_root, top, scaled)
        for m in range(n):
            weights[m, FAR] = scaled[m]
    levels = space.levels
    levels.at[0], levels.n_far[0] = 0, 0
    levels.log_pivots[0] = levels.log_shrunk[0] = 0.0
    return log_scale


@kernel
def _halve(
    numbers: semiring.Semiring, m: int, level: int, n: int, space: MatrixTreeSpace
) -> bool:
    """Go down a level to the half of the words with word `m`; eliminate the others.

    Return False if one of them has no way to the root.
    """
    levels = space.levels
    begin, end = levels.begin[level], levels.end[level]
    middle = (begin + end) // 2
    _take_matrix(level, space)
    log_pivots, log_shrunk = levels.log_pivots[level], levels.log_shrunk[level]
    n_far = levels.n_far[level]
    n_gone = n - (end - begin)
    keep_first = m < middle
    for j in range(end - middle if keep_first else middle - begin):
        # From the far end, so that the words that are left are one range.
        if keep_first:
            k = end - 1 - j
            space.begin[k], space.end[k] = begin, k
        else:
            k = begin + j
            space.begin[k], space.end[k] = k + 1, end
        pivot, column = _eliminate(numbers, k, space)
        if pivot == semiring.zero(numbers):
            return False
        log_pivot = semiring.logarithm(numbers, pivot)
        log_pivots += log_pivot
        log_shrunk += min(log_pivot, 0.0)
        n_far += column
        space.order[n_gone + j] = k
    levels.begin[level + 1] = begin if keep_first else middle
    levels.end[level + 1] = middle if keep_first else end
    levels.at[level + 1] = levels.at[level] + (end - begin) * (WORDS + end - begin)
    levels.log_pivots[level + 1] = log_pivots
    levels.log_shrunk[level + 1] = log_shrunk
    levels.n_far[level + 1] = n_far
    _put_matrix(level + 1, space)
    return True


@kernel
def _eliminate(
    numbers: semiring.Semiring, k: int, space: MatrixTreeSpace
) -> tuple[float, int]:
    """Let the words that are left skip word `k`.

    Return the pivot, and the power of the factor of the arcs from the root in it. Steps
    from a word to itself gather on the diagonal, which nothing reads.
    """
    begin, end = space.begin[k], space.end[k]
    left, right = WORDS + begin, WORDS + end
    row, steps = space.matrix[k], space.steps[k]
    pivot = semiring.plus(numbers, row[NEAR], semiring.total(numbers, row[left:right]))
    column = NEAR
    if pivot > semiring.zero(numbers):
        semiring.divide(numbers, row[:WORDS], pivot, steps[:WORDS])
        semiring.divide(numbers, row[left:right], pivot, steps[left:right])
    else:
        # To the root for certain, there being no other way.
        pivot, column = row[FAR], FAR
        copy(row[left:right], steps[left:right])
        steps[NEAR], steps[FAR] = semiring.one(numbers), semiring.zero(numbers)
    rows, at = (begin, end), WORDS + k
    semiring.add_products(numbers, steps[:WORDS], at, space.matrix, rows, 0)
    semiring.add_products(numbers, steps[left:right], at, space.matrix, rows, left)
    return pivot, column


@kernel
def _share_heads(
    numbers: semiring.Semiring,
    m: int,
    column: int,
    n: int,
    mu: FloatArray,
    space: MatrixTreeSpace,
) -> None:
    """Write the probabilities of the heads of word `m`, the last one left.

    ``reach[WORDS + h]`` is the probability that the walk from `h` comes to the root
    without meeting `m`, by way of the `column` in which `m` itself comes to it.
    """
    weights = space.levels.matrices[: n * (WORDS + n)].reshape((n, WORDS + n))
    reach, shares = space.reach[: WORDS + n], space.shares[: WORDS + n]
    reach[NEAR] = reach[FAR] = reach[WORDS + m] = semiring.zero(numbers)
    reach[column] = semiring.one(numbers)
    for j in range(n - 2, -1, -1):
        k = space.order[j]
        left, right = WORDS + space.begin[k], WORDS + space.end[k]
        steps = space.steps[k]
        by_words = semiring.sum_of_products(
            numbers, steps[left:right], reach[left:right]
        )
        reach[WORDS + k] = semiring.plus(numbers, steps[column], by_words)
    semiring.multiply(numbers, weights[m], reach, shares)
    semiring.to_shares(numbers, shares)
    mu[0, m + 1] = shares[column]
    for h in range(n):
        mu[h + 1, m + 1] = shares[WORDS + h]


@kernel
def _take_matrix(level: int, space: MatrixTreeSpace) -> None:
    """Copy the matrix of a level to where words are eliminated."""
    begin, end = space.levels.begin[level], space.levels.end[level]
    at, width = space.levels.at[level], WORDS + end - begin
    for i in range(begin, end):
        row = space.levels.matrices[at : at + width]
        copy(row[:WORDS], space.matrix[i])
        copy(row[WORDS:], space.matrix[i, WORDS + begin :])
        at += width


@kernel
def _put_matrix(level: int, space: MatrixTreeSpace) -> None:
    """Copy to the matrix of a level what is left for it."""
    begin, end = space.levels.begin[level], space.levels.end[level]
    at, width = space.levels.at[level], WORDS + end - begin
    for i in range(begin, end):
        row = space.levels.matrices[at : at + width]
        copy(space.matrix[i, :WORDS], row)
        copy(space.matrix[i, WORDS + begin : WORDS + end], row[WORDS:])
        at += width
