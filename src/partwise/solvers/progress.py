"""A progress bar with passes, gap and time left."""

from __future__ import annotations

import math
from typing import Any

from partwise.solvers.base import Problem, Solver
from partwise.solvers.loop import Callback, Solution
from partwise.solvers.memory import in_words
from partwise.solvers.trace import TraceRow
from partwise.structures.interface import FloatArray

# Smaller states than this are not worth mentioning.
WORTH_TELLING = 64 * 2**20


class ProgressBar(Callback):
    """Show a bar on the terminal's error stream while training runs.

    Parameters
    ----------
    tol : float
        The tolerance, so that the bar can guess how many passes are left: the gap
        of a convergent method shrinks by about the same factor every pass.

    Examples
    --------
    >>> ProgressBar(tol=1e-3).passes_left([0.1, 0.01], max_left=50)
    1
    """

    def __init__(self, tol: float):
        self.tol = tol
        self._gaps: list[float] = []
        self._bar: Any = None

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        """Draw the empty bar."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._max_iter = max_iter
        self._bar = Progress(
            TextColumn("pass {task.fields[iteration]}"),
            BarColumn(),
            TextColumn("{task.fields[gap]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        kept = solver.memory(problem)
        if kept >= WORTH_TELLING:
            self._bar.console.print(
                f"{type(solver).__name__} keeps {in_words(kept)} besides the weights"
            )
        self._task = self._bar.add_task(
            "training", total=max_iter, iteration=1, gap="(the first run compiles)"
        )
        self._bar.start()

    def passes_left(self, gaps: list[float], max_left: int) -> int:
        """Guess how many more passes the gap needs to reach the tolerance."""
        recent = [gap for gap in gaps[-4:] if gap > 0 and math.isfinite(gap)]
        if len(recent) < 2 or recent[-1] >= recent[0]:
            return max_left
        rate = math.log(recent[0] / recent[-1]) / (len(recent) - 1)
        needed = math.ceil(round(math.log(max(recent[-1] / self.tol, 1.0)) / rate, 6))
        return min(max(needed, 0), max_left)

    def on_progress(self, iteration: int, fraction: float) -> None:
        """Move the bar inside a pass."""
        done = iteration - 1 + fraction
        self._bar.update(self._task, completed=done, iteration=iteration)

    def on_pass(self, row: TraceRow, w: FloatArray) -> None:
        """Show the gap, and set the bar's end to where the gap will be met."""
        self._gaps.append(row.relative_gap)
        left = self.passes_left(self._gaps, self._max_iter - row.iteration)
        known = []
        if not math.isnan(row.relative_gap):
            known.append(f"gap {row.relative_gap:.2%} → {self.tol:g}")
        if not math.isnan(row.dev_score):
            known.append(f"dev {row.dev_score:.4f}")
        self._bar.update(
            self._task,
            completed=row.iteration,
            total=row.iteration + left,
            gap=", ".join(known),
        )

    def on_end(self, solution: Solution) -> None:
        """Remove the bar."""
        self._bar.stop()
