"""Attributes of templates from their names: which cells a name was made of.

A name may be read in several ways, since cells may contain the text between them; all
of them are kept, and each stands for the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from partwise.features.csr import UNKNOWN
from partwise.features.line_set import LineSet


def readings(name: str, literals: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the cells that make a name, with the literal texts around them.

    Examples
    --------
    >>> list(readings("U:a/b/c", ["U:", "/", ""]))
    [('a', 'b/c'), ('a/b', 'c')]
    """
    first, *rest = literals
    if not name.startswith(first):
        return
    name = name[len(first) :]
    if not rest:
        if not name:
            yield ()
        return
    if len(rest) == 1:
        if name.endswith(rest[0]):
            yield (name[: len(name) - len(rest[0])],)
        return
    at = name.find(rest[0])
    while at >= 0:
        for others in readings(name[at:], rest):
            yield (name[:at], *others)
        at = name.find(rest[0], at + 1)


def keys_of_names(
    lines: LineSet, names: Sequence[str], codes: dict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the keys of all readings, and which name each is of.

    Cells get the numbers that `codes` has for them, or the next ones.
    """
    keys, origin = [], []
    for number, name in enumerate(names):
        for skeleton, line in enumerate(lines.by_skeleton):
            for cells in readings(name, line.literals):
                found = [codes.setdefault(cell, len(codes)) for cell in cells]
                padding = [UNKNOWN] * (lines.width - 1 - len(found))
                keys.append([skeleton, *found, *padding])
                origin.append(number)
    table = np.array(keys, np.int32).reshape(-1, lines.width)
    return table, np.array(origin, np.int64)
