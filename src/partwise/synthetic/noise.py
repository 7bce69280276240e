"""Deliberately wrong labels, such as annotators make and models must cope with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from partwise.synthetic.draws import Uniform

CHUNK_TYPES = ("ADJP", "ADVP", "NP", "PP", "PRT", "SBAR", "VP")


def disturb_tags(
    tags: Sequence[str], every_tag: Sequence[str], noise: float, draw: Uniform
) -> tuple[str, ...]:
    """Replace each tag by another one, with probability `noise`.

    Examples
    --------
    >>> disturb_tags(["DT", "NN"], ["DT", "NN"], 1.0, lambda: 0.5)
    ('NN', 'DT')
    """
    return tuple(
        [_another(tag, every_tag, draw) if draw() < noise else tag for tag in tags]
    )


def disturb_chunks(
    chunks: Sequence[str], noise: float, draw: Uniform
) -> tuple[str, ...]:
    """Leave out, retype or cut in two each chunk, with probability `noise`.

    The result is valid BIO coding if `chunks` is.

    Examples
    --------
    >>> disturb_chunks(["B-NP", "I-NP", "O"], 1.0, lambda: 0.5)
    ('B-NP', 'B-NP', 'O')
    """
    disturbed: list[str] = []
    for kind, length in _spans(chunks):
        labels = ["O"] if kind == "O" else _coded(kind, length)
        if kind != "O" and draw() < noise:
            way = int(draw() * 3)
            if way == 0:
                labels = ["O"] * length
            elif way == 1 and length > 1:
                labels[1 + int(draw() * (length - 1))] = f"B-{kind}"
            else:
                labels = _coded(_another(kind, CHUNK_TYPES, draw), length)
        disturbed.extend(labels)
    return tuple(disturbed)


def _coded(kind: str, length: int) -> list[str]:
    return [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)


def _spans(chunks: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield type and length of every chunk, and ("O", 1) for words outside."""
    starts = 0
    numbered = []
    for label in chunks:
        starts += label[0] != "I"
        numbered.append((starts, label.partition("-")[2] or "O"))
    for (_, kind), words in groupby(numbered):
        yield kind, len(list(words))


def _another(item: str, items: Sequence[str], draw: Uniform) -> str:
    others = [other for other in items if other != item]
    return others[int(draw() * len(others))]
