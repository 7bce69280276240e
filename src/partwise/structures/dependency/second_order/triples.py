"""Features of three words from templates, hashed while they are used.

A template of siblings joins codes of the head, of the inner sibling and of the word;
one of grandparents those of the head's head, of the head and of the word. As for arcs
(`hashed_arcs`), the keys of the three add up to one that says where a bucket of eight
weights is, of which two count: the first, and the one of a length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._jit import kernel
from partwise.structures.dependency.hashed_arcs import (
    DIRECTION,
    LOW_BITS,
    bucket_at,
    in_bucket,
    length_class,
)
from partwise.structures.interface import CodeArray, FloatArray, IntArray

BEYOND = 0x3C6EF372 << LOW_BITS
"""Added to the key of a word that lies between its head and the head of that."""
NOBODY = 0x5BD1E995
"""The code of the sibling that a word next to its head, among its siblings, has not."""


class TripleTemplates(NamedTuple):
    """Which codes of three words meet: first `n_siblings` templates, then the rest."""

    code: CodeArray
    factor: IntArray
    seed: IntArray
    n_siblings: int


class HashedTriples(NamedTuple):
    """The codes of all words; of every sentence the root comes first."""

    codes: CodeArray
    first: IntArray
    templates: TripleTemplates
    bits: int


class TripleSpace(NamedTuple):
    """Keys of every word, and of nobody after them, in each of the three places."""

    keys: NDArray[np.int64]
    indices: IntArray


def make_triple_templates(siblings: ArrayLike, grand: ArrayLike) -> TripleTemplates:
    """Make the templates from the numbers of codes, three each.

    Examples
    --------
    >>> make_triple_templates([(0, 1, 1)], [(1, 1, 1)]).code.shape
    (2, 3)
    """
    of_siblings = np.asarray(siblings, np.int32).reshape(-1, 3)
    code = np.concatenate([of_siblings, np.asarray(grand, np.int32).reshape(-1, 3)])
    # Any fixed numbers will do, as long as a saved model finds the same ones.
    random = np.random.Generator(np.random.PCG64(20070628))
    factor = random.integers(2**28, 2**29, code.shape, np.int64) | 1
    seed = random.integers(0, 2**60, len(code), np.int64)
    return TripleTemplates(np.ascontiguousarray(code), factor, seed, len(of_siblings))


def make_hashed_triples(
    codes: NDArray[np.int32], lengths: ArrayLike, templates: TripleTemplates, bits: int
) -> HashedTriples:
    """Check the codes of a corpus: a row for every root and every word."""
    sizes = np.asarray(lengths, np.int64) + 1
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(codes) != first[-1]:
        raise ValueError(
            f"codes for {len(codes)} words and roots; the sentences have {first[-1]}"
        )
    return HashedTriples(np.ascontiguousarray(codes, np.int32), first, templates, bits)


def make_triple_space(triples: HashedTriples, n_words: int) -> TripleSpace:
    """Make scratch arrays for sentences of up to `n_words` words."""
    n_templates = triples.templates.seed.size
    return TripleSpace(
        np.zeros((3, n_words + 2, n_templates), np.int64),
        np.zeros(2 * n_templates, np.int64),
    )


@kernel
def prepare_triples(triples: HashedTriples, i: int, n: int, space: TripleSpace) -> None:
    """Compute the keys of all words of sentence `i`."""
    templates = triples.templates
    for place in range(3):
        for p in range(n + 2):
            keys = space.keys[place, p]
            for t in range(templates.seed.size):
                code = np.int64(NOBODY)
                if p <= n:
                    at = triples.first[i] + p
                    code = np.int64(triples.codes[at, templates.code[t, place]])
                keys[t] = templates.factor[t, place] * code
                if place == 0:
                    keys[t] ^= templates.seed[t]


class Triple(NamedTuple):
    """Three words, which templates they have, what is added to keys, and a length."""

    one: int
    two: int
    three: int
    start: int
    stop: int
    added: int
    length: int


@kernel
def sibling_triple(triples: HashedTriples, n: int, h: int, s: int, m: int) -> Triple:
    """Return the triple of a head and two words below it, of which one may be nobody.

    That is 0: as the inner word `s` if the other is the first one, as the outer word
    `m` if it is the last.
    """
    one, other = (s if s > 0 else h), (m if m > 0 else h)
    added = 0 if h < max(s, m) else DIRECTION
    length = 1 + length_class(abs(other - one))
    two, three = (s if s > 0 else n + 1), (m if m > 0 else n + 1)
    return Triple(h, two, three, 0, triples.templates.n_siblings, added, length)


@kernel
def grand_triple(triples: HashedTriples, g: int, h: int, m: int) -> Triple:
    """Return the triple of the head's head, the head, and a word."""
    added = 0 if h < m else DIRECTION
    if (g < h) == (m < h):
        added += BEYOND
    start, stop = triples.templates.n_siblings, triples.templates.seed.size
    return Triple(g, h, m, start, stop, added, 1 + length_class(abs(g - h)))


@kernel
def triple_score(
    triples: HashedTriples, one: Triple, w: FloatArray, space: TripleSpace
) -> float:
    """Add up the weights of the features of a triple."""
    a, b, c = space.keys[0, one.one], space.keys[1, one.two], space.keys[2, one.three]
    mask, total = (1 << triples.bits) - 1, 0.0
    for t in range(one.start, one.stop):
        at = bucket_at(a[t] + b[t] + c[t] + one.added, mask)
        total += w[at] + w[in_bucket(at, one.length)]
    return total


@kernel
def triple_indices(
    triples: HashedTriples, one: Triple, idx: IntArray, space: TripleSpace
) -> int:
    """Write the indices of the weights of a triple; return how many."""
    a, b, c = space.keys[0, one.one], space.keys[1, one.two], space.keys[2, one.three]
    mask, found = (1 << triples.bits) - 1, 0
    for t in range(one.start, one.stop):
        at = bucket_at(a[t] + b[t] + c[t] + one.added, mask)
        idx[found], idx[found + 1] = at, at + one.length
        found += 2
    return found


@kernel
def add_triple(
    triples: HashedTriples, one: Triple, step: float, w: FloatArray, space: TripleSpace
) -> float:
    """Add `step` to all weights of a triple; return the change of ``|w|^2``."""
    change = 0.0
    for j in range(triple_indices(triples, one, space.indices, space)):
        old = w[space.indices[j]]
        change += step * (2.0 * old + step)
        w[space.indices[j]] = old + step
    return change
