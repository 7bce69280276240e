"""Whether probabilities are to be believed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def calibration_error(
    confidence: ArrayLike, right: ArrayLike, n_bins: int = 10
) -> float:
    """Return the expected calibration error (ECE) of predictions, from 0 to 1.

    Predictions are put into bins of equal width by their confidence; the error is the
    mean distance between the confidence of a bin and the share of its predictions that
    are right, each bin weighed by its size.

    Parameters
    ----------
    confidence : array
        The probability that each prediction was given.
    right : array of bool
        Whether it was right.
    n_bins : int
        How many bins.

    Examples
    --------
    >>> calibration_error([0.75, 0.75, 0.75, 0.75], [True, True, True, False])
    0.0
    >>> calibration_error([1.0, 1.0], [True, False])
    0.5
    """
    share, hit = np.asarray(confidence, float), np.asarray(right, float)
    if share.shape != hit.shape:
        raise ValueError(f"{share.size} confidences for {hit.size} predictions")
    if share.size == 0:
        return 0.0
    bins = np.minimum((share * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, share - hit, minlength=n_bins)
    return float(np.abs(gaps).sum() / share.size)


def coverage(sets: Sequence[Sequence[object]], y_true: Sequence[object]) -> float:
    """Return the share of right answers that are in their prediction sets.

    Parameters
    ----------
    sets : sequence of collections
        A set of answers for every question.
    y_true : sequence
        The right answers.

    Examples
    --------
    >>> coverage([["N"], ["N", "V"]], ["V", "V"])
    0.5
    """
    if len(sets) != len(y_true):
        raise ValueError(f"{len(sets)} sets for {len(y_true)} answers")
    hits = [answer in some for some, answer in zip(sets, y_true, strict=True)]
    return float(np.mean(hits)) if hits else 0.0
