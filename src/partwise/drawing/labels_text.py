"""Labelled words as text: one on each line, with its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.characters import display_width, pad, printable


def draw_labels_text(
    words: Sequence[str],
    labels: Sequence[Any],
    probabilities: Sequence[float] | None = None,
    *,
    ascii_only: bool = False,
) -> str:
    """Draw a labelled sequence as text.

    Parameters
    ----------
    words : sequence of str
        The words.
    labels : sequence
        One per word.
    probabilities : sequence of float, optional
        How sure each label is.
    ascii_only : bool
        Escape all other characters.

    Returns
    -------
    str
        One line for every word.

    Examples
    --------
    >>> print(draw_labels_text(["New", "York"], ["B-LOC", "I-LOC"], [0.9, 0.8]))
    New   B-LOC  0.90
    York  I-LOC  0.80
    """
    if len(words) != len(labels):
        raise ValueError(f"{len(words)} words need as many labels, not {len(labels)}")
    columns = [[printable(str(x), ascii_only) for x in row] for row in (words, labels)]
    if probabilities is not None:
        columns.append([f"{p:.2f}" for p in probabilities])
    widths = [max(map(display_width, column), default=0) for column in columns]
    rows = zip(*columns, strict=True)
    return "\n".join("  ".join(map(pad, row, widths)).rstrip() for row in rows)
