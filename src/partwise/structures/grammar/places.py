"""Where spans and splits of a sentence lie in flat arrays.

Spans are half-open, ``start <= word < end``. Cells of a chart are all spans; *phrases*
are those of at least two words, which have splits. They are numbered by start, then
end, then split.
"""

from __future__ import annotations

from partwise._jit import kernel


@kernel
def n_cells(n: int) -> int:
    """Return how many spans `n` words have."""
    return n * (n + 1) // 2


@kernel
def cell_at(n: int, start: int, end: int) -> int:
    """Return the number of a span."""
    return start * (2 * n - start + 1) // 2 + end - start - 1


@kernel
def n_phrases(n: int) -> int:
    """Return how many spans of two words or more there are."""
    return n * (n - 1) // 2


@kernel
def phrase_at(n: int, start: int, end: int) -> int:
    """Return the number of a span among those of two words or more."""
    return start * (2 * n - start - 1) // 2 + end - start - 2


@kernel
def n_splits(n: int) -> int:
    """Return how many ways there are to cut a span of `n` words in two."""
    return (n + 1) * n * (n - 1) // 6


@kernel
def first_split(n: int, start: int, end: int) -> int:
    """Return the number of the first split of a span; the others follow it."""
    width = end - start
    return n_splits(n) - n_splits(n - start) + (width - 1) * (width - 2) // 2


@kernel
def split_at(n: int, start: int, m: int, end: int) -> int:
    """Return the number of a split."""
    return first_split(n, start, end) + m - start - 1


@kernel
def phrase_of_split(n: int, split: int) -> int:
    """Return the number of the phrase that a split cuts."""
    for start in range(n):
        for end in range(start + 2, n + 1):
            if split < first_split(n, start, end) + end - start - 1:
                return phrase_at(n, start, end)
    return n_phrases(n)
