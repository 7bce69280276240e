"""Exponentiated gradient for the log loss and the hinge.

Papers: Bartlett, Collins, Taskar and McAllester (NIPS 2004) for the hinge, Globerson,
Koo, Carreras and Collins (ICML 2007) for the log loss. The dual distribution of every
example is kept as the part scores of a Gibbs distribution, and a step adds to these
scores. What makes it fast beyond the papers:

- the step size comes from the curvature seen at the last visit, so that one
  computation of marginals is enough, and nothing has to be searched for;
- the first passes of the log loss mix distributions instead of multiplying them
  (see `StochasticDualCoordinateAscent`), which needs no guess of a start;
- examples are visited in proportion to their share of the duality gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.errors import PairingError
from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.dual_weights import PENALTIES
from partwise.solvers.facts import within
from partwise.solvers.part_duals import batch_forms, dual_parts
from partwise.solvers.part_duals.batch_forms import BatchFormState
from partwise.solvers.part_duals.dual_parts import LARGEST_STEP
from partwise.solvers.part_duals.guaranteed_steps import guaranteed_steps
from partwise.solvers.part_duals.halving import halve_in_turn, halve_together
from partwise.solvers.part_duals.hinge_steps import (
    LARGEST_RANGE,
    place_all,
    spread_all,
)
from partwise.solvers.part_duals.state import DualPartsState, dual_memory
from partwise.solvers.units import cost_unit
from partwise.solvers.visiting import ORDERS, visiting_order
from partwise.solvers.working_sets.smo import SequentialMinimalState, expected_parts
from partwise.structures import interface as waist
from partwise.structures.gibbs import scores_from_marginals
from partwise.structures.interface import FloatArray

FORMS = ("online", "batch", "primal")
STARTS = ("mixture", "gold")
STEPS = ("search", "halving", "guaranteed")
# Mixing stops when the gap is this small: then the mean of the scores of the mixed
# distributions is a good start for multiplicative steps. From the first of the gaps on
# a few examples crawl, which visits in proportion to the gap soon get over; visits to
# all examples alike do not.
MIX_UNTIL, MIX_LONGER = 0.25, 0.05
# The score of every right part at the start, and the first step, of start_at="gold".
GOLD_SCORE = 12.0
FIRST_STEP = 0.3
# Where all examples move at once, the hinge starts near the right outputs too: this is
# minus the score of the largest cost. A little mass elsewhere adds up in a large
# corpus: then it takes more.
HINGE_SCORE = 5.0
MORE = 1.5
ENOUGH = 200.0
# Attempts to go on cost as much as half a pass, and pay where passes crawl: after so
# many. A success, or a failure, changes how far the next attempt goes.
PATIENCE = 100
LONGER, SHORTER = 1.3, 0.8


class OnlineState(DualPartsState):
    """The dual point of the online form, and whether it still mixes."""

    kept = (
        *DualPartsState.kept,
        "mixing",
        "n_passes",
        "momentum",
        "theta_before",
        "mass_before",
    )
    facts = (*DualPartsState.facts, within("momentum", 0), within("n_passes", 0))

    mixing = False
    momentum = 1.0
    n_passes = 0
    fixed: FloatArray

    def __init__(self, problem: Problem, keep_theta: bool, first_step: float = 1.0):
        super().__init__(problem, keep_theta, first_step)
        hinge = problem.loss.name == "hinge"
        self.theta_before = self.dual.theta.copy() if hinge else np.zeros(0)
        self.mass_before = self.dual.mass.copy()

    @property
    def has_scores(self) -> bool:
        """Whether the part scores are those of the dual point, or nearly."""
        return not self.mixing and super().has_scores

    def go_on(self, problem: Problem) -> None:
        """Go on as scores and masses moved since the last pass, if the dual rises.

        Steps of one example after the other crawl where two should move together.
        """
        self.n_passes += 1
        if self.n_passes < PATIENCE:
            return
        if self.n_passes == PATIENCE:
            self.theta_before[:] = self.dual.theta
            self.mass_before[:] = self.dual.mass
            return
        here, value, w, v = self.dual, self.dual_value, self.w, self.v
        step = self.momentum * (here.theta - self.theta_before)
        np.clip(step, -LARGEST_RANGE, LARGEST_RANGE, out=step)
        step += here.theta
        mass = here.mass + self.momentum * (here.mass - self.mass_before)
        self.theta_before, self.mass_before = here.theta, here.mass
        self.dual = here._replace(
            theta=step, spread=here.spread.copy(), mass=np.clip(mass, 0.0, 1.0)
        )
        problem.crew().run(
            lambda s, start, stop, worker: spread_all(
                s, self.dual, start, stop, worker.ws
            )
        )
        self.oracle_calls += int(np.count_nonzero(self.dual.mass))
        self._place(problem)
        self.refresh(problem)
        if self.dual_value > value:
            self.momentum *= LONGER
        else:
            self.momentum *= SHORTER
            self.theta_before = here.theta.copy()
            self.mass_before = here.mass.copy()
            self.dual, self.dual_value, self.w, self.v = here, value, w, v
            self._place(problem)

    def _place(self, problem: Problem) -> None:
        problem.crew().run(
            lambda s, start, stop, worker: place_all(
                s, self.dual, start, stop, worker.scratch
            )
        )


def _had_other_C(problem: Problem, previous: State | None) -> bool:
    """Say whether the part scores of an earlier run belong to another C."""
    if isinstance(previous, BatchFormState):
        before = previous.problem.C
    elif isinstance(previous, DualPartsState):
        before = previous.C
    else:
        return False
    # A state of another corpus will be refused.
    return before.size == problem.C.size and not np.array_equal(before, problem.C)


def _marginals_of(
    problem: Problem, state: OnlineState, previous: State | None
) -> FloatArray | None:
    """Return the marginals at the dual point of an earlier run, if it has one."""
    if not waist.gibbs_scores.provided_by(type(waist.innermost(problem.structure))):
        return None
    if isinstance(previous, DualPartsState):
        state.check_fits(previous)
        return previous.dual.mu
    if isinstance(previous, SequentialMinimalState):
        if previous.form() != (problem.n_weights, problem.n_examples):
            raise ValueError("the previous run was on another structure")
        return expected_parts(problem, previous)[1]
    return None


@dataclass(frozen=True, eq=False)
class ExponentiatedGradient(Solver):
    """Exponentiated gradient, on any structure with marginals.

    Parameters
    ----------
    form : {"online", "batch", "primal"}
        Move one example at a time; all at once; or all at once with the memory of a
        few weight vectors, whatever the data.
    step : {"search", "halving", "guaranteed"} or float
        Find the step, never letting the dual fall; start at `first_step` at every
        visit and halve it until the dual rises, as Globerson et al. did; take the one
        that theory guarantees not to let it fall; or take this one. For the log loss
        steps lie in (0, 1].
    order : {"gaps", "shuffled", "cyclic"}
        Online: visit examples in proportion to their share of the duality gap, or all
        once.
    start_at : {"mixture", "gold"} or array
        Where the duals start: mix in the first passes (log loss, online), put nearly
        all the mass on the right outputs, or take the distributions that these weights
        give. The primal form starts at the weights, or at zero. A run that follows
        another one (`previous` of `solve`) starts at its dual point, for the hinge only
        if C is the same.
    gold_score : float, optional
        How near the right outputs a start is: the score of every right part, by default
        12; or for the hinge that of the largest cost of a part, with its sign turned,
        in proportion to which are those of the others. By default it is 5, or as much
        more as the dual needs not to be negative; online the hinge starts at the right
        outputs themselves.
    first_step : float
        Where halving starts, the paper's eta_0; for the hinge it is divided by the
        largest cost of a part.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"))
    >>> solve(problem, ExponentiatedGradient(), tol=1e-6).converged
    True
    """

    form: str = "online"
    step: str | float = "search"
    order: str = "gaps"
    start_at: Any = "mixture"
    gold_score: float | None = None
    first_step: float = 0.5

    names: ClassVar[dict[str, dict[str, Any]]] = {
        "eg": {},
        "eg-batch": {"form": "batch"},
        "eg-primal": {"form": "primal"},
        "eg-halving": {"step": "halving", "order": "cyclic", "start_at": "gold"},
    }
    losses = ("log_loss", "hinge")
    penalties = PENALTIES
    needs = (waist.marginals,)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {"form": FORMS, "order": ORDERS}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if isinstance(self.step, str):
            if self.step not in STEPS:
                raise ValueError(
                    f"step must be {', '.join(map(repr, STEPS))} or a number, "
                    f"not {self.step!r}"
                )
        elif not 0.0 < self.step <= LARGEST_STEP:
            raise ValueError(
                f"step must be positive and at most {LARGEST_STEP:g}, not {self.step!r}"
            )
        if not 0.0 < self.first_step <= 1.0:
            raise ValueError(
                f"first_step must lie above 0 and at most 1, not {self.first_step!r}"
            )
        if isinstance(self.start_at, str):
            if self.start_at not in STARTS:
                raise ValueError(
                    f"start_at must be {' or '.join(map(repr, STARTS))} or an array of "
                    f"weights, not {self.start_at!r}"
                )
        elif not np.isfinite(np.asarray(self.start_at, np.float64)).all():
            raise ValueError("start_at must hold finite weights")
        if self.gold_score is not None and not 0.0 <= self.gold_score < np.inf:
            raise ValueError(
                f"gold_score must be finite and not negative, not {self.gold_score!r}"
            )

    @property
    def follows_pull(self) -> bool:  # type: ignore[override]
        """Whether weights may start elsewhere: in the form that moves them itself."""
        return self.form == "online"

    @property
    def only_passes(self) -> bool:  # type: ignore[override]
        """Whether all examples are moved at once, by steps that need no other look."""
        return self.form != "online" and self.step not in ("guaranteed", "halving")

    def _keeps_no_scores(self, problem: Problem) -> bool:
        """Say whether part scores are had from a vector, as the primal form does.

        The steps are the same. Scores of examples elsewhere would have to travel.
        """
        return self.form == "primal" or problem.is_elsewhere

    def memory(self, problem: Problem) -> int:
        """Return the bytes of part scores and marginals, or of the second vector."""
        if self._keeps_no_scores(problem):
            return 4 * 8 * problem.n_weights
        return dual_memory(problem, keep_theta=True) * (1 + (self.form == "batch"))

    # --- where to start -----------------------------------------------------------

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> State:
        """Make the dual point before the first pass."""
        self._check_step(problem)
        if problem.loss.name == "hinge" and _had_other_C(problem, previous):
            previous = None  # what scores have learnt for one C, they unlearn slowly
        fixed = self._fixed_steps(problem)
        if self._keeps_no_scores(problem):
            return self._primal_point(problem, previous, fixed)
        first_step = self._first_step(problem, previous)
        state = OnlineState(problem, keep_theta=True, first_step=first_step)
        state.fixed = fixed
        in_place = self._set_scores(problem, state, previous)
        if not in_place or not self._searches_online:
            self._settle(problem, state)
        if self.form == "online":
            return state
        return batch_forms.ThetaState(problem, state, first_step, fixed)

    def _check_step(self, problem: Problem) -> None:
        number = not isinstance(self.step, str)
        if number and problem.loss.name == "log_loss" and float(self.step) > 1.0:
            raise ValueError(
                f"step must be at most 1 for the log loss, not {self.step!r}"
            )
        structure = type(waist.innermost(problem.structure))
        if self.step == "guaranteed" and not waist.argmax.provided_by(structure):
            raise PairingError(
                "step='guaranteed' needs 'argmax', which "
                f"{structure.__name__} does not provide; use 'search'"
            )

    def _weights(self, problem: Problem) -> FloatArray | None:
        if isinstance(self.start_at, str):
            return None
        w = np.asarray(self.start_at, np.float64)
        if w.shape != (problem.n_weights,):
            raise ValueError(
                f"start_at holds {w.size} weights, the problem has {problem.n_weights}"
            )
        return w

    @property
    def _searches_online(self) -> bool:
        """Whether steps may start elsewhere than at the scores' Gibbs distributions."""
        return self.form == "online" and self.step == "search"

    def _primal_point(
        self, problem: Problem, previous: State | None, fixed: FloatArray
    ) -> batch_forms.PrimalState:
        z, tau = self._weights(problem), 0.0
        if isinstance(previous, batch_forms.PrimalState) and previous.has_loss(
            problem.loss
        ):
            previous.check_size(problem)
            z, tau = previous.z, previous.tau
        first_step = self._first_step(problem, previous)
        if z is not None or problem.loss.name != "hinge":
            return batch_forms.PrimalState(problem, z, tau, first_step, fixed)
        calls = 0
        for score in self._hinge_scores(problem):
            state = batch_forms.PrimalState(problem, z, -score, first_step, fixed)
            state.oracle_calls += calls
            calls = state.oracle_calls
            if state.dual_value >= 0.0:
                break
        return state

    def _hinge_scores(self, problem: Problem) -> Iterator[float]:
        """Yield scores to try until the dual is not below that of the right outputs.

        Those of a unit of cost, with their sign turned.
        """
        unit = cost_unit(problem)
        score = HINGE_SCORE if self.gold_score is None else float(self.gold_score)
        yield score / unit
        # Steps that are searched for take the best share of such a point.
        tries_more = self.gold_score is None and self.step != "search"
        while tries_more and score < ENOUGH:
            score *= MORE
            yield score / unit

    def _first_step(self, problem: Problem, previous: State | None) -> float:
        if isinstance(previous, BatchFormState) and previous.has_loss(problem.loss):
            return previous.step
        return FIRST_STEP / (cost_unit(problem) if problem.loss.name == "hinge" else 1)

    def _set_scores(
        self, problem: Problem, state: OnlineState, previous: State | None
    ) -> bool:
        """Choose the part scores; return whether marginals and values are set too."""
        s, dual, w = problem.structure, state.dual, self._weights(problem)
        if isinstance(previous, BatchFormState) and previous.has_loss(problem.loss):
            previous.write_scores(problem, dual, state.workspace)
            return False
        if isinstance(previous, DualPartsState) and previous.n_new:
            return self._join(problem, state, previous)
        if isinstance(previous, DualPartsState) and previous.same_loss(state):
            if previous.has_scores or self._searches_online:
                kept = state.continue_from(problem, previous)
                wants_mixing = kept < 1.0 or not previous.has_scores
                state.mixing = wants_mixing and problem.loss.name == "log_loss"
                return True
        mu = _marginals_of(problem, state, previous)
        if mu is not None:
            dual.theta[:] = scores_from_marginals(s, mu)
            return False
        if w is not None:
            dual_parts.score_parts(s, w, dual.ptr, dual.theta, state.workspace)
            return False
        if problem.loss.name == "hinge":
            if self._searches_online and self.gold_score is None:
                dual.mass[:] = 0.0
                return True
            for score in self._hinge_scores(problem):
                dual.theta[:] = -score * dual.cost
                self._settle(problem, state)
                if state.dual_value >= 0.0:
                    break
            return True
        state.mixing = self._searches_online and self.start_at == "mixture"
        if not state.mixing:
            score = GOLD_SCORE if self.gold_score is None else self.gold_score
            dual_parts.score_gold(s, dual.ptr, score, dual.theta, state.scratch)
        return True

    def _join(
        self, problem: Problem, state: OnlineState, previous: DualPartsState
    ) -> bool:
        """Go on from a dual point in which new examples are at their right outputs.

        Where points must be Gibbs distributions, new examples are only near those.
        """
        if self._searches_online and previous.same_loss(state):
            state.continue_from(problem, previous)
            return True
        dual, known = state.dual, previous.dual.ptr[-1 - previous.n_new]
        score = GOLD_SCORE if self.gold_score is None else self.gold_score
        if problem.loss.name == "hinge":
            dual.theta[:] = -next(self._hinge_scores(problem)) * dual.cost
        else:
            score_gold = dual_parts.score_gold
            score_gold(problem.structure, dual.ptr, score, dual.theta, state.scratch)
        dual.theta[:known] = previous.dual.theta[:known]
        return False

    def _settle(self, problem: Problem, state: DualPartsState) -> None:
        """Set marginals, values and weights to those of the part scores."""
        dual = state.dual
        share = float(dual.mass[0]) if dual.mass.size and self._searches_online else 1.0
        dual.mass[:] = 1.0
        problem.crew().run(
            lambda s, start, stop, worker: dual_parts.gibbs_points(
                s, dual, start, stop, worker.scratch, worker.ws
            )
        )
        state.oracle_calls += problem.n_examples
        state.note_spread()
        if share < 1.0:
            state.keep_share(problem, share)
        state.refresh(problem)

    # --- passes ---------------------------------------------------------------------

    def run_pass(
        self, problem: Problem, state: State, rng: np.random.Generator
    ) -> Iterator[float]:
        """Visit about as many examples as there are."""
        if state.estimate is not None:
            state.estimate = state.estimate._replace(exact=False)
        if isinstance(state, BatchFormState):
            if self.step == "halving":
                yield from halve_together(state, state.fixed)
            else:
                yield from state.step_up()
            state.estimate = state.certify(problem)
            return
        assert isinstance(state, OnlineState)
        if state.catches_up:
            yield from state.catch_up(problem, rng, state.fixed)
            return
        order = visiting_order(self.order, state.dual.gap, problem.C, rng)
        if self.step == "halving":
            yield from halve_in_turn(problem, state, order, state.fixed)
        else:
            yield from state.ascend(problem, order, state.mixing, state.fixed)
        if problem.loss.name == "hinge":
            if not state.fixed.size:
                state.rescale(problem)
            state.refresh(problem)
            if not state.fixed.size:
                state.go_on(problem)
            state.estimate = state.certify_here(problem)
        else:
            state.estimate = state.estimated()
        enough = MIX_UNTIL if self.order == "gaps" else MIX_LONGER
        state.mixing &= state.estimate.relative_gap > enough

    def _fixed_steps(self, problem: Problem) -> FloatArray:
        if self.step == "search":
            return np.zeros(0)
        if self.step == "guaranteed":
            return guaranteed_steps(problem, together=self.form != "online")
        if self.step == "halving":
            unit = cost_unit(problem) if problem.loss.name == "hinge" else 1.0
            return np.full(problem.n_examples, self.first_step / unit)
        return np.full(problem.n_examples, float(self.step))

    def certify(
        self, problem: Problem, state: BatchFormState | OnlineState
    ) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        if state.estimate is not None and state.estimate.exact:
            return state.estimate
        return state.certify(problem)
