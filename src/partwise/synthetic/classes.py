"""Examples of a few classes, with sparse features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise.synthetic.draws import Seed, positive, probability

# Of an example's active features, the share that speaks for its class.
TELLING = 0.35


def make_classes(
    n_samples: int,
    n_classes: int = 4,
    n_features: int = 100,
    random_state: Seed = 0,
    noise: float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Generate examples of several classes; most features are zero.

    An example is like a short text: a handful of features occur, some of them
    picked from those typical of the class, the others from all. Classes share
    some of their typical features, so they overlap. What is typical of a class
    does not depend on the seed.

    Parameters
    ----------
    n_samples : int
        How many examples, at least 1.
    n_classes : int
        How many classes, at least 2. There may be examples of fewer classes if
        `n_samples` is small.
    n_features : int
        How many features, at least as many as classes.
    random_state : int, numpy.random.Generator or None
        The seed. None gives other examples each time.
    noise : float
        The probability that an example gets the label of another class.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        How often each feature occurs in each example.
    y : array of shape (n_samples,)
        The classes, from 0 to ``n_classes - 1``.

    Examples
    --------
    >>> X, y = make_classes(200, n_classes=3, n_features=50)
    >>> X.shape, y.shape, bool((X == 0).mean() > 0.6)
    ((200, 50), (200,), True)
    """
    n_samples = positive("n_samples", n_samples)
    n_classes = positive("n_classes", n_classes)
    n_features = positive("n_features", n_features)
    noise = probability("noise", noise)
    if n_classes < 2:
        raise ValueError("n_classes must be at least 2, got 1")
    if n_features < n_classes:
        raise ValueError(
            f"n_features must be at least n_classes = {n_classes}, got {n_features}"
        )
    rng = np.random.default_rng(random_state)
    y = (rng.random(n_samples) * n_classes).astype(np.int64)

    n_active = max(3, min(20, n_features // 6))
    shape = (n_samples, n_active)
    # A class owns every n_classes-th feature and the one after each of these,
    # which the next class owns as well.
    n_owned = n_features // n_classes
    owned = (rng.random(shape) * n_owned).astype(np.int64) * n_classes
    owned += y[:, None] + (rng.random(shape) < 0.3)
    anything = (rng.random(shape) * n_features).astype(np.int64)
    active = np.where(rng.random(shape) < TELLING, owned % n_features, anything)

    X = np.zeros((n_samples, n_features))
    np.add.at(X, (np.arange(n_samples)[:, None], active), 1.0)
    wrong = rng.random(n_samples) < noise
    shift = 1 + (rng.random(n_samples) * (n_classes - 1)).astype(np.int64)
    return X, np.where(wrong, (y + shift) % n_classes, y)
