"""Dual coordinate descent for the squared hinge (Chang and Yih, TACL 2013).

Every output in a working set has a dual variable that is set to its best value
with all others fixed; the weights follow. Three ways to divide the time between
looking for outputs (inference) and refining the ones at hand:

- ``"light"`` (Algorithm 2): infer and update, example by example;
- ``"ssvm"`` (Algorithm 3): the same, after some sweeps without inference;
- ``"cpd"``: infer for all examples first, then solve over the working sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.dual_weights import (
    PENALTIES,
    Weights,
    add_diff,
    find_margin,
    saved,
    steepness,
)
from partwise.solvers.facts import within
from partwise.solvers.outputs_ahead import NOT_FOUND, FoundOutputs
from partwise.solvers.visiting import shuffled
from partwise.solvers.working_sets import sets as working
from partwise.solvers.working_sets.extrapolation import AVERAGING, MovingState
from partwise.solvers.working_sets.sets import WorkingSets
from partwise.solvers.working_sets.state import MOST_LOOKS, least_violation
from partwise.solvers.working_sets.visits import (
    MakeRule,
    admit,
    infer,
    may_move,
    most_looks,
    move,
    sweep,
    sweep_and_infer,
    wants_another,
)
from partwise.solvers.worst_outputs import find_worst_outputs, make_worst_outputs
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import (
    Diff,
    FloatArray,
    IntArray,
    Structure,
)
from partwise.structures.scratch import Scratch

VARIANTS = ("ssvm", "light", "cpd")

FIRST_MOMENTUM = 0.4
"""How far the first attempt goes on; early passes go too far by themselves."""


class CoordinateRule(NamedTuple):
    """Dual variables are set to their best values one by one.

    Attributes
    ----------
    members, random : array
        Scratch space for the members of an example, and the state of the numbers that
        shuffle them.
    slack : array
        The largest violation of every example when last seen.
    least : float
        An output enters a working set only if it is violated by more than this.
    update : bool
        Whether dual variables move after inference, or only in sweeps.
    drop : bool
        Whether outputs leave a working set when their dual variable becomes zero.
    looks : int
        The most outputs that are looked for at a visit;
    again : float
        more than one as long as they are violated by more than this.
    """

    members: IntArray
    random: IntArray
    slack: FloatArray
    least: float
    update: bool
    drop: bool
    looks: int
    again: float


@kernel
def _shuffled_members(
    sets: WorkingSets, i: int, members: IntArray, random: IntArray
) -> int:
    """List the members of example `i`: the newest first, the rest shuffled."""
    found = 0
    m = sets.newest[i]
    while m >= 0:
        members[found] = m
        found += 1
        m = sets.older[m]
    for j in range(found - 1, 1, -1):
        # A 31-bit linear congruence: small, exact in Python, and easy to save.
        random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFF
        pick = 1 + (random[0] >> 8) % j
        members[j], members[pick] = members[pick], members[j]
    return found


@move.implement(CoordinateRule)
def _(
    rule: CoordinateRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    admitted: bool,
) -> float:
    """Algorithm 1, UPDATEWEIGHT."""
    y_gold, members = scratch.y_gold, rule.members
    size = waist.output_size(s, i)
    rise = 0.0
    emptied = False
    for j in range(_shuffled_members(sets, i, members, rule.random)):
        m = members[j]
        y = sets.codes[sets.code_at[m] : sets.code_at[m] + size]
        # Lines 3 and 4: the best value of this dual variable alone.
        margin, listed = find_margin(s, i, y, y_gold, weights.w, diff, ws)
        slope = sets.cost[m] - margin - sets.mass[i] / (2.0 * C)
        steep = steepness(weights) * sets.sqnorm[m]
        bend = steep + 1.0 / (2.0 * C)
        alpha = max(sets.alpha[m] + slope / bend, 0.0)
        step = alpha - sets.alpha[m]
        if step != 0.0:
            # Lines 5 and 6.
            change = add_diff(weights, s, i, y, y_gold, listed, step, diff, ws)
            sets.alpha[m] = alpha
            sets.mass[i] += step
            rise += step * (slope - 0.5 * step * bend)
            most = step * (2.0 * margin + step * steep)
            rise += 0.5 * saved(weights, most, change)
        emptied |= alpha == 0.0
    if emptied and rule.drop:
        working.drop_zeros(sets, i)
        # Rounding must not leave mass behind in an empty set.
        if sets.newest[i] < 0:
            sets.mass[i] = 0.0
    return rise


@may_move.implement(CoordinateRule)
def _(rule: CoordinateRule, sets: WorkingSets, i: int) -> bool:
    return sets.newest[i] >= 0


@admit.implement(CoordinateRule)
def _(
    rule: CoordinateRule,
    s: Structure,
    i: int,
    C: float,
    weights: Weights,
    sets: WorkingSets,
    scratch: Scratch,
    diff: Diff,
    ws: Any,
    slack: float,
    value: float,
    scored: bool,
    looks: int,
) -> bool:
    """Algorithm 2, lines 5-8; an output that is there already is not added twice."""
    y = scratch.y
    if looks == 0:
        rule.slack[i] = slack
    size = waist.output_size(s, i)
    violation = value - sets.mass[i] / (2.0 * C)
    if violation > rule.least and not working.is_member(sets, i, y, size):
        sqnorm = waist.diff_sqnorm(s, i, y, scratch.y_gold, diff, ws)
        working.add_member(sets, i, y, size, waist.cost(s, i, y), sqnorm)
    return rule.update and sets.newest[i] >= 0


@most_looks.implement(CoordinateRule)
def _(rule: CoordinateRule) -> int:
    return rule.looks


@wants_another.implement(CoordinateRule)
def _(
    rule: CoordinateRule, sets: WorkingSets, i: int, C: float, value: float, looks: int
) -> bool:
    violated = value - sets.mass[i] / (2.0 * C) > rule.again
    return violated and looks + 1 < rule.looks


class DualCoordinateState(MovingState):
    """Weights, working sets, which way they moved, and random numbers."""

    kept = (*MovingState.kept, "random")
    facts = (*MovingState.facts, within("random", 0, 2**31))

    def __init__(self, problem: Problem, seed: int):
        super().__init__(problem)
        self.random = np.array([seed], np.int64)
        self.momentum = FIRST_MOMENTUM

    def fit_scratch(self) -> None:
        """Make room to list the members of an example."""
        self.members = np.zeros(self.sets.alpha.size, np.int64)

    def retargeted(self, problem: Problem) -> DualCoordinateState | None:
        """Return the same dual variables, which are feasible for any right outputs."""
        return self.grown(problem)


@dataclass(frozen=True)
class DualCoordinateDescent(Solver):
    """Dual coordinate descent for the squared hinge, on any structure with argmax.

    Parameters
    ----------
    variant : {"ssvm", "light", "cpd"}
        How inference and updates take turns; see the module's text.
    sweeps : int
        Updates of all working sets before each pass of "ssvm" (the paper's `r`),
        and the most per pass of "cpd".
    delta : float
        An output enters a working set only if it is violated enough. What is left out
        makes up no more than this share of the duality gap, as the last pass saw it,
        whatever the units of features and costs. The paper's is a number like 0.0001,
        which says nothing if costs are that small. With 0, all that is violated enters.
    shrink_below : float
        "cpd" stops its sweeps when one raises the dual by less than this fraction
        of what the first of them did.
    drop : bool
        Whether an output leaves its working set when its dual variable becomes zero,
        as in the paper's experiments; its algorithms, and Theorem 2, keep them all.
    looks : int
        The most outputs of an example that are looked for in a row, as long as what
        is found is violated by more than examples are on average. The paper's is 1.
    momentum : bool
        Follow each pass with a longer step in the direction in which it went, kept
        if it raises the dual. The paper does not.
    averaging : {None, "weighted"}
        Return the last weights, or the mean in which those of pass k have weight k,
        with a certificate of its own.

    Notes
    -----
    ``"dcd-ssvm"`` is the paper's Algorithm 3, ``"dcd-light"`` its Algorithm 2. What is
    called ``"dcd"``, the default, looks up to three times and has momentum, too.

    Examples
    --------
    >>> DualCoordinateDescent(variant="light").sweeps
    5
    """

    variant: str = "ssvm"
    sweeps: int = 5
    delta: float = 0.1
    shrink_below: float = 0.01
    drop: bool = True
    looks: int = 1
    momentum: bool = False
    averaging: str | None = None

    names: ClassVar[dict[str, dict[str, Any]]] = {
        "dcd-ssvm": {},
        "dcd": {"sweeps": 3, "looks": 3, "momentum": True},
        "dcd-light": {"variant": "light"},
        "cpd": {"variant": "cpd", "sweeps": 100},
    }
    losses = ("squared_hinge",)
    penalties = PENALTIES
    follows_pull = True
    needs = (waist.argmax, waist.add_costs, waist.cost, waist.diff_dot)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "variant": VARIANTS, "averaging": AVERAGING,
    }  # fmt: skip
    at_least: ClassVar[dict[str, float]] = {"sweeps": 0, "delta": 0, "looks": 1}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.variant == "cpd" and self.sweeps == 0:
            raise ValueError("cpd learns in its sweeps and needs at least one")
        if self.looks > MOST_LOOKS:
            raise ValueError(f"looks must be at most {MOST_LOOKS}, not {self.looks}")
        if self.variant == "cpd" and self.looks > 1:
            raise ValueError("cpd looks once: its weights move only afterwards")

    def memory(self, problem: Problem) -> int:
        """Return the bytes of the weights that belong to the dual point.

        The few outputs of an example that are kept are not counted.
        """
        return 8 * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> DualCoordinateState:
        """Start with empty working sets, or with those of an earlier run.

        Dual variables that are feasible for one C > 0 are feasible for every other.
        """
        state = DualCoordinateState(problem, int(rng.integers(1, 2**31 - 1)))
        if isinstance(previous, DualCoordinateState):
            state.take_over(previous)
            # An example that has lost its weight has lost its dual variables.
            state.sets.newest[problem.C == 0.0] = -1
            state.begin_at(problem, np.ones(problem.n_examples))
        return state

    def run_pass(
        self, problem: Problem, state: DualCoordinateState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Run one iteration of the variant (Algorithm 2 or 3, or CPD)."""
        n = problem.n_examples
        if state.catches_up:
            rule = partial(self._rule, state, 0.0)
            new = state.new_examples(problem, rng)
            yield from infer(rule, problem, state, new)
            state.show(self.averaging)
            return
        # At the violation v the gap is 2 C slack v, if v is small.
        whole = least_violation(state, 1.0, 2.0 * float(problem.C @ state.slack))
        rule = partial(self._rule, state, whole)
        if self.variant == "cpd":
            yield from self._infer_then_sweep(problem, state, rule, rng)
        else:
            count = self.sweeps if self.variant == "ssvm" else 0
            known = state.sets.used[0] > 0
            sweeps = [shuffled(n, rng) for _ in range(count) if known]
            order = shuffled(n, rng)
            yield from sweep_and_infer(rule, problem, state, sweeps, lambda: order)
        state.show(self.averaging)
        primal = problem.penalise(state.w) + float(problem.C @ state.slack**2)
        estimate = Certificate(primal, state.dual, exact=False)
        if self.momentum and state.n_passes > 1:
            state.go_on(problem, np.ones(n))
        state.estimate = estimate._replace(dual=state.dual)

    def _rule(self, state: DualCoordinateState, whole: float) -> CoordinateRule:
        """Return the rule of a pass; at the violation `whole` all make up the gap."""
        own = state.members, state.random, state.slack
        learns, least = self.variant != "cpd", self.delta * whole
        return CoordinateRule(*own, least, learns, self.drop, self.looks, whole)

    def _infer_then_sweep(
        self,
        problem: Problem,
        state: DualCoordinateState,
        rule: MakeRule,
        rng: np.random.Generator,
    ) -> Iterator[float]:
        """Find the outputs of all examples, then solve over the working sets."""
        n = problem.n_examples
        order, found, done = shuffled(n, rng), NOT_FOUND, 0.0
        if problem.threads() is not None:
            # The weights stay the same: threads find all outputs before any enters.
            worst = make_worst_outputs(output_pointers(problem.structure))
            for fraction in find_worst_outputs(
                problem, state.iterate, worst, state.slack
            ):
                yield 0.9 * fraction
            at, slack = worst.ptr[order], state.slack[order]
            found, done = FoundOutputs(at, worst.codes, slack), 0.9
        for fraction in infer(rule, problem, state, order, found):
            yield done + (1.0 - done) * fraction
        first_rise = 0.0
        for _ in range(self.sweeps):
            before = state.dual
            for _ in sweep(rule, problem, state, shuffled(n, rng)):
                yield 1.0
            rise = state.dual - before
            first_rise = max(first_rise, rise)
            if rise <= self.shrink_below * first_rise:
                break

    def certify(self, problem: Problem, state: DualCoordinateState) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        # Equation (6): w = sum alpha dPhi.
        state.refresh(problem, np.ones(problem.n_examples))
        if not self.momentum and self.averaging is None:
            state.w = state.iterate.copy()
        return state.certify(problem)
