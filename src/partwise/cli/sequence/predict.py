"""What ``partwise predict`` writes for taggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from partwise.cli.files import Layout, check_columns, columns_read
from partwise.cli.options import Decoding, Format
from partwise.cli.output import as_json

if TYPE_CHECKING:
    from partwise import SequenceTagger

# Formats that are read whole are tagged in pieces of this many sequences.
PIECE = 2000


def write_tags(
    out: IO[str],
    tagger: SequenceTagger,
    layout: Layout,
    path: str,
    *,
    has_labels: bool,
    marginals: bool,
    kbest: int | None,
    spans: bool,
    json: bool,
    decoding: Decoding | None = None,
) -> None:
    """Write what a tagger predicts for a file, piece by piece."""
    for piece in _pieces(tagger, layout, path, has_labels):
        if json or spans:
            _write_json(out, tagger, piece, marginals, kbest, spans, decoding)
        elif kbest is not None:
            _write_ranked(out, tagger, piece, kbest)
        else:
            _write_labels(out, tagger, piece, marginals, decoding)
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


def predicted(tagger: Any, X: Any, decoding: Decoding | None) -> list[list[Any]]:
    """Return the labels of a tagger, which only some can choose in several ways."""
    if decoding is None:
        return tagger.predict(X)  # type: ignore[no-any-return]
    how = decoding.value.replace("-", "_")
    return tagger.predict(X, decoding=how)  # type: ignore[no-any-return]


def _write_labels(
    out: IO[str],
    tagger: SequenceTagger,
    X: Any,
    marginals: bool,
    decoding: Decoding | None,
) -> None:
    extra: list[Any] = [predicted(tagger, X, decoding)]
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
    decoding: Decoding | None,
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
        fields["labels"] = predicted(tagger, X, decoding)
        if marginals:
            fields["probabilities"] = _probabilities(tagger, X, fields["labels"])
    for values in zip(*fields.values(), strict=True):
        out.write(as_json(dict(zip(fields, values, strict=True))) + "\n")


def _words(tagger: SequenceTagger, X: Any) -> list[list[str]] | None:
    """Return the words of columns: the first column that the model reads."""
    from partwise.data import ColumnData

    if not isinstance(X, ColumnData):
        return None
    return X.column_sequences(columns_read(tagger)[0])
