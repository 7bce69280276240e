"""Labels that are known in part: chunks and Spanish names with some spans annotated.

Every sentence is cut into its spans, and the tokens between them; 10, 30 or 50% of
these pieces are known, the rest is not. A tagger that is told so (partial labels),
beside one that learns from the known pieces alone, each a sequence of its own
(dropping), one that takes the rest for O, and one that knows all labels. All have the
same features, which are those of whole sentences. Partial labels say what is known of a
span: its labels, and that the token after it does not go on with it. What completes
them must spell spans (BIO constraints); the others do worse with constraints, or the
same, and have none. C is the default or five times as much, whatever development data
prefers with the first of the seeds.
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
SEEDS = (0, 1)
FACTORS = (1, 5)
LOSSES = ("log_loss", "squared_hinge")
PASSES = 100
Sentence = list[tuple[str, ...]]


class Task(NamedTuple):
    """Features and labels of sentences: training, development and test data."""

    X: list[list[list[str]]]
    y: list[list[str]]
    X_dev: list[list[list[str]]]
    y_dev: list[list[str]]
    X_test: list[list[list[str]]]
    y_test: list[list[str]]


def run(bench: Bench) -> Report:
    """Train all models on both tasks."""
    tasks = {name: _read(bench, name) for name in bench.parts(("chunks", "names"))}
    seeds = bench.choose(SEEDS, SEEDS[:1])
    found: dict[tuple[str, str, float, str], tuple[float, float, float]] = {}
    statuses = []
    for name, task in tasks.items():
        for loss in LOSSES:
            bench.say(f"{name}, {loss}: all labels")
            found[name, loss, 1.0, "all labels"] = _train(
                task, loss, [(task.X, task.y)]
            )[1]
            for share in SHARES:
                for method, prepare in METHODS.items():
                    bench.say(f"{name}, {loss}, {share:.0%}: {method}")
                    known = [_hide(task.y, share, seed) for seed in seeds]
                    data = [prepare(task.X, task.y, some) for some in known]
                    rules = "BIO" if method == "partial" else None
                    model, found[name, loss, share, method] = _train(
                        task, loss, data, rules
                    )
                    if method == "partial":
                        statuses.append(
                            f"{name}, {loss}, {share:.0%}: {model.status_}."
                        )
    return _report(tasks, found, statuses)


# --- data -----------------------------------------------------------------------------


def _read(bench: Bench, name: str) -> Task:
    files = {
        "chunks": ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
        "names": [f"conll2002/esp.{part}.gz" for part in ("train", "testa", "testb")],
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

    parts = bench.data(name, files, read, generate)
    n, n_test = bench.choose((500, 1500), (40, 40))
    if len(parts) == 2:  # development data are the sentences after the first ones
        X, y = parts[0]
        parts.insert(1, (X[n:], y[n:]))
    sizes = (n, n, n_test)
    return Task(
        *(
            side
            for (X, y), size in zip(parts, sizes, strict=True)
            for side in ([_features(x) for x in X[:size]], y[:size])
        )
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


def _hide(y: Sequence[Sequence[str]], share: float, seed: int) -> list[list[bool]]:
    """Say which tokens have a label that is known: whole spans, or what is outside."""
    rng = random.Random(seed)
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
    every = {label for labels in y for label in labels}
    found = []
    for labels, flags in zip(y, known, strict=True):
        own: list[Any] = []
        for t, (label, is_known) in enumerate(zip(labels, flags, strict=True)):
            before = labels[t - 1] if t and flags[t - 1] else "O"
            if is_known:
                own.append(label)
            elif before != "O":  # the span before ends here
                own.append(every - {f"I{before[1:]}"})
            else:
                own.append(None)
        found.append(own)
    return X, found


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


def _train(
    task: Task, loss: str, data: list[Data], rules: str | None = None
) -> tuple[Any, tuple[float, float, float]]:
    """Choose C with the first data; return a model and the means of all."""
    first = [
        _fit(loss, *data[0], rules, factor * SequenceTagger.default_C[loss])
        for factor in FACTORS
    ]
    best = max(first, key=lambda model: _f1(model, task.X_dev, task.y_dev))
    models = [best, *(_fit(loss, *other, rules, best.C_) for other in data[1:])]
    f1 = [_f1(model, task.X_test, task.y_test) for model in models]
    passes = [model.n_iter_ for model in models]
    return best, (best.C_, sum(f1) / len(f1), sum(passes) / len(passes))


def _fit(loss: str, X: Any, y: Any, rules: str | None, C: float) -> SequenceTagger:
    settings: dict[str, Any] = {"max_iter": PASSES, "n_jobs": 1, "constraints": rules}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is in the notes
        return SequenceTagger(loss=loss, C=C, **settings).fit(X, y)


def _f1(model: Any, X: Any, y: Any) -> float:
    gold = [spans(labels) for labels in y]
    predicted = [spans(labels) for labels in model.predict(X)]
    return 100 * segment_scores(gold, predicted).overall.f1


def _report(
    tasks: dict[str, Task],
    found: dict[tuple[str, str, float, str], tuple[float, float, float]],
    statuses: list[str],
) -> Report:
    figures = []
    for name in tasks:
        for share in SHARES:
            mine = found[name, "log_loss", share, "partial"][1]
            for other in ("dropping", "as O"):
                ahead = mine - found[name, "log_loss", share, other][1]
                what = f"{name}, {share:.0%} known: log loss ahead of {other} by"
                figures.append(Figure(what, ahead, "%", at_least=0))
    rows = [
        [name, loss, f"{share:.0%}", method, *values]
        for (name, loss, share, method), values in found.items()
    ]
    headings = ["task", "loss", "known", "method", "C", "test F1", "passes"]
    return Report(
        figures,
        settings={
            "C": f"the default times {FACTORS}",
            "tol": "the default",
            "max_iter": PASSES,
        },
        seeds=list(SEEDS),
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
