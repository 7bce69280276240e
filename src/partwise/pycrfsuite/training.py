"""CRFsuite's five algorithms, by solvers of ours.

`lbfgs` and `l2sgd` minimise ``sum_i -log p(y_i | x_i) + c1 |w|_1 + c2 |w|^2``, by
whatever is fastest here; `ap`, `pa` and `arow` are the same rules. Divided by
``s = 2 c2 + c1``, the objective is ours with ``C = 1 / s``, so that a loss of ours
times `s` is one of CRFsuite's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise._jit import working_time
from partwise.losses import Certificate, get_loss
from partwise.pycrfsuite.orthant_steps import OrthantSteps
from partwise.pycrfsuite.parameters import INT_MAX, Parameters
from partwise.pycrfsuite.shuffling import Shuffle
from partwise.solvers import AROW, OWLQN, PassiveAggressive, Perceptron
from partwise.solvers.automatic import choose_solver
from partwise.solvers.base import SEPARATED, Problem, Solver, make_problem
from partwise.solvers.endings import MAX_ITER
from partwise.solvers.loop import Callback, solve
from partwise.solvers.memory import fits_in_memory
from partwise.solvers.mistake_driven.base import (
    MISTAKES,
    VISITS,
    MistakeDriven,
    MistakeDrivenState,
    RunningAverage,
    mean_weights,
)
from partwise.solvers.registry import default_solver
from partwise.solvers.relay import Relay
from partwise.solvers.trace import TraceRow
from partwise.structures.chain import Chain
from partwise.structures.interface import FloatArray, IntArray

LEAST_PENALTY = 1e-12  # as good as none at all
LOOSEST, TIGHTEST = 1e-3, 1e-10
LEFT_BY_PASSES = 0.1  # OWL-QN leaves far more than this, divided by its iterations
# A dual solver is ahead of OWL-QN after so many passes; it needs the more of them the
# less the objective is curved, and is far from the optimum before. With c2 = c1 / 10 a
# hundred were enough, with c2 = c1 / 100 they were not.
PASSES, PASSES_IF_FLAT = 100, 1000
CURVED = 0.199  # 2 c2 / c1, just below where c2 is a tenth of c1
FEW_TOKENS = 10  # for each weight
MANY = 300  # sequences; with fewer it was not tried


@dataclass(frozen=True)
class Plan:
    """How an algorithm of CRFsuite is run.

    Attributes
    ----------
    problem, solver
        What is solved, and how.
    tol : float
        The relative gap at which an objective is minimised.
    max_iter : int
        The most passes.
    scale : float
        From our objective to CRFsuite's.
    """

    problem: Problem
    solver: Solver
    tol: float
    max_iter: int
    scale: float


def make_plan(chain: Chain, parameters: Parameters) -> Plan:
    """Choose solver and settings for the parameters of a trainer."""
    if parameters.algorithm in ("lbfgs", "l2sgd"):
        return _minimising(chain, parameters)
    problem = make_problem(chain, get_loss("hinge"), _aggressiveness(parameters))
    most = max(parameters["max_iterations"], 1)
    return Plan(problem, _corrector(parameters), 1.0, most, 1.0)


def _minimising(chain: Chain, parameters: Parameters) -> Plan:
    c1 = max(parameters["c1"], 0.0) if parameters.algorithm == "lbfgs" else 0.0
    scale = max(2.0 * max(parameters["c2"], 0.0) + c1, LEAST_PENALTY)
    problem = make_problem(
        chain, get_loss("log_loss"), 1.0 / scale, None, c1 / scale, usable_threads()
    )
    solver = choose_solver(problem).solver
    most = parameters["max_iterations"] if parameters["max_iterations"] > 0 else INT_MAX
    if c1 > 0:
        curved = scale - c1 >= CURVED * c1
        is_ahead = most >= (PASSES if curved else PASSES_IF_FLAT)
        if curved and is_ahead and isinstance(solver, OWLQN):
            solver = _dual_solver(problem, solver)
        if isinstance(solver, OWLQN) or not is_ahead:
            return Plan(problem, _own_steps(parameters, scale), TIGHTEST, most, scale)
    # OWL-QN comes close to the optimum where there are few weights.
    is_hard = scale <= c1 or FEW_TOKENS * problem.n_weights >= chain.labels.size
    return Plan(problem, solver, _tolerance(parameters, is_hard), most, scale)


def _dual_solver(problem: Problem, other: Solver) -> Solver:
    """Return a solver that goes lower than another one, if it can be used."""
    solver = default_solver(problem.loss.name, problem.penalty)
    can_be_used = problem.n_examples >= MANY and fits_in_memory(problem, solver)
    return Relay(solver, other) if can_be_used else other


def _own_steps(parameters: Parameters, scale: float) -> OrthantSteps:
    return OrthantSteps(
        history=max(parameters["num_memories"], 1),
        epsilon=parameters["epsilon"],
        delta=parameters["delta"],
        period=parameters["period"],
        scale=scale,
    )


def _tolerance(parameters: Parameters, is_hard: bool) -> float:
    """Return a relative gap that is closer than CRFsuite would come.

    It stops when a gradient is small (`epsilon`), or when the objective has improved by
    little over some iterations (`delta`); what is left then is of that size. With `c1`,
    where progress is slow if `is_hard`, it is more than ten times that, and more again
    if there may only be few iterations: whoever says so wants to have it soon.
    """
    has_l1 = parameters.algorithm == "lbfgs" and parameters["c1"] > 0
    tests = [parameters["delta"]] if parameters["period"] > 0 else []
    if parameters.algorithm == "lbfgs":
        tests.append(parameters["epsilon"])
    slow = has_l1 and is_hard
    gap = (10.0 if slow else 1.0 if has_l1 else 0.1) * min(tests, default=0.0)
    if slow:
        gap = max(gap, LEFT_BY_PASSES / max(parameters["max_iterations"], 1))
    return min(max(gap, TIGHTEST), LOOSEST)


def usable_threads() -> int:
    """Return how many threads may work: those left to a process by its environment.

    Programs that run several processes, such as joblib, say so in OMP_NUM_THREADS.
    """
    try:
        return max(int(os.environ["OMP_NUM_THREADS"]), 1)
    except (KeyError, ValueError):
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1


def _aggressiveness(parameters: Parameters) -> float:
    if parameters.algorithm == "passive-aggressive":
        return max(float(parameters["c"]), LEAST_PENALTY)
    return 1.0


@dataclass(frozen=True)
class _Watched(MistakeDriven):
    """Visits sequences in CRFsuite's order, and stops when their mean loss is small."""

    epsilon: float = 0.0
    shuffle: Shuffle = field(default_factory=Shuffle, compare=False, repr=False)

    def visits(self, problem: Problem, rng: np.random.Generator) -> IntArray:
        """Return the sequences of a pass, in order."""
        return self.shuffle.next(problem.n_examples)

    def run_pass(
        self, problem: Problem, state: Any, rng: np.random.Generator
    ) -> Iterator[float]:
        """Run a pass, then look at its loss."""
        yield from super().run_pass(problem, state, rng)
        loss = float(state.loss[0])
        state.estimate = Certificate(loss, math.nan, exact=False)
        if loss / max(problem.n_examples, 1) < self.epsilon:
            state.halted = SEPARATED


@dataclass(frozen=True)
class _AveragedPerceptron(_Watched, Perceptron):
    pass


@dataclass(frozen=True)
class _PassiveAggressive(_Watched, PassiveAggressive):
    pass


@dataclass(frozen=True)
class _AROW(_Watched, AROW):
    pass


def _corrector(parameters: Parameters) -> Solver:
    """Return the solver of `ap`, `pa` or `arow`."""
    epsilon = float(parameters["epsilon"])
    if parameters.algorithm == "averaged-perceptron":
        return _AveragedPerceptron(epsilon=epsilon)
    if parameters.algorithm == "arow":
        return _AROW(
            averaging=False,
            variance=parameters["variance"],
            gamma=parameters["gamma"],
            epsilon=epsilon,
        )
    slack = {1: "linear", 2: "squared"}.get(parameters["type"], "none")
    return _PassiveAggressive(
        averaging=bool(parameters["averaging"]),
        slack=slack,
        by_cost=bool(parameters["error_sensitive"]),
        epsilon=epsilon,
    )


@dataclass(frozen=True)
class Iteration:
    """What is known after an iteration."""

    number: int
    loss: float
    w: FloatArray
    error: float
    seconds: float


class _Watcher(Callback):
    """Hands every iteration on, with its loss in CRFsuite's scale."""

    def __init__(self, plan: Plan, report: Callable[[Iteration], None]) -> None:
        self._plan = plan
        self._report = report
        self._begin = working_time()

    def on_pass(self, row: TraceRow, w: FloatArray) -> None:
        """Report the pass that just ended."""
        loss, error = row.primal, 0.0
        if self._plan.solver.minimises:
            loss, error = self._objective(row, w)
        now = working_time()
        seconds, self._begin = now - self._begin, now
        self._report(Iteration(row.iteration, loss, w, error, seconds))

    def _objective(self, row: TraceRow, w: FloatArray) -> tuple[float, float]:
        """Return the objective, and how far away the optimum can be at most.

        The objective is strongly convex, as its squared norm is.
        """
        problem, scale = self._plan.problem, self._plan.scale
        primal = row.primal if math.isfinite(row.primal) else problem.primal(w)
        gap = primal - row.dual if math.isfinite(row.dual) else primal
        convexity = max(1.0 - problem.l1_ratio, LEAST_PENALTY)
        return scale * primal, math.sqrt(2.0 * max(gap, 0.0) / convexity)


@dataclass(frozen=True)
class Outcome:
    """The weights, and whether training ended before it ran out of iterations."""

    w: FloatArray
    converged: bool


def train(plan: Plan, report: Callable[[Iteration], None]) -> Outcome:
    """Solve; `report` is called with every `Iteration`."""
    solution = solve(
        plan.problem,
        plan.solver,
        tol=plan.tol,
        max_iter=plan.max_iter,
        callbacks=[_Watcher(plan, report)],
    )
    w = solution.w
    if isinstance(solution.state, MistakeDrivenState):
        w = _averaged(solution.state.average, plan)
    return Outcome(w, solution.reason != MAX_ITER)


def _averaged(average: RunningAverage, plan: Plan) -> FloatArray:
    """Return the weights that CRFsuite averages: those of all passes, and zero.

    Unless told to stop, it goes on where there are no more mistakes, and so the average
    comes closer to the last weights.
    """
    if average.late.size == 0:
        return average.now
    goes_on = isinstance(plan.solver, _Watched) and plan.solver.epsilon <= 0.0
    if goes_on and average.counts[MISTAKES] == 0:
        average.counts[VISITS] = plan.problem.n_examples * plan.max_iter
    n = average.counts[VISITS]
    return np.asarray(mean_weights(average) * (n / (n + 1)))
