"""``partwise show``: trees and lattices as drawings, in the terminal or as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from partwise.cli.drawings import Asked, Drawing, choose, write_svg, write_text
from partwise.cli.options import FILES, Encoding, KeepFunctions, ShownFormat
from partwise.errors import DataError, PartwiseError

LIMIT = 10


def show(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A treebank, or lattices: a file or -."),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Draw what this parser, or ranker, predicts instead."
        ),
    ] = None,
    sentence: Annotated[
        int | None,
        typer.Option(min=1, help="Only sentence N, counted from 1.", metavar="N"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"The first N sentences (default: {LIMIT}).",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    svg: Annotated[
        str | None,
        typer.Option(help="Write one SVG there instead of text: a file or -."),
    ] = None,
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals",
            help="With --model: show the probability of each arc, bracket or edge.",
        ),
    ] = False,
    alternatives: Annotated[
        bool,
        typer.Option(
            "--alternatives",
            help="With --model: show what other heads are probable, too.",
        ),
    ] = False,
    kbest: Annotated[
        int | None, typer.Option(min=1, help="With --model: draw the K best.")
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    format: Annotated[
        ShownFormat | None,
        typer.Option(
            help="How the file is laid out (default: told from its name or its first "
            "word).",
            rich_help_panel=FILES,
            show_default=False,
        ),
    ] = None,
    keep_functions: KeepFunctions = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Draw the trees of a treebank, or those that a parser predicts for it.

    Of lattices, one a line as JSON, draw the right path, or the one that a ranker
    predicts.
    """
    from partwise.cli.overwriting import refuse_overwriting

    if sentence is not None and limit is not None:
        raise ValueError("give --sentence or --limit, not both")
    _check_model_options(model, marginals, alternatives, kbest)
    refuse_overwriting({"--svg": svg}, {"FILE": file, "--model": model})
    from partwise.cli.kinds import is_model_file

    if is_model_file(file):
        raise DataError(
            f"{file}: is a model (give it as --model, and a treebank as FILE)"
        )
    parser = None if model is None else _load_parser(model)
    first, last = (sentence, sentence) if sentence else (1, limit or LIMIT)
    asked = Asked(parser, marginals, alternatives, kbest)
    read, draw = _of_kind(file, asked, format, encoding, keep_functions)
    chosen, more = choose(read(file), file, first, last)
    drawings = (
        drawing
        for number, one in enumerate(chosen, first)
        for drawing in draw(one, number, asked)
    )
    if svg is not None:
        write_svg(svg, file, list(drawings))
    else:
        write_text(drawings, ascii)
    if more and sentence is None and limit is None:
        typer.echo(f"the first {LIMIT} sentences; --limit N shows more", err=True)


def _check_model_options(
    model: str | None, marginals: bool, alternatives: bool, kbest: int | None
) -> None:
    given = {
        "--marginals": marginals,
        "--alternatives": alternatives,
        "--kbest": kbest is not None,
    }
    names = [name for name, wanted in given.items() if wanted]
    if names and model is None:
        raise ValueError(f"{names[0]} is what a parser says; give --model as well")
    if len(names) > 1:
        raise ValueError(f"give {' or '.join(names)}, not both")


def _load_parser(path: str) -> Any:
    from partwise.cli.kinds import (
        is_constituency_parser,
        is_lattice_ranker,
        is_parser,
        load_model,
    )

    model = load_model(path)
    kinds = (is_parser, is_constituency_parser, is_lattice_ranker)
    if not any(is_kind(model) for is_kind in kinds):
        raise PartwiseError(
            f"{path}: is a {type(model).__name__}, which predicts no trees (give a "
            "model of partwise train parse or partwise train constituency)"
        )
    return model


def _of_kind(
    file: str,
    asked: Asked,
    format: ShownFormat | None,
    encoding: str,
    keep_functions: bool,
) -> tuple[
    Callable[[str], Iterable[Any]], Callable[[Any, int, Asked], Iterator[Drawing]]
]:
    """Return how to read sentences, and how to draw one: as dependencies or phrases."""
    from partwise.cli.kinds import (
        is_constituency_parser,
        is_lattice_ranker,
        refuse_options,
    )

    if is_lattice_ranker(asked.parser) or (
        asked.parser is None and _has_lattices(file, format)
    ):
        from partwise.cli.files import check_encoding
        from partwise.cli.lattice.show import draw_lattices
        from partwise.data import iter_lattices

        check_encoding(encoding)
        others = {"--alternatives": asked.alternatives}
        others["--keep-functions"] = keep_functions
        refuse_options("these are lattices", "trees", others)
        if format not in (None, ShownFormat.lattices):
            raise ValueError(f"--format {format} is for trees; leave it out")
        return partial(iter_lattices, encoding=encoding), draw_lattices
    in_brackets = (ShownFormat.brackets, ShownFormat.sentences)
    if is_constituency_parser(asked.parser) or (
        asked.parser is None and _is_in_brackets(file, format, encoding)
    ):
        from partwise.cli.constituency.files import BracketLayout
        from partwise.cli.constituency.show import draw_constituents

        what = "these are constituency trees"
        for_arcs = {"--alternatives": asked.alternatives}
        refuse_options(what, "dependency parsers", for_arcs)
        if format not in (None, *in_brackets):
            raise ValueError(f"--format {format} is for dependency trees; leave it out")
        brackets = BracketLayout(encoding, keep_functions, format)
        if asked.parser is None:
            return brackets.stream, draw_constituents
        tagged = partial(brackets.sentences, with_tags=bool(asked.parser.given_tags))
        return tagged, draw_constituents
    from partwise.cli.dependency.files import TreeLayout
    from partwise.cli.dependency.show import draw_dependencies, with_words

    what = "these are dependency trees"
    for_brackets = {"--keep-functions": keep_functions}
    refuse_options(what, "trees in brackets", for_brackets)
    if format in in_brackets:
        raise ValueError(f"--format {format} is for constituency trees; leave it out")
    layout = TreeLayout(format, encoding)
    return lambda path: with_words(layout, path), draw_dependencies


def _has_lattices(file: str, format: ShownFormat | None) -> bool:
    """Say whether a file is one of lattices, by its name if nobody says."""
    if format is not None:
        return format is ShownFormat.lattices
    return file.removesuffix(".gz").endswith((".jsonl", ".json"))


def _is_in_brackets(file: str, format: ShownFormat | None, encoding: str) -> bool:
    from partwise.cli.constituency.files import is_bracketed

    if format is ShownFormat.sentences:
        raise ValueError("--format sentences has no trees to draw; give --model")
    if format is not None:
        return format is ShownFormat.brackets
    return is_bracketed(file, encoding)
