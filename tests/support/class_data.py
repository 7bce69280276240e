"""A small classification task that a linear model can learn."""

import numpy as np


def easy_classes(
    n_samples: int, n_classes: int = 4, n_features: int = 30, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return zeros and ones, with ones more frequent in the features of a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    own = np.arange(n_features) % n_classes == y[:, None]
    return (rng.random(own.shape) < np.where(own, 0.7, 0.1)).astype(float), y


def as_dicts(X: np.ndarray) -> list[dict[str, float]]:
    """Return the same rows as feature dicts without zeros."""
    return [{f"x{j}": row[j] for j in np.flatnonzero(row)} for row in X]
