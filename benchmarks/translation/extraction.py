"""Phrases: pairs of spans that translate each other, and how they follow others.

A pair of spans is consistent if some word of one is linked to some of the other, and no
word of either to one outside (Koehn, Och and Marcu 2003). Its orientation towards the
phrase before it, and after it, is read off the links at its corners (Koehn et al.
2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.translation.symmetrise import Links
from benchmarks.translation.vocabulary import IntArray
from partwise import kernel

MONOTONE, SWAP, DISCONTINUOUS = 0, 1, 2


class Spans(NamedTuple):
    """Every phrase found: its sentence, spans of source and target, orientations.

    Spans are ``source_begin:source_end`` and ``target_begin:target_end``; `backward` is
    the orientation towards the phrase before, `forward` that of the phrase after.
    """

    sentence: IntArray
    source_begin: IntArray
    source_end: IntArray
    target_begin: IntArray
    target_end: IntArray
    backward: IntArray
    forward: IntArray


@kernel
def _is_linked(linked: IntArray, i: int, j: int) -> bool:
    """Say whether two places are linked; so are those before the first and the last."""
    n, m = linked.shape
    if i < 0 or j < 0 or i >= n or j >= m:
        return (i < 0 and j < 0) or (i >= n and j >= m)
    return linked[i, j] != 0


@kernel
def _orientation(linked: IntArray, same: int, other: int, j: int) -> int:
    """Return the orientation of whatever has target place `j` next to a phrase.

    It follows in order if linked to the `same` side of the source span, is swapped if
    linked to the `other`.
    """
    if _is_linked(linked, same, j):
        return MONOTONE
    return SWAP if _is_linked(linked, other, j) else DISCONTINUOUS


@kernel
def _find_spans(linked: IntArray, longest: int, found: IntArray) -> int:
    """Write the consistent spans of one sentence; return how many there are.

    With no room in `found` they are only counted.
    """
    n, m = linked.shape
    count = 0
    for i0 in range(n):
        j_min, j_max = m, -1
        for i1 in range(i0 + 1, min(i0 + longest, n) + 1):
            for j in range(m):
                if linked[i1 - 1, j]:
                    j_min, j_max = min(j_min, j), max(j_max, j)
            if j_max < 0 or j_max - j_min >= longest:
                continue
            if not _is_consistent(linked, i0, i1, j_min, j_max):
                continue
            # Words without links at either end of the target may belong to it or not.
            j0 = j_min
            while j0 >= 0 and (j0 == j_min or np.sum(linked[:, j0]) == 0):
                j1 = j_max + 1
                while j1 <= m and j1 - j0 <= longest:
                    if found.shape[0]:
                        found[count, 0], found[count, 1] = i0, i1
                        found[count, 2], found[count, 3] = j0, j1
                        before = _orientation(linked, i0 - 1, i1, j0 - 1)
                        found[count, 4] = before
                        found[count, 5] = _orientation(linked, i1, i0 - 1, j1)
                    count += 1
                    if j1 == m or np.sum(linked[:, j1]) > 0:
                        break
                    j1 += 1
                j0 -= 1
    return count


@kernel
def _is_consistent(linked: IntArray, i0: int, i1: int, j_min: int, j_max: int) -> bool:
    for i in range(linked.shape[0]):
        if i0 <= i < i1:
            continue
        for j in range(j_min, j_max + 1):
            if linked[i, j]:
                return False
    return True


def extract(
    links: Sequence[Links],
    source_sizes: Sequence[int],
    target_sizes: Sequence[int],
    longest: int = 5,
) -> Spans:
    """Return the phrases of up to `longest` words on each side, of all sentences."""
    tables, owners = [], []
    none = np.zeros((0, 6), np.int64)
    for s, own in enumerate(links):
        linked = np.zeros((source_sizes[s], target_sizes[s]), np.int64)
        for i, j in own:
            linked[i, j] = 1
        table = np.zeros((_find_spans(linked, longest, none), 6), np.int64)
        if table.size:
            _find_spans(linked, longest, table)
        tables.append(table)
        owners.append(np.full(len(table), s))
    columns = np.concatenate([none, *tables]).T
    return Spans(np.concatenate([np.zeros(0, np.int64), *owners]), *columns)
