"""Labels where inputs belong, and the other way round: told from what they are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators.labels import Label, listed

LISTS = (list, tuple)


def check_labels(y: Sequence[Sequence[Any]], method: str) -> None:
    """Raise `DataError` if what should be labels are features.

    Examples
    --------
    >>> check_labels([["D", None, {"N", "V"}]], "fit")
    >>> check_labels([[{"word": "the"}]], "fit")
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: y, sequence 0: {'word': 'the'} is not a label but \
features; the inputs come first: fit(X, y)
    """
    for i, labels in enumerate(y):
        if labels and isinstance(labels[0], Mapping | np.ndarray | list | tuple):
            several = isinstance(labels[0], LISTS)
            advice = "; write a set if it is one of several labels" if several else ""
            raise DataError(
                f"y, sequence {i}: {labels[0]!r} is not a label but features; the "
                f"inputs come first: {method}(X, y){advice}"
            )
        if labels:
            return


def check_inputs(X: Any, classes: Sequence[Label], source: Any) -> None:
    """Raise `DataError`, or warn, if inputs are the labels of a model.

    They are no features; but they may be words, of which some are labels as well. So
    words are suspicious only if all are labels, and several never were words before.
    """
    if not isinstance(X, LISTS):
        return
    words = _words(X, classes)
    if not words:
        return
    if source.kind != "template":
        raise DataError(
            f"X holds labels of the model, such as {words[0]!r}, where the features "
            "of tokens belong; give X, not y"
        )
    if source.encoder.hash_bits is not None or len(words) < 2:
        return
    seen = tuple(source.names())
    new = [word for word in words if not any(name.endswith(word) for name in seen)]
    if len(new) > 1:
        warnings.warn(
            f"all words of X are labels of the model, such as {listed(new, 3)}, and "
            "these were never words in training; give X, not y",
            UserWarning,
            stacklevel=5,
        )


def warn_of_other_labels(y: Sequence[Sequence[Label]], classes: list[Label]) -> None:
    """Warn if no label is one of a model."""
    if any(y) and set(chain.from_iterable(y)).isdisjoint(classes):
        warnings.warn(
            f"none of these labels is one of the model's ({listed(classes, 3)}); the "
            "inputs come first: score(X, y)",
            UserWarning,
            stacklevel=3,
        )


def _words(X: Sequence[Any], classes: Sequence[Label]) -> list[Label]:
    """Return the different tokens, or none if some are not among the labels."""
    found = {}
    for sequence in X:
        if not isinstance(sequence, LISTS):
            return []
        for token in sequence:
            if not isinstance(token, str | int | np.integer) or token not in classes:
                return []
            found[token] = True
    return list(found)
