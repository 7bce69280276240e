"""Bayesian networks: what the waist asks.

The graph of the hidden variables answers about outputs. What is the network's own is
where scores come from: a part is worth the log-probabilities of its families.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.bayesian_network.corpus import BayesianNetwork
from partwise.structures.delegation import hand_on
from partwise.structures.graph.parts import configuration, find_clique
from partwise.structures.interface import CodeArray, Diff, FloatArray, IntArray
from partwise.structures.vectors import log_sum, place_of_largest, softmax


class BayesianNetworkSpace(NamedTuple):
    """Scratch arrays: those of the graph, and exponentials."""

    graph: Any
    exponentials: FloatArray


hand_on(
    BayesianNetwork,
    "graph",
    waist.n_examples,
    waist.output_size,
    waist.is_output,
    waist.gold,
    waist.cost,
    waist.add_costs,
)


@waist.n_weights.implement(BayesianNetwork)
def _(s: BayesianNetwork) -> int:
    return s.distribution.size


@waist.distribution_of.implement(BayesianNetwork)
def _(s: BayesianNetwork) -> IntArray:
    return s.distribution


@waist.n_parts.implement(BayesianNetwork)
def _(s: BayesianNetwork, i: int) -> int:
    return waist.n_parts(s.graph, i) + 1


@waist.max_features.implement(BayesianNetwork)
def _(s: BayesianNetwork) -> int:
    cliques, most = s.graph.cliques, 0
    for i in range(waist.n_examples(s.graph)):
        own = s.terms.ptr[cliques.ptr[i + 1]] - s.terms.ptr[cliques.ptr[i]]
        # Differences cancel the evidence, but first it is there.
        most = max(most, 2 * own + s.evidence.ptr[i + 1] - s.evidence.ptr[i])
    return most


@waist.workspace.implement(BayesianNetwork)
def _(s: BayesianNetwork, k: int) -> Any:
    most = int(np.diff(s.graph.cliques.part_at).max(initial=0))
    return BayesianNetworkSpace(waist.workspace(s.graph, k), np.zeros(most))


# --- scores and features ------------------------------------------------------------


@waist.part_scores.implement(BayesianNetwork)
def _(s: BayesianNetwork, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    cliques, terms = s.graph.cliques, s.terms
    start = cliques.part_at[cliques.ptr[i]]
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        here = theta[cliques.part_at[c] - start : cliques.part_at[c + 1] - start]
        here[:] = 0.0
        for t in range(terms.ptr[c], terms.ptr[c + 1]):
            at, steps = terms.at[t], terms.step_at[t]
            for a in range(here.size):
                here[a] += w[at + terms.steps[steps + a]]
    observed = 0.0
    for e in range(s.evidence.ptr[i], s.evidence.ptr[i + 1]):
        observed += w[s.evidence.at[e]]
    theta[waist.n_parts(s.graph, i)] = observed


@waist.add_parts.implement(BayesianNetwork)
def _(
    s: BayesianNetwork, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    cliques, terms = s.graph.cliques, s.terms
    start = cliques.part_at[cliques.ptr[i]]
    change = 0.0
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        here = mu[cliques.part_at[c] - start : cliques.part_at[c + 1] - start]
        for t in range(terms.ptr[c], terms.ptr[c + 1]):
            at, steps = terms.at[t], terms.step_at[t]
            for a in range(here.size):
                j, step = at + terms.steps[steps + a], scale * here[a]
                change += step * (2.0 * w[j] + step)
                w[j] += step
    step = scale * mu[waist.n_parts(s.graph, i)]
    for e in range(s.evidence.ptr[i], s.evidence.ptr[i + 1]):
        j = s.evidence.at[e]
        change += step * (2.0 * w[j] + step)
        w[j] += step
    return change


@waist.parts_of.implement(BayesianNetwork)
def _(
    s: BayesianNetwork, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    found = waist.parts_of(s.graph, i, y, ids, counts)
    ids[found] = waist.n_parts(s.graph, i)
    counts[found] = 1.0
    return found + 1


@waist.part_row.implement(BayesianNetwork)
def _(
    s: BayesianNetwork, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    cliques, terms = s.graph.cliques, s.terms
    if r == waist.n_parts(s.graph, i):
        first = s.evidence.ptr[i]
        found = s.evidence.ptr[i + 1] - first
        for j in range(found):
            idx[j] = s.evidence.at[first + j]
            val[j] = 1.0
        return found
    c = find_clique(cliques, i, r)
    a = r - (cliques.part_at[c] - cliques.part_at[cliques.ptr[i]])
    found = terms.ptr[c + 1] - terms.ptr[c]
    for j in range(found):
        t = terms.ptr[c] + j
        idx[j] = terms.at[t] + terms.steps[terms.step_at[t] + a]
        val[j] = 1.0
    return found


# --- outputs: those of the graph, with the evidence beside them -----------------------
# A single hidden variable is in one clique, and the scores of its values are at hand:
# that is plain classification, and as fast.


@waist.argmax.implement(BayesianNetwork)
def _(s: BayesianNetwork, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    last = waist.n_parts(s.graph, i)
    if waist.output_size(s.graph, i) == 1:
        y[0] = place_of_largest(theta[:last])
        return theta[y[0]] + theta[last]
    return waist.argmax(s.graph, i, theta, y, ws.graph) + theta[last]


@waist.kbest.implement(BayesianNetwork)
def _(
    s: BayesianNetwork,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    found = waist.kbest(s.graph, i, theta, k, ys, scores, ws.graph)
    for j in range(found):
        scores[j] += theta[waist.n_parts(s.graph, i)]
    return found


@waist.marginals.implement(BayesianNetwork)
def _(s: BayesianNetwork, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    last = waist.n_parts(s.graph, i)
    mu[last] = 1.0
    if waist.output_size(s.graph, i) == 1:
        return softmax(theta[:last], mu[:last]) + theta[last]
    return waist.marginals(s.graph, i, theta, mu, ws.graph) + theta[last]


@waist.log_partition.implement(BayesianNetwork)
def _(s: BayesianNetwork, i: int, theta: FloatArray, ws: Any) -> float:
    last = waist.n_parts(s.graph, i)
    if waist.output_size(s.graph, i) == 1:
        return log_sum(theta[:last], ws.exponentials) + theta[last]
    return waist.log_partition(s.graph, i, theta, ws.graph) + theta[last]


# --- differences: only in the cliques where outputs differ, never in the evidence -----


@waist.diff_dot.implement(BayesianNetwork)
def _(
    s: BayesianNetwork,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    cliques, terms, result = s.graph.cliques, s.terms, 0.0
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        wrong, right = configuration(cliques, c, y), configuration(cliques, c, y_ref)
        if wrong == right:
            continue
        for t in range(terms.ptr[c], terms.ptr[c + 1]):
            steps = terms.steps[terms.step_at[t] :]
            result += w[terms.at[t] + steps[right]] - w[terms.at[t] + steps[wrong]]
    return result


@waist.diff_add.implement(BayesianNetwork)
def _(
    s: BayesianNetwork,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    cliques, terms = s.graph.cliques, s.terms
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        wrong, right = configuration(cliques, c, y), configuration(cliques, c, y_ref)
        if wrong == right:
            continue
        for t in range(terms.ptr[c], terms.ptr[c + 1]):
            steps = terms.steps[terms.step_at[t] :]
            w[terms.at[t] + steps[right]] += scale
            w[terms.at[t] + steps[wrong]] -= scale


@waist.diff_sqnorm.implement(BayesianNetwork)
def _(
    s: BayesianNetwork, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    # A family has weights of its own, so that nothing cancels.
    cliques, count = s.graph.cliques, 0
    for c in range(cliques.ptr[i], cliques.ptr[i + 1]):
        if configuration(cliques, c, y) != configuration(cliques, c, y_ref):
            count += s.terms.ptr[c + 1] - s.terms.ptr[c]
    return 2.0 * count
