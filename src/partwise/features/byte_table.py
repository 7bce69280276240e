"""Attributes by their bytes: an exact hash table, in compiled code.

Millions of strings are looked up fastest where they are bytes of one text, each
ended by a zero. The text is read eight bytes at a time, as little-endian words.
A slot of the table is one number, half hash and half where the attribute is in
`entries`: its name and id, then the words of its value, then what is to be known of
it, if anything. So an attribute costs two places of memory, and each pass asks for many
of them at the same time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FunctionType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.features.csr import UNKNOWN

Int32s = NDArray[np.int32]
UInt64s = NDArray[np.uint64]

FULLEST = 0.5  # more attributes than this share of the slots need more slots
PADDING = "\0" * 16  # reading the last zero reads as far as this

# Unsigned throughout, so that products wrap and no index is taken for negative.
ZERO, ONE, EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
BYTES_TO_BITS, TO_BYTES = np.uint64(3), np.uint64(7)
HALF, LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
LAST_BIT, LAST_BYTE = np.uint64(63), np.uint64(56)
LOW_BITS, HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
FIRST_PRIME, SECOND_PRIME = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


class ByteTable(NamedTuple):
    """Where the ids of attributes are found; the arrays are explained above."""

    slots: UInt64s
    entries: UInt64s


Contents = tuple[NDArray[np.int64], UInt64s]
NO_CONTENTS: Contents = np.zeros(0, np.int64), np.zeros(0, np.uint64)


def byte_table(
    values: Iterable[str],
    names: Int32s,
    ids: Int32s,
    contents: Contents = NO_CONTENTS,
) -> ByteTable | None:
    """Index the attributes (name, value); None if a value contains a zero.

    With ``contents = (ptr, words)``, ``words[ptr[id] : ptr[id + 1]]`` are kept behind
    each attribute, and what is found is where they are in `entries`, not the id.
    """
    text, n_bytes = _text(values)
    size = 1024
    while FULLEST * size < ids.size:
        size *= 2
    slots = np.zeros(size, np.uint64)
    n_words = int(np.diff(contents[0])[ids].sum()) if contents[0].size else 0
    entries = np.empty(n_bytes // 8 + 2 * ids.size + 1 + n_words, np.uint64)
    if _enter(text, n_bytes, names, ids, *contents, slots, entries):
        return ByteTable(slots, entries)
    return None


def ids_in(table: ByteTable, values: Iterable[str], names: Int32s) -> Int32s | None:
    """Return the id of each attribute or UNKNOWN; None if a value contains a zero.

    There must be as many values as names.
    """
    text, n_bytes = _text(values)
    ids = np.empty(names.size, np.int32)
    found = _find(text, n_bytes, names, table.slots, table.entries, ids)
    return ids if found else None


def _text(values: Iterable[str]) -> tuple[UInt64s, int]:
    """Return strings as zero-ended bytes, padded, and how many bytes these are."""
    text = "\0".join([*values, PADDING]).encode("utf-8", "surrogatepass")
    return np.frombuffer(text, np.uint64, len(text) // 8), len(text) - len(PADDING)


@kernel
def _word(text: UInt64s, at: np.uint64) -> np.uint64:
    """Return the eight bytes from byte `at` on."""
    shift = (at & TO_BYTES) << BYTES_TO_BITS
    low, high = text[at >> BYTES_TO_BITS], text[(at >> BYTES_TO_BITS) + ONE]
    # By two shifts, since one of 64 bits has no meaning.
    return np.uint64(low >> shift | high << (LAST_BIT - shift) << ONE)


@kernel
def _first_zero(word: np.uint64) -> np.uint64:
    """Return a word with only the lowest bit of its first zero byte, if any."""
    zeros = (word - LOW_BITS) & ~word & HIGH_BITS  # exact up to the first
    return (zeros & (~zeros + ONE)) >> TO_BYTES


@kernel
def _hash_all(
    text: UInt64s, names: Int32s, hashes: UInt64s, ends: UInt64s
) -> np.uint64:
    """Write the 32-bit hash of each attribute and where its value's bytes end."""
    at = ZERO
    for i in range(names.size):
        state = np.uint64(names[i]) * FIRST_PRIME
        word = _word(text, at)
        zero = _first_zero(word)
        while zero == ZERO:
            state = (state ^ word) * FIRST_PRIME
            state ^= state >> HALF
            at += EIGHT
            word = _word(text, at)
            zero = _first_zero(word)
        state = (state ^ (word & (zero - ONE))) * FIRST_PRIME
        state ^= state >> HALF
        hashes[i] = (state * SECOND_PRIME) >> HALF
        n_left = ((zero - ONE) & LOW_BITS) * LOW_BITS >> LAST_BYTE
        at += n_left + ONE
        ends[i] = at
    return at


@kernel
def _enter(
    text: UInt64s,
    n_bytes: int,
    names: Int32s,
    ids: Int32s,
    content_ptr: NDArray[np.int64],
    content: UInt64s,
    slots: UInt64s,
    entries: UInt64s,
) -> bool:
    """Enter attributes into empty slots; False if values contain zeros."""
    hashes, ends = np.empty(ids.size, np.uint64), np.empty(ids.size, np.uint64)
    if _hash_all(text, names, hashes, ends) != n_bytes:
        return False
    mask = np.uint64(slots.size - 1)
    start, to = ZERO, ONE  # nothing is at 0, the mark of a free slot
    for i in range(ids.size):
        at = hashes[i] & mask
        while slots[at] != ZERO:
            at = (at + ONE) & mask
        slots[at] = hashes[i] << HALF | to
        head, known_as = to, np.uint64(ids[i])
        to += ONE
        while ends[i] - start > EIGHT:
            entries[to] = _word(text, start)
            start += EIGHT
            to += ONE
        entries[to] = _last_word(text, start, ends[i])
        start = ends[i]
        to += ONE
        if content_ptr.size:
            known_as = to
            for word in content[content_ptr[ids[i]] : content_ptr[ids[i] + 1]]:
                entries[to] = word
                to += ONE
        entries[head] = np.uint64(names[i]) << HALF | known_as
    return True


@kernel
def _last_word(text: UInt64s, start: np.uint64, end: np.uint64) -> np.uint64:
    """Return the last bytes of a value, one to eight, without what follows them."""
    return _word(text, start) << ((EIGHT - (end - start)) << BYTES_TO_BITS)


@kernel
def _is_at(
    text: UInt64s, start: np.uint64, end: np.uint64, entries: UInt64s, to: np.uint64
) -> bool:
    """Say whether a value is the one whose words begin at `to`."""
    while end - start > EIGHT:
        if _word(text, start) != entries[to]:
            return False
        start += EIGHT
        to += ONE
    return bool(_last_word(text, start, end) == entries[to])


@kernel
def _find(
    text: UInt64s,
    n_bytes: int,
    names: Int32s,
    slots: UInt64s,
    entries: UInt64s,
    ids: Int32s,
) -> bool:
    """Write the id of each attribute; False if values contain zeros."""
    hashes, ends = np.empty(ids.size, np.uint64), np.empty(ids.size, np.uint64)
    if _hash_all(text, names, hashes, ends) != n_bytes:
        return False
    mask = np.uint64(slots.size - 1)
    places, found = np.empty(ids.size, np.uint64), np.empty(ids.size, np.uint64)
    for i in range(ids.size):
        places[i] = hashes[i] & mask
        found[i] = slots[places[i]]
    heads = np.empty(ids.size, np.uint64)
    for i in range(ids.size):
        slot, at = found[i], places[i]
        while slot != ZERO and slot >> HALF != hashes[i]:
            at = (at + ONE) & mask
            slot = slots[at]
        found[i], places[i] = slot, at
        heads[i] = entries[slot & LOW_HALF]
    start = ZERO
    for i in range(ids.size):
        ids[i] = UNKNOWN
        slot, at, head = found[i], places[i], heads[i]
        while slot != ZERO:
            if slot >> HALF == hashes[i]:
                to = slot & LOW_HALF
                if head >> HALF == np.uint64(names[i]) and _is_at(
                    text, start, ends[i], entries, to + ONE
                ):
                    ids[i] = head & LOW_HALF
                    break
            at = (at + ONE) & mask
            slot = slots[at]
            head = entries[slot & LOW_HALF]
        start = ends[i]
    return True


# In plain Python this would be slower than the dictionaries.
IS_USABLE = sys.byteorder == "little" and not isinstance(_find, FunctionType)
