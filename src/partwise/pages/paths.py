"""Views of lattices: a path of edges from a start to an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.data.lattice import LatticeInput
from partwise.pages.view import View, differing

ITEM = "edges"


def view_path(
    lattice: LatticeInput,
    found: Sequence[int],
    gold: Sequence[Sequence[int]] = (),
    *,
    marginals: Any = None,
) -> View:
    """Return the view of a path through a lattice.

    Parameters
    ----------
    lattice : LatticeInput
        The lattice.
    found : sequence of int
        The edges of the predicted path.
    gold : sequence of paths
        The good paths; the one closest to `found` is shown.
    marginals : array, optional
        The probability of every edge.

    Examples
    --------
    >>> lattice = LatticeInput([(0, 1, {}, "the"), (0, 1, {}, "a")], good=[[0]])
    >>> view = view_path(lattice, [1], lattice.good)
    >>> view.mistakes, view.words
    (1, ['a'])
    """
    guess = list(found)
    right = min(
        (list(path) for path in gold),
        key=lambda path: len(set(path) ^ set(guess)),
        default=None,
    )
    names = {node: str(node) for edge in lattice.edges for node in edge[:2]}
    certain: list[tuple[float, bool]] = []
    believed: list[float] | None = None
    more: dict[str, Any] = {
        "edges": [
            [names[edge.source], names[edge.target], " ".join(edge.words)]
            for edge in lattice.edges
        ]
    }
    if marginals is not None:
        shares = [float(min(max(p, 0.0), 1.0)) for p in marginals]
        more["sure"] = shares
        if right is not None:
            certain = [(shares[e], e in set(right)) for e in guess]
            believed = [shares[e] for e in right]
    found_items = [(ITEM, e) for e in guess]
    gold_items = [(ITEM, e) for e in right or ()]
    return View(
        drawing="path",
        words=list(lattice.words_of(guess)) or [str(lattice.title)],
        found=guess,
        gold=right,
        gold_items=gold_items,
        found_items=found_items,
        counted="edge F1",
        mistakes=0 if right is None else (differing(gold_items, found_items) + 1) // 2,
        size=len(guess),
        certain=certain,
        believed=believed,
        more=more,
        place=lattice.title,
    )
