"""Views of examples that have a single label, or a value for each of some targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from partwise.pages.view import View

TABLE = "classes"
ONLY = ""
"""The name of the only target."""
MOST_VALUES = 8
"""How many values of a target are shown with their probabilities."""


def view_class(
    shown: Sequence[str],
    found: Mapping[str, Any],
    gold: Mapping[str, Any] | None = None,
    *,
    probabilities: Mapping[str, Mapping[Any, float]] | None = None,
    place: str = "",
) -> View:
    """Return the view of a row.

    Parameters
    ----------
    shown : sequence of str
        What is shown of the row: its values, with their names.
    found, gold : mappings
        The predicted and the right value of every target; the name of the only
        target of a classifier is empty.
    probabilities : mapping, optional
        Of all values of every target.
    place : str
        Where the row was read.

    Examples
    --------
    >>> view = view_class(["x0=1.5"], {"": "cat"}, {"": "dog"})
    >>> view.mistakes, view.tables
    (1, {'classes': [('dog', 'cat')]})
    """
    guess = {name: str(value) for name, value in found.items()}
    right = None if gold is None else {n: str(value) for n, value in gold.items()}
    known = {
        name: {str(value): float(p) for value, p in shares.items()}
        for name, shares in (probabilities or {}).items()
    }
    tables: dict[str, list[tuple[str, str]]] = {}
    for name in guess if right is not None else ():
        tables[name or TABLE] = [((right or {})[name], guess[name])]
    several = len(guess) > 1
    certain: list[tuple[float, bool]] = []
    believed: list[float] | None = None
    if known and right is not None:
        certain = [(known[n][guess[n]], guess[n] == right[n]) for n in guess]
        believed = [known[n].get(right[n], 0.0) for n in guess]
    return View(
        drawing="class",
        words=list(shown),
        found=[[name, value] for name, value in guess.items()],
        gold=None if right is None else [[n, value] for n, value in right.items()],
        tables=tables,
        gold_items=_items(right or {}, several),
        found_items=_items(guess, several),
        rates={
            f"accuracy, {n}" if n else "accuracy": (int(guess[n] == right[n]), 1)
            for n in guess
        }
        if right is not None
        else {},
        mistakes=0 if right is None else sum(guess[n] != right[n] for n in guess),
        size=len(guess),
        certain=certain,
        believed=believed,
        more={"shares": [_most_probable(one) for one in known.values()]}
        if known
        else {},
        place=place,
    )


def _items(values: Mapping[str, str], several: bool) -> list[tuple[Any, ...]]:
    return [
        (f"{name}={value}" if several else value, name)
        for name, value in values.items()
    ]


def _most_probable(shares: Mapping[str, float]) -> list[list[Any]]:
    """Return a few values with their probabilities, the largest first."""
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return [[value, p] for value, p in ranked[:MOST_VALUES]]
