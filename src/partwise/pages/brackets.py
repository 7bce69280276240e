"""Views of constituency trees: labelled brackets around words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from partwise.constituents.tree import Bracket, Tree, spans, tags, words
from partwise.pages.view import Item, Pair, View, differing

TABLE = "brackets"
NONE = "(none)"


def confused_brackets(gold: Tree, found: Tree | None) -> list[Pair]:
    """Return the labels of right and of predicted brackets around the same words.

    A bracket that the other tree does not have is paired with "(none)".

    Examples
    --------
    >>> verb = Tree("VBP", ("bark",))
    >>> noun = Tree("NNS", ("dogs",))
    >>> right = Tree("S", (Tree("NP", (noun,)), Tree("VP", (verb,))))
    >>> confused_brackets(right, Tree("S", (Tree("NX", (noun,)), verb)))
    [('S', 'S'), ('NP', 'NX'), ('VP', '(none)')]
    """
    return [
        pair
        for _, pair in paired_brackets(
            spans(gold), () if found is None else spans(found)
        )
    ]


def paired_brackets(
    right: Iterable[Item], guess: Iterable[Item]
) -> list[tuple[tuple[int, int], Pair]]:
    """Return where brackets are, with the labels that two trees give them there."""
    labels: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for k, items in enumerate((right, guess)):
        for label, start, end in items:
            labels.setdefault((start, end), ([], []))[k].append(label)
    pairs: list[tuple[tuple[int, int], Pair]] = []
    for place, (own, others) in labels.items():
        one, other = Counter(own), Counter(others)
        pairs += [(place, (label, label)) for label in (one & other).elements()]
        missed, invented = (one - other).elements(), (other - one).elements()
        for pair in zip_longest(missed, invented, fillvalue=NONE):
            pairs.append((place, pair))
    return pairs


def view_brackets(
    found: Tree | None,
    gold: Tree | None = None,
    *,
    marginals: Mapping[Bracket, float] | None = None,
    place: str = "",
) -> View:
    """Return the view of a constituency tree; `found` is None where there is no parse.

    Examples
    --------
    >>> dogs = Tree("S", (Tree("NNS", ("dogs",)), Tree("VBP", ("bark",))))
    >>> view_brackets(dogs).found
    ['S', ['NNS', 'dogs'], ['VBP', 'bark']]
    """
    shown = found if found is not None else gold
    if shown is None:
        raise ValueError("there is no tree to show")
    right_items: list[Item] = [] if gold is None else [tuple(b) for b in spans(gold)]
    guess_items: list[Item] = [] if found is None else [tuple(b) for b in spans(found)]
    differs = differing(right_items, guess_items)
    certain: list[tuple[float, bool]] = []
    more: dict[str, Any] = {"tags": list(tags(shown))}
    believed: list[float] | None = None
    if marginals is not None and found is not None:
        more["sure"] = [[*b, _share(marginals, b)] for b in spans(found)]
        if gold is not None:
            known = Counter(right_items)
            certain = [(_share(marginals, b), tuple(b) in known) for b in spans(found)]
            believed = [_share(marginals, b) for b in spans(gold)]
    return View(
        drawing="tree",
        words=list(words(shown)),
        found=None if found is None else _nested(found),
        gold=None if gold is None else _nested(gold),
        tables={} if gold is None else {TABLE: confused_brackets(gold, found)},
        gold_items=right_items,
        found_items=guess_items,
        counted="bracket F1",
        mistakes=0 if gold is None else differs,
        # Brackets of both trees, those they share counted once.
        size=(len(right_items) + len(guess_items) + differs) // 2,
        certain=certain,
        believed=believed,
        more=more,
        place=place,
    )


def _share(marginals: Mapping[Bracket, float], bracket: Bracket) -> float:
    return min(float(marginals.get(bracket, 0.0)), 1.0)


def _nested(tree: Tree) -> list[Any]:
    """Return a tree as lists: a label, then what is below it."""
    # Trees may be deeper than Python's own stack.
    made: list[Any] = []
    todo: list[tuple[Tree, list[Any]]] = [(tree, made)]
    while todo:
        node, target = todo.pop()
        target.append(node.label)
        if node.is_tag:
            target.append(node.word)
            continue
        below: Sequence[list[Any]] = [[] for _ in node.children]
        target.extend(below)
        todo.extend(zip(node.phrases, below, strict=True))
    return made
