"""The peer: python-crfsuite, fed, trained and asked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness.bench import Skip


def peer() -> Any:
    """Return the module of python-crfsuite, or skip the benchmark."""
    try:
        import pycrfsuite  # type: ignore[import-untyped]
    except ImportError:
        raise Skip(
            "it compares with python-crfsuite: pip install 'partwise[bench]'"
        ) from None
    return pycrfsuite


class Account(NamedTuple):
    """What CRFsuite says of every iteration; `seconds` and `calls` are so far.

    `calls` is how often it has looked at every example.
    """

    seconds: list[float]
    losses: list[float]
    norms: list[float]
    calls: list[int]


class Trained(NamedTuple):
    """A model file, with CRFsuite's own account of the time that training took."""

    path: str
    seconds: float
    feature_seconds: float
    n_iterations: int
    last_loss: float | None
    account: Account


def make_trainer(X: Iterable[Any], y: Iterable[Any]) -> Any:
    """Return a trainer that holds the data; it can train several times."""
    trainer = peer().Trainer(verbose=False)
    for xs, ys in zip(X, y, strict=True):
        trainer.append(xs, ys)
    return trainer


def train(trainer: Any, path: Path, algorithm: str, **settings: Any) -> Trained:
    """Train; settings are CRFsuite's, with ``_`` for the dot in ``feature.``."""
    trainer.select(algorithm)
    trainer.set_params(
        {name.replace("feature_", "feature."): v for name, v in settings.items()}
    )
    trainer.train(str(path))
    log = trainer.logparser
    last = log.last_iteration or {}
    # The log omits the total when it is zero.
    seconds = log.training_seconds or sum(it.get("time", 0.0) for it in log.iterations)
    return Trained(
        str(path),
        seconds,
        log.featgen_seconds or 0.0,
        len(log.iterations),
        last.get("loss"),
        _account(log, seconds),
    )


def _account(log: Any, seconds: float) -> Account:
    rows = [row for row in log.iterations if "loss" in row]
    # The module does not parse the norm of all algorithms.
    norms = re.findall(r"^Feature (?:L2-)?norm: (\S+)", "".join(log.log), re.MULTILINE)
    spent = list(accumulate(row.get("time", 0.0) for row in rows))
    calls = list(accumulate(row.get("linesearch_trials", 1) for row in rows))
    # What is not an iteration comes before the first: L-BFGS looks at zero weights,
    # SGD calibrates.
    before = seconds - spent[-1] if spent else 0.0
    first = int(any("linesearch_trials" in row for row in rows))
    return Account(
        [before + s for s in spent],
        [row["loss"] for row in rows],
        [float(norm) for norm in norms],
        [first + c for c in calls],
    )


def log_likelihood(path: str | Path, X: Iterable[Any], y: Iterable[Any]) -> float:
    """Return the sum of the log-probabilities that a model gives to labels."""
    tagger = open_tagger(path)
    total = 0.0
    try:
        for xs, ys in zip(X, y, strict=True):
            tagger.set(xs)
            total += math.log(tagger.probability(ys))
    finally:
        tagger.close()
    return total


def open_tagger(path: str | Path) -> Any:
    """Return a tagger with the model loaded."""
    tagger = peer().Tagger()
    tagger.open(str(path))
    return tagger


def tag(path: str | Path, X: Iterable[Any]) -> list[list[str]]:
    """Return the labels that a model gives to sequences."""
    tagger = open_tagger(path)
    try:
        return [tagger.tag(xs) for xs in X]
    finally:
        tagger.close()
