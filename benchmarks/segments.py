"""Segments seen as a whole against labels of tokens: words without spaces, and chunks.

Words: the sentences of EWT with their spaces removed, where every letter is a token.
Chunks: CoNLL-2000. A segment tagger, with and without features of whole segments,
beside chains of begin and inside labels, of first and of second order, and of begin,
middle, end and single labels, all with the same features of tokens, loss, solver and
number of passes. Times are those of the processor.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Figure, Report, Table
from partwise import SegmentTagger, SequenceTagger
from partwise.data import read_columns, read_trees
from partwise.metrics import segment_scores, spans
from partwise.solvers import Callback
from partwise.synthetic import make_corpus

Cut = list[tuple[int, int, str]]
LETTERS = ["words", "neighbours:3"]
LOSS = "squared_hinge"
GOAL_LIMIT = 10
"""Up to this length of segments, a pass has a goal."""


class Task(NamedTuple):
    """Sequences with their segments, for training and for testing."""

    X: list[Any]
    y: list[Cut]
    X_test: list[Any]
    y_test: list[Cut]
    template: Any
    limit: int

    def up_to(self, limit: int) -> Task:
        """Return the task without the training sequences that have longer segments."""
        fits = [
            i for i, cut in enumerate(self.y) if all(b - a <= limit for a, b, _ in cut)
        ]
        X, y = [self.X[i] for i in fits], [self.y[i] for i in fits]
        return self._replace(X=X, y=y, limit=limit)


def run(bench: Bench) -> Report:
    """Train all models on both tasks."""
    tasks = {"words": _words(bench), "chunks": _chunks(bench)}
    passes = bench.choose(10, 2)
    found: dict[tuple[str, str], tuple[float, float, int]] = {}
    for name, task in tasks.items():
        for model, train in MODELS.items():
            bench.say(f"{name}: {model}")
            found[name, model] = train(task, passes)
        if task.limit > GOAL_LIMIT:
            bench.say(f"{name}: segments of at most {GOAL_LIMIT}")
            short = task.up_to(GOAL_LIMIT)
            found[name, f"segments, limit {GOAL_LIMIT}"] = _cut(short, passes)
            found[name, f"chain, BMES, limit {GOAL_LIMIT}"] = _chain(
                short, passes, _bmes
            )
    return _report(tasks, found, passes)


# --- data -----------------------------------------------------------------------------


def _words(bench: Bench) -> Task:
    files = [f"ud-english-ewt/{part}.conllu.gz" for part in ("train", "test")]

    def read(*paths: Path) -> list[list[list[str]]]:
        return [[s.forms for s in read_trees(path)] for path in paths]

    def generate() -> list[list[list[str]]]:
        sentences = [list(s.words) for s in make_corpus(150)]
        return [sentences[:100], sentences[100:]]

    train, test = bench.data("words", files, read, generate)
    first = bench.choose((3000, 1000), (100, 50))
    limit = 15
    kept = [words for words in train if max(map(len, words)) <= limit][: first[0]]
    return Task(
        [list("".join(words)) for words in kept],
        list(map(_borders, kept)),
        [list("".join(words)) for words in test[: first[1]]],
        list(map(_borders, test[: first[1]])),
        LETTERS,
        limit,
    )


def _borders(words: Sequence[str]) -> Cut:
    """Return where words lie once the spaces between them are gone."""
    found, at = [], 0
    for word in words:
        found.append((at, at + len(word), "word"))
        at += len(word)
    return found


def _chunks(bench: Bench) -> Task:
    files = ["conll2000/train.txt.gz", "conll2000/test.txt.gz"]

    def read(*paths: Path) -> list[tuple[list[Any], list[Cut]]]:
        loaded = [read_columns(path) for path in paths]
        return [
            (list(data.without(-1)), [spans(y) for y in data.column_sequences(-1)])
            for data in loaded
        ]

    def generate() -> list[tuple[list[Any], list[Cut]]]:
        corpus = make_corpus(150, noise=0.05)
        X = [list(zip(s.words, s.tags, strict=True)) for s in corpus]
        y = [spans(s.chunks) for s in corpus]
        return [(X[:100], y[:100]), (X[100:], y[100:])]

    (X, y), (X_test, y_test) = bench.data("chunks", files, read, generate)
    limit, first = 10, bench.choose(len(X), 100)
    fits = [i for i, cut in enumerate(y) if all(b - a <= limit for a, b, _ in cut)]
    return Task(
        [X[i] for i in fits[:first]],
        [y[i] for i in fits[:first]],
        X_test[:first],
        y_test[:first],
        "default",
        limit,
    )


# --- models ---------------------------------------------------------------------------


class _Clock(Callback):
    """Notes the time of the processor when training begins and after every pass."""

    def on_start(self, *given: Any) -> None:
        self.times = [time.process_time()]

    def on_pass(self, *given: Any) -> None:
        self.times.append(time.process_time())


def _fitted(model: Any, task: Task, y: Any, passes: int) -> tuple[Any, float]:
    """Fit a model; return it, and the median time of a pass."""
    clock = _Clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the question
        model.set_params(max_iter=1, tol=1e-9).fit(task.X[:20], y[:20])  # compiles
        model.set_params(max_iter=passes, callbacks=[clock]).fit(task.X, y)
    return model, float(median(b - a for a, b in pairwise(clock.times)))


def _cut(task: Task, passes: int, **settings: Any) -> tuple[float, float, int]:
    settings = {"template": task.template, "max_length": task.limit, **settings}
    fitted, seconds = _fitted(SegmentTagger(LOSS, **settings), task, task.y, passes)
    return _f1(task, fitted.predict(task.X_test)), seconds, fitted.weights_.size


def _chain(
    task: Task, passes: int, spell: Callable[[int], str], order: int = 1
) -> tuple[float, float, int]:
    y = [_labels(cut, len(x), spell) for x, cut in zip(task.X, task.y, strict=True)]
    model = SequenceTagger(LOSS, template=task.template, order=order)
    fitted, seconds = _fitted(model, task, y, passes)
    predicted = [spans(labels) for labels in fitted.predict(task.X_test)]
    return _f1(task, predicted), seconds, fitted.weights_.size


def _labels(cut: Cut, length: int, spell: Callable[[int], str]) -> list[str]:
    labels = ["O"] * length
    for start, end, label in cut:
        labels[start:end] = [f"{prefix}-{label}" for prefix in spell(end - start)]
    return labels


def _bio(length: int) -> str:
    return "B" + "I" * (length - 1)


def _bmes(length: int) -> str:
    return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


def _f1(task: Task, predicted: Any) -> float:
    return 100 * segment_scores(task.y_test, predicted).overall.f1


MODELS: dict[str, Callable[[Task, int], tuple[float, float, int]]] = {
    "segments": _cut,
    "segments, tokens only": lambda task, passes: _cut(
        task, passes, whole=[], lengths=False
    ),
    "chain, BIO": lambda task, passes: _chain(task, passes, _bio),
    "chain, BIO, order 2": lambda task, passes: _chain(task, passes, _bio, 2),
    "chain, BMES": lambda task, passes: _chain(task, passes, _bmes),
}


def _report(
    tasks: dict[str, Task],
    found: dict[tuple[str, str], tuple[float, float, int]],
    passes: int,
) -> Report:
    figures = []
    for name, task in tasks.items():
        mine, chain = found[name, "segments"], found[name, "chain, BMES"]
        second = found[name, "chain, BIO, order 2"]
        limit = f", limit {GOAL_LIMIT}" if task.limit > GOAL_LIMIT else ""
        ratio = (
            found[name, f"segments{limit}"][1] / found[name, f"chain, BMES{limit}"][1]
        )
        figures += [
            Figure(f"{name}: F1 of segments", mine[0], "%"),
            Figure(f"{name}: better than BMES by", mine[0] - chain[0], "%", at_least=0),
            Figure(f"{name}: better than second order by", mine[0] - second[0], "%"),
            Figure(f"{name}{limit}: time a pass, by BMES", ratio, "x", at_most=4),
        ]
    rows = [[*key, *values] for key, values in found.items()]
    headings = ["task", "model", "test F1", "CPU seconds a pass", "weights"]
    limits = ", ".join(f"{task.limit} ({name})" for name, task in tasks.items())
    return Report(
        figures,
        settings={"passes": passes, "limits": limits, "C": "the default", "loss": LOSS},
        seeds=[0],
        tables=[Table("All models", headings, rows)],
        notes=[
            "Training sentences with longer segments than the limit are left out for "
            "all models; test sentences are all there.",
            *(
                f"{name}: {len(task.X):,} training sequences of "
                f"{sum(map(len, task.X)):,} tokens, {len(task.X_test):,} for testing."
                for name, task in tasks.items()
            ),
        ],
    )
