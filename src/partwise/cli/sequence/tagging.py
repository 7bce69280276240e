"""How labels of sequences are written out: columns, JSON, rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from partwise.cli.output import as_json
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import ColumnData


def check_columns(columns: Sequence[int], data: ColumnData, path: str) -> None:
    """Raise `DataError` if a file lacks one of the columns that a model reads.

    Columns beyond those are not looked at: a file may hold the labels or not.
    """
    last = max(columns)
    if data.n_columns <= last:
        raise DataError(
            f"{path}: has {data.n_columns} column{'s' * (data.n_columns > 1)}, but "
            f"the model reads column {last}, counted from 0 (give the columns it was "
            "trained on, in the same order)"
        )


@dataclass(frozen=True)
class Tagging:
    """How a model that puts labels on sequences is written out.

    Attributes
    ----------
    model : estimator
        The model.
    labels_of : callable
        Returns the labels of some sequences.
    columns : sequence of int
        The columns that it reads, the one with the words first; none for features.
    """

    model: Any
    labels_of: Callable[[Any], Any]
    columns: Sequence[int]

    def write(
        self,
        output: str,
        pieces: Iterable[Any],
        path: str,
        *,
        marginals: bool,
        kbest: int | None,
        spans: bool,
        json: bool,
    ) -> None:
        """Write what the model predicts for a file, piece by piece."""
        from partwise.data import open_output

        with open_output(output) as out:
            for piece in pieces:
                if self.columns:
                    check_columns(self.columns, piece, path)
                if json or spans:
                    self._write_json(out, piece, marginals, kbest, spans)
                elif kbest is not None:
                    self._write_ranked(out, piece, kbest)
                else:
                    self._write_labels(out, piece, marginals)
                out.flush()

    def write_samples(
        self,
        output: str,
        pieces: Iterable[Any],
        path: str,
        n: int,
        seed: int,
        json: bool,
    ) -> None:
        """Write `n` outputs of every sequence, drawn from the model."""
        import numpy as np

        from partwise.data import open_output

        random = np.random.default_rng(seed)
        with open_output(output) as out:
            for piece in pieces:
                if self.columns:
                    check_columns(self.columns, piece, path)
                drawn = self.model.sample(piece, n, random)
                if json:
                    self._write_fields(out, piece, {"samples": drawn})
                else:
                    self._write_drawn(out, piece, drawn)
                out.flush()

    def _write_drawn(self, out: IO[str], X: Any, drawn: Any) -> None:
        for one, samples in zip(singles(X), drawn, strict=True):
            for number, labels in enumerate(samples, start=1):
                out.write(f"# sample {number}\n")
                _append(out, one, [labels])

    def _write_labels(self, out: IO[str], X: Any, marginals: bool) -> None:
        extra: list[Any] = [self.labels_of(X)]
        if marginals:
            shares = self.probabilities(X, extra[0])
            extra.append([[f"{p:.6f}" for p in row] for row in shares])
        _append(out, X, *extra)

    def _write_ranked(self, out: IO[str], X: Any, k: int) -> None:
        for one, ranking in zip(
            singles(X), self.model.predict_kbest(X, k), strict=True
        ):
            for rank, (labels, score) in enumerate(ranking, start=1):
                out.write(f"# rank {rank} score {score:.6f}\n")
                _append(out, one, [labels])

    def _write_json(
        self, out: IO[str], X: Any, marginals: bool, k: int | None, spans: bool
    ) -> None:
        fields: dict[str, list[Any]] = {}
        if k is not None:
            fields["kbest"] = [
                [ranked._asdict() for ranked in ranking]
                for ranking in self.model.predict_kbest(X, k)
            ]
        elif spans:
            fields["spans"] = [
                [span._asdict() for span in found]
                for found in self.model.predict_spans(X)
            ]
        else:
            fields["labels"] = self.labels_of(X)
            if marginals:
                fields["probabilities"] = self.probabilities(X, fields["labels"])
        self._write_fields(out, X, fields)

    def _write_fields(self, out: IO[str], X: Any, fields: dict[str, list[Any]]) -> None:
        """Write an object for every sequence, its words first."""
        if self.columns:
            fields = {"words": X.column_sequences(self.columns[0]), **fields}
        for values in zip(*fields.values(), strict=True):
            out.write(as_json(dict(zip(fields, values, strict=True))) + "\n")

    def probabilities(self, X: Any, predicted: Sequence[Any]) -> list[list[float]]:
        """Return the probability of each predicted label."""
        column = {label: c for c, label in enumerate(self.model.classes_.tolist())}
        shares = self.model.predict_marginals(X)
        return [
            [float(row[column[label]]) for row, label in zip(rows, labels, strict=True)]
            for rows, labels in zip(shares, predicted, strict=True)
        ]


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


def singles(X: Any) -> Iterator[Any]:
    """Yield each sequence as a piece of its own."""
    from partwise.data import ColumnData

    if not isinstance(X, ColumnData):
        yield from ([sequence] for sequence in X)
        return
    for sentence in X:
        one = ColumnData.from_sentences([sentence])
        one.separator = X.separator
        yield one
