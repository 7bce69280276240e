"""What ``partwise predict`` writes for taggers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import JsonLines, KBest, Marginals, Sample, Seed
from partwise.cli.output import as_json
from partwise.cli.sequence.files import Format, SequenceFiles
from partwise.cli.vectors import Vectors, attach
from partwise.errors import DataError, PartwiseError

if TYPE_CHECKING:
    from partwise import SequenceTagger
    from partwise.data import ColumnData

Spans = Annotated[
    bool, typer.Option("--spans", help="Write chunks, one JSON object per sentence.")
]


def predict(
    model: SequenceTagger,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    spans: Spans = False,
    sample: Sample = None,
    seed: Seed = 0,
    json: JsonLines = False,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels/--no-labels",
            help="crfsuite: whether lines begin with a label, which is ignored.",
        ),
    ] = True,
    vectors: Vectors = None,
    files: SequenceFiles,
) -> None:
    """Tag sequences.

    Taggers add a column with the label to column files. These need the columns that the
    model reads, in the same order, and may have more, such as labels. For other formats
    the output has one label per line, and an empty line after each sequence.

    With --kbest, each sentence is written K times, best first, after a line
    "# rank R score S"; with --sample N times, after a line "# sample R".
    """
    check_format(model, files.format)
    attach(model, vectors)
    if sample is not None:
        pieces = files.pieces(input, labels)
        Tagging(model, model.predict, columns_read(model)).write_samples(
            output, pieces, input, sample, seed, json
        )
        return
    Tagging(model, model.predict, columns_read(model)).write(
        *(output, files.pieces(input, labels), input),
        marginals=marginals, kbest=kbest, spans=spans, json=json,
    )  # fmt: skip


def check_format(model: SequenceTagger, chosen: Format | None) -> None:
    """Refuse a format that a tagger cannot read."""
    kind = model._input.kind
    if model._vectors.takes_matrices:
        raise PartwiseError(
            "the model reads vectors that are given with every sentence, for which "
            "there is no file format; load it in Python with partwise.load"
        )
    if kind == "dense":
        raise PartwiseError(
            "the model reads dense arrays, for which there is no file format; load it "
            "in Python with partwise.load"
        )
    if kind == "template":
        if chosen not in (None, Format.columns):
            raise PartwiseError(
                "the model was trained on columns with a template and cannot read "
                f"{chosen} files"
            )
    elif chosen in (None, Format.columns):
        raise PartwiseError(
            "the model was trained on named features, not on columns; use "
            "--format crfsuite or --format svmhmm"
        )


def columns_read(model: SequenceTagger) -> list[int]:
    """Return the columns that a tagger reads, the one with the words first."""
    template = getattr(getattr(model._input, "encoder", None), "template", None)
    if template is None:
        return []
    lines = template.node_lines + template.edge_lines
    return [macro.column for line in lines for macro in line.macros] or [0]


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
                for one, samples in zip(_singles(piece), drawn, strict=True):
                    if json:
                        found = {"samples": samples}
                        if self.columns:
                            words = one.column_sequences(self.columns[0])[0]
                            found = {"words": words, **found}
                        out.write(as_json(found) + "\n")
                        continue
                    for number, labels in enumerate(samples, start=1):
                        out.write(f"# sample {number}\n")
                        _append(out, one, [labels])
                out.flush()

    def _write_labels(self, out: IO[str], X: Any, marginals: bool) -> None:
        extra: list[Any] = [self.labels_of(X)]
        if marginals:
            shares = self._probabilities(X, extra[0])
            extra.append([[f"{p:.6f}" for p in row] for row in shares])
        _append(out, X, *extra)

    def _write_ranked(self, out: IO[str], X: Any, k: int) -> None:
        for one, ranking in zip(
            _singles(X), self.model.predict_kbest(X, k), strict=True
        ):
            for rank, (labels, score) in enumerate(ranking, start=1):
                out.write(f"# rank {rank} score {score:.6f}\n")
                _append(out, one, [labels])

    def _write_json(
        self, out: IO[str], X: Any, marginals: bool, k: int | None, spans: bool
    ) -> None:
        fields: dict[str, list[Any]] = {}
        if self.columns:
            fields["words"] = X.column_sequences(self.columns[0])
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
                fields["probabilities"] = self._probabilities(X, fields["labels"])
        for values in zip(*fields.values(), strict=True):
            out.write(as_json(dict(zip(fields, values, strict=True))) + "\n")

    def _probabilities(self, X: Any, predicted: Sequence[Any]) -> list[list[float]]:
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
