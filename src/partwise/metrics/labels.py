"""Scores of labels: tokens, sequences, each label, and what is confused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.metrics import scores as shared
from partwise.metrics.scores import Labels, Scores


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
    pairs = shared.pair_sequences(y_true, y_pred)
    right = sum(sum(map(eq, gold, predicted)) for gold, predicted in pairs)
    return shared.ratio(int(right), sum(len(gold) for gold, _ in pairs))


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
    pairs = shared.pair_sequences(y_true, y_pred)
    return shared.ratio(sum(all(map(eq, *pair)) for pair in pairs), len(pairs))


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
        return shared.mean([scores.f1 for scores in self.per_label.values()])

    @property
    def weighted_f1(self) -> float:
        """The mean F1 of the labels, each counting as often as it is right.

        Examples
        --------
        >>> round(label_scores([["A", "B", "B"]], [["A", "B", "A"]]).weighted_f1, 4)
        0.6667
        """
        return shared.weighted_f1(self.per_label.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "weighted_f1": self.weighted_f1,
            "per_label": {str(k): s._asdict() for k, s in self.per_label.items()},
        }

    def __str__(self) -> str:
        """Show a table, one row per label."""
        table = shared.score_table(self.per_label.items())
        return f"{table}\naccuracy {self.accuracy:.4f}"


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
        shared.ratio(sum(right), sum(gold)),
        {
            label: shared.score(right[j], predicted[j], gold[j])
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
        """Show a table: one row per right label, one column per predicted one."""
        header = ["", *map(str, self.labels)]
        rows = zip(self.labels, self.counts.tolist(), strict=True)
        return shared.align(
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
    pairs = shared.pair_sequences(y_true, y_pred)
    seen = Counter(chain.from_iterable(zip(*pair, strict=True) for pair in pairs))
    labels = _in_order(set(chain.from_iterable(seen)))
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (gold, predicted), count in seen.items():
        counts[index[gold], index[predicted]] = count
    return ConfusionTable(labels, counts)


def _in_order(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # strings and numbers together have no order of their own
        return sorted(labels, key=lambda label: (type(label).__name__, label))
