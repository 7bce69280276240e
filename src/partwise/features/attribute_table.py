"""Template attributes as integers: an exact hash table, in compiled code.

A string has a code, an attribute is a key: its skeleton (the literal text of
its template line) and the codes of the cells that fill it. Keys live in a
matrix whose row number is the attribute's id; `slots` is an open-addressing
table of these ids. All arithmetic stays below 2^63, so that the same code runs
without overflow in plain Python.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.features.csr import UNKNOWN

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]

LOW_WORD = 0xFFFFFFFF
FIRST_PRIME = 0x2545F491
SECOND_PRIME = 0x5BD1E995


class Plan(NamedTuple):
    """Template lines as arrays: the macros of line `k` are ``ptr[k]:ptr[k + 1]``."""

    ptr: Int32s
    skeleton: Int64s  # of each line: its number, or its stable hash
    offset: Int32s  # of each macro, as are the following
    column: Int32s
    modifier: Int32s
    first_token: int  # 0 for tokens, 1 for transitions: none leads into the first


class Cells(NamedTuple):
    """The cells of some sentences, each the number of a row of codes.

    A row holds the code of a string under each modifier. Rows of strings the
    encoder knows are in `known`, those met in this call follow in `new`.
    """

    ptr: Int64s
    rows: Int32s  # [column, token]
    known: Int64s  # [row, modifier]
    new: Int64s
    before: Int64s  # codes of the cells 1, 2, ... before a sentence
    after: Int64s


class AttributeTable(NamedTuple):
    """Keys by id, and the hash table that finds them."""

    keys: Int32s  # [id, 1 + most macros in a line], padded with -1
    slots: Int32s


def empty_table(width: int) -> AttributeTable:
    """Return a table without attributes whose keys have `width` numbers."""
    slots = np.full(1024, UNKNOWN, np.int32)
    return AttributeTable(np.empty((0, width), np.int32), slots)


def table_of(keys: Int32s) -> AttributeTable | None:
    """Index the given keys; None if one occurs twice."""
    size = 1024
    while size < 2 * (len(keys) + 1):
        size *= 2
    slots = np.full(size, UNKNOWN, np.int32)
    return AttributeTable(keys, slots) if _index(keys, len(keys), slots) else None


@kernel
def are_bounds(ptr: Int64s, n: int) -> bool:
    """Say whether `ptr` cuts `n` tokens into sentences."""
    if ptr.size == 0 or ptr[0] != 0 or ptr[-1] != n:
        return False
    for i in range(ptr.size - 1):
        if ptr[i] > ptr[i + 1]:
            return False
    return True


@kernel
def _mix(state: int, word: int) -> int:
    """Stir a 32-bit word into a 32-bit state."""
    state = ((state ^ word) * FIRST_PRIME) & LOW_WORD
    return state ^ (state >> 15)


@kernel
def _finish(state: int) -> int:
    """Let every bit of the state reach the low ones."""
    state = (state * SECOND_PRIME) & LOW_WORD
    return state ^ (state >> 13)


@kernel
def _gather(
    plan: Plan,
    cells: Cells,
    start: int,
    stop: int,
    token: int,
    key: Int64s,
    length: Int64s,
) -> None:
    """Fill the key of every line at a token; a length of 0 means there is none.

    One call does all lines, because a call costs as much as a line: compiled
    code counts references to every array it is passed.
    """
    n_known = cells.known.shape[0]
    for line in range(plan.skeleton.size):
        key[line, 0] = plan.skeleton[line]
        n = 1
        for macro in range(plan.ptr[line], plan.ptr[line + 1]):
            at = token + plan.offset[macro]
            if at < start:
                code = cells.before[start - at - 1]
            elif at >= stop:
                code = cells.after[at - stop]
            else:
                row = cells.rows[plan.column[macro], at]
                if row < n_known:
                    code = cells.known[row, plan.modifier[macro]]
                else:
                    code = cells.new[row - n_known, plan.modifier[macro]]
            if code < 0:
                n = 0
                break
            key[line, n] = code
            n += 1
        length[line] = n


@kernel
def _find(keys: Int32s, slots: Int32s, key: Integers, length: int) -> int:
    """Return the slot that holds a key, or the free one where it would go."""
    state = int(length)
    for i in range(length):
        state = _mix(state, int(key[i]))
    mask = slots.size - 1
    at = _finish(state) & mask
    while slots[at] >= 0:
        # Equal skeletons mean equal lengths, so a prefix is never a match.
        i = 0
        while i < length and keys[slots[at], i] == key[i]:
            i += 1
        if i == length:
            break
        at = (at + 1) & mask
    return at


@kernel
def _find_all(
    keys: Int32s, slots: Int32s, key: Int64s, length: Int64s, found: Int64s
) -> None:
    """Write the id of every line's attribute, UNKNOWN if there is none.

    This is `_find` for all lines at once; hashes come first, so that the
    processor can wait for several places of the table at the same time.
    """
    mask = slots.size - 1
    for line in range(length.size):
        state = length[line]
        for i in range(length[line]):
            state = _mix(state, key[line, i])
        found[line] = _finish(state) & mask
    for line in range(length.size):
        n, at = length[line], found[line]
        attribute = slots[at] if n > 0 else UNKNOWN
        while attribute >= 0:
            i = 0
            while i < n and keys[attribute, i] == key[line, i]:
                i += 1
            if i == n:
                break
            at = (at + 1) & mask
            attribute = slots[at]
        found[line] = attribute


@kernel
def _index(keys: Int32s, n: int, slots: Int32s) -> bool:
    """Enter the first `n` keys into empty slots; False if one occurs twice."""
    for attribute in range(n):
        length = 0
        while length < keys.shape[1] and keys[attribute, length] >= 0:
            length += 1
        at = _find(keys, slots, keys[attribute], length)
        if slots[at] >= 0:
            return False
        slots[at] = attribute
    return True


@kernel
def learn(
    plan: Plan, cells: Cells, table: AttributeTable, ptr: Int64s, idx: Int32s
) -> tuple[Int32s, int]:
    """Write the attribute ids of every token, making new ones as needed.

    Returns the keys, in order of first appearance, and how many ids were
    written.
    """
    keys, slots = table.keys, table.slots
    n_attributes, n_lines = keys.shape[0], plan.skeleton.size
    key = np.empty((n_lines, keys.shape[1]), np.int64)
    length, found = np.empty(n_lines, np.int64), np.empty(n_lines, np.int64)
    n = 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for token in range(start + plan.first_token, stop):
            _gather(plan, cells, start, stop, token, key, length)
            _find_all(keys, slots, key, length, found)
            for line in range(n_lines):
                if length[line] == 0:
                    continue
                if found[line] < 0:
                    if n_attributes == keys.shape[0]:
                        longer = np.full(
                            (2 * n_attributes + 64, key.shape[1]), -1, np.int32
                        )
                        longer[:n_attributes] = keys
                        keys = longer
                    if 2 * (n_attributes + 1) > slots.size:
                        slots = np.full(2 * slots.size, -1, np.int32)
                        _index(keys, n_attributes, slots)
                    at = _find(keys, slots, key[line], length[line])
                    if slots[at] < 0:  # an earlier line may have entered it
                        for i in range(length[line]):
                            keys[n_attributes, i] = key[line, i]
                        slots[at] = n_attributes
                        n_attributes += 1
                    found[line] = slots[at]
                idx[n] = found[line]
                n += 1
            ptr[token + 1] = n
    return keys[:n_attributes].copy(), n


@kernel
def look_up(
    plan: Plan, cells: Cells, table: AttributeTable, ptr: Int64s, idx: Int32s
) -> int:
    """Write the ids of each token's known attributes; return how many."""
    n_lines = plan.skeleton.size
    key = np.empty((n_lines, table.keys.shape[1]), np.int64)
    length, found = np.empty(n_lines, np.int64), np.empty(n_lines, np.int64)
    n = 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for token in range(start + plan.first_token, stop):
            _gather(plan, cells, start, stop, token, key, length)
            _find_all(table.keys, table.slots, key, length, found)
            for line in range(n_lines):
                if found[line] >= 0:
                    idx[n] = found[line]
                    n += 1
            ptr[token + 1] = n
    return n


@kernel
def hash_all(
    plan: Plan, cells: Cells, width: int, mask: int, ptr: Int64s, idx: Int32s
) -> int:
    """Write the hashed attributes of each token; codes are stable hashes here."""
    n_lines = plan.skeleton.size
    key = np.empty((n_lines, width), np.int64)
    length = np.empty(n_lines, np.int64)
    n = 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for token in range(start + plan.first_token, stop):
            _gather(plan, cells, start, stop, token, key, length)
            for line in range(n_lines):
                if length[line] > 0:
                    state = length[line]
                    for i in range(length[line]):
                        state = _mix(state, key[line, i] & LOW_WORD)
                        state = _mix(state, key[line, i] >> 32)
                    idx[n] = _finish(state) & mask
                    n += 1
            ptr[token + 1] = n
    return n
