"""Good paths: those that were given, and those that yield the same words."""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray
from partwise.structures.lattice.corpus import Lattice
from partwise.structures.lattice.parts import path_length, write_good

LISTED = 10
"""How many lattices a message names."""


@waist.n_good.implement(Lattice)
def _(s: Lattice, i: int) -> int:
    return s.good.ptr[i + 1] - s.good.ptr[i]


@waist.good_at.implement(Lattice)
def _(s: Lattice, i: int, j: int, y: CodeArray) -> None:
    write_good(s, i, j, y)


@kernel
def _is_path(y: CodeArray, n: int, path: CodeArray) -> bool:
    if path.size != n:
        return False
    for j in range(n):
        if y[j] != path[j]:
            return False
    return True


@kernel
def yields_same(s: Lattice, i: int, y: CodeArray, n: int, path: CodeArray) -> bool:
    """Say whether a path of `n` edges yields the same words as another one."""
    first, ptr = s.ptr[i], s.words.ptr
    a = b = 0  # edges of the two, and below the words of these edges
    one = other = 0
    while True:
        while a < n and one == ptr[first + y[a] + 1] - ptr[first + y[a]]:
            a, one = a + 1, 0
        while (
            b < path.size and other == ptr[first + path[b] + 1] - ptr[first + path[b]]
        ):
            b, other = b + 1, 0
        if a == n or b == path.size:
            return a == n and b == path.size
        word = s.words.number[ptr[first + y[a]] + one]
        if word != s.words.number[ptr[first + path[b]] + other]:
            return False
        one, other = one + 1, other + 1


@waist.is_good.implement(Lattice)
def _(s: Lattice, i: int, y: CodeArray, scratch: CodeArray) -> bool:
    n = path_length(s, i, y)
    for p in range(s.good.ptr[i], s.good.ptr[i + 1]):
        path = s.good.codes[s.good.path_ptr[p] : s.good.path_ptr[p + 1]]
        if _is_path(y, n, path) or (s.by_words and yields_same(s, i, y, n, path)):
            return True
    return False


def refuse_all_good(s: Lattice) -> None:
    """Raise `DataError` if all paths of some lattices are good."""
    found = _all_good(s)
    if not found:
        return
    what = "words" if s.by_words else "paths"
    others = ""
    if len(found) > 1:
        numbers = ", ".join(map(str, found[1:LISTED]))
        more = f" and {len(found) - LISTED} more" * (len(found) > LISTED)
        others = f"; so of lattices {numbers}{more}"
    raise DataError(
        f"all its {what} are good: there is nothing to learn from it (leave it out)"
        f"{others}",
        where=f"lattice {found[0]}",
        example=int(found[0]),
    )


def _all_good(s: Lattice) -> list[int]:
    """List the lattices that have only good outputs."""
    n_good = np.diff(s.good.ptr)
    # Only a lattice with few paths can be so, but one with few words may have many.
    if not s.by_words:
        return np.flatnonzero(n_good >= s.paths.n_paths).tolist()
    result = []
    k = int(n_good.max(initial=0)) + 1
    most_parts, most_codes = waist.largest_sizes(s)
    theta, ws = np.zeros(most_parts), waist.workspace(s, k)
    ys, scores = np.zeros((k, most_codes), np.int32), np.zeros(k)
    for i in range(n_good.size):
        # Of more outputs than there are good ones, one is bad, if there is a bad one.
        found = waist.kbest(s, i, theta, int(n_good[i]) + 1, ys, scores, ws)
        if all(waist.is_good(s, i, y, y) for y in ys[:found]):
            result.append(i)
    return result
