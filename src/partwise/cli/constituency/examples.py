"""Trees as parsers take them, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.cli.constituency.files import TreesOnly
from partwise.cli.examples import pairs_of
from partwise.cli.options import PartialData
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.pages import View


def labelled(
    model: Any, file: str, *, partial: PartialData = False, files: TreesOnly
) -> tuple[Any, None]:
    """Read trees, which hold their sentences."""
    return [placed.tree for placed in files.read(file, partial)], None


def contrast(gold: str, predicted: str, *, files: TreesOnly) -> list[View]:
    """Put right and predicted trees side by side."""
    from partwise.constituents import words
    from partwise.pages import view_brackets

    both = pairs_of(files.read(gold), files.parses(predicted), gold, predicted)
    for right, found in both:
        if found is not None and words(right.tree) != words(found):
            raise DataError(
                f"{right.place}: the sentence has other words in {predicted}; give two "
                "files with the same sentences"
            )
    return [view_brackets(f, right.tree, place=right.place) for right, f in both]
