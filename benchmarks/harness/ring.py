"""The tracking problem of paper 003: states on a ring, and what mistakes cost."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise import HiddenMarkovModel

N_STATES, N_SYMBOLS, LENGTH = 10, 7, 50

_apart = np.abs(np.arange(N_STATES)[:, None] - np.arange(N_STATES))
RING = np.minimum(_apart, N_STATES - _apart).astype(float)


class Noise(NamedTuple):
    """How often the next state is any state, and a symbol any symbol."""

    transition: float
    observation: float


class Tracks(NamedTuple):
    """Sequences: symbols and states, a row each."""

    X: NDArray[Any]
    y: NDArray[Any]


def draw(count: int, noise: Noise, rng: np.random.Generator) -> Tracks:
    """Draw sequences.

    From a state goes the next one on the ring, but with the probability of the
    transition noise any of the ten. The first seven states show their own symbol, but
    with the probability of the observation noise any; the last three always any.
    """
    y = np.zeros((count, LENGTH), np.int64)
    y[:, 0] = rng.integers(N_STATES, size=count)
    for t in range(1, LENGTH):
        jump = rng.random(count) < noise.transition
        anywhere = rng.integers(N_STATES, size=count)
        y[:, t] = np.where(jump, anywhere, (y[:, t - 1] + 1) % N_STATES)
    blurred = (rng.random(y.shape) < noise.observation) | (y >= N_SYMBOLS)
    return Tracks(np.where(blurred, rng.integers(N_SYMBOLS, size=y.shape), y), y)


class Losses(NamedTuple):
    """What predictions cost, a sequence: along the ring, its spread, and Hamming."""

    ring: float
    spread: float
    hamming: float


def losses(tracks: Tracks, found: Any) -> Losses:
    """Return the losses of predicted states."""
    predicted: NDArray[Any] = np.asarray(found)
    ring = RING[tracks.y, predicted].sum(axis=1)
    wrong = (tracks.y != predicted).sum(axis=1)
    return Losses(float(ring.mean()), float(ring.std()), float(wrong.mean()))


def measure(model: HiddenMarkovModel, tracks: Tracks, decoding: str = "best") -> Losses:
    """Return the losses of a model on other sequences."""
    return losses(tracks, model.predict(tracks.X, decoding=decoding))
