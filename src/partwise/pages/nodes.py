"""Views of graphs whose nodes have labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from partwise.pages.tags import view_tags
from partwise.pages.view import View


def view_graph(
    names: Sequence[str],
    edges: Sequence[tuple[int, int]],
    found: Sequence[Any],
    gold: Sequence[Any] | None = None,
    *,
    directed: bool = False,
    probabilities: Any = None,
    classes: Sequence[Any] = (),
    place: str = "",
) -> View:
    """Return the view of a graph: nodes with their names, edges by their numbers.

    Examples
    --------
    >>> view = view_graph(["a", "b"], [(0, 1)], ["sea", "sea"], ["sea", "land"])
    >>> view.drawing, view.mistakes, view.more["edges"]
    ('graph', 1, [[0, 1]])
    """
    view = view_tags(
        names,
        found,
        gold,
        probabilities=probabilities,
        classes=classes,
        place=place,
    )
    edges_shown = [[int(a), int(b)] for a, b in edges]
    more = {**view.more, "edges": edges_shown, "directed": directed}
    rates = {"node accuracy": view.rates["token accuracy"]}
    return replace(view, drawing="graph", more=more, rates=rates)
