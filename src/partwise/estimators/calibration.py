"""Probabilities that development data has been asked about, and sets with a promise.

A margin model ranks outputs; how far apart their scores are means nothing by itself.
*Temperature* multiplies all weights by the number that makes development data most
probable, *isotonic* regression replaces every probability by how often labels with
about as much of it are right. *Split conformal prediction* (Vovk, Gammerman and Shafer
2005) needs neither to be true: a set of all labels that are about as probable as right
labels of held-out data are, has the right one as often as was asked for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.checks import as_pair
from partwise.estimators.given_vectors import WithVectors, split_vectors
from partwise.losses import get_loss
from partwise.model_file import Content
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.probabilities import log_probabilities_without

MOST = np.log(1e4)
"""No scale is larger than this, or smaller than its inverse, in logarithms."""


class Calibration(NamedTuple):
    """What development data says about probabilities.

    Attributes
    ----------
    scale : float
        What weights are multiplied by.
    given, meant : arrays
        Probabilities, and what they are replaced by, straight lines in between;
        nothing if they stay as they are.
    strangeness : array
        One minus the probability of the right label, for every held-out token, sorted.
    """

    scale: float
    given: FloatArray
    meant: FloatArray
    strangeness: FloatArray

    def adjust(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities that are meant, in rows that add up to one."""
        if not self.given.size:
            return shares
        meant = np.interp(shares, self.given, self.meant)
        total = meant.sum(axis=-1, keepdims=True)
        return np.where(total > 0.0, meant / np.maximum(total, 1e-300), shares)

    def least_share(self, risk: float) -> float:
        """Return the probability from which on a label belongs to a set.

        At most a share `risk` of the right labels has less, on average over draws of
        the held-out data; 0 where there is too little of it to promise that.
        """
        n = self.strangeness.size
        rank = int(np.ceil((n + 1) * (1.0 - risk)))
        return 0.0 if rank > n else float(1.0 - self.strangeness[max(rank, 1) - 1])


def split_dev(dev: Any, method: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Divide development data: to stop and scale by, and to be held out for sets.

    What stops training may not be asked how strange right labels are: it is not new.
    """
    if dev is None:
        raise DataError(
            f"calibrate={method!r} needs development data: give fit(..., dev=...) "
            "examples with what is right of them, or --dev in a command"
        )
    given, labels = as_pair(dev)
    inputs, matrices = split_vectors(given)
    X, y = list(inputs), list(labels)
    if matrices is not None:
        X = [WithVectors(*pair) for pair in zip(X, matrices, strict=True)]
    if len(X) < 2 or len(X) != len(y):
        raise DataError(
            f"calibrate={method!r} needs at least two sequences of development data, "
            "with labels for each"
        )
    return (X[::2], y[::2]), (X[1::2], y[1::2])


def best_scale(
    s: Structure,
    w: FloatArray,
    n_jobs: int,
    without: tuple[IntArray, IntArray] | None = None,
) -> float:
    """Return what to multiply weights by, so that right outputs are most probable.

    The negative log-likelihood is convex in the scale; but where right outputs are all
    those `without` some parts, this finds a local optimum.
    """
    from scipy.optimize import minimize_scalar

    loss = get_loss("log_loss")

    def surprise(log_scale: float) -> float:
        scaled = np.exp(log_scale) * w
        if without is not None:
            return -float(log_probabilities_without(s, scaled, *without, n_jobs).mean())
        return float(loss.values(s, scaled, n_jobs).mean())

    found = minimize_scalar(surprise, bounds=(-MOST, MOST), method="bounded")
    return float(np.exp(found.x))


def fit_isotonic(
    shares: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return probabilities, and how often labels that have them are right."""
    from sklearn.isotonic import IsotonicRegression

    line = IsotonicRegression(y_min=0.0, y_max=1.0)
    line.fit(np.clip(shares, 0.0, 1.0), right)  # sums may round to more than one
    return line.X_thresholds_.astype(float), line.y_thresholds_.astype(float)


def right_shares(
    shares: list[NDArray[np.float64]], codes: NDArray[np.int64], ptr: IntArray
) -> FloatArray:
    """Return the probability of the right label of every token; 0 if it has no code."""
    found = np.zeros(codes.size)
    for rows, (a, b) in zip(shares, pairwise(ptr.tolist()), strict=True):
        own = codes[a:b]
        found[a:b] = np.where(own >= 0, rows[np.arange(b - a), own], 0.0)
    return found


def strangeness(right: Any) -> FloatArray:
    """Return one minus the probabilities of right answers, sorted.

    Sums may round to a little more than one.
    """
    return np.sort(np.clip(1.0 - np.asarray(right, float), 0.0, 1.0))


def least_share(found: Calibration | None, risk: Any) -> float:
    """Return `Calibration.least_share`; raise `ValueError` for what has none."""
    if isinstance(risk, bool) or not isinstance(risk, int | float) or not 0 < risk < 1:
        raise ValueError(f"risk must be a number between 0 and 1, not {risk!r}")
    if found is None:
        raise ValueError(
            "the model is not calibrated: fit it with calibrate='temperature' and "
            "development data"
        )
    return found.least_share(float(risk))


def calibration_tensors(found: Calibration | None) -> tuple[dict[str, Any], Any]:
    """Return what a model file holds of a calibration."""
    if found is None:
        return {}, None
    arrays = found._asdict()
    scale = arrays.pop("scale")
    return {f"calibration.{name}": values for name, values in arrays.items()}, {
        "scale": scale
    }


def read_calibration(content: Content, method: str | None) -> Calibration | None:
    """Read what `calibration_tensors` returned; None from files without one."""
    if content.settings.get("calibration") is None:
        if method is not None:
            raise content.error("the calibration is missing")
        return None
    part = content.part("calibration")
    most = 2.0 * np.exp(MOST)  # of those that are found, with room to round
    scale = part.setting("scale", float, above=1.0 / most, below=most)
    arrays = {
        name: part.tensor(name, dtype=np.float64)
        for name in ("given", "meant", "strangeness")
    }
    for values in arrays.values():
        if values.size and not (values[0] >= 0.0 and values[-1] <= 1.0):
            raise part.error("probabilities must lie between 0 and 1")
        if (np.diff(values) < 0.0).any():
            raise part.error("probabilities must be sorted")
    if arrays["given"].size != arrays["meant"].size:
        raise part.error("there must be a meant probability for every given one")
    return Calibration(scale, **arrays)
