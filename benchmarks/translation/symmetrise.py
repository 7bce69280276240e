"""One alignment of two: grow-diag-final (Koehn, Och and Marcu 2003)."""

from __future__ import annotations

from benchmarks.translation.vocabulary import IntArray
from benchmarks.translation.word_alignment import NOWHERE

Links = set[tuple[int, int]]
"""Pairs of a place in the source and one in the target."""

NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def grow_diag_final(to_source: IntArray, to_target: IntArray) -> Links:
    """Return the links both agree on, and those of either that extend them.

    Parameters
    ----------
    to_source : array
        For every target word the source word it comes from, or `NOWHERE`.
    to_target : array
        For every source word its target word, or `NOWHERE`.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(grow_diag_final(np.array([0, 1]), np.array([0, 0])))
    [(0, 0), (1, 0), (1, 1)]
    """
    one = {(i, j) for j, i in enumerate(to_source.tolist()) if i != NOWHERE}
    other = {(i, j) for i, j in enumerate(to_target.tolist()) if j != NOWHERE}
    links, either = one & other, one | other
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    queue = sorted(links)
    while queue:
        i, j = queue.pop(0)
        for a, b in NEIGHBOURS:
            link = (i + a, j + b)
            new = link[0] not in sources or link[1] not in targets
            if link in either and link not in links and new:
                add(link)
                queue.append(link)
    for some in (one, other):
        for link in sorted(some - links):
            if link[0] not in sources or link[1] not in targets:
                add(link)
    return links
