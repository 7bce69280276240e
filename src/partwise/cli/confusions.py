"""Which labels, heads and brackets are taken for which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partwise.metrics import ConfusionTable
    from partwise.pages import View

SHOWN = 10
"""How many of the most frequent mistakes are shown."""


def found_confusions(views: Sequence[View]) -> dict[str, ConfusionTable]:
    """Return confusion tables by what they are about: labels, heads, brackets."""
    from partwise.pages import confusions

    return confusions(views)


def show_confusions(tables: Mapping[str, ConfusionTable]) -> None:
    """Show the most frequent mistakes; whole tables of trees would be too wide."""
    from partwise.cli.output import print_table, say

    for name, table in tables.items():
        errors = [list(row) for row in table.most_confused(SHOWN)]
        say("")
        if errors:
            columns = ["right", "predicted", "times"]
            print_table(f"most frequent mistakes: {name}", columns, errors)
        else:
            say(f"no mistakes: {name}")
