"""Segment taggers write and are measured as taggers are: labels spell segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.drawings import Drawings
from partwise.cli.options import (
    LABEL_COLUMN,
    Confusion,
    JsonLines,
    KBest,
    KBestDrawn,
    LabelColumn,
    LogProbability,
    Marginals,
    PartialData,
    Risk,
    Sample,
    Seed,
    check_risk_alone,
)
from partwise.cli.output import Report
from partwise.cli.sequence.evaluate import measure, shown, summed_up
from partwise.cli.sequence.files import ColumnsOnly
from partwise.cli.sequence.predict import Spans, columns_read
from partwise.cli.sequence.show import drawings
from partwise.cli.sequence.tagging import Tagging, check_columns
from partwise.cli.vectors import Vectors, attach, refuse_matrices
from partwise.errors import DataError, PartwiseError

if TYPE_CHECKING:
    from partwise import SegmentTagger


def predict(
    model: SegmentTagger,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    spans: Spans = False,
    sample: Sample = None,
    seed: Seed = 0,
    json: JsonLines = False,
    risk: Risk = None,
    vectors: Vectors = None,
    files: ColumnsOnly,
) -> None:
    """Cut sequences into segments.

    Segment taggers add a column that spells segments: B-NP where one begins, I-NP where
    it goes on, O outside.
    """
    others = marginals or spans or kbest is not None or sample is not None
    check_risk_alone(risk, others)
    attach(model, vectors)
    spelled = Spelled(model)
    labels_of = partial(spelled.predict, risk=risk)
    writer, pieces = (
        SegmentTagging(spelled, labels_of, _columns(model)),
        files.stream(input),
    )
    if sample is not None:
        writer.write_samples(output, pieces, input, sample, seed, json)
        return
    writer.write(
        *(output, pieces, input),
        marginals=marginals, kbest=kbest, spans=spans, json=json,
    )  # fmt: skip


def show(
    model: SegmentTagger,
    file: str,
    *,
    marginals: Marginals = False,
    kbest: KBestDrawn = None,
    vectors: Vectors = None,
    files: ColumnsOnly,
) -> Drawings:
    """Draw the segments that a segment tagger predicts."""
    attach(model, vectors)
    spelled = Spelled(model)
    tagging = SegmentTagging(spelled, spelled.predict, _columns(model))
    return drawings(tagging, files.stream(file), file, marginals, kbest)


def evaluate(
    model: SegmentTagger,
    file: str,
    *,
    confusion: Confusion = False,
    log_probability: LogProbability = False,
    label_column: LabelColumn = LABEL_COLUMN,
    vectors: Vectors = None,
    files: ColumnsOnly,
) -> Report:
    """Measure a segment tagger on labelled sequences."""
    from partwise.metrics import spans

    attach(model, vectors)
    X, labels = labelled(model, file, label_column=label_column, files=files)
    spelled = Spelled(model)
    gold = spelled.spell(X, [spans(one) for one in labels])
    known = set(map(str, model.classes_.tolist()))
    if not any(str(kind) in known for one in labels for _, _, kind in spans(one)):
        raise DataError(
            f"{file}: column {label_column} holds {labels[0][0]!r} and other values, "
            "and spells no segments that the model knows (choose another "
            "--label-column)"
        )
    scores = measure(gold, spelled.predict(X), "IOB2", confusion)
    if log_probability:
        scores |= summed_up(model.log_probability(X, [spans(one) for one in labels]))
    return shown(scores)


def labelled(
    model: SegmentTagger,
    file: str,
    *,
    label_column: LabelColumn = LABEL_COLUMN,
    partial: PartialData = False,
    files: ColumnsOnly,
) -> tuple[Any, Any]:
    """Read sequences, and labels that spell their segments."""
    from partwise.estimators.partial_labels import read_labels

    X, labels = files.labelled(file, label_column)
    check_columns(_columns(model), X, file)
    return X, read_labels(labels) if partial else labels


def _columns(model: SegmentTagger) -> list[int]:
    """Return the columns that a model reads; there are none of other features."""
    refuse_matrices(model)
    if model._input.kind != "template":
        raise PartwiseError(
            "the model was not trained on columns; load it in Python with partwise.load"
        )
    return columns_read(model)  # type: ignore[arg-type]


class Spelled:
    """A segment tagger whose segments are spelled by labels of tokens."""

    def __init__(self, model: SegmentTagger):
        self._model = model
        self.classes_ = model.classes_
        self.predict_marginals = model.predict_marginals
        self.predict_spans = model.predict_spans

    def spell(self, X: Any, cuts: Sequence[Any]) -> list[list[str]]:
        """Return the labels of the tokens of some sequences."""
        import numpy as np

        from partwise.estimators.segments.answers import spell

        return spell(cuts, np.diff(X.ptr).tolist(), "O")

    def predict(self, X: Any, risk: float | None = None) -> list[list[str]]:
        """Return the labels of the best segments."""
        return self.spell(X, self._model.predict(X, risk=risk))

    def sample(self, X: Any, n: int, random: Any) -> list[list[list[str]]]:
        """Return the labels of segmentations that are drawn."""
        lengths = (X.ptr[1:] - X.ptr[:-1]).tolist()
        drawn = self._model.sample(X, n, random)
        return [
            [_spell_one(cut, length) for cut in cuts]
            for cuts, length in zip(drawn, lengths, strict=True)
        ]

    def predict_kbest(self, X: Any, k: int) -> list[list[Any]]:
        """Return the labels of the k best segmentations."""
        from partwise.estimators.sequence.answers import Ranked

        ranked = self._model.predict_kbest(X, k)
        lengths = X.ptr[1:] - X.ptr[:-1]
        return [
            [Ranked(_spell_one(one.segments, int(n)), one.score) for one in ranking]
            for ranking, n in zip(ranked, lengths, strict=True)
        ]


def _spell_one(segments: Any, length: int) -> list[str]:
    from partwise.estimators.segments.answers import spell

    return spell([segments], [length], "O")[0]


class SegmentTagging(Tagging):
    """How segments are written out."""

    def probabilities(self, X: Any, predicted: Sequence[Any]) -> list[list[float]]:
        """Return the probability of each token's label, wherever segments begin."""
        names = [
            [label.partition("-")[2] or ("O" if label == "O" else "_") for label in one]
            for one in predicted
        ]
        return super().probabilities(X, names)
