"""``partwise show``: labels, trees, lattices, in the terminal or as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.drawings import Drawings, choose, write_svg, write_text
from partwise.cli.files import is_model_file
from partwise.cli.kind_options import Options
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.pages import View

LIMIT = 10


def show(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Labels in columns, a treebank or lattices: a file or -.",
        ),
    ],
    predicted: Annotated[
        str | None,
        typer.Argument(
            metavar="[PREDICTED]",
            help="A file with predicted outputs: show how it differs from FILE.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Draw what this model predicts instead."),
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
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write one HTML page with all sentences to this file, or -.",
        ),
    ] = None,
    with_label: Annotated[
        str | None,
        typer.Option(help="With PREDICTED: only sentences with this label."),
    ] = None,
    min_length: Annotated[
        int | None, typer.Option(min=1, help="With PREDICTED: at least N words.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=1, help="With PREDICTED: at most N words.")
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    *,
    options: Options,
) -> None:
    """Draw the trees of a treebank, or those that a parser predicts for it.

    For labels in columns, draw these, or those that a tagger predicts. For lattices,
    one JSON object per line, draw the right path, or the one that a ranker predicts.

    With two files, show how the outputs in PREDICTED differ from those in FILE, worst
    sentences first. With --output, write a page for a browser.
    """
    from partwise.cli.overwriting import refuse_overwriting

    if sentence is not None and limit is not None:
        raise ValueError("give --sentence or --limit, not both")
    options.only_one("marginals", "alternatives", "kbest")
    refuse_overwriting(
        {"--svg": svg, "--output": output},
        {"FILE": file, "PREDICTED": predicted, "--model": model},
    )
    if is_model_file(file):
        raise DataError(f"{file}: is a model (give it as --model, and data as FILE)")
    filters = (with_label, min_length, max_length)
    if predicted is not None or output is not None:
        if svg is not None or ascii:
            raise ValueError("--svg and --ascii are for drawings of one file")
        _show_views(file, predicted, model, output, filters, sentence, limit, options)
        return
    if any(one is not None for one in filters):
        raise ValueError(
            "--with-label, --min-length and --max-length need a second file, PREDICTED"
        )
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


def _show_views(
    file: str,
    predicted: str | None,
    model: str | None,
    output: str | None,
    filters: tuple[str | None, int | None, int | None],
    sentence: int | None,
    limit: int | None,
    options: Options,
) -> None:
    """Show examples with right and predicted outputs, as text or as a page."""
    from dataclasses import replace

    from partwise.cli.examples import choose_views, in_words
    from partwise.cli.output import say
    from partwise.estimators.reporting import doubts_about

    note = ""
    if predicted is not None:
        if model is not None:
            raise ValueError("give PREDICTED or --model, not both")
        views = options.of_files("contrast", file, predicted)(file, predicted)
        title = f"{file} and {predicted}"
    elif model is not None:
        fitted, kind = options.load(model)
        X, y = options.of_model(kind, "labelled", fitted, model)(fitted, file)
        views, title = fitted._views(X, y), f"{file}, predicted by {model}"
        note = doubts_about(fitted)
    else:
        seen = options.of_files("contrast", file, file)(file, file)
        views, title = [_without_right(view) for view in seen], file
    chosen = choose_views(views, *filters)
    if sentence is not None:
        chosen = [one for one in chosen if one[0] == sentence]
    if not chosen:
        raise DataError(f"{file}: no sentence is left to show (loosen the filters)")
    if output is not None:
        from partwise.pages import examples_page
        from partwise.pages.saving import Page

        kept = [
            replace(view, place=view.place or f"sentence {number}")
            for number, view in sorted(chosen, key=lambda one: one[0])
        ][:limit]
        Page(title, examples_page(kept, title, note=note)).save(output)
        return
    for j, (number, view) in enumerate(chosen[: limit or LIMIT]):
        say("\n" * (j > 0) + in_words(number, view))
    if limit is None and len(chosen) > LIMIT:
        say(f"the {LIMIT} worst of {len(chosen)}; --limit N shows more", err=True)


def _without_right(view: View) -> View:
    """Return the view of a file that says what is right, and nothing else."""
    from dataclasses import replace

    return replace(view, gold=None, mistakes=0)
