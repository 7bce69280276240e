"""What commands show: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from partwise.characters import printable, safe_json

if TYPE_CHECKING:
    from rich.console import Console

    from partwise.metrics import Scores

# Without a terminal there is no width to ask for; this one fits most logs.
WIDTH_OF_PIPES = 100


def console() -> Console:
    """Return a console on standard output that shows data as it is.

    Data holds brackets and colons, which must not become styles and emoji; colours
    are left out where there is no terminal.
    """
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program knows what to do about it

    width = None if sys.stdout.isatty() else WIDTH_OF_PIPES
    return Plain(width=width, markup=False, emoji=False, highlight=False)


def say(text: str, *, err: bool = False) -> None:
    r"""Print lines that may hold data; what terminals would act on is escaped.

    Examples
    --------
    >>> say("a table\nwith \x1b[31mcolours")
    a table
    with \x1b[31mcolours
    """
    parts = re.split(r"([\n\t])", text)
    parts[::2] = map(printable, parts[::2])
    typer.echo("".join(parts), err=err)


def print_pairs(title: str, pairs: Iterable[tuple[str, object]]) -> None:
    """Show names and values, one pair per line; None is left out.

    Examples
    --------
    >>> print_pairs("corpus", [("sentences", 2000), ("gap", 0.25), ("model", None)])
    corpus
      sentences  2,000
      gap        0.25
    """
    shown = [
        (printable(name), printable(readable(value)))
        for name, value in pairs
        if value is not None
    ]
    width = max((len(name) for name, _ in shown), default=0)
    out = console()
    out.print(printable(title), style="bold")
    for name, value in shown:
        out.print(f"  {name:<{width}}  {value}", soft_wrap=True)


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Show a table, unless it is empty; numbers are aligned to the right."""
    from rich import box
    from rich.table import Table

    cells = [[printable(readable(value)) for value in row] for row in rows]
    if not cells:
        return
    kept = [list(row) for row in rows] if isinstance(rows, list) else cells
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for c, name in enumerate(columns):
        numeric = any(isinstance(row[c], int | float) for row in kept)
        table.add_column(
            printable(name), justify="right" if numeric else "left", overflow="fold"
        )
    for row in cells:
        table.add_row(*row)
    out = console()
    out.print(printable(title), style="bold")
    out.print(table)


def print_scores(title: str, rows: Iterable[tuple[Any, Scores]]) -> None:
    """Show precision, recall and F1 in percent, one row per name."""
    print_table(
        title,
        ["", "precision", "recall", "F1", "number"],
        [
            [str(name), *(Percent(x) for x in scores[:3]), scores.support]
            for name, scores in rows
        ],
    )


class Percent(float):
    """A share that is shown in percent."""

    def __str__(self) -> str:
        """Show two digits after the point."""
        return f"{100 * self:.2f}%"


def readable(value: object) -> str:
    """Return a value as people write it.

    Examples
    --------
    >>> readable(1234567), readable(0.000123456789), readable(Percent(0.5))
    ('1,234,567', '0.000123457', '50.00%')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float) and not isinstance(value, Percent):
        return f"{value:.6g}"
    return str(value)


class Report(NamedTuple):
    """What a command found out: for programs, and how people are shown it."""

    found: Any
    """As JSON, after ``to_dict`` of all that has it."""
    show: Callable[[], None]

    def print(self, json: bool) -> None:
        """Write it to standard output, in one way or the other."""
        if json:
            print_json(self.found)
        else:
            self.show()


def as_json(value: object) -> str:
    """Return JSON in one line; what is not a number becomes null.

    Examples
    --------
    >>> as_json({"gap": float("nan"), "labels": ("B", "O")})
    '{"gap": null, "labels": ["B", "O"]}'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    return safe_json(text)


def print_json(value: object) -> None:
    """Write one JSON object to standard output."""
    typer.echo(as_json(value))


def _plain(value: object) -> Any:
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
