"""Weights that are given by feature name instead of learnt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from partwise.features import FeatureDictEncoder
from partwise.structures.interface import FloatArray


def encode_weights(weights: Any) -> tuple[FeatureDictEncoder, FloatArray]:
    """Return an encoder that knows these features, and their weights in its order.

    Parameters
    ----------
    weights : mapping
        The weights by the names of features; of features with a text for a value, by
        pairs ``(name, text)``.

    Examples
    --------
    >>> encoder, w = encode_weights({"lm": 1.0, ("word", "b"): 1.5})
    >>> encoder.attribute_names(), w.tolist()
    (['lm', 'word=b'], [1.0, 1.5])
    """
    if not isinstance(weights, Mapping):
        raise ValueError(f"weights must be a dict by names, not {weights!r:.60}")
    for name, weight in weights.items():
        if not isinstance(name, str) and not _is_pair(name):
            raise ValueError(f"{name!r} is neither a name nor a pair of name and text")
        if not isinstance(weight, Real) or not math.isfinite(weight):
            raise ValueError(f"the weight of {name!r} must be finite, not {weight!r}")
    encoder = FeatureDictEncoder()
    encoder.fit_encode_rows(
        [{name: 1.0} if isinstance(name, str) else dict([name]) for name in weights]
    )
    return encoder, np.array(list(weights.values()), np.float64)


def _is_pair(name: Any) -> bool:
    return (
        isinstance(name, tuple)
        and len(name) == 2
        and all(isinstance(piece, str) for piece in name)
    )
