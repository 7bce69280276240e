"""What ``solver="auto"`` means, and why."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from partwise.solvers.base import Problem, Solver
from partwise.solvers.dual_weights import PENALTIES
from partwise.solvers.memory import fits_in_memory, in_words, machine_memory
from partwise.solvers.names import LOSS_NAMES
from partwise.solvers.registry import default_solver, make_solver, solvers_for
from partwise.solvers.registry import name_of as name_of
from partwise.solvers.relay import Relay
from partwise.structures import interface as waist
from partwise.structures.partial import find_partial

# Used instead when the duals of the fastest solver do not fit into memory.
SMALLEST = {"log_loss": "lbfgs", "hinge": "smo"}

WORTH_A_LOOK = 2_000
"""Parts in the data; with fewer, any solver is done in a moment."""


SAMPLE = 500
"""About how many examples are measured."""


class Batch(NamedTuple):
    """The solver of a loss that moves all examples at once, and when to start with it.

    The default of each loss moves one example at a time. It needs the more passes the
    larger the examples and C are, and does the less in a pass the fewer there are; a
    batch solver pays for more weights than parts. So it starts where
    ``sqrt(C) * size / count >= least * (1 + weights / parts) ** power``. That form, and
    its numbers, were fitted to races on sequences with dense and with sparse features.

    With few weights, `few` for every example or less, a batch solver that remembers
    curvature soon knows all of it, whatever C is.

    With the squared hinge, simplicial decomposition is ahead of cutting planes where
    much can be learnt, and far behind them where little can: so it goes first, as long
    as it gets on.
    """

    solver: str
    least: float
    power: float
    few: float = 0.0
    before: str = ""


BATCH = {
    "log_loss": Batch("lbfgs", 0.02, 5.0, few=0.01),
    "hinge": Batch("cutting-plane", 3.0, 3.0),
    "squared_hinge": Batch("cutting-plane", 3.0, 3.0, before="simplicial"),
}


SHRINKING = {"lbfgs": "owlqn"}
"""Who takes the place of a batch solver where there is an L1 norm."""


L1_OF_LOG = ("log_loss", "l1")
"""The only loss that a batch solver minimises without an L2 norm."""


class Choice(NamedTuple):
    """A solver, and the reason for it in words."""

    solver: Solver
    reason: str


def choose_solver(problem: Problem, on_disk: int = 0) -> Choice:
    """Choose the solver for a problem.

    So many bytes of its corpus, `on_disk`, are read from files as they are needed.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> choice = choose_solver(make_problem(s, get_loss("squared_hinge")))
    >>> name_of(choice.solver), choice.reason
    ('dcd', 'the default for the squared hinge')
    """
    loss = problem.loss.name
    solver = default_solver(loss, problem.penalty)
    what = LOSS_NAMES.get(loss, loss)
    # Generative models have no setting of this name, so it would explain nothing.
    if problem.penalty != "l2" and not problem.penalty.endswith("divergence"):
        what += f" with penalty {problem.penalty!r}"
    has_batch = problem.penalty in PENALTIES or (loss, problem.penalty) == L1_OF_LOG
    if not has_batch or problem.pull is not None:
        return Choice(solver, f"the default for {what}")
    if problem.is_elsewhere and loss in BATCH:
        batch = _able(BATCH[loss].solver, problem)
        if problem.penalty in batch.penalties:
            return Choice(batch, f"the default for {what} of a corpus in shards")
    free = machine_memory()
    if on_disk and free is not None and on_disk > free and loss in BATCH:
        # Visited in any other order than it has, it would be read page by page.
        batch = _able(BATCH[loss].solver, problem)
        if problem.penalty in batch.penalties:
            reason = f"the default for {what} of a corpus larger than memory"
            return Choice(batch, reason)
    if find_partial(problem.structure) is not None and loss == "log_loss":
        # It goes down an objective that is not convex without convex steps.
        reason = f"the default for {what} with labels known in part"
        return Choice(_able("lbfgs", problem), reason)
    if not fits_in_memory(problem, solver) and loss in SMALLEST:
        needed = in_words(solver.memory(problem))
        reason = f"{name_of(solver)} would need {needed} of memory, more than is free"
        return Choice(_able(SMALLEST[loss], problem), reason)
    known = BATCH.get(loss)
    other = _batch_solver(problem, known.solver) if known else None
    if known is None or other is None:
        return Choice(solver, f"the default for {what}")
    why = _why_batches(problem, known)
    if why:
        reason = f"for {what} with {why}"
        before = _batch_solver(problem, known.before) if known.before else None
        return Choice(Relay(before, other) if before else other, reason)
    return Choice(Relay(solver, other), f"the default for {what}")


def _batch_solver(problem: Problem, name: str) -> Solver | None:
    """Return a solver that moves all examples at once, if it can be used."""
    loss = problem.loss.name
    structure = type(waist.innermost(problem.structure))
    solver = _able(name, problem)
    if name_of(solver) not in solvers_for(loss, structure, problem.penalty):
        return None
    return solver if fits_in_memory(problem, solver) else None


def _able(name: str, problem: Problem) -> Solver:
    """Return the solver, or with an L1 norm the one like it that can do it."""
    return make_solver(SHRINKING.get(name, name) if problem.l1_ratio else name)


def _why_batches(problem: Problem, batch: Batch) -> str:
    """Say why to start with the solver that moves all examples at once, if so."""
    s, used = problem.structure, np.flatnonzero(problem.C)
    some = used[:: max(used.size // SAMPLE, 1)].tolist()
    if not some:
        return ""
    n_parts = used.size * sum(int(waist.n_parts(s, i)) for i in some) / len(some)
    size = sum(int(waist.output_size(s, i)) for i in some) / len(some)
    if n_parts < WORTH_A_LOOK:
        return ""
    if problem.n_weights <= batch.few * used.size:
        return "few weights for so many examples"
    load = math.sqrt(float(problem.C[used].mean())) * size / used.size
    least = batch.least * (1.0 + problem.n_weights / n_parts) ** batch.power
    return "few examples for their size and C" if load >= least else ""
