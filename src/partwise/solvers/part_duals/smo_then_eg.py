"""Sequential minimal optimisation first, exponentiated gradient after it.

SMO starts quickly, EG takes over where SMO slows down: the hybrid that Bartlett,
Collins, Taskar and McAllester (NIPS 2004, section 5) propose. SMO keeps outputs with
their mass, EG the part scores of a Gibbs distribution: one is converted into the other
by taking the logarithms of conditional probabilities.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.part_duals.exponentiated_gradient import (
    ExponentiatedGradient,
    OnlineState,
)
from partwise.solvers.part_duals.state import dual_memory
from partwise.solvers.working_sets.smo import (
    SequentialMinimalOptimization,
    SequentialMinimalState,
)
from partwise.solvers.wrapped_state import WrappedState
from partwise.structures.interface import gibbs_scores, untied

# The Gibbs distributions give every output a little mass, which costs a little of the
# dual. A fall by more than this share means that the parts cannot say what SMO found.
LARGEST_FALL = 0.01


def _with_own_parts(problem: Problem) -> Problem:
    """Return the same problem with parts that can express any marginals."""
    return replace(problem, structure=untied(problem.structure))


class HybridState(WrappedState):
    """The state of the solver at work, and which one that is.

    Attributes
    ----------
    active : SequentialMinimalState or OnlineState
        The state of SMO, and after it that of EG.
    problem : Problem
        What the active solver sees: for EG, with the parts it needs.
    passes : int
        How many SMO has made.
    keeps_smo : bool
        Whether the Gibbs distributions were so much worse that SMO goes on.
    """

    kept = ("has_switched", "passes", "keeps_smo", "active")

    def __init__(self, problem: Problem, active: State):
        self.problem = problem
        self.active = active
        self.passes = 0
        self.keeps_smo = False

    @property
    def has_switched(self) -> bool:
        """Whether exponentiated gradient is at work."""
        return isinstance(self.active, OnlineState)

    @has_switched.setter
    def has_switched(self, switched: bool) -> None:
        """Make the state of exponentiated gradient, for what a checkpoint holds."""
        if switched and not self.has_switched:
            problem = _with_own_parts(self.problem)
            state = OnlineState(problem, keep_theta=True)
            state.fixed = np.zeros(0)
            self.switch(problem, state)

    def check(self, problem: Problem) -> None:
        """Check the state of the solver at work, on the problem that it sees."""
        super().check(self.problem)

    def grown(self, problem: Problem) -> State | None:
        """Return the same point on a problem with more examples."""
        own = _with_own_parts(problem) if self.has_switched else problem
        active = self.active.grown(own)
        if active is None:
            return None
        other = copy.copy(self)
        other.problem, other.active = own, active
        return other

    def switch(self, problem: Problem, state: OnlineState) -> None:
        """Continue with exponentiated gradient."""
        self.hand_over(state)
        self.problem = problem


@dataclass(frozen=True)
class SMOThenEG(Solver):
    """Some passes of SMO, then exponentiated gradient, for the hinge.

    Where parts are shared (the transitions of a chain), EG gets parts of its own at
    every position, as SMO's dual point has no Gibbs form otherwise: ``n_labels ** 2``
    numbers per token. The dual falls by no more than a hundredth at the switch. If it
    would fall further (`gibbs_scores` may be approximate), SMO continues.

    It is worth trying where SMO without sweeps slows down. SMO with sweeps, the
    default, did better alone on all data measured so far (benchmark `ner_dual`).

    Parameters
    ----------
    smo_passes : int
        How many passes SMO makes.
    sweeps : int
        SMO's visits of all examples without inference before each pass.
    order : {"gaps", "shuffled", "cyclic"}
        How EG visits examples.

    See Also
    --------
    SequentialMinimalOptimization : The first half; with sweeps it is hard to beat.
    ExponentiatedGradient : The second half.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, SMOThenEG(smo_passes=1), tol=1e-4)
    >>> solution.w.round(2).tolist()
    [0.5, -0.5]
    """

    smo_passes: int = 10
    sweeps: int = 5
    order: str = "gaps"

    names: ClassVar[dict[str, dict[str, Any]]] = {"smo-eg": {}}
    losses = ("hinge",)
    penalties = SequentialMinimalOptimization.penalties
    follows_pull = True
    needs = (
        *SequentialMinimalOptimization.needs,
        *ExponentiatedGradient.needs,
        gibbs_scores,
    )
    at_least: ClassVar[dict[str, float]] = {"smo_passes": 1}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        # Each half checks its own.
        _ = self._smo, self._eg

    @property
    def _smo(self) -> SequentialMinimalOptimization:
        return SequentialMinimalOptimization(sweeps=self.sweeps)

    @property
    def _eg(self) -> ExponentiatedGradient:
        return ExponentiatedGradient(order=self.order)

    def memory(self, problem: Problem) -> int:
        """Return the bytes of the part scores and marginals of EG."""
        return dual_memory(_with_own_parts(problem), keep_theta=True)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> HybridState:
        """Start with SMO, or where an earlier run ended."""
        if isinstance(previous, HybridState):
            if previous.has_switched:
                own = _with_own_parts(problem)
                return HybridState(own, self._eg.start(own, rng, previous.active))
            state = HybridState(problem, self._smo.start(problem, rng, previous.active))
            state.passes, state.keeps_smo = previous.passes, previous.keeps_smo
            return state
        return HybridState(problem, self._smo.start(problem, rng, previous))

    def run_pass(
        self, problem: Problem, state: HybridState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Make a pass of SMO, or after `smo_passes` of them of EG."""
        if not state.has_switched and not state.keeps_smo:
            if state.passes >= self.smo_passes:
                self._try_to_switch(problem, state, rng)
        yield from self._at_work(state).run_pass(state.problem, state.active, rng)
        if not state.has_switched:
            state.passes += 1

    def _try_to_switch(
        self, problem: Problem, state: HybridState, rng: np.random.Generator
    ) -> None:
        smo = state.active
        assert isinstance(smo, SequentialMinimalState)
        own = _with_own_parts(problem)
        eg = self._eg.start(own, rng, smo)
        assert isinstance(eg, OnlineState)
        if eg.dual_value >= smo.dual - LARGEST_FALL * abs(smo.dual):
            state.switch(own, eg)
        else:
            smo.oracle_calls += eg.oracle_calls
            state.keeps_smo = True

    def _at_work(self, state: HybridState) -> Solver:
        return self._eg if state.has_switched else self._smo

    def certify(self, problem: Problem, state: HybridState) -> Certificate:
        """Let the solver at work certify its dual point."""
        return self._at_work(state).certify(state.problem, state.active)
