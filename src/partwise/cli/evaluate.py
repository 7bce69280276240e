"""``partwise evaluate``: how good predictions are."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli.files import is_model_file
from partwise.cli.kind_options import Options
from partwise.cli.options import AsJson
from partwise.errors import DataError


def evaluate(
    first: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]",
            help="A model saved by `partwise train`, or a file with right outputs.",
        ),
    ],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Labelled data: a file or -; or a file with predicted outputs.",
        ),
    ] = None,
    json: AsJson = False,
    *,
    options: Options,
) -> None:
    """Evaluate a model on labelled data, or predictions made earlier.

    With MODEL and FILE, predict and compare. Without a model, the files hold the right
    and the predicted outputs.
    """
    if second is not None and is_model_file(first):
        model, kind = options.load(first)
        report = options.of_model(kind, "evaluate", model, first)(model, second)
    else:
        files = [first] if second is None else [first, second]
        _check_files(files)
        report = options.of_files("compare", *files)(*files)
    report.print(json)


def _check_files(files: list[str]) -> None:
    if files == ["-", "-"]:
        raise ValueError("GOLD and PREDICTED cannot both be standard input")
    for path in filter(is_model_file, files):
        data = next((other for other in files if other != path), "FILE")
        advice = (
            "give it first" if len(files) == 2 else "give the labelled data as well"
        )
        raise DataError(
            f"{path}: is a model ({advice}: partwise evaluate {path} {data})"
        )
