"""Choosing how a hidden Markov model is trained, by what its mistakes cost elsewhere.

Maximum likelihood is the first candidate; then margins, with one reference or another
and several `C`. The cheapest one on sequences held out is chosen if it is cheaper than
the likelihood by more than chance would explain: the choice should never be much
worse than counting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.estimators.hidden_markov.symbol_sequences import SymbolSequences
from partwise.structures.interface import FloatArray

ENOUGH = 1000
"""Sequences held out that tell candidates apart; more folds would only take longer."""


class Candidate(NamedTuple):
    """A way to train, and its result on held-out sequences.

    Attributes
    ----------
    objective : {"likelihood", "margin"}
        Counting, or margins.
    reference : str or None
        "likelihood", "uniform", or "own"; None where there is none.
    C : float or None
        The weight of violated margins.
    cost : float
        What the mistakes in a sequence cost, on average.
    gain : float
        How much less that is than the cost of the likelihood.
    error : float
        The standard error of the gain, sequence by sequence.
    """

    objective: str
    reference: str | None = None
    C: float | None = None
    cost: float = math.nan
    gain: float = math.nan
    error: float = math.nan


class Trial(NamedTuple):
    """Sequences to train on, and others to see what mistakes cost."""

    train: SymbolSequences
    weight: FloatArray | None
    dev: SymbolSequences
    dev_weight: FloatArray


def make_trials(
    data: SymbolSequences,
    weight: FloatArray | None,
    dev: SymbolSequences | None,
    folds: int,
    seed: int,
) -> list[Trial]:
    """Divide the data into as many folds, each held out once, unless there is `dev`.

    Of much data only some are held out: until there are enough sequences.
    """
    n = data.n_sequences
    if dev is not None:
        return [Trial(data, weight, dev, np.ones(dev.n_sequences))]
    folds = min(folds, n)
    if folds < 2:
        raise ValueError(
            "objective='auto' holds sequences out, but there is only one; give "
            "development data, fit(X, y, dev=(X_dev, y_dev)), or choose an objective"
        )
    fold_of = np.random.default_rng(seed).permutation(n) % folds
    own = np.ones(n) if weight is None else weight
    wanted = min(folds, -(-ENOUGH * folds // n))
    return [
        Trial(
            data.where(fold_of != fold),
            None if weight is None else weight[fold_of != fold],
            data.where(fold_of == fold),
            own[fold_of == fold],
        )
        for fold in range(wanted)
    ]


def make_candidates(references: Iterable[str], Cs: Iterable[float]) -> list[Candidate]:
    """Return the likelihood, and margins with every reference and `C`."""
    values = sorted(Cs)
    margins = [Candidate("margin", name, C) for name in references for C in values]
    return [Candidate("likelihood"), *margins]


def compare(
    candidates: Sequence[Candidate],
    trials: Sequence[Trial],
    costs_of: Callable[[Trial, Sequence[Candidate]], Sequence[FloatArray]],
) -> list[Candidate]:
    """Return the candidates with their costs; the first one is what others must beat.

    `costs_of` returns for every candidate, trained on a trial, what its mistakes cost
    in every sequence held out. It may return fewer when it runs out of time.
    """
    columns = [costs_of(trial, candidates) for trial in trials]
    tried = min(map(len, columns))
    weight = np.concatenate([trial.dev_weight for trial in trials])
    weight = weight / weight.sum()
    rows = [np.concatenate([column[j] for column in columns]) for j in range(tried)]
    result = []
    for candidate, row in zip(candidates, rows, strict=False):
        gains = rows[0] - row
        gain = float(weight @ gains)
        # A single sequence does not tell how much is chance.
        known = row.size > 1
        error = float(np.linalg.norm(weight * (gains - gain))) if known else math.inf
        result.append(
            candidate._replace(cost=float(weight @ row), gain=gain, error=error)
        )
    return result


def choose(compared: Sequence[Candidate]) -> Candidate:
    """Return the cheapest candidate, or the first if that may be chance.

    Examples
    --------
    >>> counted = Candidate("likelihood", cost=10.0, gain=0.0, error=0.0)
    >>> near = Candidate("margin", "uniform", 1.0, cost=9.5, gain=0.5, error=0.6)
    >>> choose([counted, near]).objective
    'likelihood'
    >>> choose([counted, near._replace(error=0.4)]).objective
    'margin'
    """
    best: Any = min(compared, key=lambda one: one.cost)
    return best if best.gain > best.error else compared[0]
