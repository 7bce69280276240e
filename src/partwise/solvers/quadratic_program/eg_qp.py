"""Exponentiated gradient for quadratic programs over products of simplices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from partwise._jit import working_time
from partwise.solvers.base import STALLED
from partwise.solvers.endings import CONVERGED, INTERRUPTED, MAX_ITER
from partwise.solvers.quadratic_program import problem, steps
from partwise.solvers.quadratic_program.problem import QuadraticProgram
from partwise.structures.interface import FloatArray


class QPStep(NamedTuple):
    """One iteration: what it cost so far, and where it led.

    Attributes
    ----------
    iteration : int
        0 is the start.
    products : int
        Products of A with a vector so far, those that check the input left out.
    seconds : float
        Time so far.
    value : float
        The objective.
    lower_bound : float
        The best lower bound on the optimum so far.
    """

    iteration: int
    products: int
    seconds: float
    value: float
    lower_bound: float


@dataclass(frozen=True)
class QPSolution:
    """What `eg_qp` found.

    Attributes
    ----------
    x : array
        The best feasible point found; all entries are positive.
    value : float
        The objective there.
    lower_bound : float
        A proved lower bound on the optimum.
    gap : float
        ``value - lower_bound``: the most by which `value` can exceed the optimum.
    n_iter : int
        The number of iterations.
    trace : tuple of QPStep
        One row per iteration, and one for the start.
    eta : float or None
        The step size, if it was the same throughout.
    reason : str
        Why it ended, in a word: "converged", "max_iter", "interrupted", "stalled".
    status : str
        The same as a sentence.
    """

    x: FloatArray
    value: float
    lower_bound: float
    gap: float
    n_iter: int
    trace: tuple[QPStep, ...]
    eta: float | None
    reason: str
    status: str

    @property
    def converged(self) -> bool:
        """Whether the gap met the tolerance."""
        return self.reason == CONVERGED


def eg_qp(
    A: Any,
    b: Any,
    blocks: Any,
    *,
    eta: float | str | None = None,
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    callback: Callable[[QPStep, FloatArray], object] | None = None,
) -> QPSolution:
    """Minimise ``b.x + x.Ax/2`` where each block of `x` is a probability vector.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator of shape (m, m)
        Symmetric and positive semidefinite. Only products with vectors are needed.
    b : array of shape (m,)
        The linear part.
    blocks : int, sizes or labels
        Which variables sum to one together: the size of all blocks, or the size of
        each block (in order, adding up to `m`), or an array of `m` labels, one for
        each variable.
    eta : {"search", "theory"} or float, optional
        The step size. "search", the default, adapts a step for each variable and
        makes directions conjugate; it never increases the objective, and is by far
        the fastest. "theory" is the constant step ``0.4 / (B + lambda)`` of
        Theorem 2 of Bartlett et al. (NIPS 2004), computed from safe bounds, with its
        guarantee. A number is a constant step without one.
    start : array of shape (m,), optional
        A feasible point, all positive; default: uniform in each block.
    tol : float
        Stop when ``value - lower_bound`` is at most this share of the objective, that
        is of ``|b.x| + x.Ax/2``, or of what the gap was at the start.
    max_iter : int
        Stop after this many iterations.
    callback : callable, optional
        Called with a `QPStep` and the point at the start and after every iteration.
        Its time is not counted.

    Returns
    -------
    QPSolution

    Notes
    -----
    The lower bound is that of the tangent: the optimum is at least
    ``value - sum_blocks (x.g - min g)``, with ``g`` the gradient. Ctrl-C returns the
    best point so far. "search" takes two products with `A` per iteration, a constant
    step one.

    A dense matrix of at most 2,000 rows is factored to see that it is positive
    semidefinite; a larger one, a sparse one and an operator are examined by 60 steps
    of Lanczos' method, and along every direction that is followed.

    Examples
    --------
    The point of a triangle that is nearest to the origin:

    >>> corners = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    >>> solution = eg_qp(corners @ corners.T, np.zeros(3), blocks=3)
    >>> (solution.x @ corners).round(4)
    array([1.5, 1.5])
    >>> print(solution.status)
    converged after ... iterations: the gap ... is within the tolerance 1e-06
    """
    if not (isinstance(tol, (int, float)) and tol > 0):
        raise ValueError(f"tol must be positive, not {tol!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, not {max_iter!r}")
    _check_eta(eta)
    begin = working_time()
    qp = QuadraticProgram(A, b, blocks)
    log_x = _log_start(qp, start)
    step = qp.theory_step() if eta == "theory" else eta
    fixed = None if step is None or isinstance(step, str) else float(step)
    move: steps.Move = (
        steps.ConjugateStep(qp) if fixed is None else steps.FixedStep(qp, fixed)
    )

    here = best = problem.make_point(qp, log_x, None)
    bound, first_gap = -math.inf, here.gap
    trace: list[QPStep] = []
    reason = MAX_ITER
    try:
        while True:
            bound = max(bound, here.value - here.gap)
            best = here if here.value <= best.value else best
            seconds = working_time() - begin
            row = QPStep(len(trace), qp.n_products, seconds, best.value, bound)
            trace.append(row)
            if callback is not None:
                called = working_time()
                callback(row, qp.to_user(here.x))
                begin += working_time() - called  # not the solver's time
            linear = float(qp.b @ best.x)
            size = max(abs(linear) + abs(best.value - linear), first_gap)
            if best.value - bound <= tol * size:
                reason = CONVERGED
                break
            if row.iteration == max_iter:
                break
            following = move(here)
            if following is None:
                reason = STALLED
                break
            here = following
    except KeyboardInterrupt:
        reason = INTERRUPTED
    gap = max(best.value - bound, 0.0)
    n_iter = max(len(trace) - 1, 0)
    return QPSolution(
        x=qp.to_user(best.x),
        value=best.value,
        lower_bound=bound,
        gap=gap,
        n_iter=n_iter,
        trace=tuple(trace),
        eta=fixed,
        reason=reason,
        status=_sentence(reason, n_iter, gap, tol),
    )


def _check_eta(eta: Any) -> None:
    if eta is None or eta in ("search", "theory"):
        return
    if isinstance(eta, str) or not isinstance(eta, (int, float, np.number)):
        raise ValueError(f'eta must be "search", "theory" or a number, not {eta!r}')
    if not (eta > 0 and math.isfinite(eta)):
        raise ValueError(
            f"eta must be positive and finite, not {eta!r} (without a step size of "
            'your own, eta="search" finds one)'
        )


def _log_start(qp: QuadraticProgram, start: Any) -> FloatArray:
    """Return the logarithm of the first point, in the order of the blocks."""
    if start is None:
        return -np.log(qp.blocks.sizes.astype(np.float64))[qp.blocks.of]
    x = problem.read_vector("start", start)
    if len(x) != len(qp.b):
        raise ValueError(f"start has {len(x)} variables, but b has {len(qp.b)}")
    if not (x > 0).all():
        at = int(np.argmax(x <= 0))
        raise ValueError(
            f"start[{at}] is {x[at]}; all must be positive, since a multiplicative "
            "update never revives a zero (mix in a little of the uniform point)"
        )
    x = qp.from_user(x)
    sums = qp.blocks.sum(x)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > 1e-6:
        raise ValueError(
            f"start is not feasible: block {worst} sums to {sums[worst]:.9g}, not 1"
        )
    return qp.blocks.normalize(np.maximum(np.log(x), steps.FLOOR))


def _sentence(reason: str, n_iter: int, gap: float, tol: float) -> str:
    after = f"after {n_iter} iteration{'' if n_iter == 1 else 's'}"
    if reason == CONVERGED:
        return f"converged {after}: the gap {gap:.2g} is within the tolerance {tol:g}"
    if reason == INTERRUPTED:
        return f"interrupted {after}: the gap is {gap:.2g}"
    if reason == STALLED:
        return (
            f"stalled {after}: rounding leaves nothing to gain at a gap of {gap:.2g} "
            f"(the tolerance {tol:g} is too small for this problem)"
        )
    return (
        f"not converged {after}: the gap is {gap:.2g}, the tolerance {tol:g} "
        "(raise max_iter)"
    )
