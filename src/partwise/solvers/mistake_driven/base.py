"""What the perceptron and MIRA share: correct the weights where an output is wrong.

Such a method visits one example after the other, compares the output it finds with
the right one, and moves the weights towards the right one if they differ. It lowers
no objective, so there is no gap; what it returns is the average of the weights after
every visit, which generalises better than the last ones (Freund and Schapire 1999;
for structures Collins, EMNLP 2002).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from partwise._jit import kernel
from partwise.losses import LOSSES
from partwise.solvers.base import SEPARATED, Problem, Solver, State, chunks
from partwise.solvers.facts import within
from partwise.solvers.outputs_ahead import (
    NOT_FOUND,
    FoundOutputs,
    find_outputs_ahead,
    recall_output,
    room_for_outputs,
)
from partwise.solvers.penalty import weights_at
from partwise.solvers.visiting import visiting_order
from partwise.structures import interface as waist
from partwise.structures.ahead import make_plan
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.scratch import Scratch, make_scratch

WITHOUT_GAPS = ("shuffled", "cyclic")
"""The ways to visit examples that need no certificate."""

VISITS, MISTAKES = 0, 1


class RunningAverage(NamedTuple):
    """Weights that change in a few places per visit, and what their average needs.

    The weights after visit `t` are ``now_t``. An update at a visit is part of the sum
    ``now_1 + ... + now_T`` as often as there are visits from then on, so the average
    is ``now_T - late / T`` with ``late = sum_t (t - 1) update_t``: as cheap as the
    updates themselves.

    Attributes
    ----------
    now : array
        The weights after the last visit.
    late : array
        See above; empty if the average is not wanted.
    counts : array
        How many visits there were, and mistakes in this pass.
    """

    now: FloatArray
    late: FloatArray
    counts: IntArray


def mean_weights(average: RunningAverage) -> FloatArray:
    """Return the average of the weights after every visit, or the last weights.

    Examples
    --------
    The weights were 0, then 1, then 1, then 3: updates of 1 and 2 came after one and
    after three visits.

    >>> import numpy as np
    >>> counts = np.array([4, 0])
    >>> late = np.array([1 * 1.0 + 3 * 2.0])
    >>> mean_weights(RunningAverage(np.array([3.0]), late, counts)).tolist()
    [1.25]
    """
    if average.late.size == 0 or average.counts[VISITS] == 0:
        return average.now.copy()
    return average.now - average.late / average.counts[VISITS]


class MistakeSite(NamedTuple):
    """What a visit works on: corpus, C, the weights, and scratch arrays.

    `loss` has one number: what a pass adds up for those who watch it. `found` are the
    outputs of the visits, where others have found them.
    """

    s: Structure
    C: FloatArray
    average: RunningAverage
    cost_augmented: bool
    loss: FloatArray
    found: FoundOutputs
    scratch: Scratch
    diff: waist.Diff
    ws: Any


@kernel
def find_output(site: MistakeSite, i: int, visit: int) -> None:
    """Leave the best output in ``scratch.y``, the right one in ``scratch.y_gold``."""
    s, scratch, ws = site.s, site.scratch, site.ws
    waist.visit(s, i, ws)
    if site.found.at.size > 0:
        recall_output(s, i, visit, site.found, scratch.y)
        waist.gold(s, i, scratch.y_gold)
        return
    waist.part_scores(s, i, site.average.now, scratch.theta, ws)
    if site.cost_augmented:
        waist.add_costs(s, i, scratch.theta)
    waist.gold(s, i, scratch.y_gold)
    waist.argmax(s, i, scratch.theta, scratch.y, ws)


@kernel
def n_wrong_codes(site: MistakeSite, i: int) -> int:
    """Return in how many codes the output differs from the right one."""
    y, y_gold = site.scratch.y, site.scratch.y_gold
    count = 0
    for t in range(waist.output_size(site.s, i)):
        if y[t] != y_gold[t]:
            count += 1
    return count


@kernel
def correct(
    site: MistakeSite, i: int, y: CodeArray, y_gold: CodeArray, step: float
) -> None:
    """Do ``now += step * (Phi(i, y_gold) - Phi(i, y))``, for the average as well."""
    s, average, diff, ws = site.s, site.average, site.diff, site.ws
    waist.diff_add(s, i, y, y_gold, step, average.now, diff, ws)
    if average.late.size > 0:
        late = step * average.counts[VISITS]
        waist.diff_add(s, i, y, y_gold, late, average.late, diff, ws)


class MistakeDrivenState(State):
    """The running average; `w` is its mean, up to date after a pass."""

    kept: ClassVar[tuple[str, ...]] = ("w", "average")
    facts = (within("average.counts", 0),)
    found: FoundOutputs = NOT_FOUND
    """The outputs of the visits that come next, where others have found them."""

    def __init__(self, problem: Problem, averaging: bool, k: int = 1):
        s = problem.structure
        self.w = np.zeros(problem.n_weights)
        late = np.zeros(problem.n_weights if averaging else 0)
        self.average = RunningAverage(self.w.copy(), late, np.zeros(2, np.int64))
        self.loss = np.zeros(1)
        self.scratch = make_scratch(s)
        self.diff = waist.make_diff(s)
        self.workspace = waist.workspace(s, k)

    def site(self, problem: Problem, cost_augmented: bool) -> MistakeSite:
        """Return what visits work on."""
        own = self.loss, self.found, self.scratch, self.diff, self.workspace
        return MistakeSite(
            problem.structure, problem.C, self.average, cost_augmented, *own
        )

    def restored(self) -> None:
        """Continue from the end of a pass."""
        self.notice_separation()

    def notice_separation(self) -> None:
        """Say so if the pass that just ended had nothing to correct."""
        if self.average.counts[MISTAKES] == 0:
            self.halted = SEPARATED


@dataclass(frozen=True)
class MistakeDriven(Solver):
    """A solver that corrects mistakes one by one and minimises no objective."""

    averaging: bool = True
    cost_augmented: bool = False
    order: str = "shuffled"

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    losses = tuple(LOSSES)
    needs: ClassVar[tuple[Any, ...]] = (waist.argmax, waist.add_costs)
    minimises = False
    follows_pull = True
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {"order": WITHOUT_GAPS}
    takes_help: ClassVar[bool] = True
    """Whether others may find the best outputs, a block ahead."""

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return 8 * problem.n_weights * (2 if self.averaging else 1)

    def make_state(self, problem: Problem) -> MistakeDrivenState:
        """Make the state at zero weights."""
        return MistakeDrivenState(problem, self.averaging)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> MistakeDrivenState:
        """Start at zero, or at the weights of an earlier run of any solver."""
        state = self.make_state(problem)
        if problem.pull is not None:
            state.w[:] = state.average.now[:] = weights_at(
                problem.pull, problem.l1_ratio
            )
        if previous is not None:
            state.check_fits(previous)
            state.w[:] = state.average.now[:] = previous.w
        return state

    def visits(self, problem: Problem, rng: np.random.Generator) -> IntArray:
        """Return the examples of a pass, in order."""
        return visiting_order(self.order, problem.C, problem.C, rng)

    @abstractmethod
    def learn(self, problem: Problem, state: Any, visits: IntArray) -> None:
        """Visit some examples in order; count the visits and the mistakes."""

    def run_pass(
        self, problem: Problem, state: MistakeDrivenState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Visit every example of positive weight once."""
        order = self.visits(problem, rng)
        state.average.counts[MISTAKES] = 0
        state.loss[0] = 0.0
        blocks = self._blocks(problem, state, order)
        try:
            with closing(blocks):
                for start, stop in blocks:
                    self.learn(problem, state, order[start:stop])
                    state.oracle_calls += stop - start
                    yield stop / order.size
        finally:
            # Also when the pass is cut short: what it has learnt is kept.
            state.w = mean_weights(state.average)
            state.found = NOT_FOUND
        state.notice_separation()

    def _blocks(
        self, problem: Problem, state: MistakeDrivenState, order: IntArray
    ) -> Generator[tuple[int, int], None, None]:
        """Yield pieces of a pass; helpers, if any, have found the outputs of each."""
        learnt = state.average.counts[VISITS] > 0
        helpers = problem.helpers() if self.takes_help and learnt else None
        if helpers is None:
            yield from chunks(order.size)
            return
        plan = make_plan(order, helpers.n_parts)
        found = room_for_outputs(problem.structure, order)
        now, costs = state.average.now, self.cost_augmented
        for start, stop in find_outputs_ahead(helpers, plan, found, now, costs):
            state.found = found._replace(at=found.at[start:stop])
            yield start, stop

    def certify(self, problem: Problem, state: State) -> NoReturn:
        """Raise `TypeError`: without an objective there is nothing to certify."""
        raise TypeError(f"{type(self).__name__} minimises no objective: no certificate")
