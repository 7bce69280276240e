"""Drawings of ``partwise show``: what they have in common, how they are written."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import typer

from partwise.errors import DataError


class Drawing(NamedTuple):
    """Something that can be drawn."""

    title: str
    """What is written above it."""
    as_text: Callable[[int | None, bool], str]
    """Draws it for a terminal, of a width, maybe in ASCII characters only."""
    as_svg: Callable[[], str]
    """Draws it as SVG."""


Drawn: TypeAlias = Iterator[Drawing]


class Drawings(NamedTuple):
    """The items of a file, and how to draw each: as one drawing or several."""

    items: Iterable[Any]
    draw: Callable[[Any, int], Drawn]
    """Takes an item and its number, from 1."""
    one: str = "sentence"
    """What messages call an item."""
    what: str = "trees"
    """What messages call all that is drawn."""


def ranked_title(title: str, rank: int, score: float) -> str:
    """Return the title of one of the best outputs.

    Examples
    --------
    >>> ranked_title("sentence 3", 2, 1.5)
    'sentence 3, rank 2, score 1.500'
    """
    return f"{title}, rank {rank}, score {score:.3f}"


def choose(
    drawings: Drawings, path: str, first: int, last: int
) -> tuple[list[Any], bool]:
    """Return the items from one number to another, and whether more follow.

    The file is read no further than that.
    """
    found: list[Any] = []
    number = 0
    for number, one in enumerate(drawings.items, 1):
        if number > last:
            return found, True
        if number >= first:
            found.append(one)
    if not number:
        raise DataError(f"{path}: holds no {drawings.what} to draw")
    if not found:
        raise DataError(
            f"{path}: has {number} {drawings.one}s to draw; there is no "
            f"{drawings.one} {first}"
        )
    return found, False


def _shows_boxes() -> bool:
    """Say whether standard output can show the characters that lines are made of."""
    from partwise.drawing.text import BOX

    try:
        "".join(BOX).encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def write_text(drawings: Iterator[Drawing], ascii_only: bool) -> None:
    """Write drawings below each other to standard output."""
    from partwise.cli.output import say

    ascii_only = ascii_only or not _shows_boxes()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for i, drawing in enumerate(drawings):
        say("\n" * (i > 0) + drawing.title)
        typer.echo(drawing.as_text(width, ascii_only))


def write_svg(target: str, title: str, drawings: list[Drawing]) -> None:
    """Write drawings to one SVG; the title is that of several."""
    from partwise.data import open_output
    from partwise.drawing import draw_svg_page

    drawn = [drawing.as_svg() for drawing in drawings]
    text = drawn[0] if len(drawn) == 1 else draw_svg_page(drawn, title=title)
    with open_output(target) as out:
        out.write(text + "\n")
