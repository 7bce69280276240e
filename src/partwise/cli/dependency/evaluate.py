"""What ``partwise evaluate`` measures of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from partwise.data import Sentence
    from partwise.metrics.attachment import ArcScores, AttachmentScores


class TreeScores(NamedTuple):
    """How good trees are, with all words counted, and without punctuation."""

    all_words: AttachmentScores
    without_punctuation: AttachmentScores


def measure(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], *, subtypes: bool = True
) -> TreeScores:
    """Compare predicted trees with the right ones."""
    from partwise.metrics.attachment import attachment_scores

    return TreeScores(
        attachment_scores(gold, predicted, subtypes=subtypes),
        attachment_scores(gold, predicted, punctuation=False, subtypes=subtypes),
    )


def as_dict(scores: TreeScores) -> dict[str, Any]:
    """Return scores as plain numbers, for JSON."""
    return {
        **scores.all_words.to_dict(),
        "without_punctuation": scores.without_punctuation.to_dict(),
    }


def show(scores: TreeScores) -> None:
    """Show scores as tables."""
    from partwise.cli.output import print_scores, print_table

    whole, bare = scores
    print_table(
        f"result on {whole.n_sentences:,} sentences",
        ["", "all words", "without punctuation"],
        [["words", whole.n_words, bare.n_words], *_rows(whole, bare)],
    )
    _show_groups("by length of the sentence", "words", whole.by_length)
    _show_groups("by distance of the right head", "distance", whole.by_distance)
    if whole.per_label:
        typer.echo()
        print_scores("arcs by label", whole.per_label.items())


def _rows(whole: AttachmentScores, bare: AttachmentScores) -> list[list[object]]:
    """Return the scores that there are; without labels those of heads alone."""
    rows = [
        ("UAS", whole.uas, bare.uas),
        ("LAS", whole.las, bare.las),
        ("complete trees", whole.complete, bare.complete),
        ("complete with labels", whole.complete_labelled, bare.complete_labelled),
    ]
    return [
        [name, *_shares(*shares)] for name, *shares in rows if shares[0] is not None
    ]


def _show_groups(title: str, column: str, groups: Mapping[str, ArcScores]) -> None:
    from partwise.cli.output import print_table

    labelled = any(scores.las is not None for scores in groups.values())
    rows: list[list[object]] = [
        [
            name,
            *_shares(scores.uas, *([scores.las] if labelled else [])),
            scores.n_words,
        ]
        for name, scores in groups.items()
    ]
    typer.echo()
    names = [column, "UAS", *(["LAS"] if labelled else []), "number"]
    print_table(title, names, rows)


def _shares(*shares: float | None) -> list[object]:
    from partwise.cli.output import Percent

    return ["" if share is None else Percent(share) for share in shares]
