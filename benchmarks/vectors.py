"""Words alone, vectors of a frozen transformer alone, and both: gains and costs.

The vectors are MiniLM's, 384 columns for every word in its sentence, computed once (see
``benchmarks/harness/minilm.py``) and given as a matrix a sentence, with
``scale_vectors=True``, whose scale was chosen on held-out sentences of training files.
Chunks (CoNLL-2000), names (CoNLL-2002, Spanish) and tags (English web pages) are tagged
by conditional random fields, C = 1; trees of the same pages are parsed by a parser with
its defaults. Where only vectors are used, every token has one constant feature, and
every word that a parser sees is the same: what is left is how arcs lie.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.minilm import WIDTH, sentence_vectors
from benchmarks.harness.report import Figure, Report, Table
from partwise import DependencyParser, SequenceTagger
from partwise.data import read_columns, read_trees
from partwise.metrics import attachment_scores, chunk_scores, token_accuracy
from partwise.synthetic import make_corpus

WAYS = ("words", "vectors", "both")
BINS = 15


@dataclass(frozen=True)
class Task:
    """Words of whole files, and the labels or trees of as many as are used."""

    name: str
    cache: str
    train: tuple[list[Any], list[Any]]
    test: tuple[list[Any], list[Any]]
    template: str = ""


@dataclass(frozen=True)
class Outcome:
    """One model."""

    seconds: float
    score: float
    calibration: float
    passes: int


def run(bench: Bench) -> Report:
    """Train every model and say what each is good for."""
    tables, figures, notes = [], [], []
    tasks = {task.name: task for task in _tasks(bench)}
    for task in map(tasks.__getitem__, bench.parts(tasks)):
        try:
            vectors = _vectors(bench, task)
        except Skip as reason:
            notes.append(f"{task.name}: {reason}")
            continue
        measure = _tag if task.template else _parse
        found = {}
        for way in WAYS:
            bench.say(f"{task.name}: {way}")
            found[way] = measure(task, way, vectors)
        tables.append(_table(task, found))
        gain = 100 * (found["both"].score - found["words"].score)
        ratio = found["both"].seconds / found["vectors"].seconds
        figures += [
            Figure(f"{task.name}: gained by vectors", gain, "points", at_least=0.5),
            Figure(f"{task.name}: time of both / vectors", ratio, "times", at_most=1.0),
        ]
    if not tables:
        raise Skip("; ".join(notes))
    settings = {"loss": "log_loss", "C": 1.0, "columns": WIDTH, "scale_vectors": True}
    return Report(figures, settings, tables=tables, notes=notes)


def _tasks(bench: Bench) -> list[Task]:
    n_train, n_test = bench.choose((None, None), (300, 200))

    def columns(*paths: Any) -> Any:
        parts = []
        for path, n in zip(paths, (n_train, n_test), strict=True):
            data = read_columns(path, encoding="utf-8")
            words = [list(own) for own in data.column_sequences(0)]
            parts.append((words, data.column_sequences(-1)[:n]))
        return parts

    def trees(*paths: Any) -> Any:
        parts = []
        for path, n in zip(paths, (n_train, n_test), strict=True):
            whole = list(read_trees(path))
            parts.append(([list(s.forms) for s in whole], whole[:n]))
        return parts

    def generated() -> Any:
        corpus = list(make_corpus(300))
        pairs = [(list(s.words), list(s.chunks)) for s in corpus]
        return [
            ([w for w, _ in part], [y for _, y in part])
            for part in (pairs[:200], pairs[200:])
        ]

    tasks = []
    for name, files, template in (
        ("chunks", ["conll2000/train.txt.gz", "conll2000/test.txt.gz"], "default"),
        ("names", ["conll2002/esp.train.gz", "conll2002/esp.testb.gz"], "ner"),
    ):
        train, test = bench.data(name, files, columns, generated)
        tasks.append(Task(name, files[0].split("/")[0], train, test, template))
    files = ["ud-english-ewt/train.conllu.gz", "ud-english-ewt/test.conllu.gz"]
    parts = bench.data("tags and trees", files, trees, list)
    if parts:
        tags = [(words, [list(s.upos) for s in own]) for words, own in parts]
        tasks.append(Task("tags", "ud-english-ewt", *tags, template="pos"))
        tasks.append(Task("trees", "ud-english-ewt", *parts))
    return tasks


def _vectors(bench: Bench, task: Task) -> tuple[list[Any], list[Any]]:
    """Return the vectors of training and test sentences."""
    if task.cache not in bench.sources.get(task.name, task.cache) and bench.quick:
        random = np.random.default_rng(0)  # generated words have generated vectors
        known: dict[str, Any] = {}

        def of(words: list[str]) -> Any:
            for word in words:
                if word not in known:
                    known[word] = random.normal(size=WIDTH).astype(np.float32)
            return np.stack([known[word] for word in words])

        return tuple(  # type: ignore[return-value]
            [of(words) for words in part[0]] for part in (task.train, task.test)
        )
    # Of whole files, which may be there already, rather than of slices.
    return (
        sentence_vectors(task.train[0], task.cache)[: len(task.train[1])],
        sentence_vectors(task.test[0], task.cache)[: len(task.test[1])],
    )


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """Train, and return the processor's time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap above tol is shown as passes
        begin = time.process_time()
        model = fit()
        return model, time.process_time() - begin


def _tag(task: Task, way: str, vectors: tuple[list[Any], list[Any]]) -> Outcome:
    def inputs(part: int, n: int | None = None) -> Any:
        own = (task.train, task.test)[part]
        words = own[0][: len(own[1])][:n]
        if way == "words":
            return words
        if way == "vectors":
            words = [[{"constant": True}] * len(tokens) for tokens in words]
        return words, vectors[part][:n]

    template = None if way == "vectors" else task.template
    tagger = SequenceTagger(
        "log_loss", C=1.0, template=template, scale_vectors=way != "words"
    )
    _timed(lambda: tagger.fit(inputs(0, 20), task.train[1][:20]))  # compiles
    tagger, seconds = _timed(lambda: tagger.fit(inputs(0), task.train[1]))
    X, gold = inputs(1), task.test[1]
    found = tagger.predict(X)
    shares = np.concatenate(tagger.predict_marginals(X))
    flat = [label for labels in gold for label in labels]
    guessed = tagger.classes_[shares.argmax(axis=1)]
    right = np.array([a == b for a, b in zip(guessed, flat, strict=True)])
    score = (
        token_accuracy(gold, found)
        if task.name == "tags"
        else chunk_scores(gold, found).overall.f1
    )
    error = calibration_error(shares.max(axis=1), right)
    return Outcome(seconds, score, error, len(tagger.trace_["iteration"]))


def _parse(task: Task, way: str, vectors: tuple[list[Any], list[Any]]) -> Outcome:
    def inputs(part: int, n: int | None = None) -> Any:
        trees = (task.train, task.test)[part][1][:n]
        if way == "words":
            return trees
        if way == "vectors":
            trees = [replace(one, forms=["_"] * len(one.forms)) for one in trees]
        return trees, vectors[part][:n]

    parser = DependencyParser(
        crossing="lift",
        scale_vectors=way != "words",
        labelled=False,
        features=["words"] if way == "vectors" else "all",
    )
    _timed(lambda: parser.fit(inputs(0, 20)))
    parser, seconds = _timed(lambda: parser.fit(inputs(0)))
    given = inputs(1)
    gold = given if way == "words" else given[0]
    score = attachment_scores(gold, parser.predict(given)).uas
    shares, right = [], []
    for sentence, mu in zip(gold, parser.predict_marginals(given), strict=True):
        best = mu[:, 1:].argmax(axis=0)
        shares.append(mu[:, 1:].max(axis=0))
        right.append(best == np.array(sentence.heads))
    error = calibration_error(np.concatenate(shares), np.concatenate(right))
    return Outcome(seconds, score, error, len(parser.trace_["iteration"]))


def calibration_error(shares: Any, right: Any) -> float:
    """Return how far probabilities are from the share of right answers, on average.

    Answers are put into bins by their probability (expected calibration error).
    """
    bins = np.minimum((shares * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right.astype(float) - shares, BINS)
    return float(np.abs(gaps).sum() / max(len(shares), 1))


def _table(task: Task, found: dict[str, Outcome]) -> Table:
    kind = {"tags": "accuracy", "trees": "UAS"}.get(task.name, "F1")
    return Table(
        task.name,
        ["features", "training (s of CPU)", kind, "calibration error", "passes"],
        [
            [
                way,
                f"{one.seconds:.1f}",
                f"{100 * one.score:.2f}",
                f"{100 * one.calibration:.2f} %",
                one.passes,
            ]
            for way, one in found.items()
        ],
    )
