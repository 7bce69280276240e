"""Trees as parsers take them, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.examples import pairs_of
from partwise.cli.options import PartialData
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.pages import View


def labelled(
    model: Any, file: str, *, partial: PartialData = False, files: TreebankFiles
) -> tuple[Any, None]:
    """Read sentences, which hold their trees."""
    return files.read(file, partial), None


def contrast(gold: str, predicted: str, *, files: TreebankFiles) -> list[View]:
    """Put right and predicted trees side by side."""
    from partwise.pages import view_arcs

    both = pairs_of(files.read(gold), files.read(predicted), gold, predicted)
    views = []
    for number, (right, found) in enumerate(both, 1):
        if right.forms != found.forms:
            raise DataError(
                f"sentence {number} has other words in {predicted} than in {gold} "
                f"({right.place}); give two files with the same sentences"
            )
        if right.heads is None or found.heads is None:
            raise DataError(f"sentence {number} has no heads in one of the files")
        views.append(view_arcs(found, right))
    return views
