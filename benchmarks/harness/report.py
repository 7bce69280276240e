"""What a benchmark found: figures with goals, tables, curves and notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A number, and the goal it was measured against if there is one."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def goal(self) -> str | None:
        """The goal in words."""
        if self.at_least is not None:
            return f">= {self.at_least:.6g}"
        return None if self.at_most is None else f"<= {self.at_most:.6g}"

    @property
    def met(self) -> bool | None:
        """Whether the goal was reached; a value that is not a number never does."""
        if self.at_least is not None:
            return self.value >= self.at_least
        return None if self.at_most is None else self.value <= self.at_most

    def to_json(self, judge: bool) -> dict[str, Any]:
        """Return the figure for the result file; `judge` says whether goals apply."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "unit": self.unit,
            "goal": self.goal,
            "met": self.met if judge else None,
        }


@dataclass(frozen=True)
class Table:
    """Rows of cells under headings."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Curve:
    """A line of a plot; a single point is drawn as a mark."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Plot:
    """Curves in one picture."""

    name: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[float, float] | None = None


@dataclass
class Report:
    """All that a run found."""

    figures: list[Figure]
    settings: dict[str, Any]
    seeds: list[int] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
