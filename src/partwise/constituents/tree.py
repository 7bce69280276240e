"""Trees of phrases above words; every word has a tag of its own, the node above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import NamedTuple, cast

EMPTY_TAG = "-NONE-"
"""The tag of empty elements, such as traces."""

_BOX = (
    "display:inline-block;text-align:center;vertical-align:top;"
    "border-top:1px solid;margin:0 4px"
)
"""How notebooks show a phrase: its label above what it consists of."""

# Labels that begin with a mark, as -LRB- does, have no function tag.
_WITHOUT_FUNCTION = re.compile(r"[^-=]+")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A constituent: a label over phrases, or a tag over one word.

    Parameters
    ----------
    label : str
        The category of the phrase, or the tag of the word.
    children : tuple
        The trees below, at least one; or the word alone.

    Examples
    --------
    >>> dogs = Tree("NP", (Tree("NNS", ("dogs",)),))
    >>> tree = Tree("S", (dogs, Tree("VP", (Tree("VBP", ("bark",)),))))
    >>> print(tree)
    (S (NP (NNS dogs)) (VP (VBP bark)))
    >>> words(tree), tags(tree)
    (('dogs', 'bark'), ('NNS', 'VBP'))
    """

    label: str
    children: tuple[Tree | str, ...]

    def __post_init__(self) -> None:
        """Check what is below."""
        below = self.children
        if not isinstance(self.label, str):
            raise TypeError(f"the label of a tree is text, not {self.label!r}")
        if not isinstance(below, tuple):
            raise TypeError(
                f"the children of {self.label!r} are a {type(below).__name__}; give a "
                'tuple: of trees, or of one word, as in ("dogs",)'
            )
        if not below:
            raise ValueError(f"{self.label!r} has nothing below it: no word, no tree")
        if not all(isinstance(child, Tree) for child in below) and (
            len(below) > 1 or not isinstance(below[0], str)
        ):
            raise ValueError(
                f"{self.label!r} has children that are not trees (every word is the "
                "only child of a tag of its own)"
            )

    @property
    def is_tag(self) -> bool:
        """Whether this is the tag of a word."""
        return isinstance(self.children[0], str)

    @property
    def word(self) -> str:
        """The word of a tag."""
        if not self.is_tag:
            raise ValueError(f"{self.label!r} is not the tag of a word")
        return cast(str, self.children[0])

    @property
    def phrases(self) -> tuple[Tree, ...]:
        """The trees below; none under a tag."""
        return () if self.is_tag else cast("tuple[Tree, ...]", self.children)

    def __eq__(self, other: object) -> bool:
        """Whether labels, words and their arrangement are the same."""
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or _outline(self) == _outline(other)

    def __hash__(self) -> int:
        """Equal trees have equal hashes."""
        return hash(_outline(self))

    def __str__(self) -> str:
        """Return the tree in brackets, on one line."""
        return "".join(_pieces(self)).lstrip(" ")

    def __repr__(self) -> str:
        """Return the tree in brackets, as an object."""
        return f"<Tree {self}>"

    def _repr_html_(self) -> str:
        parts: list[str] = []
        open_ends: list[Tree | str] = [self]
        while open_ends:
            node = open_ends.pop()
            if isinstance(node, str):
                parts.append(node)
                continue
            word = escape(node.word) if node.is_tag else ""
            parts.append(f'<span style="{_BOX}">{escape(node.label)}<br>{word}')
            open_ends += ["</span>", *reversed(node.phrases)]
        return "".join(parts)


class Bracket(NamedTuple):
    """A phrase of a sentence: its label, its first word, and the one after its last.

    Words count from 0.
    """

    label: str
    start: int
    end: int


class RuleApplication(NamedTuple):
    """A rule of a grammar and where it applies in a sentence.

    ``parent`` spans the words from `start` up to `end`, ``left`` those before `split`
    and ``right`` the others; words count from 0, and `split` and `end` are not in their
    spans. The three are symbols of the grammar, see `binarize`.
    """

    parent: str
    left: str
    right: str
    start: int
    split: int
    end: int


def subtrees(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all trees in it, each before those below it.

    Examples
    --------
    >>> a, b = Tree("A", ("a",)), Tree("B", ("b",))
    >>> [node.label for node in subtrees(Tree("S", (a, b)))]
    ['S', 'A', 'B']
    """
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.phrases))


def words(tree: Tree) -> tuple[str, ...]:
    """Return the words of a tree, its yield."""
    return tuple(node.word for node in subtrees(tree) if node.is_tag)


def tags(tree: Tree) -> tuple[str, ...]:
    """Return the tags of the words of a tree."""
    return tuple(node.label for node in subtrees(tree) if node.is_tag)


def spans(tree: Tree) -> tuple[Bracket, ...]:
    """Return the phrases of a tree, tags left out, each before those in it.

    Examples
    --------
    >>> np = Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("end",))))
    >>> spans(Tree("S", (np, Tree("VP", (Tree("VB", ("nears",)),)))))
    (Bracket(label='S', start=0, end=3), Bracket(label='NP', start=0, end=2),
     Bracket(label='VP', start=2, end=3))
    """
    found: list[Bracket] = []
    # A phrase ends when all trees below it are done: a number is its reminder.
    stack: list[Tree | int] = [tree]
    position = 0
    while stack:
        node = stack.pop()
        if isinstance(node, int):
            found[node] = found[node]._replace(end=position)
        elif node.is_tag:
            position += 1
        else:
            stack.append(len(found))
            found.append(Bracket(node.label, position, position))
            stack.extend(reversed(node.phrases))
    return tuple(found)


def clean(tree: Tree) -> Tree:
    """Return a tree without empty elements and function tags.

    Words tagged ``-NONE-`` go, and the phrases that have no other words with them;
    ``NP-SBJ-1`` and ``NP=2`` become ``NP``. Tags of words stay as they are.

    Parameters
    ----------
    tree : Tree
        A tree as annotators made it.

    Returns
    -------
    Tree
        The tree as parsers are trained and scored on it.

    Raises
    ------
    ValueError
        If all words are empty elements.

    Examples
    --------
    >>> trace = Tree("NP-SBJ", (Tree("-NONE-", ("*-1",)),))
    >>> verb = Tree("VP", (Tree("VB", ("go",)),))
    >>> print(clean(Tree("S-NOM", (trace, verb))))
    (S (VP (VB go)))
    """
    done: list[Tree | None] = []
    for node in reversed(list(subtrees(tree))):
        if node.is_tag:
            done.append(None if node.label == EMPTY_TAG else node)
            continue
        below = [done.pop() for _ in node.phrases]
        kept = tuple(child for child in below if child is not None)
        done.append(Tree(without_function(node.label), kept) if kept else None)
    cleaned = done.pop()
    if cleaned is None:
        raise ValueError("the tree has no words other than empty elements")
    return cleaned


@lru_cache(maxsize=1 << 12)
def without_function(label: str) -> str:
    """Return the category of a label.

    Examples
    --------
    >>> without_function("NP-SBJ-1"), without_function("NP=2")
    ('NP', 'NP')
    >>> without_function("-LRB-")
    '-LRB-'
    """
    match = _WITHOUT_FUNCTION.match(label)
    return match.group() if match else label


def _outline(tree: Tree) -> tuple[str | int, ...]:
    """Return what tells trees apart, flat: labels, words and numbers of children."""
    flat: list[str | int] = []
    for node in subtrees(tree):
        flat += (node.label, len(node.phrases))
        if node.is_tag:
            flat.append(node.word)
    return tuple(flat)


def _pieces(tree: Tree) -> Iterator[str]:
    """Yield a tree in brackets, a blank before each that opens."""
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            yield ")"
        elif node.is_tag:
            yield f" ({node.label} {node.word})"
        else:
            yield f" ({node.label}"
            stack.append(None)
            stack.extend(reversed(node.phrases))
