"""``partwise show``: trees and lattices as drawings, in the terminal or as SVG."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli.drawings import Drawings, choose, write_svg, write_text
from partwise.cli.files import is_model_file
from partwise.cli.kind_options import Options
from partwise.errors import DataError

LIMIT = 10


def show(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A treebank or lattices: a file or -."),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Draw what this parser or ranker predicts instead."
        ),
    ] = None,
    sentence: Annotated[
        int | None,
        typer.Option(
            min=1, help="Draw only sentence or lattice N, counted from 1.", metavar="N"
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Draw the first N sentences or lattices (default: {LIMIT}).",
            metavar="N",
        ),
    ] = None,
    svg: Annotated[
        str | None,
        typer.Option(help="Write one SVG to this file, or -, instead of text."),
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    *,
    options: Options,
) -> None:
    """Draw the trees of a treebank, or those that a parser predicts for it.

    For lattices, one JSON object per line, draw the right path, or the one that a
    ranker predicts.
    """
    from partwise.cli.overwriting import refuse_overwriting

    if sentence is not None and limit is not None:
        raise ValueError("give --sentence or --limit, not both")
    options.only_one("marginals", "alternatives", "kbest")
    refuse_overwriting({"--svg": svg}, {"FILE": file, "--model": model})
    if is_model_file(file):
        raise DataError(f"{file}: is a model (give it as --model, and data as FILE)")
    if model is None:
        found: Drawings = options.of_files("draw", file)(file)
    else:
        fitted, kind = options.load(model)
        found = options.of_model(kind, "show", fitted, model)(fitted, file)
    first, last = (sentence, sentence) if sentence else (1, limit or LIMIT)
    chosen, more = choose(found, file, first, last)
    drawings = (
        drawing
        for number, one in enumerate(chosen, first)
        for drawing in found.draw(one, number)
    )
    if svg is not None:
        write_svg(svg, f"{found.what.capitalize()}: {file}", list(drawings))
    else:
        write_text(drawings, ascii)
    if more and sentence is None and limit is None:
        typer.echo(f"the first {LIMIT} {found.one}s; --limit N shows more", err=True)
