"""What ``partwise evaluate`` measures of constituency trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.confusions import found_confusions, show_confusions
from partwise.cli.constituency.files import TreesOnly
from partwise.cli.constituency.predict import parse
from partwise.cli.options import Confusion
from partwise.cli.output import Report

if TYPE_CHECKING:
    from partwise import ConstituencyParser
    from partwise.constituents import Tree
    from partwise.data.bracketed import PlacedTree
    from partwise.metrics.brackets import BracketGroup, BracketScores

Cutoff = Annotated[
    int,
    typer.Option(
        min=1, help="Also score sentences of at most N words separately.", metavar="N"
    ),
]


def evaluate(
    model: ConstituencyParser,
    file: str,
    *,
    cutoff: Cutoff = 40,
    confusion: Confusion = False,
    files: TreesOnly,
) -> Report:
    """Measure a parser on trees in brackets."""
    from partwise.cli.output import say

    gold = files.read(file)
    found, failed = parse(model, [placed.tree for placed in gold])
    if failed:
        say(
            f"warning: {len(failed)} of {len(gold)} sentences have no tree under the "
            f"grammar (the first is {gold[failed[0]].place}): their trees are flat",
            err=True,
        )
    return _report(gold, found, cutoff, confusion)


def compare(
    gold: str,
    predicted: str,
    *,
    cutoff: Cutoff = 40,
    confusion: Confusion = False,
    files: TreesOnly,
) -> Report:
    """Compare two files of trees.

    Two files of trees in brackets, GOLD PREDICTED, are scored as by EVALB.
    """
    return _report(files.read(gold), files.parses(predicted), cutoff, confusion)


def _report(
    gold: Sequence[PlacedTree],
    found: Sequence[Tree | None],
    cutoff: int,
    confusion: bool,
) -> Report:
    from partwise.metrics.brackets import bracket_scores

    scores = bracket_scores(
        [placed.tree for placed in gold],
        found,
        cutoff=cutoff,
        places=[placed.place for placed in gold],
    )
    if not confusion:
        return Report(scores, partial(_show, scores))
    from partwise.pages import view_brackets

    pairs = zip(found, (placed.tree for placed in gold), strict=True)
    tables = found_confusions([view_brackets(*pair) for pair in pairs])

    def show() -> None:
        _show(scores)
        show_confusions(tables)

    return Report(scores.to_dict() | {"confusion": tables}, show)


def _show(scores: BracketScores) -> None:
    """Show scores as tables."""
    from partwise.cli.output import print_scores, print_table

    whole, short = scores.overall, scores.short
    print_table(
        f"result on {whole.n_sentences:,} sentences, as EVALB counts",
        ["", "all", f"at most {scores.cutoff} words"],
        [
            [name, a, b]
            for (name, a), (_, b) in zip(_rows(whole), _rows(short), strict=True)
        ],
    )
    typer.echo()
    print_scores("brackets by label", scores.per_label.items())


def _rows(group: BracketGroup) -> list[tuple[str, object]]:
    from partwise.cli.output import Percent

    return [
        ("sentences", group.n_sentences),
        ("of these left out", group.n_failed),
        ("precision", Percent(group.precision)),
        ("recall", Percent(group.recall)),
        ("F1", Percent(group.f1)),
        ("complete match", Percent(group.exact_match)),
        ("crossing brackets", f"{group.crossing:.2f}"),
        ("no crossing", Percent(group.no_crossing)),
        ("at most 2 crossing", Percent(group.two_or_less_crossing)),
        ("tagging accuracy", Percent(group.tagging_accuracy)),
    ]
