"""Restricted simplicial decomposition, with a proximal point loop (paper 003).

The dual of a margin problem, in as many variables as there are weights: a point is what
one output of every example does to the weights. The *master problem* finds the best
dual point in the hull of the points so far; the *direction-finding* problem, one
cost-augmented argmax an example, finds another point. Around that, for generative
models, goes the proximal point method: a quadratic term that keeps the weights near a
centre makes the dual function finite everywhere, and the centre moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import STALLED, Problem, Solver, State
from partwise.solvers.simplicial.blocks import as_blocks, check_blocks
from partwise.solvers.simplicial.master import HullProblem
from partwise.solvers.simplicial.state import SimplicialState
from partwise.structures.interface import FloatArray, IntArray, add_costs, argmax, cost

VARIANTS = ("joint", "coordinate", "online")

FRUITLESS = 10
"""Passes in a row that improve neither bound: no more of them."""

EASY = 0.5
"""The share of what a centre promised that, when it comes true, weakens the term."""

CRAWLING = 0.5
"""If such a share of the gap is left after a pass over sets one by one, it crawls."""

MASTER_SHARE = 0.01
"""The master problem is solved to this share of the gap."""


@dataclass(frozen=True)
class RestrictedSimplicialDecomposition(Solver):
    """Margin losses for generative models, and for any weights with the L2 penalty.

    Parameters
    ----------
    points : int
        How many points are kept, for every working set. What has least weight makes
        room for the dual point itself, which then is a point.
    directions : int
        Into how many points the outputs found in a round are put, besides the one of
        all of them: several ascent directions. With as many as there are examples,
        every example's output is a point of its own, as in the paper. Only points in
        whose direction the dual rises are kept, which few of them are for long.
    working_sets : int or sequence of sequences of int
        Into how many sets examples are divided; or the sets themselves, as the numbers
        of their examples. Each has points of its own, so that the hull is larger, for
        a larger master problem. Every example is in one set; in several, if you like,
        with variant "online".
    variant : {"joint", "coordinate", "online"}
        Move all the working sets together; or one after the other, with the rest as it
        is, and with the L2 penalty all together after a pass that left half of the gap;
        or take the sets as a stream of subsets, for one hull of all the dual points.
    together : int
        How many sets are moved at a time, where they come one after the other.
    rounds : int
        How often a set is searched for directions before the next one, where they come
        one after the other.
    gamma : float, optional
        First weight of the proximal term, ``gamma / 2 |w - centre|^2``; by default it
        suits the size of the objective. It is halved when the objective falls as far
        as predicted, and when nothing else keeps the bounds apart. It has no meaning
        for the L2 penalty, which is itself a proximal term.
    improvement : float
        The centre changes where the objective has fallen by this share of what the
        dual value allows;
    accuracy : float
        or where the dual point is nearly optimal for this centre: to this share of the
        objective at first, to 0.9 of it after every change.

    See Also
    --------
    FrankWolfe : For the hinge with the L2 penalty; one example at a time.

    Notes
    -----
    Every pass ends with a certificate. The objective is that of weights that are
    feasible; the lower bound is the dual value where the penalty is L2. For a
    generative model the dual point need not lie in the domain of the dual function,
    but a multiple of it does, and gives a bound (`scaled_bound`); what the paper
    takes instead, which is no bound, is in ``state.estimate_of_paper``.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("hinge"))
    >>> solution = solve(problem, RestrictedSimplicialDecomposition(), tol=1e-6)
    >>> solution.w.round(4).tolist()
    [0.5, -0.5]
    """

    points: int = 100
    directions: int = 1
    working_sets: int | Sequence[Sequence[int]] = 1
    variant: str = "joint"
    together: int = 1
    rounds: int = 3
    gamma: float | None = None
    improvement: float = 0.1
    accuracy: float = 1e-2

    names: ClassVar[dict[str, dict[str, Any]]] = {
        "simplicial": {},
        "simplicial-coordinate": {"variant": "coordinate", "working_sets": 10},
        "simplicial-online": {"variant": "online", "working_sets": 10},
    }
    losses = ("hinge", "squared_hinge")
    penalties = ("l2", "divergence", "reverse divergence")
    needs = (argmax, add_costs, cost)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {"variant": VARIANTS}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        leasts = {"points": 3, "directions": 1, "together": 1, "rounds": 1}
        if isinstance(self.working_sets, Sequence | np.ndarray):
            object.__setattr__(self, "working_sets", as_blocks(self.working_sets))
        else:
            leasts["working_sets"] = 1
        for name, least in leasts.items():
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(
                    f"{name} must be an integer of at least {least}, not {value!r}"
                )
            object.__setattr__(self, name, int(value))
        if self.gamma is not None and not _is_between(self.gamma, 0.0, np.inf):
            raise ValueError(f"gamma must be positive, not {self.gamma!r}")
        if not _is_between(self.improvement, 0.0, 1.0):
            raise ValueError(f"improvement must lie in 0..1: {self.improvement!r}")
        if not _is_between(self.accuracy, 0.0, np.inf):
            raise ValueError(f"accuracy must be positive, not {self.accuracy!r}")

    def _n_hulls(self, problem: Problem) -> int:
        """Return how many working sets have points of their own."""
        return 1 if self.variant == "online" else self._n_sets(problem)

    def _n_sets(self, problem: Problem) -> int:
        if isinstance(self.working_sets, int):
            return max(min(self.working_sets, problem.n_examples), 1)
        return len(self.working_sets)

    def memory(self, problem: Problem) -> int:
        """Return about the bytes of the points, dense where curvature changes."""
        n_points = self.points * self._n_hulls(problem)
        own = 0 if problem.reference is None else n_points
        found = min(self.directions, problem.n_examples) * self._n_hulls(problem)
        return 8 * n_points**2 + 8 * (own + found + 6) * problem.n_weights

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> SimplicialState:
        """Start at the reference distributions, or where an earlier run ended."""
        if not isinstance(self.working_sets, int):
            may_overlap = self.variant == "online"
            check_blocks(self.working_sets, problem.n_examples, may_overlap)
        state = SimplicialState(problem, self._n_hulls(problem))
        if previous is not None:
            state.check_fits(previous)
            state.set_iterate(np.append(previous.w, state.extended[state.w.size :]))
            if state.groups is not None:
                state.dual_function.centre[: state.iterate.size] = state.iterate
            state.w = state.iterate
        if state.groups is not None:
            gamma = self.gamma or default_gamma(problem, state.w)
            state.dual_function.gamma[: state.w.size] = gamma
        return state

    def run_pass(
        self, problem: Problem, state: SimplicialState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Find directions for every example, and solve the master problems."""
        before = state.bounds()
        blocks = self._blocks(problem, rng)
        if self.variant != "joint":
            order = rng.permutation(len(blocks))
            for start in range(0, order.size, self.together):
                chosen = order[start : start + self.together]
                self._work_on(state, [blocks[number] for number in chosen], chosen)
                yield 0.5 * min(start + self.together, order.size) / order.size
        self._evaluate(state, blocks, before[0] - before[1])
        state.estimate = Certificate(state.primal, state.dual)
        yield 1.0
        state.fruitless = 0 if state.bounds() != before else state.fruitless + 1
        if state.fruitless >= FRUITLESS:
            state.halted = STALLED

    def _blocks(self, problem: Problem, rng: np.random.Generator) -> list[IntArray]:
        """Return the examples of every working set."""
        if not isinstance(self.working_sets, int):
            return [np.array(block, np.int64) for block in self.working_sets]
        count = self._n_sets(problem)
        sets = np.arange(problem.n_examples) % count
        if self.variant == "online":
            # A stream: other subsets every time. Sets with points of their own stay.
            sets = rng.permutation(sets)
        return [np.flatnonzero(sets == number) for number in range(count)]

    def _work_on(
        self, state: SimplicialState, blocks: list[IntArray], numbers: IntArray
    ) -> None:
        """Optimise over some working sets, or subsets of the stream."""
        row_of = np.full(state.problem.n_examples, -1)
        for row, block in enumerate(blocks):
            row_of[block] = 0 if self.variant == "online" else row
        hulls = np.zeros(1, np.int64) if self.variant == "online" else numbers
        for _ in range(self.rounds):
            found = state.find(row_of, hulls.size)
            if not self._add(state, found.vectors, found.offset, hulls):
                break
            self._solve_master(state, hulls)

    def _evaluate(
        self, state: SimplicialState, blocks: list[IntArray], gap: float
    ) -> None:
        """Find directions for all examples; take bounds; perhaps change the centre.

        The `gap` is that before the pass.
        """
        n_hulls, n = state.points.n_sets, state.problem.n_examples
        parts = min(self.directions, -(-n // n_hulls))
        hull_of = np.zeros(n, np.int64)
        if n_hulls > 1:
            for number, block in enumerate(blocks):
                hull_of[block] = number
        part_of = (np.arange(n) // n_hulls) % parts
        found = state.find(hull_of * parts + part_of, n_hulls * parts)
        primal = state.take_primal(found.slack)
        with state.clock("centre"):
            self._change_centre(state, primal)
        vectors, offset = found.vectors, found.offset
        hulls = np.repeat(np.arange(n_hulls), parts)
        if parts > 1:
            # The sum of the parts is itself a point, and the best one there is.
            at = np.arange(0, n_hulls * parts, parts)
            vectors = np.vstack([np.add.reduceat(vectors, at), vectors])
            offset = np.concatenate([np.add.reduceat(offset, at), offset])
            hulls = np.concatenate([np.arange(n_hulls), hulls])
        self._add(state, vectors, offset, hulls)
        if self.variant == "coordinate":
            state.show(state.dual_function.best(*state.points.total()))
            if not self._crawls(state, gap):
                return
        self._solve_master(state, np.arange(n_hulls))

    def _crawls(self, state: SimplicialState, gap: float) -> bool:
        """Say whether sets that move one by one are in each other's way.

        A proximal term keeps them from that.
        """
        return state.groups is None and state.primal - state.dual > CRAWLING * gap

    def _add(
        self, state: SimplicialState, vectors: Any, offset: Any, hulls: IntArray
    ) -> bool:
        """Add the points in whose direction the dual rises; say if there are any."""
        points, x = state.points, state.extended
        slope = offset - vectors @ x
        here = points.alpha * (points.offset - points.products(x))
        gain = slope - np.bincount(points.owner, here, points.n_sets)[hulls]
        rising = np.flatnonzero(gain > 0.0)
        # No more at once than are kept: the master problem stays small.
        steepest = rising[np.argsort(-gain[rising], kind="stable")]
        chosen = np.sort(steepest[: self.points * points.n_sets])
        points.add(vectors[chosen], offset[chosen], hulls[chosen])
        return rising.size > 0

    def _solve_master(self, state: SimplicialState, hulls: IntArray) -> None:
        tolerance = MASTER_SHARE * state.proximal_gap()
        with state.clock("master"):
            master = HullProblem(
                state.points, state.dual_function, hulls, state.squared
            )
            best = master.maximise(tolerance)
            state.points.limit(self.points, hulls)
        state.show(best)

    def _change_centre(self, state: SimplicialState, primal: float) -> None:
        """Move the centre to the iterate by one of two rules (section 2.3.3).

        The multipliers are at their best, so that what the paper's second rule bounds
        is the gap of the proximal problem. The points stay valid, and what was found
        at the iterate is used: unlike in the paper, directions are not found again.
        """
        if state.groups is None:
            return
        if state.centre_primal == np.inf:  # the iterate is the centre
            state.centre_primal = primal
            return
        n = state.iterate.size
        away = state.iterate - state.dual_function.centre[:n]
        proximal = primal + 0.5 * float(state.dual_function.gamma[:n] @ away**2)
        hoped = max(state.centre_primal - state.proximal_value, 0.0)
        accuracy = self.accuracy * 0.9**state.n_changes * abs(primal)
        improved = primal <= state.centre_primal - self.improvement * hoped
        solved = proximal - state.proximal_value <= accuracy
        if (improved or solved) and primal < state.centre_primal:
            # As hoped for: what keeps the weights from going further is the term.
            was_easy = primal <= state.centre_primal - EASY * hoped
            state.move_centre(primal, was_easy)

    def certify(self, problem: Problem, state: SimplicialState) -> Certificate:
        """Return the certificate, which is known after every pass."""
        if state.primal == np.inf:  # no pass has ended yet
            state.primal = problem.primal(state.w)
            state.take_dual(state.dual_function.best(*state.points.total()).value)
        return Certificate(state.primal, state.dual)


def _is_between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, Real) and low < float(value) < high


def default_gamma(problem: Problem, w: FloatArray) -> float:
    """Return a weight of the proximal term that suits the size of the objective.

    Weights that move by about one each, all of them, are then worth some tenth of it:
    what there is to gain in the beginning. Ten times more or less costs about twice as
    many passes.
    """
    # Where the objective is zero there is nothing to gain, with any weight.
    return 0.1 * (problem.primal(w) or 1.0) / problem.n_weights
