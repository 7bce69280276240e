"""``partwise show``: trees as drawings, in the terminal or as SVG."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import FILES, Encoding, TreeFormat
from partwise.cli.treebanks import TreeLayout
from partwise.errors import DataError, PartwiseError

if TYPE_CHECKING:
    from partwise.data import Sentence

LIMIT = 10
NOT_GIVEN = "_"


def show(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A treebank: a file or -.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Draw the trees that this parser predicts instead."
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
            "--marginals", help="With --model: show the probability of each arc."
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
        int | None, typer.Option(min=1, help="With --model: draw the K best trees.")
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.")
    ] = False,
    format: Annotated[
        TreeFormat | None,
        typer.Option(
            help="How the file is laid out (default: told from its name or its first "
            "word).",
            rich_help_panel=FILES,
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Draw the trees of a treebank, or those that a parser predicts for it."""
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
    chosen, more = _chosen(TreeLayout(format, encoding), file, first, last)
    drawings: Iterator[Drawing] = (
        drawing
        for number, one in enumerate(chosen, first)
        for drawing in _drawings(one, number, parser, marginals, alternatives, kbest)
    )
    if svg is not None:
        _write_svg(svg, file, list(drawings))
    else:
        _write_text(drawings, ascii or not _shows_boxes())
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
    from partwise.cli.kinds import is_parser, load_model

    model = load_model(path)
    if not is_parser(model):
        raise PartwiseError(
            f"{path}: is a {type(model).__name__}, which predicts no trees (give a "
            "model of partwise train parse)"
        )
    return model


def _chosen(
    layout: TreeLayout, path: str, first: int, last: int
) -> tuple[list[Sentence], bool]:
    """Return the sentences with words from one number to another, and if more follow.

    The file is read no further than that.
    """
    found: list[Sentence] = []
    number = 0
    for number, one in enumerate(_with_words(layout, path), 1):
        if number > last:
            return found, True
        if number >= first:
            found.append(one)
    if not number:
        raise DataError(f"{path}: holds no words (expected a treebank)")
    if not found:
        raise DataError(
            f"{path}: has {number} sentences with words; there is no number {first}"
        )
    return found, False


def _with_words(layout: TreeLayout, path: str) -> Iterator[Sentence]:
    return (one for batch in layout.stream(path) for one in batch if len(one))


@dataclass(frozen=True)
class Drawing:
    """A tree to draw, and what is known about its arcs."""

    title: str
    tree: Sentence
    probabilities: list[float] | None = None
    marginals: Any = None

    @property
    def tags(self) -> tuple[str, ...] | None:
        """The parts of speech, if any are given: universal ones or else others."""
        known = (self.tree.upos, self.tree.xpos)
        return next((tags for tags in known if set(tags) != {NOT_GIVEN}), None)

    def as_text(self, width: int | None, ascii_only: bool) -> str:
        """Draw it for a terminal."""
        from partwise.drawing import draw_marginals_text, draw_text

        tree = self.tree
        if self.marginals is not None:
            return draw_marginals_text(
                tree.forms, self.marginals, ascii_only=ascii_only
            )
        return draw_text(
            tree.forms,
            tree.heads or (),
            tree.labels,
            self.probabilities,
            self.tags,
            width,
            ascii_only,
        )

    def as_svg(self) -> str:
        """Draw it as SVG."""
        from partwise.drawing import draw_marginals_svg, draw_svg

        tree = self.tree
        if self.marginals is not None:
            return draw_marginals_svg(
                tree.forms, self.marginals, tree.heads, title=self.title
            )
        return draw_svg(
            tree.forms,
            tree.heads or (),
            tree.labels,
            self.probabilities,
            self.tags,
            self.title,
        )


def _drawings(
    sentence: Sentence,
    number: int,
    parser: Any,
    marginals: bool,
    alternatives: bool,
    kbest: int | None,
) -> Iterator[Drawing]:
    """Return what to draw of a sentence."""
    from partwise.cli.predict_trees import chosen_probabilities
    from partwise.trees import check_tree

    title = f"sentence {number} ({sentence.place})"
    if parser is None:
        if sentence.heads is None:
            raise DataError(
                f"{sentence.place}: the sentence has no heads (give --model, a parser "
                "that predicts them)"
            )
        check_tree(sentence.heads, str(sentence.place), forms=sentence.forms,
                   single_root=False)  # fmt: skip
        yield Drawing(title, sentence)
    elif kbest is not None:
        [ranking] = parser.predict_kbest([sentence], kbest)
        for rank, (tree, score) in enumerate(ranking, 1):
            yield Drawing(f"{title}, rank {rank}, score {score:.3f}", tree)
    else:
        [tree] = parser.predict([sentence])
        shares = mu = None
        if marginals:
            [shares] = chosen_probabilities(parser, [tree])
        if alternatives:
            [mu] = parser.predict_marginals([sentence])
            mu = mu.clip(0.0, 1.0)  # rounding errors of sums over many trees
        yield Drawing(title, tree, shares, mu)


def _shows_boxes() -> bool:
    """Say whether standard output takes the characters that lines are drawn with."""
    from partwise.drawing.text import BOX

    try:
        "".join(BOX).encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _write_text(drawings: Iterator[Drawing], ascii_only: bool) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for i, drawing in enumerate(drawings):
        typer.echo("\n" * (i > 0) + drawing.title)
        typer.echo(drawing.as_text(width, ascii_only))


def _write_svg(target: str, file: str, drawings: list[Drawing]) -> None:
    from partwise.data import open_output
    from partwise.drawing import draw_svg_page

    drawn = [drawing.as_svg() for drawing in drawings]
    text = drawn[0] if len(drawn) == 1 else draw_svg_page(drawn, title=f"Trees: {file}")
    with open_output(target) as out:
        out.write(text + "\n")
