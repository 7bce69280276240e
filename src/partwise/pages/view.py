"""A view: what there is to see of one example, whatever kind of output it has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

Pair: TypeAlias = tuple[str, str]
"""A right label, and the one that was predicted instead."""
Item: TypeAlias = tuple[Any, ...]
"""Something that is right or wrong as a whole: its label, then where it is."""

LEAST = 1e-12
"""No probability counts as less, so that surprise stays a number."""


class Reason(NamedTuple):
    """Why a decision went as it did: the runner-up, and what told them apart.

    Attributes
    ----------
    at : int
        The number of the word, node or edge, from 0.
    label, runner_up : str
        What was chosen, and what would have been chosen otherwise.
    margin : float
        By how much the score was higher.
    features : sequence of (str, str, float)
        Features, whom they speak for, and how much they add to the margin.
    """

    at: int
    label: str
    runner_up: str
    margin: float
    features: Sequence[tuple[str, str, float]]


@dataclass(frozen=True, kw_only=True)
class View:
    """One example: its words, what was found, and what is right if that is known.

    Attributes
    ----------
    drawing : str
        How it is drawn: "tags", "arcs", "tree", "path", "graph" or "class".
    words : sequence of str
        What is written in a row: words, names of nodes, values of a row.
    found, gold : object
        The outputs, made of lists, strings and numbers; `gold` is None if unknown.
    tables : mapping of str to sequence of pairs
        Decisions by what they are about: right and predicted label of each.
    gold_items, found_items : sequences of tuples
        What precision and recall count.
    counted : str
        What their F1 is called; empty where the rates say it all.
    rates : mapping of str to (int, int)
        How many of how many are right, by name.
    mistakes, size : int
        How many decisions are wrong, and how many there are.
    certain : sequence of (float, bool)
        The probability of each decision, and whether it is right.
    believed : sequence of float, optional
        The probability of each decision of the right output.
    margin : float, optional
        By how much the best output beats the second best.
    second : object, optional
        The second best output, as `found`.
    more : mapping
        What only one kind of drawing needs.
    reasons : sequence of Reason
        Why decisions went wrong.
    place : str
        Where it was read.
    """

    drawing: str
    words: Sequence[str]
    found: Any
    gold: Any = None
    tables: Mapping[str, Sequence[Pair]] = field(default_factory=dict)
    gold_items: Sequence[Item] = ()
    found_items: Sequence[Item] = ()
    counted: str = ""
    rates: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    mistakes: int = 0
    size: int = 0
    certain: Sequence[tuple[float, bool]] = ()
    believed: Sequence[float] | None = None
    margin: float | None = None
    second: Any = None
    more: Mapping[str, Any] = field(default_factory=dict)
    reasons: Sequence[Reason] = ()
    place: str = ""

    @property
    def surprise(self) -> float | None:
        """How improbable the right output is: ``-ln p``, summed over its decisions."""
        return None if self.believed is None else surprise_of(self.believed)

    @property
    def doubt(self) -> float | None:
        """How much more probable another decision is than the right one, at most.

        The logarithm of the ratio; where decisions are not one for one, as brackets,
        the other one counts as certain.
        """
        if self.believed is None:
            return None
        others = [1.0] * len(self.believed)
        if len(self.certain) == len(self.believed):
            others = [p for p, _ in self.certain]
        ratios = [
            surprise_of([right]) - surprise_of([other])
            for right, other in zip(self.believed, others, strict=True)
        ]
        return max(ratios, default=0.0)

    def with_second(self, other: View | None, margin: float | None) -> View:
        """Return the view with the second best output, that of another view."""
        second = None if other is None else other.found
        return replace(self, second=second, margin=margin)


def surprise_of(probabilities: Sequence[float]) -> float:
    """Return the sum of ``-ln p``.

    Examples
    --------
    >>> round(surprise_of([1.0, 0.5, 0.5]), 4)
    1.3863
    """
    return sum(-math.log(min(max(p, LEAST), 1.0)) for p in probabilities)


def differing(gold: Sequence[Item], found: Sequence[Item]) -> int:
    """Return how many items are missing or too many.

    Examples
    --------
    >>> differing([("NP", 0, 2), ("VP", 2, 3)], [("NP", 0, 2), ("PP", 2, 3)])
    2
    """
    right, guess = Counter(gold), Counter(found)
    return (right - guess).total() + (guess - right).total()
