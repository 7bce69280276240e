"""Scores of sequences: those of scikit-learn, token by token, and whole sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.sklearn_crfsuite.utils import flatten


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of tokens with the right label.

    Examples
    --------
    >>> flat_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    0.6666666666666666
    """
    from sklearn import metrics

    return metrics.accuracy_score(flatten(y_true), flatten(y_pred))  # type: ignore[no-any-return]


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Return scikit-learn's precision, token by token."""
    from sklearn import metrics

    return metrics.precision_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Return scikit-learn's recall, token by token."""
    from sklearn import metrics

    return metrics.recall_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Return scikit-learn's F1, token by token.

    Examples
    --------
    >>> flat_f1_score([["A", "B"]], [["A", "A"]], average="micro")
    0.5
    """
    from sklearn import metrics

    return metrics.f1_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """Return scikit-learn's F-beta, token by token."""
    from sklearn import metrics

    return metrics.fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **kwargs)


def flat_classification_report(
    y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any
) -> Any:
    """Return scikit-learn's report, token by token."""
    from sklearn import metrics

    return metrics.classification_report(
        flatten(y_true), flatten(y_pred), labels=labels, **kwargs
    )


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of sequences all of whose labels are right.

    Examples
    --------
    >>> sequence_accuracy_score([["A"], ["A", "B"]], [["A"], ["A", "A"]])
    0.5
    """
    total = len(y_true)
    if not total:
        return 0
    pairs = zip(y_true, y_pred, strict=True)
    return float(np.mean([list(right) == list(found) for right, found in pairs]))
