"""Hidden Markov models: chains whose weights are log-probabilities.

A position has one feature, the symbol seen there. The score of a sequence of states is
then ``ln P(states, symbols)``, and everything a chain answers is an answer about the
model: the best path, marginals, the likelihood of the symbols as log Z.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.structures.chain import Chain, make_chain
from partwise.structures.counts import log_of_rest
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import make_sparse_rows


class Probabilities(NamedTuple):
    """The distributions of a hidden Markov model.

    Attributes
    ----------
    initial : array of shape (n_states,)
        Of the first state.
    transitions : array of shape (n_states, n_states)
        Of the next state, given the one of the row.
    emissions : array of shape (n_states, n_symbols)
        Of the symbol, given the state of the row.
    """

    initial: FloatArray
    transitions: NDArray[np.float64]
    emissions: NDArray[np.float64]


def make_hidden_markov(
    symbols: ArrayLike,
    ptr: ArrayLike,
    states: ArrayLike | None,
    n_states: int,
    n_symbols: int,
    *,
    costs: ArrayLike | None = None,
    hidden: ArrayLike | None = None,
) -> Chain:
    """Make the chain of a hidden Markov model from codes.

    Parameters
    ----------
    symbols : array of int
        The symbol of every position of the corpus.
    ptr : array of int
        Sequence `i` is the positions ``ptr[i]:ptr[i + 1]``.
    states : array of int or None
        The right state of every position; None when only predicting.
    n_states, n_symbols : int
        How many there are.
    costs : matrix, optional
        ``costs[right, predicted]``; Hamming by default.
    hidden : array of bool, optional
        False where the state is given: no other one is legal there. All are hidden by
        default.

    Examples
    --------
    >>> s = make_hidden_markov([0, 1, 1], [0, 3], [0, 1, 1], n_states=2, n_symbols=2)
    >>> s.layout.n_weights  # 4 emissions, 4 transitions, 2 initial states
    10
    """
    symbols = np.ascontiguousarray(symbols, np.int32)
    rows = make_sparse_rows(np.arange(symbols.size + 1), symbols, None, n_symbols)
    others = None
    if hidden is not None:
        given = np.flatnonzero(~np.asarray(hidden, bool))
        others = np.zeros((symbols.size, n_states), bool)
        others[given] = True
        others[given, np.asarray(states)[given]] = False
    return make_chain(
        rows, ptr, states, n_states, start=True, costs=costs, forbidden_labels=others
    )


def to_weights(probabilities: Probabilities) -> FloatArray:
    """Lay out numbers by state and symbol as the chain's weights are.

    Examples
    --------
    >>> two = Probabilities(np.zeros(2), np.ones((2, 2)), np.array([[2.0], [3.0]]))
    >>> to_weights(two).tolist()
    [2.0, 3.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """
    initial, transitions, emissions = probabilities
    parts = [np.ravel(emissions.T), np.ravel(transitions), initial]
    return np.ascontiguousarray(np.concatenate(parts), np.float64)


def from_weights(w: FloatArray, n_states: int, n_symbols: int) -> Probabilities:
    """Take the chain's weights apart; the inverse of `to_weights`."""
    K, at = n_states, n_states * n_symbols
    return Probabilities(
        w[at + K * K :].copy(),
        w[at : at + K * K].reshape(K, K).copy(),
        w[:at].reshape(n_symbols, K).T.copy(),
    )


def with_unknown(w: FloatArray, n_states: int, n_symbols: int) -> FloatArray:
    """Return weights for one more symbol, the last: any that training has not seen.

    Its probability is what the others leave to one. Where no state leaves anything, it
    tells nothing.
    """
    at = n_states * n_symbols
    mass = np.exp(w[:at]).reshape(n_symbols, n_states).sum(axis=0)
    return np.concatenate([w[:at], log_of_rest(mass), w[at:]])


def draw_sequences(
    probabilities: Probabilities, n: int, length: int, uniform: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw sequences from a model; return symbols and states, one row per sequence.

    What distributions leave to one is shared out: only what is known is drawn.

    Parameters
    ----------
    probabilities : Probabilities
        The model.
    n, length : int
        How many sequences, and of how many positions.
    uniform : array of shape (2, n, length)
        Numbers drawn uniformly from 0 to 1, for states and for symbols.

    Examples
    --------
    >>> turns = Probabilities(np.array([1.0, 0]), 1 - np.eye(2), np.eye(2))
    >>> draw_sequences(turns, 1, 4, np.full((2, 1, 4), 0.5))[1]
    array([[0, 1, 0, 1]])
    """
    initial, transitions, emissions = probabilities
    states = np.zeros((n, length), np.int64)
    for t in range(length):
        rows = transitions[states[:, t - 1]] if t else initial[None, :]
        states[:, t] = draw_values(rows, uniform[0, :, t])
    symbols = draw_values(emissions[states.ravel()], uniform[1].ravel())
    return symbols.reshape(n, length), states


def draw_values(rows: NDArray[np.float64], uniform: FloatArray) -> IntArray:
    """Draw a value from every row of probabilities, or from the only row.

    Examples
    --------
    >>> draw_values(np.array([[0.2, 0.8], [0.4, 0.4]]), np.array([0.3, 0.3])).tolist()
    [1, 0]
    """
    sums = np.cumsum(rows, axis=-1)
    return np.asarray((uniform[:, None] >= sums / sums[..., -1:]).sum(axis=1), np.int64)
