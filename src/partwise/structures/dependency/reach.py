"""Dependency trees whose arcs are no longer than some reach, for every kind of word.

Determiners find their heads a few words away, verbs theirs anywhere: an arc that is
longer than any between words of these kinds is not worth its score (Eisner and Smith
2005). Arcs of the root and between neighbours are always within reach, so that every
sentence has a tree. In the same way, a label may be that of the arcs of the root, and
of no others.

Everything but the scores, and the search for the best tree, is that of the trees
without a reach; what is out of reach has a score of ``-inf``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise._jit import generic_with_default, kernel
from partwise.structures import interface as waist
from partwise.structures import vectors
from partwise.structures.delegation import delegate
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.dependency import labels
from partwise.structures.dependency.arcs import Arcs
from partwise.structures.dependency.corpus import DependencyTrees
from partwise.structures.dependency.families import best_tree
from partwise.structures.dependency.hashed_arcs import (
    HashedArcs,
    add_between,
    score_arc,
)
from partwise.structures.dependency.parts import as_matrix, n_words
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class TreesWithinReach(NamedTuple):
    """A corpus of dependency trees, and how long arcs may be.

    An arc from a word of kind ``a`` to one of kind ``b`` has at most the length
    ``longest[0, a, b]`` to the right, and ``longest[1, a, b]`` to the left. `kinds` has
    an entry for every word. Arcs of the root, and no others, have the label
    `root_label`; if it is -1, all may have all.
    """

    corpus: Any
    kinds: CodeArray
    longest: CodeArray
    root_label: int


def within_reach(
    s: DependencyTrees, kinds: ArrayLike, longest: ArrayLike, root_label: int = -1
) -> TreesWithinReach:
    """Return the same corpus, whose arcs have a reach.

    Examples
    --------
    >>> from partwise.structures.dependency import make_listed_arcs
    >>> from partwise.structures.dependency.corpus import make_dependency_trees
    >>> from partwise.structures.rows import make_sparse_rows
    >>> arcs = make_listed_arcs(make_sparse_rows([0, 0, 0, 0, 0], [], None, 1), [1])
    >>> s = within_reach(make_dependency_trees(arcs, [1], [0]), [0], np.ones((2, 1, 1)))
    >>> s.kinds.tolist()
    [0]
    """
    kinds = np.ascontiguousarray(kinds, np.int32)
    longest = np.ascontiguousarray(longest, np.int32)
    if kinds.shape != (int(s.ptr[-1]),):
        raise ValueError(f"{kinds.size} kinds for {s.ptr[-1]} words")
    if longest.ndim != 3 or longest.shape[0] != 2 or len({*longest.shape[1:]}) > 1:
        raise ValueError("a reach has a length for each direction and pair of kinds")
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < longest.shape[1]:
        raise ValueError(f"kinds must lie in 0..{longest.shape[1] - 1}")
    if not (root_label == -1 or 0 <= root_label < s.labels.n_labels > 1):
        raise ValueError(
            f"label {root_label} of {s.labels.n_labels} cannot be that of the root only"
        )
    return TreesWithinReach(s, kinds, longest, root_label)


@kernel
def _is_within(s: TreesWithinReach, first: int, h: int, m: int) -> bool:
    length = abs(h - m)
    if h == 0 or length == 1:
        return True
    head, modifier = s.kinds[first + h - 1], s.kinds[first + m - 1]
    return length <= s.longest[0 if h < m else 1, head, modifier]


@generic_with_default
def scores_within(
    arcs: Arcs, s: TreesWithinReach, i: int, w: FloatArray, score: FloatArray, ws: Any
) -> None:
    """Write the scores of all arcs of a sentence, ``-inf`` if they are out of reach."""
    arc_features.arc_scores(arcs, i, w, score, ws)
    first = s.corpus.ptr[i]
    for h in range(score.shape[0]):
        for m in range(1, score.shape[0]):
            if h != m and not _is_within(s, first, h, m):
                score[h, m] = -np.inf


@scores_within.implement(HashedArcs)
def _(
    arcs: HashedArcs,
    s: TreesWithinReach,
    i: int,
    w: FloatArray,
    score: FloatArray,
    ws: Any,
) -> None:
    n, base, first = score.shape[0] - 1, arcs.first[i], s.corpus.ptr[i]
    for h in range(n + 1):
        row = score[h]
        row[0] = row[h] = 0.0
        n_between = 0
        for m in range(h + 1, n + 1):
            row[m] = -np.inf
            if _is_within(s, first, h, m):
                row[m] = score_arc(arcs, base, h, m, n_between, w, ws)
            n_between = add_between(arcs, base, ws, m, n_between)
        n_between = 0
        for m in range(h - 1, 0, -1):
            row[m] = -np.inf
            if _is_within(s, first, h, m):
                row[m] = score_arc(arcs, base, h, m, n_between, w, ws)
            n_between = add_between(arcs, base, ws, m, n_between)


@waist.part_scores.implement(TreesWithinReach)
def _(s: TreesWithinReach, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    trees = s.corpus
    n, of_arcs = n_words(trees, i), as_matrix(theta, n_words(trees, i))
    scores_within(trees.arcs, s, i, w, of_arcs, ws.arcs)
    if trees.labels.n_labels:
        of_labels = w[trees.layout.label_at :]
        _score_labels(
            trees.labels, i, n, of_labels, of_arcs, theta[(n + 1) * (n + 1) :], ws.rows
        )
        if s.root_label >= 0:
            _keep_for_root(
                s.root_label, n, trees.labels.n_labels, theta[(n + 1) * (n + 1) :]
            )


@kernel
def _keep_for_root(label: int, n: int, n_labels: int, theta: FloatArray) -> None:
    """Rule out a label for all heads but the root, and others for the root."""
    for h in range(n + 1):
        for m in (h + 1, h - 1):  # to the right and to the left
            at = labels.head_row(n, h, m) * n_labels
            for k in range(n_labels):
                if (k == label) != (h == 0):
                    theta[at + k] = -np.inf


@kernel
def _score_labels(
    own: labels.Labels,
    i: int,
    n: int,
    w: FloatArray,
    of_arcs: FloatArray,
    theta: FloatArray,
    at: IntArray,
) -> None:
    """Write the scores of label parts; those of two classes if an arc joins them."""
    n_labels, n_rows = own.n_labels, labels.n_label_rows(own, i, n)
    first_pair = 4 * n + 2  # the rows of single words come first
    for row in range(first_pair):
        out = theta[row * n_labels : (row + 1) * n_labels]
        labels.score_row(own, i, n, row, w, out, at)
    vectors.fill(theta[first_pair * n_labels :], (n_rows - first_pair) * n_labels, 0.0)
    for row in range(first_pair, n_rows):
        theta[row * n_labels] = np.inf  # until it is needed
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and of_arcs[h, m] > -np.inf:
                row = labels.pair_row(own, i, n, h, m)
                if theta[row * n_labels] == np.inf:
                    out = theta[row * n_labels : (row + 1) * n_labels]
                    labels.score_row(own, i, n, row, w, out, at)
    for row in range(first_pair, n_rows):
        if theta[row * n_labels] == np.inf:
            theta[row * n_labels] = 0.0


@waist.argmax.implement(TreesWithinReach)
def _(s: TreesWithinReach, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    trees = s.corpus
    n = n_words(trees, i)
    alone, of_labels = as_matrix(theta, n), theta[(n + 1) * (n + 1) :]
    score = as_matrix(ws.score, n)
    for h in range(n + 1):
        for m in range(1, n + 1):
            score[h, m] = alone[h, m]
            if trees.labels.n_labels and h != m and alone[h, m] > -np.inf:
                labels.labels_of_arc(
                    trees.labels, i, n, h, m, of_labels, ws.label_values
                )
                score[h, m] += vectors.largest(ws.label_values)
    single_root = trees.layout.single_root > 0
    value = best_tree(trees.family, score, single_root, y[:n], ws.trees)
    for m in range(1, n + 1 if trees.labels.n_labels else 0):
        labels.labels_of_arc(
            trees.labels, i, n, y[m - 1], m, of_labels, ws.label_values
        )
        y[n + m - 1] = vectors.place_of_largest(ws.label_values)
    return value


delegate(TreesWithinReach)
