"""What ``partwise evaluate`` measures of constituency trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from partwise.constituents import Tree
    from partwise.data.bracketed import PlacedTree
    from partwise.metrics.brackets import BracketGroup, BracketScores


def measure(
    gold: Sequence[PlacedTree], predicted: Sequence[Tree | None], cutoff: int
) -> BracketScores:
    """Compare predicted trees with the right ones."""
    from partwise.metrics.brackets import bracket_scores

    return bracket_scores(
        [placed.tree for placed in gold],
        predicted,
        cutoff=cutoff,
        places=[placed.place for placed in gold],
    )


def show(scores: BracketScores) -> None:
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
        ("of them left out", group.n_failed),
        ("precision", Percent(group.precision)),
        ("recall", Percent(group.recall)),
        ("F1", Percent(group.f1)),
        ("complete match", Percent(group.exact_match)),
        ("crossing brackets", f"{group.crossing:.2f}"),
        ("no crossing", Percent(group.no_crossing)),
        ("at most 2 crossing", Percent(group.two_or_less_crossing)),
        ("tagging accuracy", Percent(group.tagging_accuracy)),
    ]
