"""Reference distributions of generative models: counts, uniform, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.solvers.log_distributions import LogDistributions, uniform_reference
from partwise.structures.counts import gold_counts
from partwise.structures.hidden_markov import Probabilities
from partwise.structures.interface import FloatArray, Structure

REFERENCES = ("likelihood", "uniform")


def counted(
    s: Structure, groups: LogDistributions, weight: FloatArray | None, smoothing: float
) -> FloatArray:
    """Return smoothed counts as distributions: the maximum likelihood.

    Parameters
    ----------
    s : structure
        The corpus.
    groups : LogDistributions
        Which weights are one distribution; uniform where nothing was counted.
    weight : array or None
        The weight of every example.
    smoothing : float
        Added to every count.
    """
    counts = gold_counts(s, weight) + smoothing
    total = groups.sums(counts)[groups.of]
    uniform = uniform_reference(groups)
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), uniform)


def check_probabilities(given: Any, n_states: int, n_symbols: int) -> Probabilities:
    """Return a user's distributions for a hidden Markov model, checked.

    Parameters
    ----------
    given : Probabilities or mapping
        With the keys "initial", "transitions" and "emissions".
    n_states, n_symbols : int
        How many there are.

    Examples
    --------
    >>> one = {"initial": [1.0], "transitions": [[1.0]], "emissions": [[0.5, 0.5]]}
    >>> check_probabilities(one, 1, 2).emissions
    array([[0.5, 0.5]])
    """
    K, V = n_states, n_symbols
    shapes = {"initial": (K,), "transitions": (K, K), "emissions": (K, V)}
    if isinstance(given, Probabilities):
        given = given._asdict()
    if not isinstance(given, Mapping) or set(given) != set(shapes):
        raise ValueError(
            "a reference of your own is a mapping with the keys 'initial', "
            "'transitions' and 'emissions'"
        )
    layout = "rows are states, columns of emissions symbols, both sorted"
    return Probabilities(
        **{
            name: check_distributions(name, given[name], shape, layout)
            for name, shape in shapes.items()
        }
    )


def check_distributions(
    name: str, given: Any, shape: tuple[int, ...], layout: str
) -> NDArray[np.float64]:
    """Return distributions along the last axis of an array, checked.

    Parameters
    ----------
    name : str
        What they are called, for error messages.
    given : array
        What a user gave.
    shape : tuple of int
        What shape it should have,
    layout : str
        and what its axes are.

    Examples
    --------
    >>> check_distributions("coin", [0.5, 0.6], (2,), "heads and tails")
    Traceback (most recent call last):
        ...
    ValueError: reference, coin: every row must be a distribution, of positive \
numbers that add up to 1; smooth it where there are zeros
    """
    try:
        array = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"reference, {name}: expected an array of numbers of shape {shape}"
        ) from None
    if array.shape != shape:
        raise ValueError(
            f"reference, {name}: an array of shape {array.shape} where {shape} is "
            f"needed ({layout})"
        )
    fine = np.isfinite(array) & (array > 0.0)
    if not fine.all() or not np.allclose(array.sum(axis=-1), 1.0, atol=1e-6):
        raise ValueError(
            f"reference, {name}: every row must be a distribution, of positive "
            "numbers that add up to 1; smooth it where there are zeros"
        )
    return array
