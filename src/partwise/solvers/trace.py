"""The trace: what every pass cost and what it achieved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from partwise._notebooks import html_table, log_chart


@dataclass(frozen=True)
class TraceRow:
    """One pass.

    Attributes
    ----------
    iteration : int
        The number of the pass, from 1.
    oracle_calls : int
        Argmax or marginal computations so far.
    seconds : float
        Training time so far, without the time spent on development data.
    primal, dual, relative_gap : float
        The certificate, or an estimate of it; NaN where the solver has none.
    exact : bool
        Whether the three numbers above are exact.
    dev_score : float
        The score on development data; NaN without.
    unproved : int
        For how many examples a relaxed structure could not prove its argmax to be the
        best; counted where the numbers are exact.
    rows : int
        Constraints in the master problem, of solvers with one.
    master_seconds, decoding_seconds : float
        The time spent on it, and on finding constraints, so far.
    mixed : int
        How many shards were trained on by themselves, and their weights mixed, where
        the pass did that; see `ParameterMixing`.
    """

    iteration: int
    oracle_calls: int
    seconds: float
    primal: float
    dual: float
    relative_gap: float
    exact: bool
    dev_score: float
    unproved: int = 0
    rows: int = 0
    master_seconds: float = 0.0
    decoding_seconds: float = 0.0
    mixed: int = 0


COLUMNS = tuple(field.name for field in fields(TraceRow))
ADDED = ("unproved", "rows", "master_seconds", "decoding_seconds", "mixed")
"""Columns that traces saved by earlier versions do not have."""

_WHOLE = ("iteration", "oracle_calls", "unproved", "rows", "mixed")
KINDS: dict[str, Any] = dict.fromkeys(COLUMNS, float)
KINDS |= {"exact": bool, **dict.fromkeys(_WHOLE, int)}


class Trace:
    """A list of `TraceRow`, with a table and a plot.

    Examples
    --------
    >>> trace = Trace()
    >>> trace.append(TraceRow(1, 10, 0.5, 4.0, 3.0, 0.25, True, float("nan")))
    >>> len(trace), trace[0].primal, trace["dual"].tolist()
    (1, 4.0, [3.0])
    """

    def __init__(self, rows: list[TraceRow] | None = None):
        self._rows = [] if rows is None else rows

    def append(self, row: TraceRow) -> None:
        """Add a pass."""
        self._rows.append(row)

    def replace_last(self, row: TraceRow) -> None:
        """Replace the newest row by `row`."""
        self._rows[-1] = row

    def __len__(self) -> int:
        """Return the number of passes."""
        return len(self._rows)

    def __iter__(self) -> Iterator[TraceRow]:
        """Iterate over the passes."""
        return iter(self._rows)

    def __getitem__(self, which: int | str) -> Any:
        """Return one row by its number, or one column by its name, as an array."""
        if isinstance(which, str):
            return np.array([getattr(row, which) for row in self._rows])
        return self._rows[which]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: self[name].tolist() for name in COLUMNS}

    @classmethod
    def from_dict(cls, columns: dict[str, list[Any]]) -> Trace:
        """Rebuild a trace from `to_dict`."""
        names = [name for name in COLUMNS if name in columns or name not in ADDED]
        rows = zip(*(columns[name] for name in names), strict=True)
        return cls(
            [
                TraceRow(**{n: KINDS[n](x) for n, x in zip(names, row, strict=True)})
                for row in rows
            ]
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row per pass (needs pandas)."""
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "Trace.to_frame needs pandas: pip install pandas, or use to_dict()"
            ) from None
        return pandas.DataFrame([asdict(row) for row in self._rows], columns=COLUMNS)

    def plot(self, ax: Any = None) -> Any:
        """Plot primal and dual against time (needs matplotlib); return the axes."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError(
                "Trace.plot needs matplotlib: pip install 'partwise[plots]'"
            ) from None
        ax = pyplot.subplots()[1] if ax is None else ax
        ax.plot(self["seconds"], self["primal"], marker=".", label="primal")
        ax.plot(self["seconds"], self["dual"], marker=".", label="dual")
        ax.set_xlabel("seconds")
        ax.set_ylabel("objective")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        """Say how training went, in a line."""
        if not self._rows:
            return "Trace of no passes"
        last = self._rows[-1]
        return (
            f"Trace of {len(self)} passes: objective {last.primal:.6g}, "
            f"gap {last.relative_gap:.2%}"
        )

    def _repr_html_(self) -> str:
        """Draw objective and bound, and list some of the passes."""
        some = sorted({*range(0, len(self), max(len(self) // 8, 1)), len(self) - 1})
        rows = [self._rows[n] for n in some if n >= 0]
        table = html_table(
            ["pass", "seconds", "objective", "lower bound", "gap"],
            [
                [
                    row.iteration,
                    f"{row.seconds:.2f}",
                    f"{row.primal:.6g}",
                    f"{row.dual:.6g}",
                    f"{row.relative_gap:.2%}",
                ]
                for row in rows
            ],
        )
        curves = {"objective": self["primal"], "lower bound": self["dual"]}
        return log_chart(self["seconds"], curves) + table

    def __str__(self) -> str:
        """Return a table, with the columns of the master problem if there is one."""
        lines = [f"{'pass':>5}{'seconds':>9}{'primal':>13}{'dual':>13}{'gap':>9}"]
        has_master = any(row.rows for row in self._rows)
        if has_master:
            lines[0] += f"{'rows':>9}{'master':>9}{'decoding':>9}"
        for row in self._rows:
            about = " " if row.exact else "~"
            line = (
                f"{row.iteration:5d}{row.seconds:9.2f}{row.primal:13.6g}"
                f"{row.dual:13.6g}{row.relative_gap:8.2%}{about}"
            )
            if has_master:
                line += (
                    f"{row.rows:9d}{row.master_seconds:9.2f}{row.decoding_seconds:9.2f}"
                )
            lines.append(line)
        return "\n".join(lines)
