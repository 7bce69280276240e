"""Examples with their outputs: read in pairs, chosen, and written in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.pages import View


def pairs_of(
    gold: Sequence[Any], found: Sequence[Any], file: str, other: str
) -> list[tuple[Any, Any]]:
    """Return right and predicted outputs in pairs; there must be as many of each.

    Examples
    --------
    >>> pairs_of([1], [2, 3], "gold.txt", "found.txt")
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: gold.txt has 1 sentence, but found.txt has 2; give two \
files with the same sentences
    """
    if len(gold) != len(found):
        raise DataError(
            f"{file} has {len(gold)} sentence{'s' * (len(gold) != 1)}, but {other} has "
            f"{len(found)}; give two files with the same sentences"
        )
    return list(zip(gold, found, strict=True))


def choose_views(
    views: Sequence[View],
    label: str | None = None,
    shortest: int | None = None,
    longest: int | None = None,
) -> list[tuple[int, View]]:
    """Return views with their numbers from 1, those with the most mistakes first.

    Parameters
    ----------
    views : sequence of View
        All of them.
    label : str, optional
        Only those that have this label, right or predicted.
    shortest, longest : int, optional
        Only those with so many words.
    """
    kept = [
        (number, view)
        for number, view in enumerate(views, 1)
        if (shortest is None or len(view.words) >= shortest)
        and (longest is None or len(view.words) <= longest)
        and (label is None or label in _labels(view))
    ]
    return sorted(kept, key=lambda one: (-one[1].mistakes, one[0]))


def _labels(view: View) -> set[str]:
    of_pairs = {x for pairs in view.tables.values() for pair in pairs for x in pair}
    return of_pairs | {item[0] for item in (*view.gold_items, *view.found_items)}


def in_words(number: int, view: View) -> str:
    """Return an example as text: what is wrong in it, word by word.

    Examples
    --------
    >>> from partwise.pages import view_tags
    >>> print(in_words(3, view_tags(["the", "dog"], ["D", "V"], ["D", "N"])))
    sentence 3: 1 wrong of 2
      the  D
      dog  N  predicted V
    """
    where = f" ({view.place})" if view.place else ""
    verdict = f"{view.mistakes} wrong of {view.size}" if view.mistakes else "all right"
    lines = [f"sentence {number}{where}: {verdict}"]
    rows = _rows(view)
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
    for word, right, found in rows:
        line = f"  {word:<{widths[0]}}  {right:<{widths[1]}}"
        lines.append((line + (f"  predicted {found}" if found else "")).rstrip())
    return "\n".join(lines)


def _rows(view: View) -> list[tuple[str, str, str]]:
    """Return words, what is right for each, and what is predicted if that differs."""
    if view.drawing == "tree":
        from partwise.pages.brackets import paired_brackets

        return [
            (_phrase(view.words[start:end]), right, found)
            for (start, end), (right, found) in sorted(
                paired_brackets(view.gold_items, view.found_items),
                key=lambda one: (one[0][0], -one[0][1]),
            )
            if right != found
        ]
    if view.drawing == "arcs":
        names = ["ROOT", *view.words]
        said = [
            [
                f"<- {names[head]} {label}"
                for head, label in zip(
                    tree["heads"], tree["labels"] or [""] * len(tree["heads"]),
                    strict=True,
                )
            ]
            for tree in (view.gold, view.found)
        ]  # fmt: skip
    else:
        said = [list(output["labels"]) for output in (view.gold, view.found)]
    return [
        (word, a, b if a != b else "")
        for word, a, b in zip(view.words, *said, strict=True)
    ]


def _phrase(words: Sequence[str]) -> str:
    """Return words as text, without the middle of many.

    Examples
    --------
    >>> _phrase("the dog that chased the old cat barks".split())
    'the dog that ... cat barks'
    """
    kept = words if len(words) <= 6 else [*words[:3], "...", *words[-2:]]
    return " ".join(kept)
