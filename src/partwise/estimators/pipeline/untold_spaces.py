"""Where spaces are likely, for treebanks that do not say where tokens touch.

A treebank without ``SpaceAfter=No`` and without comments ``# text`` looks as if a space
stood before every full stop. What is learnt from it would leave full stops on words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from partwise.data.surface import Written, is_unspaced

CLOSING = ("Pe", "Pf")
OPENING = ("Ps", "Pi")
OTHER_MARKS = "Po"
BEGINNING = "¿¡"
NOT_ATTACHED = "\"'&@#*/\\†‡§%"


def says_nothing(paragraphs: Sequence[Sequence[Written]]) -> bool:
    """Say whether there is a space between all tokens, marks included."""
    tokens = [one for paragraph in paragraphs for one in paragraph]
    if any(gap == "" for one in tokens for gap in one.gaps[:-1]):
        return False
    return any(_touches(*pair) for one in tokens for pair in pairwise(_forms(one)))


def with_likely_spaces(
    paragraphs: Sequence[Sequence[Written]],
) -> list[list[Written]]:
    """Return paragraphs in which marks stand at the words they belong to.

    Examples
    --------
    >>> from partwise.data.surface import SurfaceToken
    >>> tokens = [SurfaceToken(form, 0, 0) for form in ["Hush", "(", "now", ")", "!"]]
    >>> [[made]] = with_likely_spaces([[Written("", tokens, [" "] * 5)]])
    >>> made.gaps
    [' ', '', '', '', ' ']
    """
    return [
        [
            one._replace(
                gaps=[
                    *(
                        "" if _touches(*pair) else gap
                        for pair, gap in zip(
                            pairwise(_forms(one)), one.gaps, strict=False
                        )
                    ),
                    "" if is_unspaced(one.tokens[-1].form[-1]) else one.gaps[-1],
                ]
            )
            for one in paragraph
        ]
        for paragraph in paragraphs
    ]


def _forms(written: Written) -> list[str]:
    return [token.form for token in written.tokens]


def _touches(before: str, after: str) -> bool:
    """Say whether two tokens are likely to touch."""
    if is_unspaced(before[-1]) and is_unspaced(after[0]):
        return True
    ends, begins = unicodedata.category(before[-1]), unicodedata.category(after[0])
    if ends in OPENING or before[-1] in BEGINNING:
        return True
    is_mark = begins == OTHER_MARKS and after[0] not in BEGINNING + NOT_ATTACHED
    return begins in CLOSING or is_mark
