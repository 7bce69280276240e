"""The peer: python-crfsuite, fed, trained and asked."""

from __future__ import annotations

from collections.abc import Iterable
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


class Trained(NamedTuple):
    """A model file, with CRFsuite's own account of the time that training took."""

    path: str
    seconds: float
    feature_seconds: float
    n_iterations: int
    last_loss: float | None


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
    return Trained(
        str(path),
        # The log omits the total when it is zero.
        log.training_seconds or sum(it.get("time", 0.0) for it in log.iterations),
        log.featgen_seconds or 0.0,
        len(log.iterations),
        last.get("loss"),
    )


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
