"""Hypothesis strategies of inputs, and what the fuzzers start from.

Texts are made of pieces that mean something to their reader, in any order; files are
made from good ones by the accidents and forgeries of the test suite.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from corruption import ACCIDENTS, forge

ODDITIES = (
    "", " ", "\t", "\n", "\r", "\r\n", "\0", "\x1b[31m", "\x85", "\u2028", "\ufeff",
    "\udcff", "é", "日本", "\U0001f600", "a" * 300, "-1", "0", "1e999", "nan",
    str(2**63), str(10**40), '"', "'", "#", "%", "\\",
)  # fmt: skip


def texts(pieces: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Return texts of these pieces and odd ones, some packed, some cut."""
    words = st.sampled_from((*pieces, *pieces, *ODDITIES))
    text = st.lists(words | st.text(max_size=3), max_size=60).map("".join)
    raw = text.map(lambda made: made.encode("utf-8", "surrogatepass"))
    packed = raw.map(gzip.compress)
    cut = st.builds(lambda made, end: made[:end], packed, st.integers(0, 200))
    return raw | raw | packed | cut | st.binary(max_size=40)


def damaged(files: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return files that were forged, or hit by an accident."""

    def damage(data: bytes, seed: int) -> bytes:
        rng = np.random.default_rng(seed)
        if rng.random() < 0.8:
            return forge(data, rng)
        return ACCIDENTS[rng.integers(len(ACCIDENTS))](data, rng)

    return st.builds(damage, st.sampled_from(files), st.integers(0, 2**32))


def changed_bytes(files: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy of binary files with some bytes changed, or cut short.

    Whole numbers of four bytes are replaced as well: those are sizes and offsets.
    """
    number = st.sampled_from([0, 1, 2**31 - 1, 2**32 - 1]) | st.integers(0, 2**32 - 1)
    change = st.tuples(st.integers(0, 2**16), number, st.booleans())

    def damage(file: bytes, changes: list[tuple[int, int, bool]], cut: int) -> bytes:
        content = bytearray(file)
        for at, value, whole in changes:
            if whole:
                at = at % max(len(content) - 3, 1) // 4 * 4
                content[at : at + 4] = value.to_bytes(4, "little")
            else:
                content[at % len(content)] = value % 256
        return bytes(content[: max(len(content) - cut, 0)])

    cut = st.just(0) | st.integers(0, max(map(len, files)))
    return st.builds(
        damage, st.sampled_from(list(files)), st.lists(change, max_size=4), cut
    )


def changed_lines(
    lines: Sequence[str], pieces: Sequence[str]
) -> st.SearchStrategy[bytes]:
    """Return texts of these lines with some of them changed, dropped or repeated."""
    words = st.lists(st.sampled_from((*pieces, *ODDITIES)), max_size=4).map("".join)
    change = st.tuples(st.integers(0, len(lines) - 1), st.integers(0, 3), words)

    def damage(changes: list[tuple[int, int, str]]) -> bytes:
        made = list(lines)
        for at, way, new in changes:
            made[at] = ("", made[at] * 2, new + made[at], new + "\n")[way]
        return "".join(made).encode("utf-8", "surrogatepass")

    return st.lists(change, max_size=4).map(damage)
