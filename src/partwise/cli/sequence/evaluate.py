"""What ``partwise evaluate`` measures of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.files import ColumnFiles
from partwise.cli.options import (
    LABEL_COLUMN,
    Confusion,
    LabelColumn,
    LogProbability,
)
from partwise.cli.output import Report
from partwise.cli.sequence.conllu import labelled_conllu
from partwise.cli.sequence.files import ColumnsOnly, SequenceFiles
from partwise.cli.sequence.predict import check_format, columns_read, writes_conllu
from partwise.cli.sequence.tagging import check_columns
from partwise.cli.vectors import Vectors, attach
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import SequenceTagger

Scheme = Annotated[
    str | None,
    typer.Option(
        help="Count only chunks that are well-formed in this scheme: IOB1, IOB2 "
        "(BIO), IOBES, BILOU or BMEWO (default: lenient, like conlleval).",
    ),
]


def evaluate(
    model: SequenceTagger,
    file: str,
    *,
    confusion: Confusion = False,
    scheme: Scheme = None,
    log_probability: LogProbability = False,
    label_column: LabelColumn = LABEL_COLUMN,
    vectors: Vectors = None,
    files: SequenceFiles,
) -> Report:
    """Measure a tagger on labelled sequences."""
    check_format(model, files.format)
    attach(model, vectors)
    if writes_conllu(model, files.format):
        from partwise.data.conllu_columns import LabelPlace

        if label_column != LABEL_COLUMN:
            raise ValueError(
                f"the model predicts {model.conllu_column}; leave --label-column out, "
                "or read the file with --format columns"
            )
        place = LabelPlace(model.conllu_column or "")
        X, gold = labelled_conllu(files, file, place)
        check_known(
            model, gold, f"{file}: {place.name}", "is the file annotated alike?"
        )
        found = [list(map(str, labels)) for labels in model.predict(X)]
        return report(gold, found, scheme, confusion)
    gold, found = tagged(
        model, model.predict, files, file, label_column, columns_read(model)
    )
    scores = measure(gold, found, scheme, confusion)
    if log_probability:
        X, right = files.labelled(file, label_column)
        scores |= summed_up(model.log_probability(X, right))
    return shown(scores)


def summed_up(log_probability: Any) -> dict[str, Any]:
    """Return the mean log-probability, and how many outputs are impossible, if any."""
    impossible = int((log_probability == -math.inf).sum())
    mean = {"log_probability": float(log_probability.mean())}
    return mean | ({"impossible": impossible} if impossible else {})


def compare(
    file: str,
    *,
    confusion: Confusion = False,
    scheme: Scheme = None,
    files: ColumnsOnly,
) -> Report:
    """Compare the last two columns of a file.

    A single FILE has the right and the predicted labels in its last two columns, as for
    conlleval.
    """
    data = files.columns(file)
    if data.n_columns < 2:
        raise DataError(
            f"{file}: has only one column (expected the right and the predicted "
            "labels in the last two)"
        )
    if set(data.columns[-2]).isdisjoint(data.columns[-1]):
        raise DataError(
            f"{file}: the last two columns have no label in common (expected the right "
            "and the predicted labels; --marginals adds a column after them)"
        )
    gold, found = data.column_sequences(-2), data.column_sequences(-1)
    return report(gold, found, scheme, confusion)


def recognises(file: str, encoding: str) -> bool:
    """Take any file for columns."""
    return True


def tagged(
    model: Any,
    labels_of: Callable[[Any], Any],
    files: ColumnFiles,
    path: str,
    label_column: int,
    columns: Sequence[int],
) -> tuple[Any, Any]:
    """Read the right labels, and predict labels."""
    X, gold = files.labelled(path, label_column)
    if columns:
        check_columns(columns, X, path)
    advice = "choose another --label-column"
    check_known(model, gold, f"{path}: column {label_column}", advice)
    return gold, [list(map(str, labels)) for labels in labels_of(X)]


def check_known(
    model: Any, gold: Sequence[Sequence[str]], what: str, advice: str
) -> None:
    """Raise `DataError` if a model knows none of the right labels."""
    known = set(map(str, model.classes_.tolist()))
    if not any(label in known for labels in gold for label in labels):
        first = next((label for labels in gold for label in labels), "")
        raise DataError(
            f"{what} holds {first!r} and other values, none of them a label of the "
            f"model ({advice})"
        )


def report(gold: Any, found: Any, scheme: str | None, confusion: bool) -> Report:
    """Compare labels."""
    return shown(measure(gold, found, scheme, confusion))


def shown(scores: dict[str, Any]) -> Report:
    """Return what a command shows of scores."""
    return Report(scores, partial(_show, scores))


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


def _show(scores: dict[str, Any]) -> None:
    """Show scores as tables."""
    from partwise.cli.output import Percent, print_pairs, print_scores, print_table, say

    chunks, labels = scores.get("chunks"), scores.get("labels")
    print_pairs(
        "result",
        [
            ("sentences", scores["sentences"]),
            ("tokens", scores["tokens"]),
            ("token accuracy", Percent(scores["token_accuracy"])),
            ("sentence accuracy", Percent(scores["sentence_accuracy"])),
            ("mean log-probability", scores.get("log_probability")),
            ("impossible to the model", scores.get("impossible")),
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
        say(f"\nright labels in rows, predicted ones in columns\n{table}\n")
        errors = [list(row) for row in table.most_confused(10)]
        if errors:
            print_table("most frequent errors", ["right", "predicted", "times"], errors)
        else:
            typer.echo("no errors")
