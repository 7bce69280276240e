"""Labels of arcs: scores that add up from the modifier, the head and the pair of both.

The label of an arc is scored by rows of weights, one weight per label, of three kinds
of *label parts*:

- (direction, modifier): what is known of the modifier;
- (direction, head): what is known of the head;
- (direction, class of the head, class of the modifier): words of one class, say of one
  part of speech, are alike here, so that a sentence has few such parts.

An arc has one of each. So scores of labels cost no more than the arcs themselves, and a
sentence of `n` words has a number of label parts of the order of ``n``, not ``n^2``.
Without labels there are no such parts; the code of trees stays the same.

Rows are found by hashing codes of words, as in `hashed_arcs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.structures.dependency.hashed_arcs import DIRECTION, LOW_BITS
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import add_scaled, place_of_largest


class LabelTemplates(NamedTuple):
    """Codes of the modifier, of the head, and pairs of codes that classes decide."""

    modifier_code: CodeArray
    head_code: CodeArray
    pair_codes: CodeArray
    factor: IntArray
    seed: IntArray


class Labels(NamedTuple):
    """What labels of arcs depend on; no labels (`no_labels`) is one case of it.

    `classes` numbers the classes of a sentence from zero; ``span_of_class`` lists the
    first and the last word of each, for the sentences one after the other, from
    ``first_class[i]``.
    """

    codes: CodeArray
    first: IntArray
    classes: CodeArray
    span_of_class: CodeArray
    first_class: IntArray
    templates: LabelTemplates
    n_labels: int
    bits: int


def make_label_templates(
    modifier: ArrayLike, head: ArrayLike, pairs: ArrayLike
) -> LabelTemplates:
    """Make the templates of labels from the codes they use."""
    modifier = np.ascontiguousarray(modifier, np.int32)
    head = np.ascontiguousarray(head, np.int32)
    both = np.ascontiguousarray(pairs, np.int32).reshape(-1, 2)
    count = modifier.size + head.size + len(both)
    random = np.random.Generator(np.random.PCG64(20051006))
    factor = random.integers(2**28, 2**29, (count, 2), np.int64) | 1
    seed = random.integers(0, 2**60, count, np.int64)
    return LabelTemplates(modifier, head, both, factor, seed)


def make_labels(
    codes: NDArray[np.int32],
    class_code: int,
    lengths: ArrayLike,
    templates: LabelTemplates,
    n_labels: int,
    bits: int,
) -> Labels:
    """Make the labels of arcs: the classes of every sentence.

    Parameters
    ----------
    codes : matrix of int32
        A row for every root and every word, not negative.
    class_code : int
        The column that gives the class of a word. The codes of `pair_codes` must
        be the same for all words of a class.
    lengths : array of int
        The number of words of every sentence.
    templates : LabelTemplates
        As `make_label_templates` makes them.
    n_labels : int
        Labels are ``0 .. n_labels - 1``.
    bits : int
        There are ``2^bits`` rows of weights.
    """
    sizes = np.asarray(lengths, np.int64) + 1
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(codes) != first[-1]:
        raise ValueError(
            f"codes for {len(codes)} words and roots; the sentences have {first[-1]}"
        )
    # Classes are numbered as they are met, word by word and sentence by sentence.
    sentence = np.repeat(np.arange(sizes.size), sizes)
    keys = (sentence << 32) | codes[:, class_code]
    _, begin, found = np.unique(keys, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(begin))[found]
    begin.sort()
    end = np.zeros_like(begin)
    end[number] = np.arange(len(codes))  # the last word of a class is written last
    first_class = np.searchsorted(begin, first)
    spans = np.stack([begin, end], axis=1) - first[sentence[begin], None]
    return Labels(
        np.ascontiguousarray(codes, np.int32),
        first,
        (number - first_class[sentence]).astype(np.int32),
        spans.astype(np.int32),
        first_class.astype(np.int64),
        templates,
        n_labels,
        bits,
    )


def no_labels(n_sentences: int) -> Labels:
    """Make what trees without labels have instead of them."""
    return Labels(
        np.zeros((0, 0), np.int32),
        np.zeros(n_sentences + 1, np.int64),
        np.zeros(0, np.int32),
        np.zeros((0, 2), np.int32),
        np.zeros(n_sentences + 1, np.int64),
        make_label_templates([], [], []),
        0,
        0,
    )


@kernel
def n_label_weights(labels: Labels) -> int:
    """Return how many weights the labels need."""
    return labels.n_labels << labels.bits


@kernel
def n_label_features(labels: Labels) -> int:
    """Return how many features the label of one arc has."""
    return labels.templates.seed.size


@kernel
def n_label_rows(labels: Labels, i: int, n: int) -> int:
    """Return how many rows of label parts a sentence of `n` words has."""
    if labels.n_labels == 0:
        return 0
    n_classes = labels.first_class[i + 1] - labels.first_class[i]
    return 2 * (n + (n + 1) + n_classes * n_classes)


@kernel
def modifier_row(n: int, h: int, m: int) -> int:
    """Return the row of label parts of the modifier of an arc."""
    return m - 1 if h < m else n + m - 1


@kernel
def head_row(n: int, h: int, m: int) -> int:
    """Return the row of label parts of the head of an arc."""
    return 2 * n + (h if h < m else n + 1 + h)


@kernel
def pair_row(labels: Labels, i: int, n: int, h: int, m: int) -> int:
    """Return the row of label parts of the classes of an arc."""
    first = labels.first[i]
    n_classes = labels.first_class[i + 1] - labels.first_class[i]
    side = 0 if h < m else n_classes
    at = (side + labels.classes[first + h]) * n_classes + labels.classes[first + m]
    return 4 * n + 2 + at


@kernel
def _weights_at(key: int, labels: Labels) -> int:
    return ((key >> LOW_BITS) & ((1 << labels.bits) - 1)) * labels.n_labels


@kernel
def _find_rows(labels: Labels, i: int, n: int, row: int, at: IntArray) -> int:
    """Write where the weights of a row of label parts begin; return how many.

    None, if the row is of two classes that no arc can join.
    """
    codes = labels.codes[labels.first[i] : labels.first[i + 1]]
    templates = labels.templates
    n_modifier, n_head = templates.modifier_code.size, templates.head_code.size
    factor, seed = templates.factor, templates.seed
    if row < 2 * n:
        direction = 0 if row < n else DIRECTION
        word = 1 + row % n
        for t in range(n_modifier):
            code = np.int64(codes[word, templates.modifier_code[t]])
            at[t] = _weights_at((seed[t] ^ (factor[t, 0] * code)) + direction, labels)
        return n_modifier
    if row < 4 * n + 2:
        row -= 2 * n
        direction = 0 if row < n + 1 else DIRECTION
        word = row % (n + 1)
        for t in range(n_head):
            u = n_modifier + t
            code = np.int64(codes[word, templates.head_code[t]])
            at[t] = _weights_at((seed[u] ^ (factor[u, 0] * code)) + direction, labels)
        return n_head
    row -= 4 * n + 2
    spans = labels.span_of_class[labels.first_class[i] : labels.first_class[i + 1]]
    n_classes = spans.shape[0]
    direction = 0 if row < n_classes * n_classes else DIRECTION
    row %= n_classes * n_classes
    heads, modifiers = spans[row // n_classes], spans[row % n_classes]
    # Every second pair of classes, or so, is that of no arc: its row is not needed.
    is_left = direction != 0
    if (heads[1] <= modifiers[0]) if is_left else (heads[0] >= modifiers[1]):
        return 0
    head, modifier = heads[0], modifiers[0]
    n_pairs = templates.pair_codes.shape[0]
    for t in range(n_pairs):
        u = n_modifier + n_head + t
        of_head = np.int64(codes[head, templates.pair_codes[t, 0]])
        of_modifier = np.int64(codes[modifier, templates.pair_codes[t, 1]])
        key = (seed[u] ^ (factor[u, 0] * of_head)) + factor[u, 1] * of_modifier
        at[t] = _weights_at(key + direction, labels)
    return n_pairs


@kernel
def score_row(
    labels: Labels,
    i: int,
    n: int,
    row: int,
    w: FloatArray,
    out: FloatArray,
    at: IntArray,
) -> None:
    """Write the scores of a row of label parts of sentence `i`."""
    n_labels = labels.n_labels
    out[:] = 0.0
    for t in range(_find_rows(labels, i, n, row, at)):
        weights = w[at[t] : at[t] + n_labels]
        for k in range(n_labels):
            out[k] += weights[k]


@kernel
def score_labels(
    labels: Labels, i: int, n: int, w: FloatArray, theta: FloatArray, at: IntArray
) -> None:
    """Write the score of every label part of sentence `i`.

    Nothing but `at` is handed on for a row: counting who holds the other arrays would
    make the processor wait for the weights of one row before it asks for the next.
    """
    n_labels = labels.n_labels
    for row in range(n_label_rows(labels, i, n)):
        found = _find_rows(labels, i, n, row, at)
        out = theta[row * n_labels : (row + 1) * n_labels]
        for k in range(n_labels):
            out[k] = 0.0
        for t in range(found):
            weights = w[at[t] : at[t] + n_labels]
            for k in range(n_labels):
                out[k] += weights[k]


@kernel
def add_row(
    labels: Labels,
    i: int,
    n: int,
    row: int,
    shares: FloatArray,
    scale: float,
    w: FloatArray,
    at: IntArray,
) -> float:
    """Add the features of a row of label parts; return ``|w|^2``'s change."""
    is_used = False
    for k in range(labels.n_labels):
        is_used |= shares[k] != 0.0
    change = 0.0
    if is_used:
        for t in range(_find_rows(labels, i, n, row, at)):
            change += add_scaled(w, at[t], shares, scale)
    return change


@kernel
def add_labels(
    labels: Labels,
    i: int,
    n: int,
    mu: FloatArray,
    scale: float,
    w: FloatArray,
    at: IntArray,
) -> float:
    """Add features of label parts as `add_parts` does; return ``|w|^2``'s change."""
    n_labels = labels.n_labels
    change = 0.0
    for row in range(n_label_rows(labels, i, n)):
        shares = mu[row * n_labels : (row + 1) * n_labels]
        change += add_row(labels, i, n, row, shares, scale, w, at)
    return change


@kernel
def row_part_entries(
    labels: Labels,
    i: int,
    n: int,
    row: int,
    label: int,
    idx: IntArray,
    val: FloatArray,
) -> int:
    """Write the features of one label of a row of label parts; return how many."""
    found = _find_rows(labels, i, n, row, idx)
    for t in range(found):
        idx[t] += label
        val[t] = 1.0
    return found


@kernel
def label_part_entries(
    labels: Labels, i: int, n: int, r: int, idx: IntArray, val: FloatArray
) -> int:
    """Write the features of one label part; return how many."""
    row, label = r // labels.n_labels, r % labels.n_labels
    return row_part_entries(labels, i, n, row, label, idx, val)


@kernel
def labels_of_arc(
    labels: Labels, i: int, n: int, h: int, m: int, theta: FloatArray, out: FloatArray
) -> None:
    """Add up the scores of all labels of one arc."""
    n_labels = labels.n_labels
    a = modifier_row(n, h, m) * n_labels
    b = head_row(n, h, m) * n_labels
    c = pair_row(labels, i, n, h, m) * n_labels
    one, two, three = theta[a : a + n_labels], theta[b:], theta[c:]
    for k in range(n_labels):
        out[k] = one[k] + two[k] + three[k]


@kernel
def rank_labels(
    values: FloatArray, base: float, ranked: FloatArray, rank_label: CodeArray
) -> None:
    """Write the scores and the numbers of the best labels of an arc, in order."""
    for j in range(ranked.size):
        best = place_of_largest(values)
        ranked[j] = base + values[best]
        rank_label[j] = best
        values[best] = -np.inf
