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
from partwise.structures.interface import (
    REQUIRED,
    FloatArray,
    Structure,
    n_examples,
    n_weights,
)


@dataclass(frozen=True)
class Problem:
    """A structure with gold outputs, a loss, and the weight C_i of every example.

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
        return self.loss.primal(self.structure, w, self.C)

    def fingerprint(self) -> str:
        """Return a hash of all the data, to recognise the problem again."""
        digest = hashlib.blake2b(self.loss.name.encode(), digest_size=16)
        digest.update(structure_fingerprint(self.structure).encode())
        digest.update(self.C.data)
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
) -> Problem:
    """Put a problem together; examples of weight zero cost nothing."""
    if not C > 0 or not np.isfinite(C):
        raise ValueError(f"C must be positive and finite, not {C!r}")
    count = int(n_examples(structure))
    if sample_weight is None:
        return Problem(structure, loss, np.full(count, float(C)))
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (count,):
        raise ValueError(f"{weight.size} sample weights for {count} examples")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample weights must be finite and not negative")
    return Problem(structure, loss, C * weight)


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
    """

    w: FloatArray
    oracle_calls: int = 0
    estimate: Certificate | None = None

    @abstractmethod
    def tensors(self) -> dict[str, Any]:
        """Return everything needed to go on but counter and estimate, as arrays."""

    @abstractmethod
    def restore(self, tensors: dict[str, Any]) -> None:
        """Take back what `tensors` returned."""


class Solver(ABC):
    """A way to minimise the objective; it knows no structure.

    A subclass names itself (`names` maps a name to constructor settings), says which
    `losses` it minimises and which questions a structure must answer (`needs`), and is
    found by any of its names once its file lies in this folder.
    """

    names: ClassVar[dict[str, dict[str, Any]]]
    losses: ClassVar[tuple[str, ...]]
    needs: ClassVar[tuple[Generic, ...]]

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


def check_pairing(problem: Problem, solver: Solver) -> None:
    """Raise `PairingError` unless solver, loss and structure go together.

    Checked before anything compiles, so that the message can say what to do.
    """
    from partwise.solvers.registry import solvers_for

    name = type(solver).__name__
    if problem.loss.name not in solver.losses:
        able = solvers_for(problem.loss.name)
        advice = (
            f"use {' or '.join(able)}"
            if able
            else f"no solver minimises it yet; use loss={solver.losses[0]!r}"
        )
        raise PairingError(f"{name} cannot minimise {problem.loss.name!r}: {advice}")
    cls = type(problem.structure)
    for question in (*REQUIRED, *problem.loss.needs, *solver.needs):
        if not question.provided_by(cls):
            able = solvers_for(problem.loss.name, cls)
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
