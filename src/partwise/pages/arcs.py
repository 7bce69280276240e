"""Views of dependency trees: a head and a label for every word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.data.treebank import Sentence
from partwise.pages.view import View

LABELS, HEADS = "labels", "heads"
NOT_GIVEN, ROOT, NO_LABEL = "_", "ROOT", "-"


def tags_of(sentence: Sentence) -> Sequence[str] | None:
    """Return the parts of speech, universal ones or else others, if any are given."""
    known = (sentence.upos, sentence.xpos)
    return next((tags for tags in known if set(tags) - {NOT_GIVEN}), None)


def view_arcs(
    found: Sentence, gold: Sentence | None = None, *, marginals: Any = None
) -> View:
    """Return the view of a dependency tree.

    Parameters
    ----------
    found, gold : Sentence
        The predicted and the right tree of the same words.
    marginals : array of shape (n + 1, n + 1), optional
        The probability of every arc, ``[head, dependent]``.

    Examples
    --------
    >>> dogs = Sentence.from_columns(forms=["Dogs", "bark"], heads=[2, 0])
    >>> view = view_arcs(dogs.with_tree([0, 1]), dogs)
    >>> view.mistakes, view.tables["heads"]
    (2, [('bark', 'ROOT'), ('ROOT', 'Dogs')])
    """
    known = gold is not None and gold.heads is not None
    tags = tags_of(found) or (tags_of(gold) if gold is not None else None)
    n = len(found)
    heads, labels = _tree(found)
    right_heads, right_labels = _tree(gold) if known and gold is not None else ([], [])
    labelled = found.labels is not None and (gold is None or gold.labels is not None)
    certain: list[tuple[float, bool]] = []
    shares: list[float] = []
    believed: list[float] | None = None
    if marginals is not None:
        shares = [_share(marginals, heads[m], m + 1) for m in range(n)]
        if known:
            certain = [(shares[m], heads[m] == right_heads[m]) for m in range(n)]
            believed = [_share(marginals, right_heads[m], m + 1) for m in range(n)]
    tables: dict[str, list[tuple[str, str]]] = {}
    if known:
        names = [ROOT, *(tags or found.forms)]
        if labelled:
            tables[LABELS] = list(zip(right_labels, labels, strict=True))
        tables[HEADS] = [
            (names[a], names[b]) for a, b in zip(right_heads, heads, strict=True)
        ]
    right_items = _items(right_heads, right_labels, labelled)
    guess_items = _items(heads, labels, labelled)
    rates: dict[str, tuple[int, int]] = {}
    mistakes = 0
    if known:
        mistakes = sum(a != b for a, b in zip(right_items, guess_items, strict=True))
        with_head = sum(a == b for a, b in zip(right_heads, heads, strict=True))
        rates["UAS"] = (with_head, n)
        if labelled:
            rates["LAS"] = (n - mistakes, n)
    more: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if shares:
        more["sure"] = shares
    return View(
        drawing="arcs",
        words=list(found.forms),
        found={"heads": heads, "labels": labels if found.labels else []},
        gold={"heads": right_heads, "labels": right_labels if labelled else []}
        if known
        else None,
        tables=tables,
        gold_items=right_items,
        found_items=guess_items,
        rates=rates,
        mistakes=mistakes,
        size=n,
        certain=certain,
        believed=believed,
        more=more,
        place=(gold or found).place or "",
    )


def _tree(sentence: Sentence) -> tuple[list[int], list[str]]:
    heads = list(sentence.heads or ())
    return heads, list(sentence.labels or [NO_LABEL] * len(heads))


def _items(
    heads: Sequence[int], labels: Sequence[str], labelled: bool
) -> list[tuple[Any, ...]]:
    return [
        (label if labelled else "arcs", m, head)
        for m, (head, label) in enumerate(zip(heads, labels, strict=True), start=1)
    ]


def _share(marginals: Any, head: int, dependent: int) -> float:
    # Sums over many trees are a little above one now and then.
    return float(min(max(marginals[head, dependent], 0.0), 1.0))
