"""The one training loop: tracing, stopping, checkpoints, Ctrl-C, for all solvers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from partwise._deadline import OutOfTime, check_time, seconds_left
from partwise._interrupts import Interruptible
from partwise._jit import working_time
from partwise.losses import Certificate, LocalCertificate
from partwise.losses.margin import count_unproved
from partwise.model_file import check_writable
from partwise.solvers import checkpoint as checkpoints
from partwise.solvers.base import SEPARATED, STALLED, Problem, Solver, State
from partwise.solvers.checkpoint import Run
from partwise.solvers.endings import (
    CONVERGED,
    FAILED,
    INTERRUPTED,
    MAX_ITER,
    STOPPED_EARLY,
    TIME_LIMIT,
    describe,
    describe_without_objective,
    what_is_unproved,
    which_are_kept,
)
from partwise.solvers.memory import check_memory
from partwise.solvers.multiples import find_best_multiple
from partwise.solvers.pairing import check_pairing
from partwise.solvers.trace import Trace, TraceRow
from partwise.structures.interface import FloatArray

Evaluate = Callable[[FloatArray], float]

SETTLED = 10
"""After so many passes without a higher bound worth the tolerance, the bound is settled
and only the weights may be to blame for a gap."""

CLEARLY = 0.01
"""The weights of an earlier pass are kept if that narrows the gap by this share."""

GRACE = 1.0
"""Seconds to prove how good the weights are after Ctrl-C, or when time is over."""


@dataclass(frozen=True)
class Solution:
    """What training found.

    Attributes
    ----------
    w : array
        The weights; those best on development data if there is any.
    certificate : Certificate or None
        How close to optimal `w` is; None if the solver minimises no objective.
    trace : Trace
        One row per pass.
    reason : str
        Why training ended, in a word; `status` says it in a sentence.
    state : State or None
        Where the solver ended, to start another run from; None where it is not kept,
        or time was over before it started.
    """

    w: FloatArray
    certificate: Certificate | None
    trace: Trace
    reason: str
    status: str
    state: State | None

    @property
    def converged(self) -> bool:
        """Whether the certificate met the tolerance.

        For a solver without one: whether a whole pass found nothing to correct.
        """
        return self.reason in (CONVERGED, SEPARATED)


class Callback:
    """Base class for objects that watch the training loop; its methods do nothing."""

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        """Handle the start of training."""

    def on_progress(self, iteration: int, fraction: float) -> None:
        """Handle progress within a pass; called a few times a second."""

    def on_pass(self, row: TraceRow, w: FloatArray) -> None:
        """Handle the end of a pass. The time spent here is not counted."""

    def on_end(self, solution: Solution) -> None:
        """Handle the end of training."""


def solve(
    problem: Problem,
    solver: Solver,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: int = 0,
    previous: State | None = None,
    evaluate: Evaluate | None = None,
    patience: int = 5,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    callbacks: Sequence[Callback] = (),
) -> Solution:
    """Minimise the objective of `problem` and prove how well it was done.

    Parameters
    ----------
    problem : Problem
        Structure, loss and C.
    solver : Solver
        Any solver that can do the loss on the structure.
    tol : float
        Stop when the relative gap is proved to be at most this; has no meaning for
        a solver that minimises no objective.
    max_iter : int
        Stop after this many passes.
    random_state : int
        Seed of everything random.
    previous : State, optional
        Where an earlier run on the same structure ended (``solution.state``), to
        continue from there, perhaps with another C.
    evaluate : callable, optional
        Scores weights on development data, higher is better; training stops after
        `patience` passes without a new best, and the best weights are returned.
    patience : int
        See `evaluate`.
    checkpoint : path, optional
        Where to save the state after every pass, atomically.
    resume : bool
        Continue from `checkpoint` if it exists. The result is bit for bit that of a run
        that was never interrupted.
    time_limit : float, optional
        Stop after this many seconds, development data and compiling not counted. The
        proof at the end has a second more; what is not proved by then is an estimate.
    callbacks : sequence of Callback
        Watchers, for example a progress bar.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.solvers import DualCoordinateDescent, make_problem
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
    >>> problem = make_problem(s, get_loss("squared_hinge"))
    >>> solution = solve(problem, DualCoordinateDescent(), tol=1e-6)
    >>> print(solution.status)
    converged after 7 passes: the gap ... is within the tolerance 1e-06
    """
    if not tol > 0:
        raise ValueError(f"tol must be positive, not {tol!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, not {max_iter!r}")
    if patience < 1:
        raise ValueError(f"patience must be at least 1, not {patience!r}")
    check_pairing(problem, solver)
    check_memory(problem, solver)
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None:
        check_writable(path)
        checkpoints.refuse_other_files(path)
    rng = np.random.Generator(np.random.PCG64(random_state))
    begin = working_time()
    try:
        with seconds_left(time_limit):
            before = None if previous is None else previous.unwrapped()
            run = Run(solver.start(problem, rng, before), rng)
    except OutOfTime:
        return _never_started(problem, previous)
    run.seconds = working_time() - begin
    mark = f"{solver!r} {problem.fingerprint()} {random_state}" if path else ""
    resumed = path if path is not None and resume and path.exists() else None
    if resumed is not None:
        checkpoints.load_checkpoint(resumed, run, mark, problem)
    for callback in callbacks:
        callback.on_start(problem, solver, max_iter)

    def train() -> tuple[str, Certificate | None]:
        """Make passes until there is a reason to stop; return it."""
        certificate: Certificate | None = None
        while True:
            done = len(run.trace)
            if done:
                if run.state.halted == FAILED:
                    return FAILED, certificate
                last = done >= max_iter or _out_of_patience(run, patience)
                last |= run.state.halted == STALLED
                with seconds_left(_rest(time_limit, run)):
                    looked = _look(problem, solver, run, tol, last)
                    if _is_settled(run, tol) and (last or _is_doubled(done)):
                        looked = _lengthen(problem, solver, run, looked)
                certificate = looked or certificate
                reason = _reason_to_stop(run, looked, tol, max_iter, patience)
                if reason:
                    return reason, certificate
            begin = working_time()
            run.scale = 1.0
            work = solver.run_pass(problem, run.state, rng)
            if resumed is not None:
                work = checkpoints.continued(work, resumed)
            with seconds_left(_rest(time_limit, run)):
                for fraction in work:
                    for callback in callbacks:
                        callback.on_progress(done + 1, fraction)
                    check_time()
            run.seconds += working_time() - begin
            _record(solver, run, evaluate)
            for callback in callbacks:
                callback.on_pass(run.trace[-1], run.state.w)
            if path is not None:
                checkpoints.save_if_possible(path, run, mark)

    with Interruptible() as interruptible:
        try:
            with interruptible.here():
                reason, certificate = train()
        except (KeyboardInterrupt, OutOfTime) as stop:
            reason = INTERRUPTED if isinstance(stop, KeyboardInterrupt) else TIME_LIMIT
            certificate = None
        hurries = reason in (INTERRUPTED, TIME_LIMIT)
        with seconds_left(GRACE if hurries else None):
            if hurries:
                certificate = _certify_quietly(problem, solver, run, interruptible)
            solution = _conclude(problem, solver, run, reason, certificate, tol)
        for callback in callbacks:
            callback.on_end(solution)
    return solution


def _conclude(
    problem: Problem,
    solver: Solver,
    run: Run,
    reason: str,
    certificate: Certificate | None,
    tol: float,
) -> Solution:
    """Say how training ended, and which weights are kept."""
    lower = None
    if reason not in (CONVERGED, FAILED):
        lower = _certify_lowest(problem, run, certificate)
        certificate = lower or certificate
    if solver.minimises:
        status = describe(reason, run, certificate, tol)
    else:
        status = describe_without_objective(reason, run, type(solver).__name__)
    status += run.state.remark() + which_are_kept(run, reason)
    w = run.state.w
    if lower is not None and run.lowest_w is not None:
        w = run.lowest_w
        status += f"; the weights of pass {run.lowest_pass}, with a lower objective, "
        status += "are kept"
    elif run.scale != 1.0 and run.best_w is None:
        w = run.scale * w
        more = run.scale - 1.0
        # With a large C, a millionth counts.
        times = f"{run.scale:.4g}" if abs(more) > 1e-3 else f"1 + {more:.2g}"
        status += f"; the weights are {times} times those of the last pass"
    if run.best_w is not None:
        w = run.best_w
        certificate = _certify_kept(problem, w, certificate)
    status += what_is_unproved(problem, w)
    return Solution(w, certificate, run.trace, reason, status, run.state)


def _record(solver: Solver, run: Run, evaluate: Evaluate | None) -> None:
    """Add the pass that just ended to the trace; score it on development data."""
    score = math.nan
    if evaluate is not None:
        scores = [(float(evaluate(w)), w) for w in run.state.choices()]
        score, w = max(scores, key=lambda pair: pair[0])
        if score > run.best_score:
            run.best_score, run.since_best = score, 0
            run.best_w = w.copy()
        else:
            run.since_best += 1
    known = run.state.estimate or Certificate(math.nan, math.nan, exact=False)
    known = _at_least_zero(known)
    row = TraceRow(
        len(run.trace) + 1,
        run.state.oracle_calls,
        run.seconds,
        known.primal,
        known.dual,
        known.relative_gap if run.state.estimate else math.nan,
        known.exact,
        score,
        rows=run.state.rows,
        master_seconds=run.state.master_seconds,
        decoding_seconds=run.state.decoding_seconds,
        mixed=run.state.mixed,
    )
    run.trace.append(row)
    _remember_if_lowest(solver, run, known)


def _remember_if_lowest(solver: Solver, run: Run, known: Certificate) -> None:
    """Remember the weights if no pass before is known to have had better ones."""
    if solver.at_work(run.state).descends or not known.exact:
        return
    if known.primal < run.lowest:
        run.lowest, run.lowest_pass = known.primal, len(run.trace)
        if run.lowest_w is None:
            run.lowest_w = np.empty_like(run.state.w)
        np.copyto(run.lowest_w, run.state.w)


def _certify_lowest(
    problem: Problem, run: Run, last: Certificate | None
) -> Certificate | None:
    """Certify the weights of an earlier pass, if they are clearly better than the last.

    Weights of a dual point that rises may be far worse than they were on the way.
    """
    if last is None or run.best_w is not None or run.lowest_w is None:
        return None
    if isinstance(last, LocalCertificate):
        return None  # its bound is of the convex step at these weights, and no others
    if not last.primal - run.lowest > CLEARLY * last.gap:
        return None
    found = _certify_kept(problem, run.lowest_w, last)
    if found is None or not found.primal < last.primal:
        return None
    if found.exact:
        _correct_last(run, found)
    return found


def _look(
    problem: Problem, solver: Solver, run: Run, tol: float, last: bool
) -> Certificate | None:
    """Compute the exact certificate if it is time to; correct the trace with it."""
    if not solver.minimises:
        return None
    estimate = run.state.estimate
    gap = math.inf if estimate is None else estimate.relative_gap
    if not last and not gap <= min(tol, run.look_below):
        return None
    # The floor: a gap that was far too optimistic once must not end all looking.
    run.look_below = max(0.8 * gap, 0.1 * tol)
    begin = working_time()
    certificate = _at_least_zero(solver.certify(problem, run.state))
    run.seconds += working_time() - begin
    unproved = count_unproved(problem.structure, run.state.w, problem.n_jobs)
    _correct_last(run, certificate, unproved=unproved)
    _remember_if_lowest(solver, run, certificate)
    return certificate


def _correct_last(run: Run, certificate: Certificate, **more: int) -> None:
    """Write what was proved into the last row of the trace."""
    row = replace(
        run.trace[-1],
        oracle_calls=run.state.oracle_calls,
        seconds=run.seconds,
        primal=certificate.primal,
        dual=certificate.dual,
        relative_gap=certificate.relative_gap,
        exact=True,
        **more,
    )
    run.trace.replace_last(row)


def _is_settled(run: Run, tol: float) -> bool:
    """Say whether the bound no longer rises, and yet the gap is too wide."""
    if len(run.trace) <= SETTLED:
        return False
    before, now = run.trace[-1 - SETTLED], run.trace[-1]
    return now.dual - before.dual <= tol * now.dual and now.relative_gap > tol


def _is_doubled(passes: int) -> bool:
    """Say whether it is time to look at multiples: each time after twice the passes."""
    windows, rest = divmod(passes, SETTLED)
    return rest == 0 and windows.bit_count() == 1


def _lengthen(
    problem: Problem, solver: Solver, run: Run, looked: Certificate | None
) -> Certificate | None:
    """Take the best multiple of the weights; return its certificate."""
    if not solver.minimises or problem.penalty != "l2" or run.best_w is not None:
        return looked
    begin = working_time()
    known = looked or _at_least_zero(solver.certify(problem, run.state))
    if isinstance(known, LocalCertificate):
        return known  # its bound is of the convex step at these weights, and no others
    run.scale, primal = find_best_multiple(problem, run.state.w, known.primal)
    run.seconds += working_time() - begin
    known = known._replace(primal=primal)
    _correct_last(run, known)
    return known


def _rest(time_limit: float | None, run: Run) -> float | None:
    """Return how many seconds are left."""
    return None if time_limit is None else time_limit - run.seconds


def _never_started(problem: Problem, previous: State | None) -> Solution:
    """Return what there is when time is over before the first pass."""
    w = np.zeros(problem.n_weights) if previous is None else previous.w.copy()
    status = "out of time before the first pass; raise time_limit"
    return Solution(w, None, Trace(), TIME_LIMIT, status, None)


def _certify_quietly(
    problem: Problem, solver: Solver, run: Run, interruptible: Interruptible
) -> Certificate | None:
    """Certify an interrupted run; return the estimate if that takes too long.

    Too long for a user who presses Ctrl-C again, or for the time allowed.
    """
    if not solver.minimises:
        return None
    try:
        with interruptible.here():
            return _at_least_zero(solver.certify(problem, run.state))
    except (KeyboardInterrupt, OutOfTime):
        known = run.state.estimate
        return known and _at_least_zero(known)._replace(exact=False)


def _at_least_zero(certificate: Certificate) -> Certificate:
    """Return a certificate whose lower bound is not below that of all objectives.

    Losses and penalties are never negative, so that no gap exceeds the objective.
    """
    if certificate.dual >= 0.0 or math.isnan(certificate.dual):
        return certificate
    return certificate._replace(dual=0.0)


def _out_of_patience(run: Run, patience: int) -> bool:
    return run.best_w is not None and run.since_best >= patience


def _certify_kept(
    problem: Problem, w: FloatArray, last: Certificate | None
) -> Certificate | None:
    """Certify the weights that are kept: the last dual bounds every primal."""
    try:
        return None if last is None else last._replace(primal=problem.primal(w))
    except OutOfTime:
        return None


def _reason_to_stop(
    run: Run, looked: Certificate | None, tol: float, max_iter: int, patience: int
) -> str:
    if not math.isfinite(run.state.w @ run.state.w):
        return FAILED
    if looked is not None and looked.relative_gap <= tol:
        return CONVERGED
    if _out_of_patience(run, patience):
        return STOPPED_EARLY
    if run.state.halted:
        return run.state.halted
    return MAX_ITER if len(run.trace) >= max_iter else ""
