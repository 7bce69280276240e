"""What gradients are made of, found by helpers a block ahead, if there are any."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from partwise._threads import Slice, chunks
from partwise.solvers.base import Problem
from partwise.solvers.marginals_ahead import (
    NO_MARGINALS,
    FoundMarginals,
    find_marginals_ahead,
    room_for_marginals,
)
from partwise.solvers.outputs_ahead import (
    NOT_FOUND,
    find_outputs_ahead,
    room_for_outputs,
)
from partwise.solvers.stochastic.scaled_weights import ScaledWeights
from partwise.solvers.stochastic.steps import take_scaled
from partwise.structures.ahead import make_plan
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.parallel import Worker


class GradientsAhead:
    """The outputs or marginals of the visits of a pass, in the order of the visits.

    A gradient is then that of the weights from before the last block, or two. With
    `alone`, or without helpers, nothing is found ahead.
    """

    def __init__(
        self, problem: Problem, order: IntArray, weights: ScaledWeights, alone: bool
    ):
        self.order, self.weights = order, weights
        self.outputs, self.marginals = NOT_FOUND, NO_MARGINALS
        self.helpers = None if alone else problem.helpers()
        if self.helpers is not None:
            self.plan = make_plan(order, self.helpers.n_parts)
            if problem.loss.name == "log_loss":
                self.marginals = room_for_marginals(self.plan)
            else:
                self.outputs = room_for_outputs(problem.structure, order)

    def blocks(self) -> Generator[Slice, None, None]:
        """Yield pieces of the pass, when all is found that they need."""
        if self.helpers is None:
            yield from chunks(self.order.size)
        elif self.outputs is NOT_FOUND:
            yield from find_marginals_ahead(
                self.helpers, self.plan, self.marginals, self._take_plain
            )
        else:
            yield from find_outputs_ahead(
                self.helpers, self.plan, self.outputs, self._take_augmented
            )

    def _take_plain(
        self, start: int, stop: int, found: FoundMarginals, worker: Worker
    ) -> None:
        self._take(start, stop, False, found.theta, worker)

    def _take_augmented(
        self, start: int, stop: int, theta: FloatArray, worker: Worker
    ) -> None:
        self._take(start, stop, True, theta, worker)

    def _take(
        self, start: int, stop: int, costs: bool, theta: FloatArray, worker: Worker
    ) -> None:
        assert self.helpers is not None
        own = self.order, self.plan.at, self.weights, costs, theta, worker
        with np.errstate(all="ignore"):
            take_scaled(self.helpers.s, start, stop, *own)
