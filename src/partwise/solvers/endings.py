"""How training ended: the reasons, and what to say of each."""

from __future__ import annotations

import math

from partwise._deadline import OutOfTime
from partwise.losses import Certificate
from partwise.losses.margin import count_unproved
from partwise.solvers.base import NOT_FINITE, SEPARATED, STALLED, Problem
from partwise.solvers.checkpoint import Run
from partwise.structures.interface import FloatArray

ROUNDED = 1e-6
"""Where a solver finds no way on, rounding can be why if the gap is at most this."""

ENOUGH_PASSES, MORE_HALVES = 20, 100
"""A run is stuck if its later half has had so many passes, and so many more of them, at
its pace, would not bring the gap to the tolerance."""

CONVERGED = "converged"
MAX_ITER = "max_iter"
STOPPED_EARLY = "stopped_early"
INTERRUPTED = "interrupted"
TIME_LIMIT = "time_limit"
FAILED = NOT_FINITE


def _is_stuck(run: Run, tol: float) -> bool:
    """Say whether the later half of the passes has hardly brought the gap down."""
    gaps = [row.relative_gap for row in run.trace if row.relative_gap >= 0.0]
    half = len(gaps) // 2
    if half < ENOUGH_PASSES or not min(gaps) > 0.0:
        return False
    before, after = min(gaps[:half]), min(gaps[half:])
    pace = min(after / before, 1.0)
    return after * pace**MORE_HALVES > tol


def _count_passes(count: int) -> str:
    return f"{count} pass" if count == 1 else f"{count} passes"


def which_are_kept(run: Run, reason: str) -> str:
    """Say which weights are kept, where that is not the last ones."""
    if run.best_w is None or run.since_best == 0 or reason == STOPPED_EARLY:
        return ""
    best = len(run.trace) - run.since_best
    return f"; the weights of pass {best}, best on the development data, are kept"


def what_is_unproved(problem: Problem, w: FloatArray) -> str:
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


def describe(reason: str, run: Run, certificate: Certificate | None, tol: float) -> str:
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
        MAX_ITER: f"stopped after {passes} {above}; the later half of them has hardly "
        "brought it down: use another solver, or raise tol"
        if _is_stuck(run, tol)
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


def describe_without_objective(reason: str, run: Run, name: str) -> str:
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
    return describe(reason, run, None, math.nan)
