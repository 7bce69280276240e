"""What ``partwise evaluate`` measures of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from partwise.cli.files import Layout, check_columns
from partwise.cli.options import Decoding, Format
from partwise.cli.sequence.predict import predicted
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import SequenceTagger


def from_columns(layout: Layout, path: str) -> tuple[Any, Any]:
    """Read the right and the predicted labels from the last two columns."""
    data = layout.columns(path)
    if data.n_columns < 2:
        raise DataError(
            f"{path}: has one column only (expected the right and the predicted "
            "labels in the last two)"
        )
    if set(data.columns[-2]).isdisjoint(data.columns[-1]):
        raise DataError(
            f"{path}: the last two columns have no label in common (expected the right "
            "and the predicted labels; --marginals adds a column after them)"
        )
    return data.column_sequences(-2), data.column_sequences(-1)


def from_tagger(
    tagger: SequenceTagger,
    path: str,
    layout: Layout,
    label_column: int,
    decoding: Decoding | None = None,
) -> tuple[Any, Any]:
    """Read the right labels, and predict labels."""
    X, gold = layout.labelled(path, label_column)
    if layout.format is Format.columns:
        check_columns(tagger, X, path)
    known = set(map(str, tagger.classes_.tolist()))
    if not any(label in known for labels in gold for label in labels):
        raise DataError(
            f"{path}: column {label_column} holds {gold[0][0]!r} and other values, "
            "none of them a label of the model (choose another --label-column)"
        )
    found = predicted(tagger, X, decoding)
    return gold, [list(map(str, labels)) for labels in found]


def measure(
    gold: Any, predicted: Any, scheme: str | None = None, confusion: bool = False
) -> dict[str, Any]:
    """Compute all that is shown, by name."""
    from partwise import metrics

    labels = {
        label for sequences in (gold, predicted) for y in sequences for label in y
    }
    scores: dict[str, Any] = {
        "sentences": len(gold),
        "tokens": sum(map(len, gold)),
        "token_accuracy": metrics.token_accuracy(gold, predicted),
        "sentence_accuracy": metrics.sequence_accuracy(gold, predicted),
    }
    if scheme is not None or metrics.are_chunk_labels(labels):
        scores["chunks"] = metrics.chunk_scores(gold, predicted, scheme)
    else:
        scores["labels"] = metrics.label_scores(gold, predicted)
    if confusion:
        scores["confusion"] = metrics.confusion_table(gold, predicted)
    return scores


def as_dict(scores: dict[str, Any]) -> dict[str, Any]:
    """Return scores as plain numbers, for JSON."""
    return {
        name: value.to_dict() if hasattr(value, "to_dict") else value
        for name, value in scores.items()
    }


def show(scores: dict[str, Any]) -> None:
    """Show scores as tables."""
    from partwise.cli.output import Percent, print_pairs, print_scores, print_table

    chunks, labels = scores.get("chunks"), scores.get("labels")
    print_pairs(
        "result",
        [
            ("sentences", scores["sentences"]),
            ("tokens", scores["tokens"]),
            ("token accuracy", Percent(scores["token_accuracy"])),
            ("sentence accuracy", Percent(scores["sentence_accuracy"])),
            ("chunk F1", None if chunks is None else Percent(chunks.overall.f1)),
        ],
    )
    typer.echo()
    if chunks is not None:
        rows = [*chunks.per_type.items(), ("all chunks", chunks.overall)]
        print_scores("chunks", rows)
    if labels is not None:
        print_scores("labels", labels.per_label.items())
    if "confusion" in scores:
        table = scores["confusion"]
        typer.echo(f"\nright labels in rows, predicted ones in columns\n{table}\n")
        errors = [list(row) for row in table.most_confused(10)]
        if errors:
            print_table("most frequent errors", ["right", "predicted", "times"], errors)
        else:
            typer.echo("no errors")
