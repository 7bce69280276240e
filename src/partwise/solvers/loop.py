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
from partwise.losses import Certificate
from partwise.losses.margin import count_unproved
from partwise.model_file import check_writable
from partwise.solvers import checkpoint as checkpoints
from partwise.solvers.base import NOT_FINITE, SEPARATED, STALLED, Problem, Solver, State
from partwise.solvers.checkpoint import Run
from partwise.solvers.memory import check_memory
from partwise.solvers.pairing import check_pairing
from partwise.solvers.trace import Trace, TraceRow
from partwise.structures.interface import FloatArray

Evaluate = Callable[[FloatArray], float]

ROUNDED = 1e-6
"""Where a solver finds no way on, rounding can be why if the gap is at most this."""

STILL, ENOUGH_PASSES = 0.999, 20
"""A run is stuck if its later half has brought the gap to no less than this share of
what it was before, and has had so many passes to do better."""

CONVERGED = "converged"
MAX_ITER = "max_iter"
STOPPED_EARLY = "stopped_early"
INTERRUPTED = "interrupted"
TIME_LIMIT = "time_limit"
FAILED = NOT_FINITE

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
                certificate = looked or certificate
                reason = _reason_to_stop(run, looked, tol, max_iter, patience)
                if reason:
                    return reason, certificate
            begin = working_time()
            work = solver.run_pass(problem, run.state, rng)
            if resumed is not None:
                work = checkpoints.continued(work, resumed)
            with seconds_left(_rest(time_limit, run)):
                for fraction in work:
                    for callback in callbacks:
                        callback.on_progress(done + 1, fraction)
                    check_time()
            run.seconds += working_time() - begin
            _record(run, evaluate)
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
    if solver.minimises:
        status = _sentence(reason, run, certificate, tol)
    else:
        status = _sentence_without_objective(reason, run, type(solver).__name__)
    status += run.state.remark() + _kept(run, reason)
    w = run.state.w
    if run.best_w is not None:
        w = run.best_w
        certificate = _certify_kept(problem, w, certificate)
    status += _unproved(problem, w)
    return Solution(w, certificate, run.trace, reason, status, run.state)


def _record(run: Run, evaluate: Evaluate | None) -> None:
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
    row = replace(
        run.trace[-1],
        oracle_calls=run.state.oracle_calls,
        seconds=run.seconds,
        primal=certificate.primal,
        dual=certificate.dual,
        relative_gap=certificate.relative_gap,
        exact=True,
        unproved=count_unproved(problem.structure, run.state.w, problem.n_jobs),
    )
    run.trace.replace_last(row)
    return certificate


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


def _is_stuck(run: Run) -> bool:
    """Say whether the later half of the passes has brought the gap no further."""
    gaps = [row.relative_gap for row in run.trace if row.relative_gap >= 0.0]
    half = len(gaps) // 2
    return half >= ENOUGH_PASSES and min(gaps[half:]) >= STILL * min(gaps[:half])


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


def _count_passes(count: int) -> str:
    return f"{count} pass" if count == 1 else f"{count} passes"


def _kept(run: Run, reason: str) -> str:
    """Say which weights are kept, where that is not the last ones."""
    if run.best_w is None or run.since_best == 0 or reason == STOPPED_EARLY:
        return ""
    best = len(run.trace) - run.since_best
    return f"; the weights of pass {best}, best on the development data, are kept"


def _unproved(problem: Problem, w: FloatArray) -> str:
    """Say how much is not proved, where inference is not always exact."""
    try:
        count = count_unproved(problem.structure, w, problem.n_jobs)
    except (KeyboardInterrupt, OutOfTime):
        return "; there was no time to check that inference was exact"
    if count == 0:
        return ""
    return (
        f"; inference left {count} of {problem.n_examples} examples without "
        "a proof that their worst output was found: the objective is at most this"
    )


def _sentence(
    reason: str, run: Run, certificate: Certificate | None, tol: float
) -> str:
    """Say how training ended and what to do about it."""
    passes = _count_passes(len(run.trace))
    gap = "unknown" if certificate is None else f"{certificate.relative_gap:.2g}"
    if certificate is not None and not certificate.exact:
        gap = f"about {gap}, not proved"
    above = f"with a gap of {gap}, above the tolerance {tol:g}"
    rounded = certificate is None or certificate.relative_gap <= ROUNDED
    return {
        CONVERGED: f"converged after {passes}: the gap {gap} is within the "
        f"tolerance {tol:g}",
        MAX_ITER: f"stopped after {passes} {above}; the later half of them has not "
        "brought it down: use another solver, or raise tol"
        if _is_stuck(run)
        else f"stopped after {passes} {above}; raise max_iter or tol",
        STOPPED_EARLY: f"stopped after {passes}: the development score has not "
        f"improved on {run.best_score:.4g} for {_count_passes(run.since_best)}",
        INTERRUPTED: f"interrupted after {passes}; the weights so far are kept "
        f"(gap {gap})",
        TIME_LIMIT: f"out of time after {passes}; the weights so far are kept "
        f"(gap {gap})",
        STALLED: f"stopped after {passes}: rounding allows no better weights than "
        f"these, {above}; raise tol"
        if rounded
        else f"stopped after {passes} {above}; the solver finds no way on: use another "
        "solver, or raise tol",
        FAILED: f"the objective is not a finite number in pass {len(run.trace)}; the "
        "weights are the last good ones; scale the features or lower C"
        if run.state.halted
        else f"the weights overflowed after {passes}; scale the features or lower C",
    }[reason]


def _sentence_without_objective(reason: str, run: Run, name: str) -> str:
    """Say how training ended for a solver without an objective."""
    passes = _count_passes(len(run.trace))
    if reason == SEPARATED:
        last = len(run.trace)
        return (
            f"converged after {passes}: pass {last} found every training example right"
        )
    if reason == MAX_ITER:
        ended = (
            f"stopped after {passes}: {name} minimises no objective, so there is no gap"
        )
        chosen = run.best_w is not None
        return ended if chosen else f"{ended}; choose max_iter on development data"
    if reason in (INTERRUPTED, TIME_LIMIT):
        what = "interrupted" if reason == INTERRUPTED else "out of time"
        return f"{what} after {passes}; the weights so far are kept"
    return _sentence(reason, run, None, math.nan)
