"""``partwise predict``: labels for new data, as fast as it comes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.files import Layout, check_columns, load_tagger, resolve_format
from partwise.cli.options import (
    FILES,
    Comments,
    Encoding,
    Format,
    Separator,
    SkipDocstart,
)
from partwise.cli.output import as_json

if TYPE_CHECKING:
    from partwise import SequenceTagger

# Formats that are read whole are tagged in pieces of this many sequences.
PIECE = 2000


def predict(
    model: Annotated[str, typer.Argument(help="A model saved by `partwise train`.")],
    input: Annotated[str, typer.Argument(help="The data: a file or -.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write: a file or -.")
    ] = "-",
    marginals: Annotated[
        bool,
        typer.Option(
            "--marginals",
            help="Add the probability of each predicted label under the model "
            "(margin losses do not calibrate it).",
        ),
    ] = False,
    kbest: Annotated[
        int | None,
        typer.Option(min=1, help="Write the K best label sequences with scores."),
    ] = None,
    spans: Annotated[
        bool,
        typer.Option("--spans", help="Write chunks, a JSON object a sentence."),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object a sentence.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads; -1 for one per core; those of training by default.",
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
    labels: Annotated[
        bool,
        typer.Option(
            "--labels/--no-labels",
            help="crfsuite: whether lines begin with a label, which is ignored.",
            rich_help_panel=FILES,
        ),
    ] = True,
    separator: Separator = None,
    comments: Comments = None,
    skip_docstart: SkipDocstart = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Predict labels.

    Column files come back with the label as one more column; they need the columns
    that the model reads, in the same order, and may have more (labels, say). For
    other formats the output has one label on each line, and an empty line after each
    sequence.

    --kbest writes each sentence K times, best first, after a line "# rank R score S".
    """
    if kbest is not None and (marginals or spans):
        raise ValueError("--kbest goes with neither --marginals nor --spans")
    if spans and marginals:
        raise ValueError("--spans has probabilities of its own; leave --marginals out")
    tagger = load_tagger(model)
    if jobs is not None:
        tagger.set_params(n_jobs=jobs)
    layout = Layout(
        resolve_format(tagger, format, model), separator, comments, skip_docstart,
        encoding,
    )  # fmt: skip
    from partwise.cli.overwriting import refuse_overwriting
    from partwise.data import open_output

    refuse_overwriting({"--output": output}, {"MODEL": model})
    with open_output(output) as out:
        for piece in _pieces(tagger, layout, input, labels):
            if json or spans:
                _write_json(out, tagger, piece, marginals, kbest, spans)
            elif kbest is not None:
                _write_ranked(out, tagger, piece, kbest)
            else:
                _write_labels(out, tagger, piece, marginals)
            out.flush()


def _pieces(
    tagger: SequenceTagger, layout: Layout, path: str, has_labels: bool
) -> Iterator[Any]:
    if layout.format is Format.columns:
        for piece in layout.stream(path):
            check_columns(tagger, piece, path)
            yield piece
        return
    X = layout.unlabelled(path, has_labels)
    for begin in range(0, len(X), PIECE):
        yield X[begin : begin + PIECE]


def _probabilities(
    tagger: SequenceTagger, X: Any, predicted: list[list[Any]]
) -> list[list[float]]:
    """Return the probability of each predicted label."""
    column = {label: c for c, label in enumerate(tagger.classes_.tolist())}
    return [
        [float(row[column[label]]) for row, label in zip(rows, labels, strict=True)]
        for rows, labels in zip(tagger.predict_marginals(X), predicted, strict=True)
    ]


def _write_labels(
    out: IO[str], tagger: SequenceTagger, X: Any, marginals: bool
) -> None:
    extra: list[Any] = [tagger.predict(X)]
    if marginals:
        shares = _probabilities(tagger, X, extra[0])
        extra.append([[f"{p:.6f}" for p in row] for row in shares])
    _append(out, X, *extra)


def _append(out: IO[str], X: Any, *extra: list[list[Any]]) -> None:
    """Write columns with more columns, or the new columns alone."""
    from partwise.data import ColumnData, write_columns

    if isinstance(X, ColumnData):
        write_columns(out, X, *extra)
        return
    for columns in zip(*extra, strict=True):
        out.writelines(
            "\t".join(map(str, cells)) + "\n" for cells in zip(*columns, strict=True)
        )
        out.write("\n")


def _write_ranked(out: IO[str], tagger: SequenceTagger, X: Any, k: int) -> None:
    for one, ranking in zip(_singles(X), tagger.predict_kbest(X, k), strict=True):
        for rank, (labels, score) in enumerate(ranking, start=1):
            out.write(f"# rank {rank} score {score:.6f}\n")
            _append(out, one, [labels])


def _singles(X: Any) -> Iterator[Any]:
    """Yield each sequence as a piece of its own."""
    from partwise.data import ColumnData

    if not isinstance(X, ColumnData):
        yield from ([sequence] for sequence in X)
        return
    for sentence in X:
        one = ColumnData.from_sentences([sentence])
        one.separator = X.separator
        yield one


def _write_json(
    out: IO[str],
    tagger: SequenceTagger,
    X: Any,
    marginals: bool,
    k: int | None,
    spans: bool,
) -> None:
    fields: dict[str, list[Any]] = {}
    words = _words(tagger, X)
    if words is not None:
        fields["words"] = words
    if k is not None:
        fields["kbest"] = [
            [ranked._asdict() for ranked in ranking]
            for ranking in tagger.predict_kbest(X, k)
        ]
    elif spans:
        fields["spans"] = [
            [span._asdict() for span in found] for found in tagger.predict_spans(X)
        ]
    else:
        fields["labels"] = tagger.predict(X)
        if marginals:
            fields["probabilities"] = _probabilities(tagger, X, fields["labels"])
    for values in zip(*fields.values(), strict=True):
        out.write(as_json(dict(zip(fields, values, strict=True))) + "\n")


def _words(tagger: SequenceTagger, X: Any) -> list[list[str]] | None:
    """Return the words of columns: the first column that the template reads."""
    from partwise.data import ColumnData

    if not isinstance(X, ColumnData):
        return None
    template = tagger._input.encoder.template  # type: ignore[attr-defined]
    lines = template.node_lines + template.edge_lines
    read = [macro.column for line in lines for macro in line.macros]
    return X.column_sequences(read[0] if read else 0)
