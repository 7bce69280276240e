"""``partwise evaluate``: how good predictions are."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from partwise.cli.files import Layout, check_columns, load_tagger, resolve_format
from partwise.cli.options import (
    FILES,
    LABEL_COLUMN,
    AsJson,
    Comments,
    Encoding,
    Format,
    LabelColumn,
    Separator,
    SkipDocstart,
)
from partwise.errors import DataError


def evaluate(
    first: Annotated[
        str,
        typer.Argument(metavar="[MODEL]", help="A model saved by `partwise train`."),
    ],
    second: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Labelled data: a file or -."),
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Show which labels are confused.")
    ] = False,
    scheme: Annotated[
        str | None,
        typer.Option(
            help="Count only chunks well formed in this scheme: IOB1, IOB2, IOBES, "
            "BILOU or BMEWO (default: lenient, as conlleval).",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="How the data is laid out; models of feature files need it.",
            rich_help_panel=FILES,
        ),
    ] = None,
    label_column: LabelColumn = LABEL_COLUMN,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
    json: AsJson = False,
) -> None:
    """Measure a model on labelled data.

    Without MODEL, the last two columns of FILE are the right and the predicted
    labels, as for conlleval.
    """
    options = (separator, comments, skip_docstart, encoding)
    if second is None:
        if format not in (None, Format.columns):
            raise ValueError("only column files hold predictions; give a MODEL as well")
        layout = Layout(Format.columns, *options)
        gold, predicted = _from_columns(layout, first)
    else:
        gold, predicted = _from_model(first, second, format, options, label_column)
    scores = measure(gold, predicted, scheme, confusion)
    if json:
        from partwise.cli.output import print_json

        print_json(_as_dict(scores))
    else:
        show(scores)


def _from_columns(layout: Layout, path: str) -> tuple[Any, Any]:
    if _is_model(path):
        raise DataError(
            f"{path}: is a model (give the labelled data as well: partwise evaluate "
            f"{path} FILE)"
        )
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


def _is_model(path: str) -> bool:
    # A safetensors file: eight bytes of size, then a JSON object.
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(9)
    return start[6:] == b"\0\0{"


def _from_model(
    model: str,
    path: str,
    format: Format | None,
    options: tuple[Any, ...],
    label_column: int,
) -> tuple[Any, Any]:
    tagger = load_tagger(model)
    layout = Layout(resolve_format(tagger, format, model), *options)
    X, gold = layout.labelled(path, label_column)
    if layout.format is Format.columns:
        check_columns(tagger, X, path)
    known = set(map(str, tagger.classes_.tolist()))
    if not any(label in known for labels in gold for label in labels):
        raise DataError(
            f"{path}: column {label_column} holds {gold[0][0]!r} and other values, "
            "none of them a label of the model (choose another --label-column)"
        )
    return gold, [list(map(str, labels)) for labels in tagger.predict(X)]


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


def _as_dict(scores: dict[str, Any]) -> dict[str, Any]:
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
