"""The marginals of the visits of a pass, found a block ahead of the learner."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple, TypeAlias

import numpy as np

from partwise._jit import kernel
from partwise._threads import Slice
from partwise.structures import interface as waist
from partwise.structures.ahead import Plan, find_ahead
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.parallel import Threads, Worker


class FoundMarginals(NamedTuple):
    """Gibbs distributions: scores and marginals of parts, from ``at[visit]`` on.

    Those of the present block and the next; `log_z` of all visits.
    """

    at: IntArray
    theta: FloatArray
    mu: FloatArray
    log_z: FloatArray


NO_MARGINALS = FoundMarginals(
    np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0)
)
"""They are found one by one, with the weights of the moment."""

Take: TypeAlias = Callable[[int, int, FoundMarginals, Worker], None]
"""Writes the scores of the visits ``start:stop``: ``take(start, stop, found, worker)``.
"""


def room_for_marginals(plan: Plan) -> FoundMarginals:
    """Make room for two blocks."""
    parts = np.zeros(plan.room), np.zeros(plan.room)
    return FoundMarginals(plan.at, *parts, np.zeros(plan.order.size))


@kernel
def _find_marginals(
    s: Structure,
    start: int,
    stop: int,
    order: IntArray,
    found: FoundMarginals,
    worker: Worker,
) -> None:
    for visit in range(start, stop):
        i = order[visit]
        first, last = found.at[visit], found.at[visit] + waist.n_parts(s, i)
        waist.visit(s, i, worker.ws)
        found.log_z[visit] = waist.marginals(
            s, i, found.theta[first:last], found.mu[first:last], worker.ws
        )


def find_marginals_ahead(
    helpers: Threads, plan: Plan, found: FoundMarginals, take: Take
) -> Generator[Slice, None, None]:
    """Yield blocks of visits, the marginals of each in `found`."""
    s, workers = helpers.s, helpers.workers

    def score(number: int, start: int, stop: int) -> None:
        take(start, stop, found, workers[number])

    def find(number: int, start: int, stop: int) -> None:
        _find_marginals(s, start, stop, plan.order, found, workers[number])

    yield from find_ahead(helpers.size, plan.blocks, plan.pieces, score, find)
