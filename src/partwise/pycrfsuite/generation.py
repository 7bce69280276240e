"""Which weights a model has: CRFsuite's generation of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.pycrfsuite.corpus import Tokens
from partwise.pycrfsuite.parameters import Parameters
from partwise.structures.chain import Chain, make_chain
from partwise.structures.rows import Pairs, make_pair_rows, make_pairs


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
    if least <= 0.0 and rows.val.size == 0:
        found = np.unique(keys)
        enough = np.ones(found.size, bool)
    else:
        found, inverse = np.unique(keys, return_inverse=True)
        weights = rows.val if rows.val.size else None
        enough = np.bincount(inverse, weights, minlength=found.size) >= least
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
