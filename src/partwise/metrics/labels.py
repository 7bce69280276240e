"""How good predictions are: tokens, sequences, chunks, and what is confused.

All functions take the right label sequences and the predicted ones, in this
order. A ratio of nothing to nothing is 0, and nobody is warned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.metrics.chunks import Span, are_chunk_labels, resolve_scheme, spans

__all__ = [
    "ChunkScores",
    "ConfusionTable",
    "LabelScores",
    "Scores",
    "Span",
    "are_chunk_labels",
    "chunk_f1",
    "chunk_scores",
    "confusion_table",
    "label_scores",
    "sequence_accuracy",
    "spans",
    "token_accuracy",
]

Labels: TypeAlias = Iterable[Sequence[Any]]


def token_accuracy(y_true: Labels, y_pred: Labels) -> float:
    """Return the share of tokens whose label is right.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones.

    Returns
    -------
    float
        Between 0 and 1; 0 if there are no tokens.

    Examples
    --------
    >>> token_accuracy([["A", "B"], ["A", "A"]], [["A", "A"], ["A", "A"]])
    0.75
    """
    pairs = _paired(y_true, y_pred)
    right = sum(sum(map(eq, gold, predicted)) for gold, predicted in pairs)
    return _ratio(int(right), sum(len(gold) for gold, _ in pairs))


def sequence_accuracy(y_true: Labels, y_pred: Labels) -> float:
    """Return the share of sequences whose labels are all right.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones.

    Returns
    -------
    float
        Between 0 and 1; 0 if there are no sequences.

    Examples
    --------
    >>> sequence_accuracy([["A", "B"], ["A", "A"]], [["A", "A"], ["A", "A"]])
    0.5
    """
    pairs = _paired(y_true, y_pred)
    return _ratio(sum(all(map(eq, *pair)) for pair in pairs), len(pairs))


class Scores(NamedTuple):
    """Precision, recall, their harmonic mean, and how many there are to find."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """Precision, recall and F1 of chunks, together and for each type.

    Parameters
    ----------
    overall : Scores
        Of all chunks together (micro average).
    per_type : dict of str to Scores
        Of each type, in alphabetical order.

    See Also
    --------
    chunk_scores : Makes one.
    """

    overall: Scores
    per_type: dict[str, Scores]

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the types, each counting the same."""
        return _mean([scores.f1 for scores in self.per_type.values()])

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        return {
            **self.overall._asdict(),
            "macro_f1": self.macro_f1,
            "per_type": {name: s._asdict() for name, s in self.per_type.items()},
        }

    def __str__(self) -> str:
        """Show a table, one row a type."""
        return _table([*self.per_type.items(), ("overall", self.overall)])


def chunk_scores(
    y_true: Labels, y_pred: Labels, scheme: str | None = None
) -> ChunkScores:
    """Score chunks: one counts as found if start, end and type are all right.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones, such as ``"B-PER"``.
    scheme : {"IOB1", "IOB2", "IOBES", "BILOU", "BMEWO"}, optional
        Count only chunks that are well formed in this scheme. By default labels
        are read leniently, as conlleval does; see `spans`.

    Returns
    -------
    ChunkScores
        Overall and by type; prints as a table.

    Examples
    --------
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> print(chunk_scores(y_true, y_pred))
             precision  recall      f1  support
    LOC         1.0000  1.0000  1.0000        1
    PER         0.0000  0.0000  0.0000        1
    overall     0.5000  0.5000  0.5000        2
    """
    resolve_scheme(scheme)
    gold_of: Counter[str] = Counter()
    predicted_of: Counter[str] = Counter()
    right_of: Counter[str] = Counter()
    for gold_labels, predicted_labels in _paired(y_true, y_pred):
        gold = spans(gold_labels, scheme)
        predicted = spans(predicted_labels, scheme)
        gold_of.update(kind for _, _, kind in gold)
        predicted_of.update(kind for _, _, kind in predicted)
        right_of.update(kind for _, _, kind in set(gold).intersection(predicted))
    return ChunkScores(
        _scores(right_of.total(), predicted_of.total(), gold_of.total()),
        {
            kind: _scores(right_of[kind], predicted_of[kind], gold_of[kind])
            for kind in sorted(gold_of.keys() | predicted_of.keys())
        },
    )


def chunk_f1(y_true: Labels, y_pred: Labels, scheme: str | None = None) -> float:
    """Return the F1 of all chunks together, between 0 and 1.

    Parameters
    ----------
    y_true, y_pred, scheme
        As in `chunk_scores`.

    Returns
    -------
    float
        The micro-averaged F1.

    Examples
    --------
    >>> chunk_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]])
    0.5
    """
    return chunk_scores(y_true, y_pred, scheme).overall.f1


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Precision, recall and F1 of each label, token by token.

    Parameters
    ----------
    accuracy : float
        The share of tokens whose label is right.
    per_label : dict of label to Scores
        Of each label, in order.

    See Also
    --------
    label_scores : Makes one.
    """

    accuracy: float
    per_label: dict[Any, Scores]

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the labels, each counting the same."""
        return _mean([scores.f1 for scores in self.per_label.values()])

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "per_label": {str(k): s._asdict() for k, s in self.per_label.items()},
        }

    def __str__(self) -> str:
        """Show a table, one row a label."""
        return f"{_table(self.per_label.items())}\naccuracy {self.accuracy:.4f}"


def label_scores(y_true: Labels, y_pred: Labels) -> LabelScores:
    """Score each label, token by token.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones.

    Returns
    -------
    LabelScores
        By label; prints as a table.

    Examples
    --------
    >>> print(label_scores([["DT", "NN", "NN"]], [["DT", "NN", "DT"]]))
        precision  recall      f1  support
    DT     0.5000  1.0000  0.6667        1
    NN     1.0000  0.5000  0.6667        2
    accuracy 0.6667
    """
    table = confusion_table(y_true, y_pred)
    right = np.diagonal(table.counts).tolist()
    gold = table.counts.sum(axis=1).tolist()
    predicted = table.counts.sum(axis=0).tolist()
    return LabelScores(
        _ratio(sum(right), sum(gold)),
        {
            label: _scores(right[j], predicted[j], gold[j])
            for j, label in enumerate(table.labels)
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionTable:
    """How often each label was predicted for each right one.

    Parameters
    ----------
    labels : list
        All labels, in order.
    counts : int64 array of shape (n_labels, n_labels)
        ``counts[i, j]`` tokens have label ``i`` and were given label ``j``.

    See Also
    --------
    confusion_table : Makes one.
    """

    labels: list[Any]
    counts: NDArray[np.int64]

    def most_confused(self, n: int = 10) -> list[tuple[Any, Any, int]]:
        """Return the `n` most frequent errors as ``(right, predicted, count)``."""
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:n]
        rows, columns = np.unravel_index(order, wrong.shape)
        return [
            (self.labels[i], self.labels[j], int(wrong[i, j]))
            for i, j in zip(rows, columns, strict=True)
            if wrong[i, j]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return labels and counts as lists, ready for JSON."""
        return {"labels": list(self.labels), "counts": self.counts.tolist()}

    def __str__(self) -> str:
        """Show a table, a row a right label, a column a predicted one."""
        header = ["", *map(str, self.labels)]
        rows = zip(self.labels, self.counts.tolist(), strict=True)
        return _aligned(
            [header, *([str(label), *map(str, row)] for label, row in rows)]
        )


def confusion_table(y_true: Labels, y_pred: Labels) -> ConfusionTable:
    """Count how often each label was predicted for each right one.

    Parameters
    ----------
    y_true, y_pred : iterables of label sequences
        The right labels and the predicted ones.

    Returns
    -------
    ConfusionTable
        Rows are right labels, columns predicted ones; prints as a table.

    Examples
    --------
    >>> table = confusion_table([["DT", "NN", "NN"]], [["DT", "NN", "DT"]])
    >>> print(table)
        DT  NN
    DT   1   0
    NN   1   1
    >>> table.most_confused()
    [('NN', 'DT', 1)]
    """
    pairs = _paired(y_true, y_pred)
    seen = Counter(chain.from_iterable(zip(*pair, strict=True) for pair in pairs))
    labels = _in_order(set(chain.from_iterable(seen)))
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (gold, predicted), count in seen.items():
        counts[index[gold], index[predicted]] = count
    return ConfusionTable(labels, counts)


def _paired(
    y_true: Labels, y_pred: Labels
) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    """Pair the sequences up after checking that their lengths agree."""
    gold, predicted = list(y_true), list(y_pred)
    for name, sequences in (("y_true", gold), ("y_pred", predicted)):
        for i, labels in enumerate(sequences):
            if isinstance(labels, str) or not hasattr(labels, "__len__"):
                raise TypeError(
                    f"{name}[{i}] must be a sequence of labels, not {labels!r} "
                    "(wrap a single sequence in a list)"
                )
    for i, (a, b) in enumerate(zip(gold, predicted, strict=False)):
        if len(a) != len(b):
            raise DataError(
                f"sequence {i} has {len(a)} labels in y_true, but {len(b)} in y_pred "
                "(give one label for each token in both)"
            )
    if len(gold) != len(predicted):
        raise DataError(
            f"y_true has {len(gold)} sequences, but y_pred has {len(predicted)}: "
            f"sequence {min(len(gold), len(predicted))} is the first without a partner"
        )
    return list(zip(gold, predicted, strict=True))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: list[float]) -> float:
    return _ratio(sum(values), len(values))


def _scores(right: int, predicted: int, gold: int) -> Scores:
    precision, recall = _ratio(right, predicted), _ratio(right, gold)
    f1 = _ratio(2 * precision * recall, precision + recall)
    return Scores(precision, recall, f1, gold)


def _in_order(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # strings and numbers together have no order of their own
        return sorted(labels, key=lambda label: (type(label).__name__, label))


def _table(rows: Iterable[tuple[Any, Scores]]) -> str:
    cells = [["", *Scores._fields]]
    for name, scores in rows:
        ratios = (f"{value:.4f}" for value in scores[:3])
        cells.append([str(name), *ratios, str(scores.support)])
    return _aligned(cells)


def _aligned(rows: list[list[str]]) -> str:
    """Lay out cells: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *map(str.rjust, row[1:], widths[1:]),
            ]
        )
        for row in rows
    )
