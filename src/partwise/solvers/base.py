"""What a problem, a solver and its state are."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from partwise._jit import Generic
from partwise._threads import check_jobs
from partwise._threads import chunks as chunks
from partwise.errors import PairingError
from partwise.losses import Certificate, Loss
from partwise.solvers import log_distributions
from partwise.solvers.divergences import DIVERGENCES, Divergence
from partwise.solvers.keeping import Keeper
from partwise.solvers.log_distributions import LogDistributions
from partwise.solvers.penalty import conjugate, penalty
from partwise.structures import ahead
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Crew, Threads, make_crew
from partwise.structures.shards import Shards

Result = TypeVar("Result")

NOT_FINITE = "not_finite"
STALLED = "stalled"
SEPARATED = "separated"


def penalty_name(l1_ratio: float, positive: bool = False) -> str:
    """Return what a penalty with this share of the L1 norm is called.

    Examples
    --------
    >>> penalty_name(0.0), penalty_name(0.5), penalty_name(1.0)
    ('l2', 'elasticnet', 'l1')
    >>> penalty_name(1.0, positive=True)
    'positive l1'
    """
    name = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
    return f"positive {name}" if positive else name


@dataclass(frozen=True)
class Problem:
    """A structure with gold outputs, a loss, the weight C_i of every example.

    The objective is ``(1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1 + sum_i C_i loss_i(w)``;
    with a `reference`, that of a generative model, whose weights are log-probabilities
    (see `distribution_of`) and whose penalty is a `divergence` from the reference,
    "forward", ``-reference . w``, or "reverse".
    With a `pull`, the vector of the dual point of examples that are gone, the penalty
    is what lies between the weights and those of that vector: with the L2 norm, 1/2
    their squared distance.
    `n_jobs` threads visit the examples wherever nothing changes in between.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("squared_hinge"), C=0.5)
    >>> problem.n_examples, problem.n_weights, problem.C.tolist()
    (2, 2, [0.5, 0.5])
    """

    structure: Structure
    loss: Loss
    C: FloatArray
    l1_ratio: float = 0.0
    n_jobs: int = 1
    reference: FloatArray | None = None
    positive: bool = False
    divergence: str = "forward"
    pull: FloatArray | None = None

    @property
    def penalty(self) -> str:
        """The name of the penalty: "l2", "elasticnet", "l1" or "divergence".

        With "positive" before it where weights must not be negative, with "reverse"
        where the divergence is.
        """
        if self.reference is not None:
            return DIVERGENCES[self.divergence].penalty_name
        return penalty_name(self.l1_ratio, self.positive)

    @property
    def is_convex(self) -> bool:
        """Whether the objective is a convex function of the weights."""
        return True

    def tangent_at(self, w: FloatArray) -> tuple[Problem, float]:
        """Return a convex problem that agrees with this one at `w`, and is above it.

        Their objectives differ by the number that comes with it. A convex problem is
        its own.
        """
        return self, 0.0

    def distributions(self) -> LogDistributions:
        """Return which weights are the logarithms of one distribution."""
        return log_distributions.make_log_distributions(
            waist.distribution_of(self.structure)
        )

    def make_divergence(self) -> Divergence:
        """Return the penalty of a generative model."""
        assert self.reference is not None
        return DIVERGENCES[self.divergence](self.reference, self.distributions())

    @property
    def is_elsewhere(self) -> bool:
        """Whether the examples are in shards, out of reach but for passes."""
        return isinstance(self.structure, Shards)

    @property
    def n_examples(self) -> int:
        """How many examples there are."""
        return self.C.size

    @property
    def n_weights(self) -> int:
        """The length of the weight vector."""
        return int(waist.n_weights(self.structure))

    def crew(self, n_sums: int = 0) -> Crew:
        """Return those who visit the examples; see `Threads` for `n_sums`."""
        crew: Crew = make_crew(self.structure, self.n_jobs, self.C, 1, n_sums)
        return crew

    def threads(self) -> Threads | None:
        """Return threads to share passes without updates; None if one does it all."""
        if self.n_jobs == 1:
            return None
        crew = self.crew()
        return crew if isinstance(crew, Threads) and crew.size > 1 else None

    def helpers(self) -> Threads | None:
        """Return threads to look ahead of a learner; None if it is best left alone."""
        found = self.threads()
        enough = found is not None and found.size >= ahead.LEAST_THREADS
        return found if enough else None

    def values(self, w: FloatArray) -> FloatArray:
        """Return the loss of every example at `w`."""
        return self.loss.values(self.structure, w, self.n_jobs)

    def primal(self, w: FloatArray) -> float:
        """Return the objective at `w`."""
        return self.penalise(w) + float(self.C @ self.values(w))

    def penalise(self, w: FloatArray) -> float:
        """Return the penalty of `w`, the objective without the losses."""
        if self.reference is not None:
            return self.make_divergence().value(w)
        if self.positive and (w < 0.0).any():
            return np.inf
        if self.pull is not None:
            # Fenchel and Young: never negative, zero at the weights of the pull.
            return penalty(w, self.l1_ratio) - float(self.pull @ w) + self.rest
        return penalty(w, self.l1_ratio)

    @property
    def rest(self) -> float:
        """The conjugate of the penalty at the pull: zero without one."""
        if self.pull is None:
            return 0.0
        return conjugate(self.pull, self.l1_ratio)

    def fingerprint(self) -> str:
        """Return a hash of all the data, to recognise the problem again."""
        digest = hashlib.blake2b(self.loss.key().encode(), digest_size=16)
        digest.update(structure_fingerprint(self.structure).encode())
        digest.update(self.C.data)
        digest.update(np.float64(self.l1_ratio).tobytes())
        if self.positive:
            digest.update(b"positive")
        if self.pull is not None:
            digest.update(self.pull.data)
        if self.reference is not None:
            digest.update(self.reference.data)
            digest.update(b"" if self.divergence == "forward" else b"reverse")
        return digest.hexdigest()


def structure_fingerprint(structure: Structure) -> str:
    """Return a hash of the arrays of a corpus."""
    if isinstance(structure, Shards):
        return structure.fingerprint
    digest = hashlib.blake2b(type(structure).__name__.encode(), digest_size=16)
    for part in _leaves(structure):
        digest.update(f"{part.dtype}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield np.asarray(value)


def make_problem(
    structure: Structure,
    loss: Loss,
    C: float = 1.0,
    sample_weight: FloatArray | None = None,
    l1_ratio: float = 0.0,
    n_jobs: int = 1,
    reference: FloatArray | None = None,
    positive: bool = False,
    divergence: str = "forward",
    pull: FloatArray | None = None,
) -> Problem:
    """Put a problem together; examples of weight zero cost nothing.

    With `positive`, weights must not be negative. A `pull` stands for examples that are
    gone: see `Problem`.

    A `reference`, distributions for weights that are log-probabilities, makes it the
    problem of a generative model; the structure must answer `distribution_of`. The
    penalty is then the "forward" or the "reverse" `divergence` from it.
    """
    check_jobs(n_jobs)
    if divergence not in DIVERGENCES:
        raise ValueError(f"divergence must be 'forward' or 'reverse': {divergence!r}")
    if reference is not None:
        if not waist.distribution_of.provided_by(type(waist.innermost(structure))):
            raise PairingError(
                "a reference is for generative models, and the weights of "
                f"{type(structure).__name__} are not log-probabilities; leave it out"
            )
        groups = log_distributions.make_log_distributions(
            waist.distribution_of(structure)
        )
        reference = log_distributions.check_reference(reference, groups)
    if not C > 0 or not np.isfinite(C):
        raise ValueError(f"C must be positive and finite, not {C!r}")
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie in 0..1, not {l1_ratio!r}")
    l1_ratio = float(l1_ratio)
    count = int(waist.n_examples(structure))
    if sample_weight is None:
        weight = np.ones(count)
    else:
        weight = check_sample_weight(sample_weight, count)
    return Problem(
        structure, loss, float(C) * weight, l1_ratio, n_jobs, reference, positive,
        divergence, pull,
    )  # fmt: skip


def check_sample_weight(sample_weight: Any, count: int) -> FloatArray:
    """Return the weights of examples as an array; raise `ValueError` if any is wrong.

    Examples
    --------
    >>> check_sample_weight([1, 2], 2)
    array([1., 2.])
    """
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (count,):
        raise ValueError(f"{weight.size} sample weights for {count} examples")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample weights must be finite and not negative")
    return weight


def finish(work: Generator[float, None, Result]) -> Result:
    """Do all of the work without reporting progress; return its result.

    Examples
    --------
    >>> def work():
    ...     yield 0.5
    ...     return "done"
    >>> finish(work())
    'done'
    """
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result


class State(Keeper, ABC):
    """What a solver knows between passes: weights, duals, counters.

    All that a pass depends on is named in `kept` (see `Keeper`), except for the
    counter of oracle calls and the estimate, which the loop takes care of.

    Attributes
    ----------
    w : array
        The weights now.
    oracle_calls : int
        How many argmax or marginals were computed so far.
    estimate : Certificate or None
        The certificate as far as the last pass has seen it.
    halted : str
        Why the solver itself cannot continue: `NOT_FINITE` when there is no objective
        to minimise, with the last good weights in `w`; `STALLED` when it
        finds no better weights; `SEPARATED` when a whole pass found nothing to
        correct. Empty while it can.
    rows : int
        Constraints in the master problem, of solvers with one.
    master_seconds, decoding_seconds : float
        The time spent on it, and on finding constraints, so far.
    mixed : int
        How many shards were trained on by themselves in the last pass, if it did that.
    """

    kept: ClassVar[tuple[str, ...]] = ("w",)

    w: FloatArray
    oracle_calls: int = 0
    estimate: Certificate | None = None
    halted: str = ""
    rows: int = 0
    master_seconds: float = 0.0
    decoding_seconds: float = 0.0
    mixed: int = 0

    def check_fits(self, previous: State) -> None:
        """Raise `ValueError` if an earlier run was on another structure."""
        # States of different kinds have only the weights in common.
        same_kind = type(previous).form is type(self).form
        fits = previous.form() == self.form() if same_kind else True
        if not fits or previous.w.size != self.w.size:
            raise ValueError("the previous run was on another structure")

    def form(self) -> tuple[Any, ...]:
        """Return what all states of this kind on one structure have in common."""
        return (self.w.size,)

    def certified(self, problem: Problem, dual: float) -> Certificate:
        """Return the exact certificate of the weights, with this lower bound."""
        values = problem.values(self.w)
        self.oracle_calls += values.size
        primal = problem.penalise(self.w) + float(problem.C @ values)
        return Certificate(primal, dual)

    def choices(self) -> list[FloatArray]:
        """Return the weights that development data may choose from, after a pass."""
        return [self.w]

    def grown(self, problem: Problem) -> State | None:
        """Return the same point on a problem that has more examples after its own.

        The outputs of its own examples have the same codes there, features may have
        other numbers. None if there is no way to go on: training starts anew.
        """
        return None

    def retargeted(self, problem: Problem) -> State | None:
        """Return the same point on a problem with other right outputs.

        Examples, outputs and their features are the same. None if there is no way to
        go on: training starts anew.
        """
        return None

    def unwrapped(self) -> State:
        """Return the state of the solver that did the work."""
        return self

    def remark(self) -> str:
        """Return what the status should say about the run, if anything."""
        return ""


class Solver(ABC):
    """A way to minimise the objective, on any structure.

    A subclass names itself (`names` maps a name to constructor settings), says which
    `losses` it minimises, with which `penalties`, and which questions a structure must
    answer (`needs`), and is found by any of its names once its file lies in this
    folder. The state that its methods are given is the one that `start` made.

    A solver with ``minimises = False`` learns by a rule that lowers no objective: it
    runs with the losses it lists but ignores them, has no certificate, and is never
    advised or chosen where an objective is to be minimised.
    """

    names: ClassVar[dict[str, dict[str, Any]]]
    losses: ClassVar[tuple[str, ...]]
    penalties: ClassVar[tuple[str, ...]] = ("l2",)
    needs: ClassVar[tuple[Generic, ...]]
    minimises: ClassVar[bool] = True
    descends: ClassVar[bool] = False
    """Whether no pass ends at a higher objective, so that the last weights are best."""
    follows_pull: bool = False
    """Whether it can start where examples that are gone have left the weights."""
    only_passes: bool = False
    """Whether it only makes passes without updates, which can be made anywhere."""
    only_gradients: bool = False
    """Whether objectives and their gradients are all that it asks for, so that it also
    goes down an objective that is not convex."""
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {}
    """The names that settings may have."""
    at_least: ClassVar[dict[str, float]] = {}
    """The smallest values that settings may have."""

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, known in self.choices.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"unknown {name} {getattr(self, name)!r}; choose from "
                    f"{', '.join(map(str, known))}"
                )
        for name, least in self.at_least.items():
            if not getattr(self, name) >= least:
                raise ValueError(
                    f"{name} must be at least {least:g}, not {getattr(self, name)!r}"
                )

    def at_work(self, state: State | None) -> Solver:
        """Return the solver that this one has handed the work to, in this state."""
        return self

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, besides the weights."""
        return 0

    @abstractmethod
    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> State:
        """Make the state before the first pass.

        `previous` is where an earlier run on the same structure ended, perhaps with
        another C or another solver; take from it whatever helps.
        """

    @abstractmethod
    def run_pass(
        self, problem: Problem, state: Any, rng: np.random.Generator
    ) -> Iterator[float]:
        """Visit every example once; yield the fraction done every moment or so."""

    @abstractmethod
    def certify(self, problem: Problem, state: Any) -> Certificate:
        """Compute the exact certificate; may tidy ``state.w`` against rounding.

        Never asked of a solver that minimises no objective.
        """

    def remark(self, w: FloatArray) -> str:
        """Return what a model's status should say about its weights, if anything."""
        return ""

    def error_bound(
        self,
        problem: Problem,
        state: Any,
        w: FloatArray,
        certificate: Certificate | None,
    ) -> float | None:
        """Return a bound on the error on new data; None if there is no theory."""
        return None
