"""How far training is: passes, the gap and its goal, and the time that is left."""

from __future__ import annotations

import math
from contextlib import ExitStack

from partwise._jit import listening, working_time
from partwise._screen import CompileNotes, Screen, in_time, open_screen
from partwise._work import telling
from partwise.solvers.base import Problem, Solver
from partwise.solvers.forecast import passes_left
from partwise.solvers.loop import Callback, Solution
from partwise.solvers.memory import in_words
from partwise.solvers.registry import name_of
from partwise.solvers.trace import TraceRow
from partwise.structures.interface import FloatArray

# Smaller states than this are not worth mentioning.
WORTH_TELLING = 64 * 2**20
WIDTH = 12
"""Characters of the bar."""


class ProgressBar(Callback):
    """Show on the error stream how far training is.

    On a terminal it is a line that changes; in a file, a pipe or a notebook, a line
    every few seconds.

    Parameters
    ----------
    tol : float
        The tolerance, the goal of the gap.
    title : str
        What is trained, where there are several models.
    """

    def __init__(self, tol: float, title: str = ""):
        self.tol = tol
        self._title = f"{title}: " if title else ""
        self._rows: list[TraceRow] = []
        self._screen: Screen = open_screen()
        self._listening = ExitStack()

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        """Begin to watch, and say what training keeps in memory if that is much."""
        self._max_iter = max_iter
        self._begin = self._pass_begin = working_time()
        self._seconds_left = math.nan
        self._passes_left = max_iter
        self._listening.enter_context(listening(CompileNotes(self._screen)))
        self._listening.enter_context(telling(None))  # the bar says it all
        kept = solver.memory(problem)
        if kept >= WORTH_TELLING:
            self._screen.keep(
                f"{name_of(solver)} keeps {in_words(kept)} besides the weights"
            )

    def on_progress(self, iteration: int, fraction: float) -> None:
        """Move the bar inside a pass."""
        done = iteration - 1 + fraction
        self._show(iteration, done, self._seconds_left - self._in_pass())

    def on_pass(self, row: TraceRow, w: FloatArray) -> None:
        """Guess again how many passes are left, and how long they take."""
        self._rows.append(row)
        gaps = [one.relative_gap for one in self._rows]
        most = self._max_iter - row.iteration
        self._passes_left = passes_left(gaps, self.tol, most)
        recent = self._rows[-4:]
        before = recent[0].seconds if len(recent) > 1 else 0.0
        per_pass = (row.seconds - before) / max(len(recent) - 1, 1)
        self._seconds_left = self._passes_left * per_pass
        self._pass_begin = working_time()
        self._show(row.iteration, row.iteration, self._seconds_left)

    def on_end(self, solution: Solution) -> None:
        """Remove the line from a terminal."""
        self._listening.close()
        self._screen.close()

    def _in_pass(self) -> float:
        return working_time() - self._pass_begin

    def _show(self, iteration: int, done: float, seconds_left: float) -> None:
        total = max(len(self._rows) + self._passes_left, 1)
        filled = round(WIDTH * min(done / total, 1.0))
        bar = "#" * filled + "." * (WIDTH - filled)
        parts = [f"{self._title}pass {iteration}", f"[{bar}]"]
        if self._rows:
            row = self._rows[-1]
            if not math.isnan(row.relative_gap):
                goal = f"goal {self.tol:.3g}"
                parts.append(f"gap {row.relative_gap:.2g}, {goal},")
            if not math.isnan(row.dev_score):
                parts.append(f"dev {row.dev_score:.4f},")
        parts.append(in_time(working_time() - self._begin))
        if not math.isnan(seconds_left):
            parts.append(f"(about {in_time(max(seconds_left, 0.0))} left)")
        self._screen.show(" ".join(parts))
