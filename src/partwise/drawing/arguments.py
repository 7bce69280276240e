"""What is to be drawn, checked: a dependency tree, or probabilities of its arcs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import TypeVar

EMPTY = "(no words)"
# Probabilities are sums of many terms, and may miss 0 and 1 by a little.
ROUNDING = 1e-6

T = TypeVar("T")


@dataclass(frozen=True)
class DependencyTree:
    """Words, the head of each, and what is known of the arcs.

    ``heads[m - 1]`` is the head of word m; words count from 1, and 0 is the root.
    """

    forms: list[str]
    heads: list[int]
    labels: list[str] | None
    probabilities: list[float] | None
    tags: list[str] | None

    @classmethod
    def checked(
        cls,
        forms: Iterable[str],
        heads: Iterable[int],
        labels: Iterable[str] | None = None,
        probabilities: Iterable[float] | None = None,
        tags: Iterable[str] | None = None,
    ) -> DependencyTree:
        """Return a tree of plain Python values; refuse what does not fit together."""
        words = list(forms)
        shares = _each_word(probabilities, words, "probabilities")
        return cls(
            words,
            checked_heads(heads, words),
            _each_word(labels, words, "labels"),
            shares and [checked_share(p, f"word {m}") for m, p in enumerate(shares, 1)],
            _each_word(tags, words, "tags"),
        )


def checked_heads(heads: Iterable[int], words: list[str]) -> list[int]:
    """Return one head per word; refuse numbers out of range, and cycles."""
    found = [index(head) for head in _each_word(heads, words, "heads") or ()]
    for m, head in enumerate(found, start=1):
        if not 0 <= head <= len(words) or head == m:
            raise ValueError(
                f"word {m} has head {head} (a head is 0, the root, or another word "
                f"from 1 to {len(words)})"
            )
    leaves_first(found)
    return found


def leaves_first(heads: list[int]) -> list[int]:
    """Return the words so that each comes after its dependents, low subtrees first.

    Raises
    ------
    ValueError
        If there is a cycle.

    Examples
    --------
    >>> leaves_first([2, 3, 0, 3])
    [1, 4, 2, 3]
    """
    waiting = [0] * (len(heads) + 1)
    for head in heads:
        waiting[head] += 1
    order = [m for m in range(1, len(heads) + 1) if not waiting[m]]
    # The list grows while it is read: a word joins when its last dependent is done.
    for m in order:
        head = heads[m - 1]
        waiting[head] -= 1
        if head and not waiting[head]:
            order.append(head)
    if len(order) < len(heads):
        m = next(m for m in range(1, len(heads) + 1) if waiting[m])
        path = [m]
        while (m := heads[m - 1]) not in path:
            path.append(m)
        cycle = " -> ".join(map(str, [*path[path.index(m) :], m]))
        raise ValueError(f"the heads are not a tree: words {cycle} form a cycle")
    return order


def checked_marginals(
    mu: Iterable[Iterable[float]], words: list[str]
) -> list[list[float]]:
    """Return ``mu[h][m]``, the probability that h is the head of m, as lists."""
    size = len(words) + 1
    rows = [[float(p) for p in row] for row in mu]
    if len(rows) != size or any(len(row) != size for row in rows):
        raise ValueError(
            f"mu must have {size} rows and columns: one per word and one, the first, "
            f"for the root; there are {len(words)} words and {len(rows)} rows"
        )
    for m in range(1, size):
        for h in range(size):
            # A word is never its own head, whatever is stored there.
            rows[h][m] = 0.0 if h == m else checked_share(rows[h][m], f"word {m}")
    return rows


def _each_word(
    values: Iterable[T] | None, words: list[str], name: str
) -> list[T] | None:
    if values is None:
        return None
    found = list(values)
    if len(found) != len(words):
        raise ValueError(
            f"there are {len(words)} words and {len(found)} {name} (give one per word)"
        )
    return found


def checked_share(probability: float, owner: str) -> float:
    """Return a probability that rounding may have left a little outside [0, 1]."""
    p = float(probability)
    if not -ROUNDING <= p <= 1 + ROUNDING:
        raise ValueError(f"{owner} has a probability of {p} (it must be in [0, 1])")
    return min(max(p, 0.0), 1.0)
