"""Which weights a model has: CRFsuite's generation of features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.pycrfsuite.corpus import Tokens
from partwise.pycrfsuite.parameters import Parameters
from partwise.structures.chain import Chain, make_chain
from partwise.structures.rows import Pairs, make_pair_rows, make_pairs

MOST_PER_ENTRY = 4  # numbers to count pairs by, for every one that is met


class Features(NamedTuple):
    """The pairs of attribute and label that have weights, and the transitions."""

    pairs: Pairs
    transitions: NDArray[np.bool_]

    @property
    def n_weights(self) -> int:
        """How many weights there are."""
        return int(self.pairs.label.size + np.count_nonzero(self.transitions))


def generate_features(
    tokens: Tokens, n_labels: int, parameters: Parameters
) -> Features:
    """Choose the pairs that occur often enough; the sum of their values counts.

    With `feature.possible_states`, an attribute that occurs is paired with all labels,
    and what does not occur has frequency zero; likewise for transitions.
    """
    K, rows = n_labels, tokens.rows
    least = float(parameters["feature.minfreq"])
    owner = np.repeat(np.arange(tokens.labels.size), np.diff(rows.ptr))
    keys = rows.idx.astype(np.int64) * K + tokens.labels[owner]
    found, sums = _sums(keys, rows.val, rows.n_columns * K)
    enough = sums >= least
    if parameters["feature.possible_states"]:
        every = (
            np.unique(rows.idx).astype(np.int64)[:, None] * K + np.arange(K)
        ).ravel()
        if least > 0.0:
            every = found
        rare = found[~enough]
        found, enough = every, ~np.isin(every, rare)
    kept = found[enough]
    counts = np.bincount(kept // max(K, 1), minlength=rows.n_columns)
    ptr = np.concatenate([[0], np.cumsum(counts)])
    pairs = make_pairs(ptr, kept % max(K, 1), K)
    return Features(pairs, _transitions(tokens, K, parameters, least))


def _sums(
    keys: NDArray[np.int64], values: NDArray[np.float64], n_keys: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the keys that occur, sorted, and the sums of their values.

    Examples
    --------
    >>> found, sums = _sums(np.array([4, 1, 4]), np.array([0.5, 0.0, 2.0]), 5)
    >>> found.tolist(), sums.tolist()
    ([1, 4], [0.0, 2.5])
    """
    weights = values if values.size else None
    if n_keys > MOST_PER_ENTRY * keys.size:  # too many to count them all
        found, inverse = np.unique(keys, return_inverse=True)
        return found, np.bincount(inverse, weights, minlength=found.size)
    occurs = np.zeros(n_keys, bool)
    occurs[keys] = True
    found = np.flatnonzero(occurs)
    return found, np.bincount(keys, weights, minlength=n_keys)[found]


def _transitions(
    tokens: Tokens, K: int, parameters: Parameters, least: float
) -> NDArray[np.bool_]:
    inside = np.ones(max(tokens.labels.size - 1, 0), bool)
    inside[tokens.ptr[1:-1] - 1] = False
    y = tokens.labels.astype(np.int64)
    moves = (y[:-1] * K + y[1:])[inside]
    counts = np.bincount(moves, minlength=K * K).reshape(K, K)
    if parameters["feature.possible_transitions"]:
        return np.asarray(counts >= least)
    return np.asarray((counts > 0) & (counts >= least))


def make_structure(tokens: Tokens, features: Features) -> Chain:
    """Return the structure that solvers train on."""
    return make_chain(
        make_pair_rows(tokens.rows, features.pairs),
        tokens.ptr,
        tokens.labels,
        features.pairs.n_labels,
        weighted_transitions=features.transitions,
    )
