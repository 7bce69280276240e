"""Labels that are known in part: chunks and Spanish names with some spans annotated.

Every sentence is cut into its spans, and the tokens between them; 10, 30 or 50% of
these pieces are known, the rest is not. A tagger that is told so (partial labels),
beside one that learns from the known pieces alone, each a sequence of its own
(dropping), one that takes the rest for O, and one that knows all labels. All have the
same features, which are those of whole sentences.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger
from partwise.data import read_columns
from partwise.metrics import segment_scores, spans
from partwise.synthetic import make_corpus

SHARES = (0.1, 0.3, 0.5)
LOSSES = ("log_loss", "squared_hinge")
PASSES = 100
Sentence = list[tuple[str, ...]]


class Task(NamedTuple):
    """Features and labels of sentences, for training and for testing."""

    X: list[list[list[str]]]
    y: list[list[str]]
    X_test: list[list[list[str]]]
    y_test: list[list[str]]


def run(bench: Bench) -> Report:
    """Train all models on both tasks."""
    tasks = {"chunks": _read(bench, "chunks"), "names": _read(bench, "names")}
    found: dict[tuple[str, str, float, str], tuple[float, int]] = {}
    statuses = []
    for name, task in tasks.items():
        for loss in LOSSES:
            bench.say(f"{name}, {loss}: all labels")
            found[name, loss, 1.0, "all labels"] = _train(task, loss, task.X, task.y)[1]
            for share in SHARES:
                known = _hide(task.y, share)
                for method, prepare in METHODS.items():
                    bench.say(f"{name}, {loss}, {share:.0%}: {method}")
                    data = prepare(task.X, task.y, known)
                    model, found[name, loss, share, method] = _train(task, loss, *data)
                    if method == "partial":
                        statuses.append(
                            f"{name}, {loss}, {share:.0%}: {model.status_}."
                        )
    return _report(tasks, found, statuses)


# --- data -----------------------------------------------------------------------------


def _read(bench: Bench, name: str) -> Task:
    files = {
        "chunks": ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
        "names": ["conll2002/esp.train.gz", "conll2002/esp.testb.gz"],
    }[name]

    def read(*paths: Path) -> list[tuple[list[Sentence], list[list[str]]]]:
        options = {"encoding": "latin-1"} if name == "names" else {}
        loaded = [read_columns(path, **options) for path in paths]
        return [(list(d.without(-1)), d.column_sequences(-1)) for d in loaded]

    def generate() -> list[tuple[list[Sentence], list[list[str]]]]:
        corpus = make_corpus(120, noise=0.05)
        X = [list(zip(s.words, s.tags, strict=True)) for s in corpus]
        y = [list(s.chunks) for s in corpus]
        return [(X[:80], y[:80]), (X[80:], y[80:])]

    (X, y), (X_test, y_test) = bench.data(name, files, read, generate)
    n, n_test = bench.choose((500, 500), (80, 40))
    return Task(
        [_features(x) for x in X[:n]],
        y[:n],
        [_features(x) for x in X_test[:n_test]],
        y_test[:n_test],
    )


def _features(sentence: Sentence) -> list[list[str]]:
    """Describe every token by itself and by two neighbours on either side."""
    padded = [("",) * len(sentence[0])] * 2 + list(sentence)
    padded += [("",) * len(sentence[0])] * 2 if sentence else []
    found = []
    for t, (word, *_) in enumerate(sentence):
        own = [f"{d}:{c}={cell}" for d in range(-2, 3)
               for c, cell in enumerate(padded[t + 2 + d])]  # fmt: skip
        shape = "".join(
            "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c
            for c in word
        )
        own += [f"s{k}={word[-k:]}" for k in range(1, 5)]
        own += [f"p{k}={word[:k]}" for k in range(1, 5)]
        own += [f"shape={''.join(c for c, _ in groupby(shape))}", "bias"]
        found.append(own)
    return found


def _hide(y: Sequence[Sequence[str]], share: float) -> list[list[bool]]:
    """Say which tokens have a label that is known: whole spans, or what is outside."""
    rng = random.Random(0)
    found = []
    for labels in y:
        piece = [0] * len(labels)
        for number, (start, end, _) in enumerate(spans(list(labels)), 1):
            piece[start:end] = [number] * (end - start)
        known = []
        for number, run_of in groupby(piece):
            size = len(list(run_of))
            for tokens in [size] if number else [1] * size:
                known += [rng.random() < share] * tokens
        found.append(known)
    return found


# --- models ---------------------------------------------------------------------------

Data = tuple[list[Any], list[Any]]


def _partial(X: Any, y: Any, known: Any) -> Data:
    labels = [
        [label if is_known else None for label, is_known in zip(*pair, strict=True)]
        for pair in zip(y, known, strict=True)
    ]
    return X, labels


def _dropping(X: Any, y: Any, known: Any) -> Data:
    pieces, labels = [], []
    for x, own, flags in zip(X, y, known, strict=True):
        at = 0
        for is_known, run_of in groupby(flags):
            size = len(list(run_of))
            if is_known:
                pieces.append(x[at : at + size])
                labels.append(list(own[at : at + size]))
            at += size
    return pieces, labels


def _outside(X: Any, y: Any, known: Any) -> Data:
    labels = [
        [label if is_known else "O" for label, is_known in zip(*pair, strict=True)]
        for pair in zip(y, known, strict=True)
    ]
    return X, labels


METHODS: dict[str, Callable[[Any, Any, Any], Data]] = {
    "partial": _partial,
    "dropping": _dropping,
    "as O": _outside,
}


def _train(task: Task, loss: str, X: Any, y: Any) -> tuple[Any, tuple[float, int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is in the notes
        model = SequenceTagger(loss=loss, max_iter=PASSES, n_jobs=1).fit(X, y)
    gold = [spans(labels) for labels in task.y_test]
    predicted = [spans(labels) for labels in model.predict(task.X_test)]
    return model, (100 * segment_scores(gold, predicted).overall.f1, model.n_iter_)


def _report(
    tasks: dict[str, Task],
    found: dict[tuple[str, str, float, str], tuple[float, int]],
    statuses: list[str],
) -> Report:
    figures = []
    for name in tasks:
        for share in SHARES:
            mine = found[name, "log_loss", share, "partial"][0]
            for other in ("dropping", "as O"):
                ahead = mine - found[name, "log_loss", share, other][0]
                what = f"{name}, {share:.0%} known: log loss ahead of {other} by"
                figures.append(Figure(what, ahead, "%", at_least=0))
    rows = [
        [name, loss, f"{share:.0%}", method, *values]
        for (name, loss, share, method), values in found.items()
    ]
    headings = ["task", "loss", "known", "method", "test F1", "passes"]
    return Report(
        figures,
        settings={"C": "the default", "tol": "the default", "max_iter": PASSES},
        seeds=[0],
        tables=[Table("All models", headings, rows)],
        notes=[
            *(
                f"{name}: {len(task.X):,} training sentences, "
                f"{len(task.X_test):,} for testing."
                for name, task in tasks.items()
            ),
            *statuses,
        ],
    )
