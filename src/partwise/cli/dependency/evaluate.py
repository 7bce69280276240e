"""What ``partwise evaluate`` measures of dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from partwise.cli.confusions import found_confusions, show_confusions
from partwise.cli.dependency.columns import columns_read
from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.options import Confusion, Decoding, DecodingOption
from partwise.cli.output import Report
from partwise.cli.vectors import Vectors, attach

if TYPE_CHECKING:
    from partwise import DependencyParser
    from partwise.data import Sentence
    from partwise.metrics.attachment import ArcScores, AttachmentScores

NoSubtypes = Annotated[
    bool,
    typer.Option(
        "--no-subtypes", help="Compare labels only up to the colon: acl for acl:relcl."
    ),
]


def evaluate(
    model: DependencyParser,
    file: str,
    *,
    decoding: DecodingOption = Decoding.best,
    no_subtypes: NoSubtypes = False,
    confusion: Confusion = False,
    vectors: Vectors = None,
    files: TreebankFiles,
) -> Report:
    """Measure a parser on a treebank."""
    attach(model, vectors)
    gold = files.read(file)
    found = model.predict(gold, decoding=decoding.setting)
    columns = columns_read(model, gold)
    return _report(gold, found, no_subtypes, confusion, columns)


def compare(
    gold: str,
    predicted: str,
    *,
    no_subtypes: NoSubtypes = False,
    confusion: Confusion = False,
    files: TreebankFiles,
) -> Report:
    """Compare two treebanks.

    Two treebanks, GOLD PREDICTED, are compared by their heads and labels.
    """
    return _report(files.read(gold), files.read(predicted), no_subtypes, confusion)


def _report(
    gold: Sequence[Sentence],
    found: Sequence[Sentence],
    no_subtypes: bool,
    confusion: bool,
    columns: Sequence[str] = (),
) -> Report:
    scores = measure(gold, found, subtypes=not no_subtypes)._replace(reads=columns)
    if not confusion:
        return Report(scores, partial(_show, scores))
    from partwise.pages import view_arcs

    pairs = zip(found, gold, strict=True)
    tables = found_confusions([view_arcs(*pair) for pair in pairs])

    def show() -> None:
        _show(scores)
        show_confusions(tables)

    return Report(scores.to_dict() | {"confusion": tables}, show)


class TreeScores(NamedTuple):
    """How good trees are, with all words counted, and without punctuation."""

    all_words: AttachmentScores
    without_punctuation: AttachmentScores
    reads: Sequence[str] = ()
    """The columns that the parser took as the file gives them, if it read any."""

    def to_dict(self) -> dict[str, Any]:
        """Return scores as plain numbers."""
        return {
            **self.all_words.to_dict(),
            "without_punctuation": self.without_punctuation.to_dict(),
            **({"reads": list(self.reads)} if self.reads else {}),
        }


def measure(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], *, subtypes: bool = True
) -> TreeScores:
    """Compare predicted trees with the right ones."""
    from partwise.metrics.attachment import attachment_scores

    return TreeScores(
        attachment_scores(gold, predicted, subtypes=subtypes),
        attachment_scores(gold, predicted, punctuation=False, subtypes=subtypes),
    )


def _show(scores: TreeScores) -> None:
    """Show scores as tables."""
    from partwise.cli.output import print_scores, print_table

    whole, bare, reads = scores
    if reads:
        typer.echo(f"read as given: {', '.join(reads)}\n")
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
    """Return the scores; without labels only those of heads."""
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
