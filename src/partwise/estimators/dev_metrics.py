"""What is measured on development data: a name or a function, checked beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

from partwise import metrics
from partwise.estimators.allowed_values import unknown_metric
from partwise.estimators.labels import Label

Measure = Callable[[Any, Any], float]

TAGGING: dict[str, Measure] = {
    "accuracy": metrics.token_accuracy,
    "sequence_accuracy": metrics.sequence_accuracy,
    "label_f1_macro": lambda y, found: metrics.label_scores(y, found).macro_f1,
    "chunk_f1": metrics.chunk_f1,
    "chunk_f1_macro": lambda y, found: metrics.chunk_scores(y, found).macro_f1,
}
"""The metrics of label sequences by name; `partwise.metrics` has their details."""


def tagging_measure(metric: Any, classes: Sequence[Label]) -> Measure:
    """Return the function of ``(y_true, y_pred)`` that `metric` means.

    Examples
    --------
    >>> measure = tagging_measure("auto", ["B-PER", "I-PER", "O"])
    >>> measure([["B-PER", "O"]], [["B-PER", "O"]])
    1.0
    """
    if callable(metric):
        return checked(metric)
    spelled = metrics.are_chunk_labels(classes)
    if metric == "auto":
        metric = "chunk_f1" if spelled else "accuracy"
    if metric not in TAGGING:
        raise unknown_metric(metric, ("auto", *TAGGING))
    if metric.startswith("chunk") and not spelled:
        raise ValueError(
            f"dev_metric={metric!r} needs labels that spell chunks (B-PER, I-PER, O "
            "and the like); use 'accuracy' or 'label_f1_macro'"
        )
    return TAGGING[metric]


def checked(metric: Callable[[Any, Any], Any]) -> Measure:
    """Wrap a user's metric so that what it returns is a number, or an error says so.

    Examples
    --------
    >>> checked(lambda y_true, y_pred: "good")([], [])
    Traceback (most recent call last):
        ...
    ValueError: dev_metric returned 'good'; it must return a number, higher for better
    """

    def measure(y_true: Any, y_pred: Any) -> float:
        score = metric(y_true, y_pred)
        if not isinstance(score, Real) or math.isnan(score):
            raise ValueError(
                f"dev_metric returned {score!r}; it must return a number, higher for "
                "better"
            )
        return float(score)

    return measure


def find_measure(metric: Any, measures: Mapping[str, Measure]) -> Measure:
    """Return the function that a setting `dev_metric` means.

    Examples
    --------
    >>> find_measure("accuracy", TAGGING)([["N"]], [["V"]])
    0.0
    """
    return checked(metric) if callable(metric) else measures[metric]


def rehearse(measure: Measure, y: Any) -> None:
    """Call a metric once, on right answers: its mistakes show before training."""
    try:
        measure(y, y)
    except Exception as error:
        error.add_note(
            "dev_metric was called with (y_true, y_pred) of the development data, "
            "before training"
        )
        raise
