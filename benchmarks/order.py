"""Parts of speech with labels that depend on one, two or three before them.

The tags of the sample of the Wall Street Journal (from its treebank) and the universal
tags of EWT. All models have the same features: the word with its affixes and shape, and
its neighbours; or, so that it shows what labels alone can do, nothing but the word. All
choose C on development data, but those of third order, which take that of the second.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger
from partwise.data import read_trees
from partwise.synthetic import make_corpus

ORDERS = (1, 2, 3)
LOSS = "squared_hinge"
FEATURES: dict[str, Any] = {"rich": "pos", "words": ["words"]}
COSTS = (0.03, 0.1, 0.3)
TREEBANKS = {
    "WSJ": ("wsj-sample/{}.dp.gz", "heads", "xpos"),
    "EWT": ("ud-english-ewt/{}.conllu.gz", "conllu", "upos"),
}


class Task(NamedTuple):
    """Words and tags of sentences, for training, choosing C and testing."""

    X: list[list[str]]
    y: list[list[str]]
    X_dev: list[list[str]]
    y_dev: list[list[str]]
    X_test: list[list[str]]
    y_test: list[list[str]]


def run(bench: Bench) -> Report:
    """Train every order on both treebanks."""
    tasks = {name: _read(bench, *TREEBANKS[name]) for name in bench.parts(TREEBANKS)}
    passes = bench.choose(6, 2)
    found: dict[tuple[str, str, int], list[Any]] = {}
    for name, task in tasks.items():
        for features, template in FEATURES.items():
            costs: tuple[float, ...] = COSTS
            for order in ORDERS:
                tried = []
                for C in costs:
                    bench.say(f"{name}, {features}: order {order}, C {C:g}")
                    tried.append([C, *_train(task, template, order, passes, C)])
                best = max(tried, key=lambda one: one[1])
                found[name, features, order] = best
                costs = COSTS if order == 1 else (best[0],)
    return _report(tasks, found, passes)


def _read(bench: Bench, pattern: str, format: str, column: str) -> Task:
    files = [pattern.format(part) for part in ("train", "dev", "test")]

    def read(*paths: Path) -> list[tuple[list[list[str]], list[list[str]]]]:
        loaded = [read_trees(path, format) for path in paths]
        return [
            ([list(s.forms) for s in part], [list(getattr(s, column)) for s in part])
            for part in loaded
        ]

    def generate() -> list[tuple[list[list[str]], list[list[str]]]]:
        corpus = make_corpus(160, noise=0.05)
        X, y = [list(s.words) for s in corpus], [list(s.tags) for s in corpus]
        return [(X[a:b], y[a:b]) for a, b in ((0, 80), (80, 120), (120, 160))]

    parts = bench.data(column, files, read, generate)
    first = bench.choose((1000, 500, 500), (80, 40, 40))
    return Task(
        *(side[:n] for pair, n in zip(parts, first, strict=True) for side in pair)
    )


def _train(task: Task, template: Any, order: int, passes: int, C: float) -> list[Any]:
    settings = {"template": template, "order": order, "tol": 1e-9, "C": C}
    tagger = SequenceTagger(LOSS, max_iter=passes, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is not the question
        SequenceTagger(LOSS, max_iter=1, **settings).fit(
            task.X[:20], task.y[:20]
        )  # compiles
        begin = time.process_time()
        tagger.fit(task.X, task.y)
    trained = time.process_time() - begin
    chosen_by = 100 * tagger.score(task.X_dev, task.y_dev)
    begin = time.process_time()
    accuracy = 100 * tagger.score(task.X_test, task.y_test)
    tagged = time.process_time() - begin
    memory = tagger._memory
    n_steps = len(tagger.classes_) ** 2 if memory is None else memory.grams.source.size
    speed = sum(map(len, task.X_test)) / tagged
    size = tagger.weights_.size
    return [chosen_by, accuracy, n_steps, size, trained / passes, speed]


def _report(
    tasks: dict[str, Task], found: dict[tuple[str, str, int], list[Any]], passes: int
) -> Report:
    figures = []
    for name in tasks:
        for features in FEATURES:
            first, second, third = (found[name, features, n] for n in ORDERS)
            what = f"{name}, {features}: order"
            figures += [
                Figure(f"{what} 2 better than 1 by", second[2] - first[2], "%",
                       at_least=0),
                Figure(f"{what} 3 better than 1 by", third[2] - first[2], "%"),
                Figure(f"{what} 2: time a pass, by order 1", second[5] / first[5], "x"),
            ]  # fmt: skip
    headings = ["treebank", "features", "order", "C", "dev", "test", "steps",
                "weights", "CPU seconds a pass", "words a second"]  # fmt: skip
    return Report(
        figures,
        settings={"passes": passes, "C": list(COSTS), "loss": LOSS},
        seeds=[0],
        tables=[Table("All models", headings, [[*k, *v] for k, v in found.items()])],
        notes=[
            f"{name}: {len(task.X):,} training sentences, {len(task.X_test):,} for "
            f"testing, {len({tag for tags in task.y for tag in tags})} tags."
            for name, task in tasks.items()
        ],
    )
