"""Sentences of which some brackets are known, in the place of their trees."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

from partwise.constituents.tree import Tree, spans, subtrees, tags, words

UNKNOWN = "?"
"""The label of a bracket, or the tag of a word, that is not known, in files."""

_LITERAL = "\\?"
"""What a label that is a question mark is written as there."""


class KnownBrackets(NamedTuple):
    """A sentence whose tree is known in part: it has these brackets, and maybe others.

    Attributes
    ----------
    words : tuple of str
        The words.
    brackets : tuple of (label, start, end)
        Words that are known to be a phrase; the label is None if it is not known.
        Words count from 0, and `end` is not in the bracket.
    tags : tuple, optional
        The tags of words; None for one that is not known.

    Examples
    --------
    >>> sentence = KnownBrackets(("the", "dog", "barks"), ((None, 0, 2), ("S", 0, 3)))
    >>> sentence.brackets[0]
    (None, 0, 2)
    """

    words: tuple[str, ...]
    brackets: tuple[tuple[str | None, int, int], ...] = ()
    tags: tuple[str | None, ...] | None = None

    def problem(self) -> str:
        """Say what is wrong with the brackets; nothing if all is well.

        Examples
        --------
        >>> KnownBrackets(("a", "b", "c"), (("X", 0, 2), ("Y", 1, 3))).problem()
        "the brackets ('X', 0, 2) and ('Y', 1, 3) cross"
        """
        n = len(self.words)
        if self.tags is not None and len(self.tags) != n:
            return f"{len(self.tags)} tags for {n} words"
        for one in self.brackets:
            if not _is_bracket(one, n):
                return (
                    f"{one!r} is no bracket (label, start, end) of a sentence of {n} "
                    "words; ends are exclusive, and labels are text or None"
                )
        for one, two in combinations(self.brackets, 2):
            (_, a, b), (_, c, d) = one, two
            if a < c < b < d or c < a < d < b:
                return f"the brackets {tuple(one)} and {tuple(two)} cross"
        return ""


def _is_bracket(one: Any, n: int) -> bool:
    try:
        label, start, end = one
    except (TypeError, ValueError):
        return False
    return (
        (label is None or isinstance(label, str))
        and isinstance(start, int)
        and isinstance(end, int)
        and 0 <= start < end <= n
    )


def read_known(tree: Tree) -> Tree | KnownBrackets:
    r"""Return a tree that is known in part as its brackets; another one as it is.

    A tree is known in part if a label or a tag of it is ``?``. All of its brackets are
    right then, but there may be others. A backslash before it makes ``?`` a label.

    Examples
    --------
    >>> dogs, bark = Tree("?", ("dogs",)), Tree("VBP", ("bark",))
    >>> read_known(Tree("S", (dogs, bark)))
    KnownBrackets(words=('dogs', 'bark'), brackets=(('S', 0, 2),), tags=(None, 'VBP'))
    >>> print(read_known(Tree("S", (Tree(r"\?", ("!",)), bark))))
    (S (? !) (VBP bark))
    """
    if not any(node.label == UNKNOWN for node in subtrees(tree)):
        if any(node.label == _LITERAL for node in subtrees(tree)):
            return _plain(tree)
        return tree
    brackets = tuple((_read(label), start, end) for label, start, end in spans(tree))
    return KnownBrackets(words(tree), brackets, tuple(map(_read, tags(tree))))


def _read(label: str) -> str | None:
    return None if label == UNKNOWN else (UNKNOWN if label == _LITERAL else label)


def _plain(tree: Tree) -> Tree:
    """Return a tree whose labels are what they are written for."""
    done: list[Tree] = []
    for node in reversed(list(subtrees(tree))):
        label = _read(node.label) or UNKNOWN
        if node.is_tag:
            done.append(Tree(label, node.children))
        else:
            done.append(Tree(label, tuple(done.pop() for _ in node.phrases)))
    return done.pop()
