r"""Binary trees, as chart parsers need them, and back.

`binarize` makes a tree of nodes that have two children or one word, and `restore`
undoes it exactly. A symbol of the binary tree says what it stands for:

====================  =====================================================
``NP``                a phrase or a tag
``S+VP``              a chain: ``S`` whose only child is ``VP``
``VP|NP``             the rest of a ``VP`` after its child ``NP``
``NP^S``, ``VP|NP^S`` the same below an ``S`` (with ``vertical=2``)
====================  =====================================================

Where a label itself has one of these marks, or a backslash, a backslash comes
before it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from partwise.constituents.tree import Tree, subtrees

_MARK = re.compile(r"[\\+|^]")
_PIECE = re.compile(r"\\.|[+|^]|[^\\+|^]+|\\", re.DOTALL)


class Symbol(NamedTuple):
    """What a label of a binary tree stands for.

    Parameters
    ----------
    labels : tuple of str
        The labels of a chain from the top; mostly one.
    is_rest : bool
        Whether it is not a constituent but the rest of one.
    """

    labels: tuple[str, ...]
    is_rest: bool


def binarize(tree: Tree, *, horizontal: int | None = 1, vertical: int = 1) -> Tree:
    """Return the tree with two children or one word at every node.

    Parameters
    ----------
    tree : Tree
        Any tree.
    horizontal : int or None, default=1
        How many of the children before it the rest of a phrase remembers; None is
        all of them, so that only sequences of children that were seen are parsed.
    vertical : int, default=1
        How many generations a phrase knows, itself included: with 2 its label
        names its parent, too. Tags of words never do.

    Returns
    -------
    Tree
        `restore` makes the first one of it again.

    Examples
    --------
    >>> verb, noun = Tree("VB", ("buy",)), Tree("NNS", ("shares",))
    >>> time = Tree("NP", (Tree("NN", ("today",)),))
    >>> tree = Tree("S", (Tree("VP", (verb, Tree("NP", (noun,)), time)),))
    >>> print(binarize(tree))
    (S+VP (VB buy) (VP|VB (NP+NNS shares) (NP+NN today)))
    >>> print(binarize(tree, vertical=2))
    (S+VP (VB buy) (VP|VB^S (NP+NNS^VP shares) (NP+NN^VP today)))
    >>> restore(binarize(tree)) == tree
    True
    """
    if horizontal is not None and horizontal < 0:
        raise ValueError(
            f"horizontal={horizontal} is below 0; give a count of siblings, or None"
        )
    if vertical < 1:
        raise ValueError(f"vertical={vertical} is below 1; 1 is the label alone")
    done: list[Tree] = []
    for chain, ancestors in reversed(_chains(tree, vertical - 1)):
        bottom = chain[-1]
        label = "+".join(_escaped(node.label) for node in chain)
        if len(chain) > 1 or not bottom.is_tag:
            label += _annotation(ancestors)
        if bottom.is_tag:
            done.append(Tree(label, bottom.children))
            continue
        children = [done.pop() for _ in bottom.phrases]
        siblings = [_escaped(child.label) for child in bottom.phrases]
        name = _escaped(bottom.label)
        annotation = _annotation(_nearest(chain[:-1], ancestors, vertical - 1))
        rest = children[-1]
        for i in reversed(range(1, len(children) - 1)):
            first = 0 if horizontal is None else max(0, i - horizontal)
            seen = "|".join(siblings[first:i])
            rest = Tree(f"{name}|{seen}{annotation}", (children[i], rest))
        done.append(Tree(label, (children[0], rest)))
    return done.pop()


def restore(tree: Tree) -> Tree:
    r"""Return the tree that a binary tree stands for: the inverse of `binarize`.

    Parameters
    ----------
    tree : Tree
        A tree of symbols as `binarize` makes them, in any arrangement: a parser may
        put them together as no tree of its treebank did. The rest of a phrase
        becomes children of the node above it, whatever that is; at the root, or
        over a word, it becomes the phrase itself.

    Returns
    -------
    Tree
        Without ``+``, ``|`` and ``^`` other than those of the labels themselves.

    Examples
    --------
    >>> a, b = Tree("A+X", ("a",)), Tree("B", ("b",))
    >>> print(restore(Tree("S", (a, Tree("S|A", (b, a))))))
    (S (A (X a)) (B b) (A (X a)))
    """
    # What each node becomes: trees from the right to the left, as lists that grow
    # at their end take the children before them for little.
    done: list[list[Tree]] = []
    for node in reversed(list(subtrees(tree))):
        symbol = read_symbol(node.label)
        if node.is_tag:
            done.append([_chain(symbol.labels, node.children)])
            continue
        parts = [done.pop() for _ in node.phrases]
        below = parts.pop()
        for part in reversed(parts):
            below.extend(part)
        if symbol.is_rest and node is not tree:
            done.append(below)
        else:
            done.append([_chain(symbol.labels, tuple(reversed(below)))])
    return done.pop()[0]


@lru_cache(maxsize=1 << 14)
def read_symbol(symbol: str) -> Symbol:
    r"""Return what a label of a binary tree stands for; every string is one.

    Examples
    --------
    >>> read_symbol("S+VP^ROOT")
    Symbol(labels=('S', 'VP'), is_rest=False)
    >>> read_symbol("VP|NP")
    Symbol(labels=('VP',), is_rest=True)
    >>> read_symbol(r"ADVP\|PRT").labels
    ('ADVP|PRT',)
    """
    labels = [""]
    for piece in _PIECE.findall(symbol):
        if piece == "+":
            labels.append("")
        elif piece in "|^":
            return Symbol(tuple(labels), piece == "|")
        else:
            labels[-1] += piece[1:] if len(piece) == 2 and piece[0] == "\\" else piece
    return Symbol(tuple(labels), False)


def without_memory(symbol: str) -> str:
    r"""Return a label of a binary tree without what it remembers: the coarsest one.

    It is the one that ``binarize(tree, horizontal=0, vertical=1)`` has in its place.

    Examples
    --------
    >>> without_memory("VP|NP^S"), without_memory("S+VP^ROOT"), without_memory("NP^2")
    ('VP|', 'S+VP', 'NP')
    >>> print(without_memory(r"ADVP\|PRT^S"))
    ADVP\|PRT
    """
    found = ""
    for piece in _PIECE.findall(symbol):
        if piece == "^":
            break
        found += piece
        if piece == "|":
            break
    return found


def _chains(tree: Tree, n_known: int) -> list[tuple[list[Tree], tuple[str, ...]]]:
    """Return all chains of only children from the top, and the labels above each."""
    found = []
    stack: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
    while stack:
        node, ancestors = stack.pop()
        chain = [node]
        while len(node.phrases) == 1:
            node = node.phrases[0]
            chain.append(node)
        found.append((chain, ancestors))
        known = _nearest(chain, ancestors, n_known)
        stack.extend((child, known) for child in reversed(node.phrases))
    return found


def _nearest(
    chain: list[Tree], ancestors: tuple[str, ...], n_known: int
) -> tuple[str, ...]:
    """Return the labels above what is below a chain, the nearest first."""
    labels = tuple(node.label for node in reversed(chain[-n_known:] if n_known else []))
    return (labels + ancestors)[:n_known]


def _annotation(ancestors: tuple[str, ...]) -> str:
    return "".join("^" + _escaped(label) for label in ancestors)


def _chain(labels: tuple[str, ...], children: tuple[Tree | str, ...]) -> Tree:
    *above, last = labels
    tree = Tree(last, children)
    for label in reversed(above):
        tree = Tree(label, (tree,))
    return tree


@lru_cache(maxsize=1 << 12)
def _escaped(label: str) -> str:
    return _MARK.sub(r"\\\g<0>", label)
