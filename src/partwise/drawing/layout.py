"""Who is above whom: levels for lines that would otherwise lie on each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from partwise.drawing.arguments import leaves_first


class Stem(NamedTuple):
    """The line that joins a head with all of its dependents.

    It runs from word ``first`` to word ``last``, both included, at a level that no
    other stem of these words has.
    """

    first: int
    last: int
    level: int


def stack(spans: Iterable[tuple[int, int]], size: int) -> list[int]:
    """Put spans on levels, each on top of the earlier ones that it overlaps.

    Parameters
    ----------
    spans : iterable of pairs of int
        Start and end, the end excluded, of what is drawn; innermost first.
    size : int
        The end of the last span, or more.

    Returns
    -------
    list of int
        The level of each span, from 1. Spans that overlap have different levels.

    Examples
    --------
    >>> stack([(0, 1), (2, 4), (0, 3), (4, 5)], size=5)
    [1, 1, 2, 1]
    """
    height = [0] * size
    levels = []
    for start, end in spans:
        level = 1 + max(height[start:end])
        height[start:end] = [level] * (end - start)
        levels.append(level)
    return levels


def stems(heads: list[int]) -> dict[int, Stem]:
    """Return the stem of every word that has dependents.

    The stem of a word is always on a lower level than its head's: stems are stacked
    leaves first, and both pass the word. If the tree is projective, no other stem
    passes a word between these two levels, so lines cross only where arcs do.

    Examples
    --------
    >>> stems([2, 3, 0, 3])
    {2: Stem(first=1, last=2, level=1), 3: Stem(first=2, last=4, level=2)}
    """
    reach = {head: (head, head) for head in heads if head}
    for m, head in enumerate(heads, start=1):
        if head:
            first, last = reach[head]
            reach[head] = min(first, m), max(last, m)
    order = [m for m in leaves_first(heads) if m in reach]
    spans = [(reach[m][0], reach[m][1] + 1) for m in order]
    levels = stack(spans, len(heads) + 1)
    return {m: Stem(*reach[m], level) for m, level in zip(order, levels, strict=True)}


def arc_levels(arcs: list[tuple[int, int]]) -> list[int]:
    """Return the level of each arc between two words; arcs that overlap differ.

    Arcs that only touch, at a word that both have, may be on one level.

    Examples
    --------
    >>> arc_levels([(2, 1), (3, 2), (4, 1)])
    [1, 1, 2]
    """
    spans = [(min(arc), max(arc)) for arc in arcs]
    order = sorted(range(len(arcs)), key=lambda a: spans[a][1] - spans[a][0])
    size = max((last for _, last in spans), default=0)
    levels = [0] * len(arcs)
    for a, level in zip(order, stack([spans[a] for a in order], size), strict=True):
        levels[a] = level
    return levels
