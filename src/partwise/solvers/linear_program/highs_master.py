"""The master problem by HiGHS: rows are added to a model that stays warm."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np

from partwise._deadline import check_time, time_left
from partwise._threads import LOOK_AFTER
from partwise.solvers.linear_program import master
from partwise.solvers.linear_program.master import Master, Solved, Task
from partwise.solvers.linear_program.rows import Rows
from partwise.structures.interface import FloatArray, IntArray

METHODS = {"highs": "simplex", "pdlp": "pdlp"}


class HighsMaster(Master):
    """A model in HiGHS, with the basis of the last round.

    Columns are weights, split into two where they are signed, and slacks; they are
    added when a row needs them. Nothing is built twice.

    Parameters
    ----------
    positive : bool
        Whether weights must not be negative.
    method : {"highs", "pdlp"}
        The simplex method, or HiGHS's own first-order method.
    """

    def __init__(self, positive: bool, method: str):
        import highspy

        self.positive, self.method = positive, method
        self.infinity = highspy.kHighsInf
        self.model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.model.setOptionValue("output_flag", False)
        self.model.setOptionValue("solver", METHODS[method])
        self.model.HandleUserInterrupt = True
        self.plus = np.zeros(0, np.int64)
        self.minus = np.zeros(0, np.int64)
        self.slack_of: IntArray = np.zeros(0, np.int64)
        self.n_rows = 0

    def _add_columns(self, costs: FloatArray) -> IntArray:
        """Add columns without entries; return their numbers."""
        first, n = self.model.getNumCol(), costs.size
        if n:
            none = np.zeros(0, np.int32)
            self.model.addCols(
                n, costs, np.zeros(n), np.full(n, self.infinity), 0,
                np.zeros(n, np.int32), none, np.zeros(0),
            )  # fmt: skip
        return first + np.arange(n)

    def _extend(self, rows: Rows, C: FloatArray) -> None:
        """Bring the model up to date."""
        from scipy.sparse import csr_matrix

        n_new = rows.n_columns - self.plus.size
        self.plus = np.append(self.plus, self._add_columns(np.ones(n_new)))
        if not self.positive:
            self.minus = np.append(self.minus, self._add_columns(np.ones(n_new)))
        if self.slack_of.size == 0:
            self.slack_of = np.full(C.size, -1, np.int64)
        start = self.n_rows
        owner = rows.owner[start:]
        fresh = np.unique(owner[self.slack_of[owner] < 0])
        self.slack_of[fresh] = self._add_columns(C[fresh])
        n = owner.size
        entries = slice(rows.ptr[start], rows.ptr[-1])
        row = np.repeat(np.arange(n), np.diff(rows.ptr[start:]))
        idx, val = rows.idx[entries], rows.val[entries]
        i, j = [row, np.arange(n)], [self.plus[idx], self.slack_of[owner]]
        v = [val, np.ones(n)]
        if not self.positive:
            i, j, v = [*i, row], [*j, self.minus[idx]], [*v, -val]
        found = np.concatenate(v), (np.concatenate(i), np.concatenate(j))
        H = csr_matrix(found, shape=(n, self.model.getNumCol()))
        self.model.addRows(
            n, rows.margin[start:].copy(), np.full(n, self.infinity), H.nnz,
            H.indptr[:-1].astype(np.int32), H.indices.astype(np.int32), H.data,
        )  # fmt: skip
        self.n_rows = len(rows)

    def solve(self, task: Task, rng: np.random.Generator) -> Solved:
        """Add the new rows and optimise from the last basis."""
        rows, C, w, lam = task[:4]
        self._extend(rows, C)
        self._run()
        solution: Any = self.model.getSolution()
        x = np.array(solution.col_value)
        multipliers = np.maximum(np.array(solution.row_dual), 0.0)
        p = master.make_master_problem(rows, C, self.positive)
        if x.size == 0 or not np.isfinite(x).all():
            return Solved(w, lam, master.dual_bound(p, lam, w.size))
        new = np.maximum(x[self.plus], 0.0)
        if not self.positive:
            new -= np.maximum(x[self.minus], 0.0)
        return Solved(new, multipliers, master.dual_bound(p, multipliers, w.size))

    def _run(self) -> None:
        """Let HiGHS work in a thread, so that Ctrl-C and the time limit act."""
        # Only the simplex method can be told to stop; the other one looks at a clock.
        self.model.setOptionValue("time_limit", time_left())
        running = Thread(target=self.model.run, daemon=True)
        running.start()
        try:
            while running.is_alive():
                running.join(LOOK_AFTER)
                check_time()
        except BaseException:
            self.model.cancelSolve()
            raise

    def forget(self, dropped: IntArray) -> None:
        """Delete rows that are no longer there."""
        if dropped.size:
            self.model.deleteRows(dropped.size, dropped.astype(np.int32))
            self.n_rows -= dropped.size
