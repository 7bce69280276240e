"""Arc features from templates, hashed while they are used (a hash kernel).

A template pairs something known of the head with something known of the modifier, each
given by a 31-bit code; ``keys`` of the two sides add up to the key of the arc, whose
middle bits say where its weights are. No list of features is ever stored, and the
memory is that of the weights, however many words there are.

Weights come in buckets of eight, a line of the cache. A template has a bucket for each
key and direction, of which two weights count: the first, and the one of the arc's
length. The templates that also depend on what lies between or on agreement have a
bucket for each such value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.structures.dependency import arcs as arc_features
from partwise.structures.interface import CodeArray, FloatArray, IntArray

BUCKET = 8
"""Weights that lie together: the plain one, and one for each class of lengths."""

LENGTHS = (1, 2, 3, 4, 7, 11)
"""Where the classes of lengths begin."""

LOW_BITS = 20  # of a key are not used: they are the least mixed
DIRECTION = 0x1B873593 << LOW_BITS
"""Added to the key of an arc that points to the left."""
BETWEEN = 0x2545F491 << LOW_BITS
AGREEMENT = 0x19660D01 << LOW_BITS
MOST_WEIGHTS = (1 << 30) - 1
N_ATTRIBUTES = 4
"""What may agree: for words with morphology, say case, gender, number and person."""


class Templates(NamedTuple):
    """Which codes of the head meet which of the modifier; `make_templates` makes them.

    The last two templates are those of tags between and of agreement; they keep their
    places when they are off.
    """

    head_code: CodeArray
    modifier_code: CodeArray
    head_factor: IntArray
    modifier_factor: IntArray
    seed: IntArray
    has_between: bool
    has_agreement: bool


class HashedArcs(NamedTuple):
    """The codes of all words; of every sentence the root comes first.

    `tags` are small numbers, of the words that may lie between; `attributes` are zero
    where a word has none.
    """

    codes: CodeArray
    tags: CodeArray
    attributes: CodeArray
    first: IntArray
    templates: Templates
    bits: int


class HashedSpace(NamedTuple):
    """Keys of every word as head and as modifier; tags between, indices of one arc."""

    head_key: IntArray
    modifier_key: IntArray
    between: CodeArray
    indices: IntArray


def make_templates(
    pairs: ArrayLike, between: tuple[int, int] | None, agreement: tuple[int, int] | None
) -> Templates:
    """Make the templates, each a code of the head and one of the modifier.

    None for tags between, or for agreement: there are no such features.

    Examples
    --------
    >>> make_templates([(0, 1), (1, 1)], (1, 1), (1, 1)).head_code.tolist()
    [0, 1, 1, 1]
    """
    last = [between or (0, 0), agreement or (0, 0)]
    both = np.array([*np.asarray(pairs, np.int32), *last], np.int32)
    # Any fixed numbers will do, as long as a saved model finds the same ones.
    random = np.random.Generator(np.random.PCG64(20040731))
    factors = random.integers(2**28, 2**29, (2, len(both)), np.int64) | 1
    seeds = random.integers(0, 2**60, len(both), np.int64)
    return Templates(
        np.ascontiguousarray(both[:, 0]),
        np.ascontiguousarray(both[:, 1]),
        np.ascontiguousarray(factors[0]),
        np.ascontiguousarray(factors[1]),
        seeds,
        between is not None,
        agreement is not None,
    )


def make_hashed_arcs(
    codes: NDArray[np.int32],
    tags: ArrayLike,
    attributes: ArrayLike,
    lengths: ArrayLike,
    templates: Templates,
    bits: int,
) -> HashedArcs:
    """Check the codes of a corpus.

    Parameters
    ----------
    codes : matrix of int32
        A row for every root and every word; not negative.
    tags : array of int
        The tag of each, below 32,768.
    attributes : matrix of int
        What may agree, ``N_ATTRIBUTES`` columns; zero where there is nothing.
    lengths : array of int
        The number of words of every sentence; its rows are one more.
    templates : Templates
        As `make_templates` makes them.
    bits : int
        There are ``2^bits`` weights.
    """
    sizes = np.asarray(lengths, np.int64) + 1
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tags = np.ascontiguousarray(tags, np.int32)
    attributes = np.ascontiguousarray(attributes, np.int32)
    if not (len(codes) == len(tags) == len(attributes) == first[-1]):
        raise ValueError(
            f"codes for {len(codes)} words and roots; the sentences have {first[-1]}"
        )
    if codes.size and codes.min() < 0:
        raise ValueError("codes must not be negative")
    if attributes.ndim != 2 or attributes.shape[1] != N_ATTRIBUTES:
        raise ValueError(f"attributes must have {N_ATTRIBUTES} columns")
    if not 3 <= bits <= 30:
        raise ValueError(f"hash_bits must lie in 3..30, got {bits}")
    return HashedArcs(
        np.ascontiguousarray(codes, np.int32), tags, attributes, first, templates, bits
    )


@arc_features.n_arc_weights.implement(HashedArcs)
def _(arcs: HashedArcs) -> int:
    return 1 << arcs.bits


@arc_features.n_arc_features.implement(HashedArcs)
def _(arcs: HashedArcs) -> int:
    longest = 0
    for i in range(arcs.first.size - 1):
        longest = max(longest, arcs.first[i + 1] - arcs.first[i])
    return 2 * arcs.templates.seed.size + longest


@arc_features.arc_space.implement(HashedArcs)
def _(arcs: HashedArcs, n_words: int) -> Any:
    shape = (n_words + 1, arcs.templates.seed.size)
    return HashedSpace(
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(n_words + 1, np.int32),
        np.zeros(arc_features.n_arc_features(arcs), np.int64),
    )


@arc_features.prepare_arcs.implement(HashedArcs)
def _(arcs: HashedArcs, i: int, n: int, space: Any) -> None:
    templates = arcs.templates
    for p in range(n + 1):
        codes = arcs.codes[arcs.first[i] + p]
        head_key, modifier_key = space.head_key[p], space.modifier_key[p]
        for t in range(templates.seed.size):
            # Less than 2^60 each, so that sums of a few never overflow.
            head_key[t] = templates.seed[t] ^ (
                templates.head_factor[t] * np.int64(codes[templates.head_code[t]])
            )
            modifier_key[t] = templates.modifier_factor[t] * np.int64(
                codes[templates.modifier_code[t]]
            )


@kernel
def length_class(length: int) -> int:
    """Return the class of the length of an arc, from zero."""
    found = 0
    while found < len(LENGTHS) - 1 and length >= LENGTHS[found + 1]:
        found += 1
    return found


@kernel
def _agreement(arcs: HashedArcs, head: int, modifier: int) -> int:
    """Say of each attribute whether both words have it, and have the same."""
    result = 0
    one, other = arcs.attributes[head], arcs.attributes[modifier]
    for a in range(N_ATTRIBUTES):
        result *= 3
        if one[a] != 0 and other[a] != 0:
            result += 1 if one[a] == other[a] else 2
    return result


@kernel
def add_between(
    arcs: HashedArcs, base: int, space: HashedSpace, p: int, found: int
) -> int:
    """Add the tag of word `p` to the `found` ones between two words, unless there."""
    if not arcs.templates.has_between:
        return 0
    tag = arcs.tags[base + p]
    for j in range(found):
        if space.between[j] == tag:
            return found
    space.between[found] = tag
    return found + 1


@kernel
def bucket_at(key: int, mask: int) -> int:
    """Return where the weights of a key begin."""
    # What the compiler sees cannot be negative need not be tested for it.
    return (key >> LOW_BITS << 3) & mask & MOST_WEIGHTS


@kernel
def in_bucket(at: int, length: int) -> int:
    """Return the weight of a length in the bucket that begins at `at`.

    A view of the weights, moved by the length, would have an owner to be counted, and
    the processor would wait for all weights it has asked for before it counts.
    """
    return at | (length & (BUCKET - 1))


@kernel
def _tag_at(key: int, tag: int, mask: int) -> int:
    """Return the weight of a tag that lies between."""
    return bucket_at(key + (tag >> 3) * BETWEEN, mask) + (tag & 7)


@kernel
def _agreement_at(key: int, agreement: int, mask: int) -> int:
    """Return the weight of what the two words agree in."""
    return bucket_at(key + (agreement >> 3) * AGREEMENT, mask) + (agreement & 7)


@kernel
def _arc_indices(
    arcs: HashedArcs,
    base: int,
    h: int,
    m: int,
    n_between: int,
    idx: IntArray,
    space: HashedSpace,
) -> int:
    """Write the indices of an arc's weights; return how many."""
    n_pairs = arcs.templates.seed.size - 2
    head_key, modifier_key = space.head_key[h], space.modifier_key[m]
    direction = 0 if h < m else DIRECTION
    length = 1 + length_class(abs(h - m))
    mask = (1 << arcs.bits) - 1
    for t in range(n_pairs):
        at = bucket_at(head_key[t] + modifier_key[t] + direction, mask)
        idx[2 * t] = at
        idx[2 * t + 1] = at + length
    key = head_key[n_pairs] + modifier_key[n_pairs] + direction
    for j in range(n_between):
        idx[2 * n_pairs + j] = _tag_at(key, int(space.between[j]), mask)
    found = 2 * n_pairs + n_between
    key = head_key[n_pairs + 1] + modifier_key[n_pairs + 1] + direction
    idx[found] = _agreement_at(key, _agreement(arcs, base + h, base + m), mask)
    return found + 1 if arcs.templates.has_agreement else found


@kernel
def score_arc(
    arcs: HashedArcs,
    base: int,
    h: int,
    m: int,
    n_between: int,
    w: FloatArray,
    space: HashedSpace,
) -> float:
    """Add up the weights that `_arc_indices` lists, without writing a list.

    This is most of the work of parsing, and nearly all of it is waiting for memory.
    """
    n_pairs = arcs.templates.seed.size - 2
    head_key, modifier_key = space.head_key[h], space.modifier_key[m]
    direction = 0 if h < m else DIRECTION
    length = 1 + length_class(abs(h - m))
    mask = (1 << arcs.bits) - 1
    total = 0.0
    for t in range(n_pairs):
        at = bucket_at(head_key[t] + modifier_key[t] + direction, mask)
        total += w[at] + w[in_bucket(at, length)]
    key = head_key[n_pairs] + modifier_key[n_pairs] + direction
    for j in range(n_between):
        total += w[_tag_at(key, int(space.between[j]), mask)]
    key = head_key[n_pairs + 1] + modifier_key[n_pairs + 1] + direction
    last = w[_agreement_at(key, _agreement(arcs, base + h, base + m), mask)]
    # Chosen at the end: to leave earlier took 1.4 times as long for every arc.
    return total + last if arcs.templates.has_agreement else total


@arc_features.arc_scores.implement(HashedArcs)
def _(arcs: HashedArcs, i: int, w: FloatArray, score: FloatArray, space: Any) -> None:
    n = score.shape[0] - 1
    base = arcs.first[i]
    for h in range(n + 1):
        row = score[h]
        row[0] = row[h] = 0.0
        # Away from the head, what lies between grows word by word.
        n_between = 0
        for m in range(h + 1, n + 1):
            row[m] = score_arc(arcs, base, h, m, n_between, w, space)
            n_between = add_between(arcs, base, space, m, n_between)
        n_between = 0
        for m in range(h - 1, 0, -1):
            row[m] = score_arc(arcs, base, h, m, n_between, w, space)
            n_between = add_between(arcs, base, space, m, n_between)


@arc_features.some_arc_scores.implement(HashedArcs)
def _(
    arcs: HashedArcs,
    i: int,
    n: int,
    head: CodeArray,
    modifier: CodeArray,
    w: FloatArray,
    score: FloatArray,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> None:
    base, start = arcs.first[i], 0
    while start < head.size:
        h, right, stop = head[start], start, start
        while stop < head.size and head[stop] == h:
            right += modifier[stop] < h
            stop += 1
        # As in `arc_scores`: what lies between grows away from the head.
        n_between, p = 0, h + 1
        for b in range(right, stop):
            while p < modifier[b]:
                n_between = add_between(arcs, base, space, p, n_between)
                p += 1
            score[b] = score_arc(arcs, base, h, modifier[b], n_between, w, space)
        n_between, p = 0, h - 1
        for b in range(right - 1, start - 1, -1):
            while p > modifier[b]:
                n_between = add_between(arcs, base, space, p, n_between)
                p -= 1
            score[b] = score_arc(arcs, base, h, modifier[b], n_between, w, space)
        start = stop


@kernel
def _add_arc(
    arcs: HashedArcs,
    base: int,
    h: int,
    m: int,
    n_between: int,
    step: float,
    w: FloatArray,
    space: HashedSpace,
) -> float:
    found = _arc_indices(arcs, base, h, m, n_between, space.indices, space)
    change = 0.0
    for j in range(found):
        old = w[space.indices[j]]
        change += step * (2.0 * old + step)
        w[space.indices[j]] = old + step
    return change


@arc_features.add_arcs.implement(HashedArcs)
def _(
    arcs: HashedArcs, i: int, mu: FloatArray, scale: float, w: FloatArray, space: Any
) -> float:
    n = mu.shape[0] - 1
    base = arcs.first[i]
    change = 0.0
    for h in range(n + 1):
        row = mu[h]
        n_between = 0
        for m in range(h + 1, n + 1):
            if row[m] != 0.0:
                step = scale * row[m]
                change += _add_arc(arcs, base, h, m, n_between, step, w, space)
            n_between = add_between(arcs, base, space, m, n_between)
        n_between = 0
        for m in range(h - 1, 0, -1):
            if row[m] != 0.0:
                step = scale * row[m]
                change += _add_arc(arcs, base, h, m, n_between, step, w, space)
            n_between = add_between(arcs, base, space, m, n_between)
    return change


@arc_features.arc_entries.implement(HashedArcs)
def _(
    arcs: HashedArcs,
    i: int,
    n: int,
    h: int,
    m: int,
    idx: IntArray,
    val: FloatArray,
    space: Any,
) -> int:
    base = arcs.first[i]
    n_between = 0
    for p in range(min(h, m) + 1, max(h, m)):
        n_between = add_between(arcs, base, space, p, n_between)
    found = _arc_indices(arcs, base, h, m, n_between, idx, space)
    val[:found] = 1.0
    return found
