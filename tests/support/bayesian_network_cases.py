"""Small random networks, with all outputs of a row and what is true of them."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from laws import Case, draw_scores
from partwise.structures import interface as waist
from partwise.structures.bayesian_network import (
    Network,
    make_bayesian_network,
    make_network,
)

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)


def random_network(random: Any, n_variables: int, one_value: bool = False) -> Network:
    """Draw a graph whose variables come in any order, not parents first."""
    order = random.permutation(n_variables).tolist()
    parents: list[list[int]] = [[] for _ in order]
    for place, v in enumerate(order):
        count = int(random.integers(0, min(place, 3) + 1))
        parents[v] = random.permutation(order[:place])[:count].tolist()
    n_values = random.integers(1 if one_value else 2, 4, n_variables)
    return make_network(n_values.tolist(), parents)


def family_weights(network: Network, values: list[int]) -> Any:
    """Return the features of a row of values, family by family: the counts.

    A value of -1 is unknown: the distribution's last weight counts, and none of the
    distributions that depend on it.
    """
    n = network.n_weights + network.n_distributions
    result = np.zeros(n)
    for v, own in enumerate(values):
        above = [values[u] for u in network.parents[v]]
        if -1 in above:
            continue
        row = 0
        for u, value in zip(network.parents[v], above, strict=True):
            row = row * network.n_values[u] + value
        if own == -1:
            result[network.n_weights + network.distribution_at[v] + row] += 1.0
        else:
            result[network.weight_at[v] + row * network.n_values[v] + own] += 1.0
    return result


def make_case(
    n_variables: int, n_rows: int, share: float, unknown: bool, scale: float, seed: int
) -> Case:
    """Draw a network and rows of it, each with other variables hidden."""
    random = np.random.default_rng(seed)
    network = random_network(random, n_variables, one_value=True)
    n_values = np.array(network.n_values)
    values = random.integers(0, n_values, (n_rows, n_variables))
    hidden = random.random((n_rows, n_variables)) < share
    if unknown:
        values[(random.random(values.shape) < 0.2) & ~hidden] = -1
    costs: dict[int, Any] = {}
    for v in random.permutation(n_variables)[: n_variables // 2].tolist():
        costs[v] = random.integers(0, 4, (n_values[v], n_values[v])).astype(float)
        np.fill_diagonal(costs[v], 0.0)
    s = make_bayesian_network(network, values, hidden, costs=costs)
    i = int(random.integers(n_rows))
    there = np.flatnonzero(hidden[i]).tolist()

    def features(y: Any) -> Any:
        row = values[i].copy()
        row[there] = y
        return family_weights(network, row.tolist())[: waist.n_weights(s)]

    def cost(y: Any) -> float:
        right = values[i][there]
        return sum(
            costs[v][a, b] if v in costs else float(a != b)
            for v, a, b in zip(there, right, y, strict=True)
        )

    return Case(
        s,
        i,
        list(itertools.product(*(range(n_values[v]) for v in there))),
        draw_scores(random, waist.n_parts(s, i), scale),
        random.normal(size=waist.n_weights(s)),
        features,
        cost,
        seed,
    )


CHOICES = {
    "n_variables": st.integers(1, 6),
    "n_rows": st.integers(1, 4),
    "share": st.sampled_from((0.0, 0.3, 0.7, 1.0)),
    "unknown": st.booleans(),
    "scale": st.sampled_from(SCALES),
    "seed": st.integers(0, 2**32 - 1),
}
