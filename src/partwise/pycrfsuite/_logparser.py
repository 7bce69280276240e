"""Reading the log of a training run, line by line, while it is written.

A log has five stages: what comes before the features, their generation, what comes
before the first iteration, the iterations, and the storing of the model. A line that
ends something is an event.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from typing import Any

LabelScore = namedtuple("LabelScore", "match model ref precision recall f1")

_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
_TOTAL = re.compile(r"Total seconds required for training: (\d+\.\d+)")
_N_FEATURES = re.compile(r"Number of features: (\d+)")
_NUMBERS: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "loss": (re.compile(r"Loss: (\d+\.\d+)"), float),
    "feature_norm": (re.compile(r"Feature norm: (\d+\.\d+)"), float),
    "error_norm": (re.compile(r"Error norm: (\d+\.\d+)"), float),
    "active_features": (re.compile(r"Active features: (\d+)"), int),
    "linesearch_trials": (re.compile(r"Line search trials: (\d+)"), int),
    "linesearch_step": (re.compile(r"Line search step: (\d+\.\d+)"), float),
    "time": (
        re.compile(r"Seconds required for this iteration: (\d+\.\d+)"),
        float,
    ),
}
_AVERAGES = re.compile(
    r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)"
)
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(
    r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)"
)
_NO_LABEL = re.compile(r"\s{4}(.+): \(0, 0, 0\) \(\*{6}, \*{6}, \*{6}\)")
_PROGRESS = "0123456789.10"
_OPENED_BY_NEXT = ("prepared", "optimization_end")
"""Events that are known only by the line after them."""


class TrainLogParser:
    r"""Collects what a log says.

    Attributes
    ----------
    log : list of str
        All lines.
    iterations : list of dict
        What the log says of every iteration.
    last_iteration : dict or None
        The last of them.
    events : list of (str, int, int)
        What ended, and which lines it took.
    featgen_percent, featgen_num_features, featgen_seconds
        How far the generation of features is, their number, and the time it took.
    training_seconds, storing_seconds : float or None
        The time that training and storing took.

    Examples
    --------
    >>> parser = TrainLogParser()
    >>> parser.feed("Feature generation\n"), parser.feed("Seconds required: 0.5\n")
    ('start', 'featgen_end')
    >>> parser.featgen_seconds
    0.5
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """Take the next line; return the event that it ends, if it does."""
        self.log.append(line)
        if self.state is None:
            self.state = "STARTING"
            self.handle_STARTING(line)
            self.events.append(("start", 0, len(self.log)))
            return "start"
        event: str | None = getattr(self, f"handle_{self.state}")(line)
        if event is not None:
            end = len(self.log) - (event in _OPENED_BY_NEXT)
            self.events.append((event, self.events[-1][2], end))
        return event

    @property
    def last_log(self) -> str:
        """The lines of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def handle_STARTING(self, line: str) -> None:
        """Wait for features to be generated."""
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"

    def handle_FEATGEN(self, line: str) -> str | None:
        """Follow the generation of features."""
        if line in _PROGRESS:
            self.featgen_percent += 2
            return "featgen_progress"
        if found := _N_FEATURES.match(line):
            self.featgen_num_features = int(found.group(1))
        elif found := _SECONDS.match(line):
            self.featgen_seconds = float(found.group(1))
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def handle_AFTER_FEATGEN(self, line: str) -> str | None:
        """Wait for the first iteration."""
        if _HEAD.match(line):
            self.state = "ITERATION"
            self.handle_ITERATION(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def handle_ITERATION(self, line: str) -> str | None:
        """Note what is said of an iteration; an empty line ends it."""
        if found := _HEAD.match(line):
            self.last_iteration = {"num": int(found.group(1)), "scores": {}}
            self.iterations.append(self.last_iteration)
        elif line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        elif self.last_iteration is not None:
            _note(line, self.last_iteration)
        return None

    def handle_AFTER_ITERATION(self, line: str) -> str | None:
        """Wait for the next iteration, or for the end of all."""
        if _HEAD.match(line):
            self.state = "ITERATION"
            return self.handle_ITERATION(line)
        if found := _TOTAL.match(line):
            self.training_seconds = float(found.group(1))
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def handle_STORING(self, line: str) -> str | None:
        """Wait for the last line."""
        if line == "\n":
            return "end"
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found.group(1))
        return None


def _note(line: str, iteration: dict[str, Any]) -> None:
    """Enter what a line says into the dict of an iteration."""
    for name, (pattern, kind) in _NUMBERS.items():
        if found := pattern.match(line):
            iteration[name] = kind(found.group(1))
    if found := _AVERAGES.match(line):
        names = ("avg_precision", "avg_recall", "avg_f1")
        iteration |= zip(names, map(float, found.groups()), strict=True)
    if found := _ACCURACY.match(line):
        name = f"{found.group(1).lower()}_accuracy"
        share = Fraction(int(found.group(2)), int(found.group(3)))
        iteration |= {name: share, f"{name}_float": float(share)}
    if found := _LABEL.match(line):
        label, *rest = found.groups()
        scores = [*map(int, rest[:3]), *map(float, rest[3:])]
        iteration["scores"][label] = LabelScore(*scores)
    if found := _NO_LABEL.match(line):
        iteration["scores"][found.group(1)] = LabelScore(0, 0, 0, None, None, None)
