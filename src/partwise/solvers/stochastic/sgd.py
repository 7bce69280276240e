"""Stochastic (sub)gradient descent: a step for every example, shorter and shorter.

Divided by ``sum_i C_i``, the objective is the mean over the `n` examples of
``c_i loss_i(w) + decay/2 |w|^2``, with ``c_i = n C_i / sum_j C_j`` and
``decay = 1 / sum_j C_j``. Each step goes down the gradient of one term,

    ``w <- (w - eta_t c_i grad loss_i(w)) / (1 + eta_t decay)``,
    ``eta_t = eta_0 / (1 + eta_0 decay t)^power``,

and costs only the features it touches. This is the schedule of Bottou (2004), which
Chang and Yih (TACL 2013, section 4.3) use with the power 0.75. They write it with
``T / C``; Bottou's `decay`, for their sum of losses, is ``1 / (C n)``, as it is
here: without the `n`, all the steps together are too short for a large corpus.

There are no explicit dual variables, and yet there is a certificate. The weights
are a sum of gradients, and so come from a dual point: `sgd_steps` says from which, and
`lower_bound` what it proves.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State, chunks, finish
from partwise.solvers.facts import within
from partwise.solvers.gradient import BatchGradient
from partwise.solvers.stochastic import scaled_weights, steps
from partwise.solvers.stochastic.scaled_weights import ScaledWeights
from partwise.solvers.stochastic.schedule import Schedule, choose_first_step
from partwise.solvers.units import cost_unit, feature_unit
from partwise.solvers.visiting import shuffled
from partwise.structures.interface import FloatArray, IntArray, make_diff, workspace
from partwise.structures.scratch import make_scratch

AVERAGING = {"none": 0.0, "uniform": 0.0, "polynomial": 3.0}
"""The kinds of average, and how much more they make of later weights."""

TRIAL_EXAMPLES, TRIAL_STEPS = 1000, 100
"""How many examples the first step is chosen on, with at least how many steps."""

LOOK_EVERY = 10
"""Passes from one exact certificate to the next: they take a tenth of the time."""


def lower_bound(problem: Problem, learnt: FloatArray, account: FloatArray) -> float:
    """Return the best dual value of any multiple of a dual point.

    Parameters
    ----------
    problem : Problem
        Loss and C.
    learnt : array
        ``sum_i sum_y alpha_iy dPhi(i, y)``.
    account : array
        What `sgd_steps` says of `alpha`. For the hinge and the log loss no example
        may have a mass above its C, which limits the multiple; for the squared
        hinge mass has a price instead.
    """
    mass, gain = account[: steps.GAIN], float(account[steps.GAIN])
    heavy = mass > 0.0
    price, most = float(learnt @ learnt), math.inf
    if problem.loss.name == "squared_hinge":
        price += float(np.sum(mass[heavy] ** 2 / (2.0 * problem.C[heavy])))
    else:
        most = float(np.min(problem.C[heavy] / mass[heavy], initial=math.inf))
    if not gain > 0.0 or not 0.0 < price < math.inf:
        return 0.0
    multiple = min(gain / price, most)
    return multiple * (gain - 0.5 * multiple * price)


def _starts_somewhere(state: SGDState, problem: Problem) -> None:
    """Check that the weights at the start, if not zero, are as many as others."""
    if state.origin.size not in (0, problem.n_weights):
        raise ValueError(f"'origin' has {state.origin.size} weights")


def _is_settled(state: SGDState, problem: Problem) -> None:
    """Check that `w` is one of the two vectors, as it is between passes."""
    if state.weights.factors.tolist() != scaled_weights.SETTLED:
        raise ValueError("'weights.factors' are not those between two passes")


class SGDState(State):
    """The weights and their average, the first step, and a lower bound.

    Attributes
    ----------
    weights : ScaledWeights
        Where the steps have led, and the average of the places on the way. Settled
        between passes: `w` is one of its two vectors.
    origin : array
        The weights at the start, empty if they were zero.
    eta_0 : float
        The length of the first step; zero until it is chosen.
    bound : float
        No weights have an objective below this.
    """

    kept = ("weights", "origin", "eta_0", "bound")
    growing = ("origin",)
    facts = (
        _starts_somewhere,
        _is_settled,
        within("weights.steps", 0),
        within("eta_0", 0),
    )

    def __init__(self, problem: Problem, origin: FloatArray, averaged: bool):
        s, n = problem.structure, problem.n_examples
        w = origin if origin.size else np.zeros(problem.n_weights)
        self.origin = origin.copy()
        self.weights = scaled_weights.make_scaled_weights(
            w, steps.empty_account(n), averaged
        )
        self.restored()
        self.eta_0 = self.bound = 0.0
        self.loss = problem.loss.name
        self.values = np.zeros(n)
        self.scratch = make_scratch(s)
        self.diff = make_diff(s)
        self.workspace = workspace(s, 1)

    def restored(self) -> None:
        """Let `w` be one of the vectors again."""
        self.w = self.weights.u if self.weights.u.size else self.weights.v

    def can_continue(self, previous: SGDState, C: FloatArray) -> bool:
        """Say whether the dual point of an earlier run is one of this problem."""
        mine, account = self.weights, previous.weights.v_account
        return (
            previous.loss == self.loss
            and account.size == mine.v_account.size
            and previous.weights.u.size == mine.u.size
            and not account[: steps.GAIN][C == 0.0].any()
        )

    def settle(self, problem: Problem) -> None:
        """Make `w` the weights that the steps have led to; raise the bound."""
        weights = self.weights
        with np.errstate(all="ignore"):
            scaled_weights.settle(weights)
            account = weights.u_account if weights.u.size else weights.v_account
            w, origin = self.w, self.origin
            learnt = w - account[steps.ORIGIN] * origin if origin.size else w
            self.bound = max(self.bound, lower_bound(problem, learnt, account))

    def descend(
        self,
        problem: Problem,
        order: IntArray,
        schedule: Schedule,
        weights: ScaledWeights,
        capped: bool = True,
    ) -> Generator[float, None, bool]:
        """Take a step for every example; return False if a loss was not finite."""
        name = problem.loss.name
        weight = problem.C * (int(np.count_nonzero(problem.C)) * schedule.decay)
        own = self.values, self.scratch, self.diff, self.workspace
        site = steps.GradientSite(problem.structure, weight, schedule, weights, *own)
        for start, stop in chunks(order.size):
            # Weights that overflow show in the losses; no need to warn of them.
            with np.errstate(all="ignore"):
                if name == "log_loss":
                    fine = steps.descend_log(site, order, start, stop)
                else:
                    squared = name == "squared_hinge"
                    fine = steps.descend_margin(
                        site, order, start, stop, squared, capped
                    )
            self.oracle_calls += stop - start
            yield stop / order.size
            if not fine:
                return False
        return True

    def look(self, problem: Problem) -> Generator[float, None, Certificate]:
        """Compute the objective at `w`, and with the log loss another lower bound.

        The objective is 1-strongly convex, so no weights lower it by more than
        ``1/2 |gradient|^2``. Near the optimum of a smooth loss nothing proves more;
        the subgradients of margin losses are long even there, and prove nothing.
        """
        self.settle(problem)
        w = self.w
        with np.errstate(all="ignore"):
            sqnorm = float(w @ w)
        if not math.isfinite(sqnorm):
            return Certificate(math.inf, self.bound)
        if problem.loss.name == "log_loss":
            batch, gradient = BatchGradient(problem), np.zeros(w.size)
            yield from batch.visit(w, gradient)
            gradient += w
            primal = 0.5 * sqnorm + batch.loss
            self.bound = max(self.bound, primal - 0.5 * float(gradient @ gradient))
        else:
            primal = problem.primal(w)
        self.oracle_calls += int(np.count_nonzero(problem.C))
        return Certificate(primal, self.bound)


@dataclass(frozen=True)
class StochasticGradientDescent(Solver):
    """Stochastic gradient descent for all losses, on any structure.

    Parameters
    ----------
    eta_0 : float, optional
        The length of the first step. By default it is chosen in the first pass, by a
        trial pass over 1000 examples with each of 1/2, 1/4, ..., 1/32, and with longer
        or shorter steps if the best of these is at an end. The margin losses need a
        shorter one the larger an example is, the squared hinge most of all.
    averaging : {"polynomial", "uniform", "none"}
        Which weights are returned: an average over all steps that makes more of
        later ones (step `t` counts about ``t^3``), the mean, or the last. On CoNLL-2000
        chunking, after 20 passes, they are 0.5%, 1.1% and 2.4% above the optimum for
        the log loss, 14%, 23% and 20% for the hinge, and 41%, 110% and 32% for the
        squared hinge, where steps have to be short and the last are the best.
    power : float
        How fast steps get shorter: see the module's text.
    shuffle : bool
        Visit the examples in a new order every pass.

    Notes
    -----
    The certificate is that of the dual point which the steps add up to. It holds up to
    rounding, and every tenth pass it is checked whether it meets the tolerance. It is
    an upper bound on the distance to the optimum, and closes no faster than the method
    converges: about as the inverse of the number of passes. Use another solver where
    the last percent matters.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem, solve
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("log_loss"))
    >>> solution = solve(problem, StochasticGradientDescent(), tol=0.01)
    >>> print(solution.status)
    converged after ... passes: the gap ... is within the tolerance 0.01
    """

    eta_0: float | None = None
    averaging: str = "polynomial"
    power: float = 0.75
    shuffle: bool = True

    names: ClassVar[dict[str, dict[str, Any]]] = {"sgd": {}}
    losses = ("hinge", "squared_hinge", "log_loss")
    needs = ()
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {"averaging": tuple(AVERAGING)}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.eta_0 is not None and not 0.0 < self.eta_0 < math.inf:
            raise ValueError(
                f"eta_0 must be positive and finite, or None to choose it, not "
                f"{self.eta_0!r}"
            )
        if not 0.5 <= self.power <= 1.0:
            raise ValueError(f"power must lie in 0.5..1, not {self.power!r}")

    def memory(self, problem: Problem) -> int:
        """Return the bytes of a second vector, and of the accounts."""
        n_vectors = 1 if self.averaging == "none" else 2
        others = (n_vectors - 1) * problem.n_weights
        return 8 * (others + n_vectors * problem.n_examples)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> SGDState:
        """Start at zero, or at the weights of an earlier run of any solver.

        A run of this solver continues as if it had never ended.
        """
        origin = np.zeros(0) if previous is None else previous.w
        if origin.size and origin.size != problem.n_weights:
            raise ValueError("the previous run was on another structure")
        state = SGDState(problem, origin, self.averaging != "none")
        if isinstance(previous, SGDState):
            if state.can_continue(previous, problem.C):
                state.restore(previous.tensors())
            state.weights.steps[:] = previous.weights.steps
            state.eta_0 = previous.eta_0
            state.bound = 0.0  # it was that of another problem, perhaps
        state.eta_0 = self.eta_0 or state.eta_0
        return state

    def run_pass(
        self, problem: Problem, state: SGDState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Take a step for every example; the first pass may have to choose `eta_0`."""
        state.estimate = None  # that of weights about to change
        used = np.flatnonzero(problem.C)
        if not state.eta_0 and used.size:
            sample = rng.permutation(used)[:TRIAL_EXAMPLES]
            state.eta_0 = yield from self._choose_first_step(problem, state, sample)
        order = shuffled(used, rng) if self.shuffle else used
        schedule = self._schedule(problem, state.eta_0)
        if not (yield from state.descend(problem, order, schedule, state.weights)):
            state.w[:] = np.inf  # as good as they are: the loop will say what to do
            return
        if state.weights.steps[0] % (LOOK_EVERY * max(used.size, 1)) == 0:
            state.estimate = yield from state.look(problem)
            return
        state.settle(problem)
        with np.errstate(all="ignore"):
            seen = 0.5 * float(state.w @ state.w) + float(problem.C @ state.values)
        state.estimate = Certificate(seen, state.bound, exact=False)

    def _schedule(self, problem: Problem, eta_0: float) -> Schedule:
        decay = 1.0 / (float(problem.C.sum()) or 1.0)
        return Schedule(eta_0, decay, float(self.power), AVERAGING[self.averaging])

    def _choose_first_step(
        self, problem: Problem, state: SGDState, sample: IntArray
    ) -> Generator[float, None, float]:
        """Try first steps on a sample, by the objective on the same examples."""
        still = self._schedule(problem, 0.0)
        account = steps.empty_account(problem.n_examples)
        C = problem.C[sample]
        order = np.resize(sample, max(sample.size, TRIAL_STEPS))

        def trial(eta_0: float) -> Generator[float, None, float]:
            weights = scaled_weights.make_scaled_weights(
                state.weights.v, account, averaged=False
            )
            schedule = self._schedule(problem, eta_0)
            # With a cap the first steps could be of any length, and later ones not.
            fine = yield from state.descend(problem, order, schedule, weights, False)
            if fine:
                scaled_weights.settle(weights)
                # Steps of no length only look.
                fine = yield from state.descend(problem, sample, still, weights)
            if not fine:
                return math.inf
            with np.errstate(all="ignore"):
                loss = float(C @ state.values[sample]) / float(C.sum())
                return 0.5 * still.decay * float(weights.v @ weights.v) + loss

        unit = self._unit(problem, sample)
        return unit * (yield from choose_first_step(lambda eta_0: trial(unit * eta_0)))

    def _unit(self, problem: Problem, sample: IntArray) -> float:
        """Return in what units first steps are tried: one, if features and costs are.

        Weights are costs per feature, and a gradient is as large as a feature, that of
        the squared hinge as a feature times a cost.
        """
        unit = feature_unit(problem, sample) ** -2
        if problem.loss.name == "hinge":
            unit *= cost_unit(problem)
        return unit

    def certify(self, problem: Problem, state: SGDState) -> Certificate:
        """Return the exact certificate; see `SGDState.look`."""
        if state.estimate is not None and state.estimate.exact:
            return state.estimate
        return finish(state.look(problem))
