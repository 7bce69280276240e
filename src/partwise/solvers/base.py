"""What a problem and a solver are, and whether they go together."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise._jit import Generic
from partwise.errors import PairingError
from partwise.losses import Certificate, Loss
from partwise.solvers.penalty import penalty
from partwise.structures.interface import (
    REQUIRED,
    FloatArray,
    Structure,
    n_examples,
    n_weights,
)

NOT_FINITE = "not_finite"
STALLED = "stalled"


def penalty_name(l1_ratio: float) -> str:
    """Return what a penalty with this share of the L1 norm is called.

    Examples
    --------
    >>> penalty_name(0.0), penalty_name(0.5), penalty_name(1.0)
    ('l2', 'elasticnet', 'l1')
    """
    return {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")


@dataclass(frozen=True)
class Problem:
    """A structure with gold outputs, a loss, the weight C_i of every example.

    The objective is ``(1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1 + sum_i C_i loss_i(w)``.

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

    @property
    def penalty(self) -> str:
        """The name of the penalty: "l2", "elasticnet" or "l1"."""
        return penalty_name(self.l1_ratio)

    @property
    def n_examples(self) -> int:
        """How many examples there are."""
        return self.C.size

    @property
    def n_weights(self) -> int:
        """The length of the weight vector."""
        return int(n_weights(self.structure))

    def primal(self, w: FloatArray) -> float:
        """Return the objective at `w`."""
        if self.l1_ratio == 0.0:
            return self.loss.primal(self.structure, w, self.C)
        losses = self.C @ self.loss.values(self.structure, w)
        return penalty(w, self.l1_ratio) + float(losses)

    def fingerprint(self) -> str:
        """Return a hash of all the data, to recognise the problem again."""
        digest = hashlib.blake2b(self.loss.name.encode(), digest_size=16)
        digest.update(structure_fingerprint(self.structure).encode())
        digest.update(self.C.data)
        digest.update(np.float64(self.l1_ratio).tobytes())
        return digest.hexdigest()


def structure_fingerprint(structure: Structure) -> str:
    """Return a hash of the arrays of a corpus."""
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
) -> Problem:
    """Put a problem together; examples of weight zero cost nothing."""
    if not C > 0 or not np.isfinite(C):
        raise ValueError(f"C must be positive and finite, not {C!r}")
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie in 0..1, not {l1_ratio!r}")
    l1_ratio = float(l1_ratio)
    count = int(n_examples(structure))
    if sample_weight is None:
        return Problem(structure, loss, np.full(count, float(C)), l1_ratio)
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (count,):
        raise ValueError(f"{weight.size} sample weights for {count} examples")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample weights must be finite and not negative")
    return Problem(structure, loss, C * weight, l1_ratio)


class State(ABC):
    """What a solver knows between passes: weights, duals, counters.

    Attributes
    ----------
    w : array
        The weights now.
    oracle_calls : int
        How many argmax or marginals were computed so far.
    estimate : Certificate or None
        The certificate as far as the last pass has seen it.
    halted : str
        Why the solver itself cannot go on: `NOT_FINITE` when there is no objective
        to minimise, with the last good weights in `w`; `STALLED` when rounding
        allows no better weights. Empty while it can.
    """

    w: FloatArray
    oracle_calls: int = 0
    estimate: Certificate | None = None
    halted: str = ""

    @abstractmethod
    def tensors(self) -> dict[str, Any]:
        """Return everything needed to go on but counter and estimate, as arrays."""

    @abstractmethod
    def restore(self, tensors: dict[str, Any]) -> None:
        """Take back what `tensors` returned."""


class Solver(ABC):
    """A way to minimise the objective; it knows no structure.

    A subclass names itself (`names` maps a name to constructor settings), says which
    `losses` it minimises, with which `penalties`, and which questions a structure must
    answer (`needs`), and is found by any of its names once its file lies in this
    folder. A field `n_jobs`, if it has one, is its number of threads.
    """

    names: ClassVar[dict[str, dict[str, Any]]]
    losses: ClassVar[tuple[str, ...]]
    penalties: ClassVar[tuple[str, ...]] = ("l2",)
    needs: ClassVar[tuple[Generic, ...]]

    def memory(self, problem: Problem) -> int:
        """Return about how many bytes the state will take, beside the weights."""
        return 0

    @abstractmethod
    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> State:
        """Make the state before the first pass.

        `previous` is where an earlier run on the same structure ended, perhaps with
        another C or another solver; use of it what helps.
        """

    @abstractmethod
    def run_pass(
        self, problem: Problem, state: State, rng: np.random.Generator
    ) -> Iterator[float]:
        """Visit every example once; yield the fraction done every moment or so."""

    @abstractmethod
    def certify(self, problem: Problem, state: State) -> Certificate:
        """Compute the exact certificate; may tidy ``state.w`` against rounding."""


def check_objective(solver: Solver, loss: str, penalty: str = "l2") -> None:
    """Raise `PairingError` unless the solver minimises the loss with the penalty."""
    from partwise.solvers.registry import solvers_for

    if loss in solver.losses and penalty in solver.penalties:
        return
    wanted = repr(loss) if penalty == "l2" else f"{loss!r} with penalty={penalty!r}"
    able = solvers_for(loss, penalty=penalty)
    if able:
        advice = f"use {' or '.join(able)}, or solver='auto'"
    elif solvers_for(loss):
        advice = "no solver does; use penalty='l2', or loss='log_loss'"
    else:
        advice = f"no solver minimises it yet; use loss={solver.losses[0]!r}"
    raise PairingError(f"{type(solver).__name__} cannot minimise {wanted}: {advice}")


def check_pairing(problem: Problem, solver: Solver) -> None:
    """Raise `PairingError` unless solver, loss and structure go together.

    Checked before anything compiles, so that the message can say what to do.
    """
    from partwise.solvers.registry import solvers_for

    name = type(solver).__name__
    check_objective(solver, problem.loss.name, problem.penalty)
    cls = type(problem.structure)
    for question in (*REQUIRED, *problem.loss.needs, *solver.needs):
        if not question.provided_by(cls):
            able = solvers_for(problem.loss.name, cls, problem.penalty)
            wanted, owner = question.__name__, cls.__name__
            advice = (
                f"use {' or '.join(able)}"
                if able
                else f"write it and register it with @{wanted}.implement({owner})"
            )
            raise PairingError(
                f"{name} needs {wanted!r}, which {owner} does not provide: {advice}"
            )


def chunks(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
    """Cut ``range(count)`` into pieces that take about `seconds` each.

    Where the cuts fall never changes a result; it lets a bar move and Ctrl-C act.

    Examples
    --------
    >>> list(chunks(2))
    [(0, 2)]
    """
    start, size = 0, 64
    while start < count:
        begin = time.perf_counter()
        stop = min(start + size, count)
        yield start, stop
        took = time.perf_counter() - begin
        start = stop
        size = max(1, min(4 * size, int(size * seconds / max(took, 1e-6))))
