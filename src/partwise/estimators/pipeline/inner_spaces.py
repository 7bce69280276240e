"""Words with spaces inside, as in Vietnamese: which tokens go on after a space.

Text is first cut at every space; a tagger over what is left says which tokens are the
beginning of a word that goes on. Only a single space can be inside of a word, so that
the form of the word is what stands in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from partwise.data.columns import ColumnData
from partwise.data.surface import Written

GOES_ON, ENDS = "G", "E"
SPACE = " "
FEWEST = 5
"""How many words must have a space inside for it to be learnt."""


class Cut(NamedTuple):
    """A token of a text: its form, and where it is."""

    form: str
    start: int
    end: int


def pieces_of(written: Sequence[Written]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return what stands between spaces in some sentences, and what goes on.

    Returns
    -------
    list of (str, str), list of str
        Every piece with what follows it; and the label of each.
    """
    pieces, labels = [], []
    for one in written:
        for token, gap in zip(one.tokens, one.gaps, strict=True):
            parts = token.form.split(SPACE)
            pieces += [(part, SPACE) for part in parts[:-1]] + [(parts[-1], gap)]
            labels += [GOES_ON] * (len(parts) - 1) + [ENDS]
    return pieces, labels


def as_columns(texts: Sequence[Sequence[tuple[str, str]]]) -> ColumnData:
    """Return what the tagger sees of every piece: itself, and whether a space follows.

    Examples
    --------
    >>> as_columns([[("New", " "), ("York", "")]]).columns
    [['New', 'York'], ['_', '-']]
    """
    forms = [form for text in texts for form, _ in text]
    gaps = ["_" if gap == SPACE else "-" for text in texts for _, gap in text]
    return ColumnData([forms, gaps], np.cumsum([0, *map(len, texts)]))


def join(
    tagger: Any, texts: Sequence[str], tokens: Sequence[list[Cut]]
) -> list[list[Cut]]:
    """Put the pieces of texts together that are one word."""
    seen = [
        [
            (one.form, text[one.end : after.start])
            for one, after in pairwise([*own, Cut("", len(text), len(text))])
        ]
        for text, own in zip(texts, tokens, strict=True)
    ]
    found = tagger.predict(as_columns(seen))
    return [
        list(_joined(text, own, goes_on))
        for text, own, goes_on in zip(texts, tokens, found, strict=True)
    ]


def _joined(text: str, tokens: list[Cut], labels: list[str]) -> Iterable[Cut]:
    begin = 0
    for i, (one, label) in enumerate(zip(tokens, labels, strict=True)):
        goes_on = label == GOES_ON and i + 1 < len(tokens)
        if goes_on and text[one.end : tokens[i + 1].start] == SPACE:
            continue
        start = tokens[begin].start
        yield Cut(text[start : one.end], start, one.end)
        begin = i + 1


SPACE_TEMPLATE = "\n".join(
    [
        *(f"U0{i + 2}:%x[{i},0.lower]" for i in range(-2, 3)),
        *(f"U1{i + 2}:%x[{i},0.short_shape]" for i in range(-1, 3)),
        *(f"U2{i + 2}:%x[{i},0.lower]/%x[{i + 1},0.lower]" for i in range(-2, 2)),
        "U30:%x[0,1]/%x[0,0.short_shape]/%x[1,0.short_shape]",
        "U31:%x[0,0.lower]/%x[1,0.lower]/%x[2,0.lower]",
        "U32:%x[-1,0.lower]/%x[0,0.lower]/%x[1,0.lower]",
        "B",
    ]
)
"""What the tagger for words with spaces inside sees."""
