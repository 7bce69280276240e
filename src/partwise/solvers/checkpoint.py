"""Checkpoints: everything a run needs to continue as if it had never stopped."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.losses import Certificate
from partwise.solvers.base import Problem, State
from partwise.solvers.trace import COLUMNS, Trace
from partwise.structures.interface import FloatArray

KIND = "checkpoint"
VERSION = 4
"""The version of what states keep, and under which names; others are not read."""

PREFIX = "state."
TRACE = "trace."


@dataclass
class Run:
    """What changes while the loop runs; it goes into a checkpoint."""

    state: State
    rng: np.random.Generator
    trace: Trace = field(default_factory=Trace)
    seconds: float = 0.0
    best_score: float = -math.inf
    best_w: FloatArray | None = None
    since_best: int = 0
    # The lowest objective known exactly after a pass, which pass, and its weights.
    lowest: float = math.inf
    lowest_pass: int = 0
    lowest_w: FloatArray | None = None
    # The estimated gap must fall below this before it is worth an exact look.
    look_below: float = math.inf
    # What the weights are multiplied by in the end; not kept, since it is found anew.
    scale: float = 1.0


def save_checkpoint(path: Path, run: Run, mark: str) -> None:
    """Write the run to `path`, atomically.

    `mark` names the problem, the solver and the seed; a run resumes only with the same.
    """
    estimate = run.state.estimate or (math.nan, math.nan, False)
    tensors = {PREFIX + key: value for key, value in run.state.tensors().items()}
    tensors |= {TRACE + name: run.trace[name].astype(np.float64) for name in COLUMNS}
    tensors["numbers"] = np.array(
        [run.seconds, run.best_score, run.look_below, run.lowest]
    )
    tensors["estimate"] = np.array(estimate, np.float64)
    if run.best_w is not None:
        tensors["best_w"] = run.best_w
    if run.lowest_w is not None and run.lowest_pass < len(run.trace):
        tensors["lowest_w"] = run.lowest_w
    settings = {
        "mark": mark,
        "version": VERSION,
        "random": _random_state_as_text(run.rng),
        "since_best": run.since_best,
        "lowest_pass": run.lowest_pass,
        "oracle_calls": int(run.state.oracle_calls),
        "has_estimate": run.state.estimate is not None,
    }
    model_file.write(path, tensors, settings, kind=KIND)


def save_if_possible(path: Path, run: Run, mark: str) -> None:
    """Write the run to `path`; if that fails, warn and let training go on.

    Weights that have overflowed are not worth keeping: the last good ones stay.
    """
    if not math.isfinite(run.state.w @ run.state.w):
        return
    try:
        save_checkpoint(path, run, mark)
    except OSError as error:
        why = error.strerror or error
        warnings.warn(
            f"{path}: pass {len(run.trace)} could not be saved ({why}); training goes "
            "on, and the next pass is saved if possible",
            UserWarning,
            stacklevel=4,
        )


def refuse_other_files(path: Path) -> None:
    """Raise `ModelFileError` if the file at `path` is not a checkpoint."""
    if path.exists() and path.stat().st_size:
        try:
            model_file.read(path, kind=KIND)
        except ModelFileError as error:
            raise ModelFileError(
                f"{path} exists and is not a checkpoint; choose another path, or "
                f"delete it first ({error})"
            ) from error


def load_checkpoint(path: Path, run: Run, mark: str, problem: Problem) -> None:
    """Bring `run` to where the checkpoint was written.

    Nothing in the file is trusted: whoever can write it can also copy the mark.
    """
    content = model_file.read(path, kind=KIND)
    tensors = content.tensors
    if content.settings.get("version") != VERSION:
        raise ModelFileError(
            f"{path}: this checkpoint was written by another version of partwise and "
            "cannot be resumed by this one; delete it and train again"
        )
    if content.setting("mark", str) != mark:
        raise ModelFileError(
            f"{path}: this checkpoint is of another run (other data, settings, solver "
            "or seed); delete it, or repeat the command that wrote it"
        )
    try:
        _set_random_state(run.rng, content.setting("random", str))
        run.trace = _read_trace(content)
        numbers = content.tensor("numbers", dtype=np.float64, length=4, finite=False)
        run.seconds, run.best_score, run.look_below, run.lowest = numbers.tolist()
        run.since_best = content.setting("since_best", int, at_least=0)
        own = {k[len(PREFIX) :]: tensors[k] for k in tensors if k.startswith(PREFIX)}
        run.state.restore(own)
        run.state.check(problem)
        run.state.oracle_calls = content.setting("oracle_calls", int, at_least=0)
        n = problem.n_weights
        run.lowest_pass = content.setting("lowest_pass", int, at_least=0)
        if "lowest_w" in tensors:
            run.lowest_w = content.tensor("lowest_w", dtype=np.float64, length=n)
        elif run.lowest_pass:
            run.lowest_w = run.state.w.copy()
        if "best_w" in tensors:
            run.best_w = content.tensor("best_w", dtype=np.float64, length=n)
        if content.setting("has_estimate", bool):
            found = content.tensor("estimate", dtype=np.float64, length=3, finite=False)
            primal, dual, exact = found.tolist()
            run.state.estimate = Certificate(primal, dual, exact == 1.0)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{path}: not a complete checkpoint ({error})") from error


def continued(work: Iterator[float], path: Path) -> Iterator[float]:
    """Do the work of a pass that goes on from a checkpoint.

    Numbers may be valid one by one, and make no sense together.
    """
    try:
        yield from work
    except (ArithmeticError, ValueError) as error:
        raise ModelFileError(
            f"{path}: no run can go on from this checkpoint ({error}); delete it and "
            "train again"
        ) from error


def _read_trace(content: model_file.Content) -> Trace:
    known = [name for name in COLUMNS if TRACE + name in content.tensors]
    columns = {
        name: content.tensor(TRACE + name, dtype=np.float64, finite=False).tolist()
        for name in known
    }
    return Trace.from_dict(columns)


def _random_state_as_text(rng: np.random.Generator) -> str:
    # PCG64 counts in 128 bits, more than most JSON readers keep.
    state: Any = rng.bit_generator.state
    inner = state["state"]
    parts = (inner["state"], inner["inc"], state["has_uint32"], state["uinteger"])
    return " ".join(map(str, parts))


def _set_random_state(rng: np.random.Generator, text: str) -> None:
    state, inc, has_uint32, uinteger = map(int, text.split())
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
