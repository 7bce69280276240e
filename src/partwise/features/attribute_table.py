"""Template attributes as integers: exact tables, in compiled code.

A string has a code, an attribute is a key: its skeleton (the literal text of
its template line) and the codes of the cells that fill it. Keys live in a
matrix whose row number is the attribute's id. Two tables find the row of a key:
`direct`, where lines of one macro look up their code, and for all other lines
`slots`, an open-addressing hash table. All arithmetic stays below 2^63, so that
the same code runs without overflow in plain Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel, prefetch
from partwise.features.csr import UNKNOWN

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

LOW_WORD = 0xFFFFFFFF
FIRST_PRIME = 0x2545F491
SECOND_PRIME = 0x5BD1E995
MOST_HOLES = 4  # places in the direct table for each attribute
BLOCK = 128  # tokens encoded at a time: what they need stays in the cache


class Plan(NamedTuple):
    """Template lines as arrays: the macros of line `k` are ``ptr[k]:ptr[k + 1]``.

    A source is a column under a modifier; macros read few different ones.
    """

    ptr: Int32s
    skeleton: Int64s  # of each line: its number, or its stable hash
    offset: Int32s  # of each macro: how far from the first cell that lines read
    source: Int32s
    column: Int32s  # of each source
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
    """Keys by id, and the tables that find them."""

    keys: Int32s  # [id, 1 + most macros in a line], padded with -1
    slots: Int64s  # the high bits of a hash and, in the low word, an id; or -1
    direct: Int32s  # [code, place]: an id
    place: Int32s  # of each skeleton: its column in `direct`, or -1


class TokenBlock(NamedTuple):
    """What lines make of some tokens that follow each other in a sentence."""

    codes: Int64s  # [source, cell], from the first cell that the first token reads
    hashes: Int64s  # [line, token]: the hash of a key; UNKNOWN if there is none
    found: Int32s  # [line, token]: the id of a key, or UNKNOWN


def growing_table(width: int, n_skeletons: int) -> AttributeTable:
    """Return a table for `learn`, with room for some keys of `width` numbers."""
    return AttributeTable(
        np.full((512, width), UNKNOWN, np.int32),
        np.full(1024, UNKNOWN, np.int64),
        np.empty((0, 0), np.int32),
        np.full(n_skeletons, UNKNOWN, np.int32),
    )


def table_of(keys: Int32s, n_macros: Int64s, n_codes: int) -> AttributeTable | None:
    """Index the given keys; None if one occurs twice.

    `n_macros` are those of each skeleton; codes are below `n_codes`.
    """
    is_direct = n_macros == 1
    if is_direct.sum() * n_codes > MOST_HOLES * len(keys):
        is_direct[:] = False
    place = np.where(is_direct, np.cumsum(is_direct) - 1, UNKNOWN).astype(np.int32)
    direct = np.full((n_codes, is_direct.sum()), UNKNOWN, np.int32)
    size = 1024
    while size < 2 * (np.count_nonzero(~is_direct[keys[:, 0]]) + 1):
        size *= 2
    slots = np.full(size, UNKNOWN, np.int64)
    table = AttributeTable(keys, slots, direct, place)
    return table if _index(table) else None


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
def _mix(state: int, number: int) -> int:
    """Stir the two words of a number into a 32-bit state."""
    state = ((state ^ (number & LOW_WORD)) * FIRST_PRIME) & LOW_WORD
    state ^= state >> 15
    state = ((state ^ (number >> 32)) * FIRST_PRIME) & LOW_WORD
    return state ^ (state >> 15)


@kernel
def _finish(state: int) -> int:
    """Let every bit of the state reach the low ones."""
    state = (state * SECOND_PRIME) & LOW_WORD
    return state ^ (state >> 13)


@kernel
def _empty_block(plan: Plan, cells: Cells) -> TokenBlock:
    """Return room for a block of tokens."""
    n_lines, n_outside = plan.skeleton.size, cells.before.size + cells.after.size
    return TokenBlock(
        np.empty((plan.column.size, BLOCK + n_outside), np.int64),
        np.empty((n_lines, BLOCK), np.int64),
        np.empty((n_lines, BLOCK), np.int32),
    )


@kernel
def _gather(
    plan: Plan, cells: Cells, sentence: int, first: int, last: int, block: TokenBlock
) -> None:
    """Fill the codes of a block: the tokens `first` to `last` of a sentence."""
    start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
    n_known, begin = cells.known.shape[0], first - cells.before.size
    for source in range(plan.column.size):
        column, modifier = plan.column[source], plan.modifier[source]
        for at in range(begin, last + cells.after.size):
            if at < start:
                code = cells.before[start - at - 1]
            elif at >= stop:
                code = cells.after[at - stop]
            else:
                row = cells.rows[column, at]
                if row < n_known:
                    code = cells.known[row, modifier]
                else:
                    code = cells.new[row - n_known, modifier]
            block.codes[source, at - begin] = code


@kernel
def _hash_line(plan: Plan, line: int, n: int, block: TokenBlock) -> None:
    """Fill the hashes of a line at the first `n` tokens of a block."""
    codes, hashes = block.codes, block.hashes
    begin, end = plan.ptr[line], plan.ptr[line + 1]
    hashes[line, :n] = _mix(1 + end - begin, plan.skeleton[line])
    for macro in range(begin, end):
        source, offset = plan.source[macro], plan.offset[macro]
        for t in range(n):
            code, state = codes[source, offset + t], hashes[line, t]
            is_there = code >= 0 and state >= 0
            hashes[line, t] = _mix(state, code) if is_there else UNKNOWN
    for t in range(n):
        state = hashes[line, t]
        hashes[line, t] = _finish(state) if state >= 0 else UNKNOWN


@kernel
def _find_hashed(
    plan: Plan,
    line: int,
    first: int,
    last: int,
    table: AttributeTable,
    block: TokenBlock,
    new: int,
) -> None:
    """Find a line's attributes at the tokens `first` to `last` of a block.

    A key that is not in the table enters its slots with the id `new`, if it is known.
    One call does many tokens, because a call costs more than a token: compiled
    code counts references to every array it is passed.
    """
    keys, slots, codes, hashes = table.keys, table.slots, block.codes, block.hashes
    begin, end, skeleton = plan.ptr[line], plan.ptr[line + 1], plan.skeleton[line]
    mask = slots.size - 1
    for t in range(first, last):
        attribute = UNKNOWN
        tag = hashes[line, t] >> 1
        at = tag & mask
        slot = slots[at] if tag >= 0 else UNKNOWN
        while slot >= 0:
            if slot >> 32 == tag:
                attribute = slot & LOW_WORD
                # Equal skeletons mean equal lengths, so a prefix is never a match.
                is_same = keys[attribute, 0] == skeleton
                for macro in range(begin, end):
                    code = codes[plan.source[macro], plan.offset[macro] + t]
                    is_same &= keys[attribute, 1 + macro - begin] == code
                if is_same:
                    break
                attribute = UNKNOWN
            at = (at + 1) & mask
            slot = slots[at]
        if attribute < 0 and new >= 0:
            slots[at] = tag << 32 | new
            attribute = new
        block.found[line, t] = attribute


@kernel
def _find_tags(line: int, n: int, table: AttributeTable, block: TokenBlock) -> None:
    """Find the first key with the hash of each token, or UNKNOWN.

    Keys are compared later, and memory is asked for all of them by then: to wait for
    each is most of the work of looking it up.
    """
    slots, hashes, found = table.slots, block.hashes[line], block.found[line]
    flat, width = table.keys.reshape(table.keys.size), table.keys.shape[1]
    mask = slots.size - 1
    for t in range(n):
        prefetch(slots, (hashes[t] >> 1) & mask)
    for t in range(n):
        tag = hashes[t] >> 1
        at = tag & mask
        slot = slots[at] if tag >= 0 else UNKNOWN
        while slot >= 0 and slot >> 32 != tag:
            at = (at + 1) & mask
            slot = slots[at]
        found[t] = slot & LOW_WORD if slot >= 0 else UNKNOWN
        prefetch(flat, (slot & LOW_WORD) * width if slot >= 0 else 0)


@kernel
def _all_right(
    plan: Plan, line: int, n: int, table: AttributeTable, block: TokenBlock
) -> bool:
    """Say whether all keys found are the right ones, as they are but for rare luck."""
    keys, found, skeleton = table.keys, block.found[line], plan.skeleton[line]
    begin, end = plan.ptr[line], plan.ptr[line + 1]
    wrong = 0
    for macro in range(begin, end):
        codes, place = block.codes[plan.source[macro]], 1 + macro - begin
        offset = plan.offset[macro]
        for t in range(n):
            at = max(found[t], 0)
            wrong += (keys[at, place] != codes[offset + t]) & (found[t] >= 0)
    for t in range(n):
        wrong += (keys[max(found[t], 0), 0] != skeleton) & (found[t] >= 0)
    return wrong == 0


@kernel
def _find_all(plan: Plan, n: int, table: AttributeTable, block: TokenBlock) -> None:
    """Find the attributes of all lines at the first `n` tokens of a block."""
    for line in range(plan.skeleton.size):
        place = table.place[plan.skeleton[line]]
        if place < 0:
            _hash_line(plan, line, n, block)
            _find_tags(line, n, table, block)
            if not _all_right(plan, line, n, table, block):
                _find_hashed(plan, line, 0, n, table, block, UNKNOWN)
            continue
        source, offset = plan.source[plan.ptr[line]], plan.offset[plan.ptr[line]]
        for t in range(n):
            code = block.codes[source, offset + t]
            block.found[line, t] = table.direct[code, place] if code >= 0 else UNKNOWN


@kernel
def _index(table: AttributeTable) -> bool:
    """Enter the keys into tables that are empty; False if one occurs twice."""
    keys, slots, direct = table.keys, table.slots, table.direct
    mask = slots.size - 1
    for new in range(keys.shape[0]):
        place = table.place[keys[new, 0]]
        if place >= 0:
            if direct[keys[new, 1], place] >= 0:
                return False
            direct[keys[new, 1], place] = new
            continue
        length = 1
        while length < keys.shape[1] and keys[new, length] >= 0:
            length += 1
        state = length
        for i in range(length):
            state = _mix(state, int(keys[new, i]))
        tag = _finish(state) >> 1
        at = tag & mask
        while slots[at] >= 0:
            if slots[at] >> 32 == tag:
                other = slots[at] & LOW_WORD
                i = 0
                while i < length and keys[other, i] == keys[new, i]:
                    i += 1
                if i == length:
                    return False
            at = (at + 1) & mask
        slots[at] = tag << 32 | new
    return True


@kernel
def _grown(table: AttributeTable) -> AttributeTable:
    """Return a table with the same keys and room for twice as many."""
    n, width = table.keys.shape
    keys = np.empty((2 * n, width), np.int32)
    # In a loop: to assign a whole table, machine code brings along the text of an error
    # about shapes, and takes seconds to compile.
    for row in range(2 * n):
        for column in range(width):
            keys[row, column] = table.keys[row, column] if row < n else UNKNOWN
    slots = np.empty(2 * table.slots.size, np.int64)
    slots[:] = UNKNOWN
    for slot in table.slots:
        if slot >= 0:
            at = (slot >> 32) & (slots.size - 1)
            while slots[at] >= 0:
                at = (at + 1) & (slots.size - 1)
            slots[at] = slot
    return AttributeTable(keys, slots, table.direct, table.place)


@kernel
def learn(
    plan: Plan, cells: Cells, table: AttributeTable, ptr: Int64s, idx: Int32s
) -> tuple[Int32s, int]:
    """Write the attribute ids of every token, making new ones as needed.

    The table must be empty. Returns the keys, in order of first appearance, and
    how many ids were written.
    """
    block = _empty_block(plan, cells)
    n, n_keys = 0, 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for first in range(start + plan.first_token, stop, BLOCK):
            last = min(first + BLOCK, stop)
            _gather(plan, cells, sentence, first, last, block)
            _find_all(plan, last - first, table, block)
            for t in range(last - first):
                for line in range(plan.skeleton.size):
                    if block.hashes[line, t] < 0:
                        continue
                    if block.found[line, t] < 0:
                        if n_keys == table.keys.shape[0]:
                            table = _grown(table)
                        # It may be there by now, from an earlier token.
                        _find_hashed(plan, line, t, t + 1, table, block, n_keys)
                    if block.found[line, t] == n_keys:
                        begin, end = plan.ptr[line], plan.ptr[line + 1]
                        table.keys[n_keys, 0] = plan.skeleton[line]
                        for i in range(end - begin):
                            at = plan.offset[begin + i] + t
                            code = block.codes[plan.source[begin + i], at]
                            table.keys[n_keys, 1 + i] = code
                        n_keys += 1
                    idx[n] = block.found[line, t]
                    n += 1
                ptr[first + t + 1] = n
    return table.keys[:n_keys].copy(), n


@kernel
def look_up(
    plan: Plan, cells: Cells, table: AttributeTable, ptr: Int64s, idx: Int32s
) -> int:
    """Write the ids of each token's known attributes; return how many."""
    block = _empty_block(plan, cells)
    n = 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for first in range(start + plan.first_token, stop, BLOCK):
            last = min(first + BLOCK, stop)
            _gather(plan, cells, sentence, first, last, block)
            _find_all(plan, last - first, table, block)
            for t in range(last - first):
                for line in range(plan.skeleton.size):
                    if block.found[line, t] >= 0:
                        idx[n] = block.found[line, t]
                        n += 1
                ptr[first + t + 1] = n
    return n


@kernel
def hash_all(plan: Plan, cells: Cells, mask: int, ptr: Int64s, idx: Int32s) -> int:
    """Write the hashed attributes of each token; codes are stable hashes here."""
    block = _empty_block(plan, cells)
    n = 0
    for sentence in range(cells.ptr.size - 1):
        start, stop = cells.ptr[sentence], cells.ptr[sentence + 1]
        ptr[start + 1 : stop + 1] = n
        for first in range(start + plan.first_token, stop, BLOCK):
            last = min(first + BLOCK, stop)
            _gather(plan, cells, sentence, first, last, block)
            for line in range(plan.skeleton.size):
                _hash_line(plan, line, last - first, block)
            for t in range(last - first):
                for line in range(plan.skeleton.size):
                    if block.hashes[line, t] >= 0:
                        idx[n] = block.hashes[line, t] & mask
                        n += 1
                ptr[first + t + 1] = n
    return n
