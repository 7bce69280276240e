"""A corpus of dependency trees as flat arrays, and its checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.structures.costs import make_token_weight
from partwise.structures.dependency.arcs import Arcs, n_arc_weights
from partwise.structures.dependency.families import NonProjective, Projective
from partwise.structures.dependency.labels import Labels, n_label_weights, no_labels
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class DependencyLayout(NamedTuple):
    """What holds for all trees, and where the weights of labels begin."""

    single_root: int
    label_at: int
    n_weights: int
    head_cost: float
    label_cost: float


class DependencyTrees(NamedTuple):
    """A corpus of dependency trees; make one with `make_dependency_trees`.

    An output is the head of every word, the root being 0, and after them, if arcs have
    labels, the label of every word. A wrong head and a wrong label cost what the layout
    says times the word's weight; no weights in `word_weight`: all one.
    """

    arcs: Arcs
    labels: Labels
    family: Projective | NonProjective
    ptr: IntArray
    heads: CodeArray
    word_labels: CodeArray
    layout: DependencyLayout
    word_weight: FloatArray


def make_dependency_trees(
    arcs: Arcs,
    lengths: ArrayLike,
    heads: ArrayLike | None,
    *,
    labels: Labels | None = None,
    word_labels: ArrayLike | None = None,
    projective: bool = True,
    single_root: bool = True,
    head_cost: float = 1.0,
    label_cost: float = 1.0,
    word_weight: ArrayLike | None = None,
) -> DependencyTrees:
    """Check the arrays of a corpus of dependency trees and lay out its weights.

    Parameters
    ----------
    arcs : ListedArcs, HashedArcs or AddedArcs
        The features of arcs.
    lengths : array of int
        The number of words of every sentence.
    heads : array of int or None
        The head of every word, counted from 1 in its sentence, 0 for the root; None
        when only predicting.
    labels : Labels, optional
        What the labels of arcs depend on; without it arcs have no labels.
    word_labels : array of int, optional
        The label of the arc to every word.
    projective : bool
        Whether arcs may not cross.
    single_root : bool
        Whether just one word of a sentence hangs from the root.
    head_cost, label_cost : float
        What a wrong head, and a wrong label, cost.
    word_weight : array, optional
        What multiplies the costs, for every word; zero for punctuation, say.

    Examples
    --------
    >>> from partwise.structures.dependency.arcs import make_listed_arcs
    >>> from partwise.structures.rows import make_sparse_rows
    >>> arcs = make_listed_arcs(make_sparse_rows([0, 0, 2, 2, 2], [0, 1], None, 2), [1])
    >>> make_dependency_trees(arcs, [1], [0]).layout.n_weights
    2
    """
    lengths = np.asarray(lengths, np.int64)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_words = int(ptr[-1])
    if labels is None:
        labels = no_labels(lengths.size)
    known = np.zeros(n_words, np.int32)
    known[:] = 0 if heads is None else np.asarray(heads)
    of_words = np.zeros(n_words, np.int32)
    of_words[:] = 0 if word_labels is None else np.asarray(word_labels)
    longest = np.repeat(lengths, lengths)
    if ((known < 0) | (known > longest)).any():
        raise ValueError("a head must be 0, the root, or a word of its own sentence")
    if labels.n_labels and not ((of_words >= 0) & (of_words < labels.n_labels)).all():
        raise ValueError(f"labels of arcs must lie in 0..{labels.n_labels - 1}")
    for name, value in (("head_cost", head_cost), ("label_cost", label_cost)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and not negative, got {value}")
    label_at = int(n_arc_weights(arcs))
    layout = DependencyLayout(
        int(single_root),
        label_at,
        label_at + int(n_label_weights(labels)),
        float(head_cost),
        float(label_cost),
    )
    return DependencyTrees(
        arcs,
        labels,
        Projective() if projective else NonProjective(),
        ptr,
        known,
        of_words,
        layout,
        make_token_weight(word_weight, n_words),
    )
