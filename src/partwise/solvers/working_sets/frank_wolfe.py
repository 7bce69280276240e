"""Block-coordinate Frank-Wolfe for the hinge, with the outputs found so far kept.

Lacoste-Julien, Jaggi, Schmidt and Pletscher (ICML 2013) visit one example at a time,
find the output with the largest ``cost(y) - w . dPhi(y)`` and move the example's dual
point towards it, by an exact line search. Osokin et al. (ICML 2016) add visits in
proportion to each example's share of the duality gap, steps among the outputs found
earlier, which cost no inference, and pairwise steps, which take the mass from the
worst of them. Added here is *momentum*: a pass is followed by a longer
step in the direction in which it went, if that raises the dual.

A dual point is kept as its outputs, with their shares. So nothing
as long as the weights is kept per example, and a share that falls to zero is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.dual_weights import PENALTIES
from partwise.solvers.facts import within
from partwise.solvers.visiting import ORDERS, visiting_order
from partwise.solvers.working_sets.extrapolation import AVERAGING, MovingState
from partwise.solvers.working_sets.mass_steps import StepRule, make_blackboard
from partwise.solvers.working_sets.smo import SequentialMinimalState
from partwise.solvers.working_sets.visits import infer, sweep_and_infer
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import Structure

STEPS = ("pairwise", "towards")

# Of each output kept: place, dual variable, cost and the like; and each of its codes.
BYTES_PER_OUTPUT, BYTES_PER_CODE = 72, 4
# How many outputs with a share an example had on average, where it was measured.
OUTPUTS_KEPT = 16


class FrankWolfeState(MovingState, SequentialMinimalState):
    """Weights, distributions over outputs, and which way the last pass went."""

    kept = (*MovingState.kept, "gap", "visits")
    facts = (*MovingState.facts, within("visits", 0))

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.gap = np.zeros(problem.n_examples)
        self.visits = np.zeros(1, np.int64)

    def fit_scratch(self) -> None:
        """Make room for what the steps write down about every member."""
        self.board = make_blackboard(self.sets.alpha.size, self.w.size)

    def make_room(self, s: Structure, n_visits: int) -> None:
        """Let the working sets grow."""
        direction = self.board.direction
        super().make_room(s, n_visits)
        # What rounding has left there must not depend on how much room there was.
        self.board = self.board._replace(direction=direction)

    def continue_from(self, problem: Problem, previous: SequentialMinimalState) -> None:
        """Take over the dual point of an earlier run, perhaps with another C."""
        self.take_over(previous)
        self.begin_at(problem, problem.C)


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe for the hinge, on any structure with argmax.

    Parameters
    ----------
    steps : {"pairwise", "towards"}
        Take the mass for the best output from the worst one, or from all the others
        by the same share, as the original method does.
    sweeps : int
        Visits of all examples before each pass that only look at the outputs found
        so far, without inference.
    order : {"shuffled", "gaps", "cyclic"}
        Visit all examples once per pass, or in proportion to their share of the
        duality gap.
    momentum : bool
        Follow each pass with a longer step in the direction in which it went, kept
        if it raises the dual.
    line_search : bool
        Go to the best point of each step. Otherwise the k-th visit goes the share
        ``2n / (k + 2n)`` of the way, without sweeps and momentum; for comparisons.
    averaging : {None, "weighted"}
        Return the last weights, or the mean in which those of pass k have weight k.

    See Also
    --------
    SequentialMinimalOptimization : Pairs only, with less memory.

    Notes
    -----
    ``FrankWolfe("towards", sweeps=0, momentum=False)`` is the method of 2013. With the
    line search the dual value never falls.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, FrankWolfe(), tol=1e-6)
    >>> solution.w.round(4).tolist()
    [0.5, -0.5]
    """

    steps: str = "pairwise"
    sweeps: int = 3
    order: str = "shuffled"
    momentum: bool = True
    line_search: bool = True
    averaging: str | None = None

    names: ClassVar[dict[str, dict[str, Any]]] = {"frank-wolfe": {}}
    losses = ("hinge",)
    penalties = PENALTIES
    follows_pull = True
    needs = (waist.argmax, waist.add_costs, waist.cost, waist.diff_dot)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "steps": STEPS, "averaging": AVERAGING, "order": ORDERS,
    }  # fmt: skip
    at_least: ClassVar[dict[str, float]] = {"sweeps": 0}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        published = self.steps == "towards" and not self.sweeps and not self.momentum
        if not self.line_search and not published:
            raise ValueError(
                "line_search=False needs steps='towards', sweeps=0, momentum=False"
            )

    def memory(self, problem: Problem) -> int:
        """Return about the bytes of the outputs kept, and of vectors like the weights.

        How many outputs are kept is not known in advance; this is the usual number.
        """
        n, n_codes = problem.n_examples, int(output_pointers(problem.structure)[-1])
        vectors = 1 + self.momentum + (self.averaging is not None)
        outputs = OUTPUTS_KEPT * (n * BYTES_PER_OUTPUT + n_codes * BYTES_PER_CODE)
        return outputs + 8 * vectors * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> FrankWolfeState:
        """Start at the right outputs, or at the dual point of an earlier run.

        A distribution over outputs is feasible for any C and any example weights.
        """
        state = FrankWolfeState(problem)
        if isinstance(previous, SequentialMinimalState):
            state.continue_from(problem, previous)
        return state

    def run_pass(
        self, problem: Problem, state: FrankWolfeState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Sweep over the outputs at hand, look for new ones, then go on that way."""
        state.board.direction[:] = 0.0  # what rounding has left of the last pass
        rule = partial(self._rule, state)
        if state.catches_up:
            yield from infer(rule, problem, state, state.new_examples(problem, rng))
            state.show(self.averaging)
            return
        # In the first pass there are only the right outputs.
        count = self.sweeps if state.sets.used[0] > problem.n_examples else 0
        choose = partial(visiting_order, gap=state.gap, used=problem.C, rng=rng)
        sweeps = [choose("shuffled") for _ in range(count)]
        choose_order = partial(choose, self.order)
        yield from sweep_and_infer(rule, problem, state, sweeps, choose_order)
        state.show(self.averaging)
        primal = state.dual + float(state.gap.sum())
        if self.momentum:
            state.go_on(problem, problem.C)
        state.estimate = Certificate(primal, state.dual, exact=False)

    def _rule(self, state: FrankWolfeState) -> StepRule:
        own = state.visits, state.board, state.gap
        return StepRule(self.steps == "pairwise", self.line_search, *own)

    def certify(self, problem: Problem, state: FrankWolfeState) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        state.normalise()
        state.refresh(problem, problem.C)
        return state.certify(problem)
