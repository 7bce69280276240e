"""A structure: choose one of several candidates, each with features of its own."""

from typing import Any, NamedTuple

import numpy as np

from partwise.structures import interface as waist


class Candidates(NamedTuple):
    """The candidates of example `i` are the rows ``ptr[i]:ptr[i + 1]``."""

    values: Any  # float64, a row of features for every candidate
    ptr: Any  # int64
    right: Any  # int32, the right candidate of every example, counted from 0
    costs: Any  # float64, the cost of every candidate, 0 for the right one


# The parts of an example are its candidates; an output is the number of one of them.
waist.n_examples.implement(Candidates)(lambda s: s.right.size)
waist.n_weights.implement(Candidates)(lambda s: s.values.shape[1])
waist.n_parts.implement(Candidates)(lambda s, i: s.ptr[i + 1] - s.ptr[i])
waist.output_size.implement(Candidates)(lambda s, i: 1)
waist.max_features.implement(Candidates)(lambda s: 2 * s.values.shape[1])
waist.workspace.implement(Candidates)(lambda s, k: ())
waist.cost.implement(Candidates)(lambda s, i, y: s.costs[s.ptr[i] + y[0]])


@waist.part_scores.implement(Candidates)
def _part_scores(s, i, w, theta, ws):
    for r in range(waist.n_parts(s, i)):
        theta[r] = np.sum(s.values[s.ptr[i] + r] * w[: waist.n_weights(s)])


@waist.add_parts.implement(Candidates)
def _add_parts(s, i, mu, scale, w, ws):
    own = w[: waist.n_weights(s)]
    before = np.sum(own**2)
    for r in range(waist.n_parts(s, i)):
        own += scale * mu[r] * s.values[s.ptr[i] + r]
    return np.sum(own**2) - before


@waist.parts_of.implement(Candidates)
def _parts_of(s, i, y, ids, counts):
    ids[0], counts[0] = y[0], 1.0
    return 1


@waist.part_row.implement(Candidates)
def _part_row(s, i, r, idx, val, ws):
    for c in range(s.values.shape[1]):
        idx[c], val[c] = c, s.values[s.ptr[i] + r, c]
    return s.values.shape[1]


@waist.gold.implement(Candidates)
def _gold(s, i, y):
    y[0] = s.right[i]


@waist.add_costs.implement(Candidates)
def _add_costs(s, i, theta):
    for r in range(waist.n_parts(s, i)):
        theta[r] += s.costs[s.ptr[i] + r]


@waist.argmax.implement(Candidates)
def _argmax(s, i, theta, y, ws):
    y[0] = np.argmax(theta[: waist.n_parts(s, i)])
    return theta[y[0]]
