"""``partwise train constituency``: from trees in brackets to a parser."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.advice import advice_in_flags
from partwise.cli.constituency.files import BracketFiles
from partwise.cli.learning import Learning, takes_learning
from partwise.cli.options import (
    FEATURES,
    FILES,
    LEARNING,
    Dev,
    ModelPath,
    Train,
)
from partwise.cli.training_run import TrainingRun
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.constituents import Tree

GRAMMAR = "Grammar"


class Underivable(StrEnum):
    """What to do with training trees that the grammar does not have."""

    refuse = "refuse"
    skip = "skip"


@takes_learning("0.1 for squared_hinge and hinge, 1 for log_loss", tol=0.1)
def constituency(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leave out training sentences of more words than this.",
            metavar="N",
            rich_help_panel=FILES,
        ),
    ] = None,
    horizontal: Annotated[
        str,
        typer.Option(
            help="How many children before it the rest of a phrase remembers: a "
            "number, or all. Few allow phrases that no training tree has.",
            rich_help_panel=GRAMMAR,
        ),
    ] = "1",
    vertical: Annotated[
        int,
        typer.Option(
            help="How many generations a phrase knows: 1 is itself, 2 its parent, too.",
            rich_help_panel=GRAMMAR,
        ),
    ] = 1,
    grammar: Annotated[
        str | None,
        typer.Option(
            help="A file of productions such as S -> NP VP, instead of those of the "
            "trees.",
            rich_help_panel=GRAMMAR,
            show_default=False,
        ),
    ] = None,
    underivable: Annotated[
        Underivable,
        typer.Option(
            help="With --grammar, what to do with training trees that it does not "
            "have: refuse to train, or skip them.",
            rich_help_panel=GRAMMAR,
        ),
    ] = Underivable.refuse,
    given_tags: Annotated[
        bool,
        typer.Option(
            "--given-tags",
            help="Tags of words are given, to predict as well; they are not predicted.",
            rich_help_panel=GRAMMAR,
        ),
    ] = False,
    hash_bits: Annotated[
        int,
        typer.Option(
            help="Words, spans and splits have 2^N features each.",
            metavar="N",
            rich_help_panel=FEATURES,
        ),
    ] = 15,
    span_cost: Annotated[
        float,
        typer.Option(
            help="What a wrong span costs in training with margins.",
            rich_help_panel=LEARNING,
        ),
    ] = 1.0,
    word_cost: Annotated[
        float, typer.Option(help="What a wrong tag costs.", rich_help_panel=LEARNING)
    ] = 1.0,
    dev_metric: Annotated[
        str,
        typer.Option(
            help="What is measured on --dev: f1, precision, recall or exact_match.",
            rich_help_panel=LEARNING,
        ),
    ] = "f1",
    *,
    files: BracketFiles,
    learning: Learning,
) -> None:
    """Train a constituency parser: the phrases of a sentence.

    TRAIN has trees in brackets, as the Penn Treebank. Ctrl-C ends training early: the
    model so far is saved, and the exit code is 130.
    """
    from partwise import ConstituencyParser

    sources = {"TRAIN": train, "--dev": dev, "--grammar": grammar}
    run = TrainingRun(model, sources, learning)
    parser = run.make(
        ConstituencyParser,
        grammar=None if grammar is None else _read_grammar(grammar, files.encoding),
        horizontal=_horizontal(horizontal),
        vertical=vertical,
        given_tags=given_tags,
        underivable=underivable.value,
        hash_bits=hash_bits,
        span_cost=span_cost,
        word_cost=word_cost,
        dev_metric=dev_metric,
    )
    trees = _short([placed.tree for placed in files.read(train)], train, max_length)
    held_out = None if dev is None else [placed.tree for placed in files.read(dev)]
    with advice_in_flags():
        run.fit_and_save(
            parser,
            trees,
            None,
            held_out,
            {"sentences": len(trees), "words": sum(map(_n_words, trees))},
            _scores,
        )


def _horizontal(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"--horizontal must be a number or all, not {text!r}"
        ) from None


def _read_grammar(path: str, encoding: str) -> str:
    from partwise.data.files import read_text

    return read_text(path, encoding=encoding)


def _n_words(tree: Tree) -> int:
    from partwise.constituents import words

    return len(words(tree))


def _short(trees: list[Tree], path: str, max_length: int | None) -> list[Tree]:
    if max_length is None:
        return trees
    short = [tree for tree in trees if _n_words(tree) <= max_length]
    if not short:
        raise DataError(
            f"{path}: all {len(trees)} sentences have more than {max_length} words "
            "(raise --max-length)"
        )
    return short


def _scores(parser: Any, dev: Sequence[Tree]) -> dict[str, float | None]:
    from partwise.cli.constituency.predict import parse
    from partwise.metrics.brackets import bracket_scores

    return {"f1": bracket_scores(dev, parse(parser, dev).trees).f1}
