"""Dependency trees as head arrays: checks, projectivity, lifting.

``heads[m - 1]`` is the head of word ``m``; words count from 1, and 0 is the root,
which stands before the first word. All functions take any sequence of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise.errors import Advice, DataError

__all__ = [
    "check_tree",
    "find_cycle",
    "find_wrong_head",
    "is_projective",
    "lift",
    "n_roots",
    "nonprojective_words",
]

Heads: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]

# A message names at most this many words.
_SHOWN = 12


def find_wrong_head(heads: Heads) -> tuple[int, str] | None:
    """Find a head that is neither 0 nor another word of the sentence.

    Parameters
    ----------
    heads : sequence of int
        The heads.

    Returns
    -------
    tuple of int and str or None
        The first such word and what is wrong with its head; None if there is none.

    Examples
    --------
    >>> find_wrong_head([2, 0, 9])
    (3, 'head 9 is out of range (the sentence has 3 words; the root is 0)')
    >>> find_wrong_head([2, 0, 2]) is None
    True
    """
    n = len(heads)
    for word, head in enumerate(heads, 1):
        if head == word:
            return word, f"head {head} is the word itself (the root is 0)"
        if not 0 <= head <= n:
            noun = "word" if n == 1 else "words"
            return word, (
                f"head {head} is out of range (the sentence has {n} {noun}; the root "
                "is 0)"
            )
    return None


def find_cycle(heads: Heads) -> tuple[int, ...]:
    """Find words that are each other's heads in a circle.

    Parameters
    ----------
    heads : sequence of int
        The heads, each 0 or a word of the sentence.

    Returns
    -------
    tuple of int
        The words of one circle, each followed by its head, from the smallest on;
        empty if every word leads to the root.

    Examples
    --------
    >>> find_cycle([0, 3, 4, 2])
    (2, 3, 4)
    >>> find_cycle([2, 0, 2])
    ()
    """
    # The walk that first came by each word; walks that meet an older one are fine.
    walk_of = [0] * (len(heads) + 1)
    walk_of[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while not walk_of[word]:
            walk_of[word] = start
            word = index(heads[word - 1])
        if walk_of[word] == start:
            return _circle_through(word, heads)
    return ()


def _circle_through(word: int, heads: Heads) -> tuple[int, ...]:
    circle = [word]
    while (head := index(heads[circle[-1] - 1])) != word:
        circle.append(head)
    first = circle.index(min(circle))
    return tuple(circle[first:] + circle[:first])


def n_roots(heads: Heads) -> int:
    """Count the words whose head is the root.

    Parameters
    ----------
    heads : sequence of int
        The heads.

    Returns
    -------
    int
        How many are 0.

    Examples
    --------
    >>> n_roots([2, 0, 0])
    2
    """
    return sum(head == 0 for head in heads)


def check_tree(
    heads: Heads,
    where: str = "tree",
    *,
    single_root: bool = False,
    forms: Sequence[str] | None = None,
) -> None:
    """Raise an error unless the heads are a tree; it says which words are wrong.

    Parameters
    ----------
    heads : sequence of int
        The heads.
    where : str, default="tree"
        What the message begins with, for example the place in a file.
    single_root : bool, default=False
        Whether exactly one word may have the root as its head.
    forms : sequence of str, optional
        The words, to be shown in the message.

    Raises
    ------
    DataError
        If a head is out of range or the word itself, words are each other's heads
        in a circle, or more than one word is a root where one is asked for.

    Examples
    --------
    >>> check_tree([2, 0, 2])
    >>> check_tree([0, 3, 2], "train.conllu:7", forms=["Hush", "little", "baby"])
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: train.conllu:7: words 2 "little", 3 "baby" are each \
other's heads in a circle (every word must lead to the root; correct one of them)
    """
    wrong = find_wrong_head(heads)
    if wrong is not None:
        word, problem = wrong
        named = f"word {_named([word], forms)}"
        raise DataError(f"{named}: {problem}", where=where, part=word - 1)
    cycle = find_cycle(heads)
    if cycle:
        raise DataError(
            f"words {_named(cycle, forms)} are each other's heads in a circle (every "
            "word must lead to the root; correct one of them)",
            where=where,
        )
    if single_root and n_roots(heads) > 1:
        roots = [word for word, head in enumerate(heads, 1) if head == 0]
        raise DataError(
            f"{len(roots)} words have the root as their head, {_named(roots, forms)}, "
            "but one is asked for; attach the others to it",
            where=where,
            advice=[Advice("single_root", False, "allows several roots")],
        )


def _named(words: Sequence[int], forms: Sequence[str] | None) -> str:
    shown = [
        str(word) if forms is None else f'{word} "{forms[word - 1]}"'
        for word in words[:_SHOWN]
    ]
    more = len(words) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def is_projective(heads: Heads) -> bool:
    """Say whether no two arcs cross, with the root before the first word.

    Parameters
    ----------
    heads : sequence of int
        The heads of a tree.

    Returns
    -------
    bool
        Whether the tree can be drawn above the words without crossings.

    Examples
    --------
    >>> is_projective([2, 0, 2]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    # From left to right, of arcs that begin together the longest first, an arc may
    # end no later than those it begins within. Their ends are on the stack.
    arcs = [
        (head, -word) if head < word else (word, -head)
        for word, head in enumerate(map(index, heads), 1)
    ]
    arcs.sort()
    ends = [len(arcs) + 1]
    for left, minus_right in arcs:
        while ends[-1] <= left:
            ends.pop()
        if ends[-1] < -minus_right:
            return False
        ends.append(-minus_right)
    return True


def nonprojective_words(heads: Heads) -> tuple[int, ...]:
    """Find the words whose arc spans a word that does not descend from their head.

    Parameters
    ----------
    heads : sequence of int
        The heads of a tree.

    Returns
    -------
    tuple of int
        The words, from left to right; empty if the tree is projective.

    Raises
    ------
    DataError
        If the heads are not a tree.

    Examples
    --------
    >>> nonprojective_words([3, 4, 0, 3])
    (2,)
    """
    check_tree(heads)
    if is_projective(heads):
        return ()
    spans = _Spans(heads)
    return tuple((np.flatnonzero(spans.nonprojective()) + 1).tolist())


def lift(heads: Heads) -> tuple[int, ...]:
    """Make a tree projective: move words up until no arcs cross.

    While there are non-projective arcs, the shortest (the leftmost of several)
    gets the head of its head, as in pseudo-projective parsing (Nivre and Nilsson
    2005, "Pseudo-projective dependency parsing", section 3). A tree with one root
    keeps it; labels stay with their words.

    Parameters
    ----------
    heads : sequence of int
        The heads of a tree.

    Returns
    -------
    tuple of int
        The heads of a projective tree; a projective one comes back as it is.

    Raises
    ------
    DataError
        If the heads are not a tree.

    Examples
    --------
    >>> lift([3, 4, 0, 3])
    (3, 3, 0, 3)
    """
    check_tree(heads)
    if is_projective(heads):
        return tuple(map(index, heads))
    spans = _Spans(heads)
    while True:
        wrong = np.flatnonzero(spans.nonprojective())
        if not wrong.size:
            return tuple(spans.heads.tolist())
        lengths = spans.right[wrong] - spans.left[wrong]
        spans.lift(int(wrong[np.argmin(lengths)]) + 1)


class _Spans:
    """What lies under each arc of a tree, kept up to date while words are lifted."""

    def __init__(self, heads: Heads) -> None:
        n = len(heads)
        self.heads = np.array(heads, dtype=np.int64)
        self.words = np.arange(1, n + 1)
        # descends[h, m]: m is h or descends from it.
        self.descends = np.zeros((n + 1, n + 1), dtype=np.bool_)
        self.descends[0] = True
        for word in range(1, n + 1):
            above = word
            while above:
                self.descends[above, word] = True
                above = index(heads[above - 1])
        # below[h, m]: how many of the words up to m descend from h.
        self.below = np.cumsum(self.descends, axis=1, dtype=np.int64)

    @property
    def left(self) -> NDArray[np.int64]:
        """The left end of each word's arc."""
        return np.minimum(self.heads, self.words)

    @property
    def right(self) -> NDArray[np.int64]:
        """The right end of each word's arc."""
        return np.maximum(self.heads, self.words)

    def nonprojective(self) -> NDArray[np.bool_]:
        """Say for each word whether its arc spans what its head does not govern."""
        left, right = self.left, self.right
        governed = self.below[self.heads, right - 1] - self.below[self.heads, left]
        wrong: NDArray[np.bool_] = governed < right - left - 1
        return wrong

    def lift(self, word: int) -> None:
        """Give a word the head of its head, which alone loses descendants."""
        head = self.heads[word - 1]
        self.heads[word - 1] = self.heads[head - 1]
        self.descends[head] &= ~self.descends[word]
        np.cumsum(self.descends[head], out=self.below[head])
