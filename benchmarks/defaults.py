"""Loss, C and tolerance that `fit` uses if nothing is said, chosen on ten data sets.

First the search. Candidates are a loss, a C and a tolerance; of rows of numbers, C is
given as a multiple of 1 / (their mean squared length), so that it does not depend on
units. They learn from `SEARCHED` examples of every data set, drawn at random, and are
scored on development data when the gap first is below the tolerance. The rule, fixed
before anything was run, is for each kind of features on its own:

1. Who does not reach its tolerance on some data set within `LIMIT` seconds of
   processor time is out.
2. The loss of a candidate on a data set is the best score of all minus its own. Those
   whose mean over data sets is within `WORTH` points of the least are equally good.
3. Of these, those who take at most `SLOWER` times the time of the fastest (geometric
   mean over data sets) are equally fast.
4. Of these, the one with the least calibration error (mean over data sets) wins.

Then the defaults as they are in the code, on all examples: test score, time of `fit`,
gap and calibration, beside CRFsuite on letters and Spanish names and scikit-learn on
20,000 images. Test data chooses nothing. With some of the data sets only, there is no
search.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.default_tasks import (
    IMAGES,
    NUMBERS,
    TASKS,
    TREES,
    WORDS,
    Data,
    Task,
)
from benchmarks.harness.report import Figure, Report, Table
from benchmarks.ocr_letters import for_peer
from partwise import DependencyParser, MulticlassClassifier, SequenceTagger
from partwise.data import ColumnData
from partwise.features import TemplateEncoder, default_template
from partwise.metrics import calibration_error, chunk_f1, token_accuracy
from partwise.solvers.loop import Callback

SEARCHED = {WORDS: 1_000, NUMBERS: 4_000, IMAGES: 4_000, TREES: 1_000}  # examples
LIMIT = 10.0  # seconds
WORTH = 0.2  # points
SLOWER = 1.25
TOLS = {
    WORDS: (0.1, 0.03, 0.01),
    NUMBERS: (0.1, 0.03, 0.01),
    IMAGES: (0.03, 0.01, 0.001),
    TREES: (0.1, 0.03),
}
GRID = {
    WORDS: {
        "squared_hinge": (0.01, 0.1),
        "hinge": (0.03, 0.1, 0.3, 1.0),
        "log_loss": (0.3, 1.0, 3.0, 10.0),
    },
    NUMBERS: {
        "squared_hinge": (1.0, 10.0),
        "hinge": (1.0, 3.0, 10.0, 30.0),
        "log_loss": (3.0, 10.0, 30.0, 100.0),
    },
    IMAGES: {
        "squared_hinge": (0.1, 1.0),
        "hinge": (0.3, 1.0, 3.0),
        "log_loss": (1.0, 3.0, 10.0),
    },
    TREES: {"squared_hinge": (0.003, 0.01), "hinge": (0.01,), "log_loss": (1.0,)},
}
# What the defaults have to reach, beside peers in the same run.
LETTER_ERROR, IMAGE_SECONDS = 12.76, 5.0


class Candidate(NamedTuple):
    """Settings of an estimator."""

    loss: str
    C: float
    tol: float


class Measured(NamedTuple):
    """What settings do: score and calibration error in percent, seconds of `fit`."""

    score: float
    ece: float
    seconds: float
    passes: int


def run(bench: Bench) -> Report:
    """Search on every data set, choose, and measure the defaults."""
    found: dict[str, dict[Candidate, Measured]] = {}
    rows: list[list[Any]] = []
    figures: list[Figure] = []
    wanted = bench.parts(task.name for task in TASKS)
    searches = len(wanted) == len(TASKS)  # the rule is about all of them
    for task in TASKS:
        if task.name not in wanted:
            continue
        data = task.read(bench)
        if searches:
            bench.say(f"{task.name}: search")
            found[task.name] = search(bench, task, data)
        bench.say(f"{task.name}: the defaults")
        rows.append([task.name, *measure_default(task, data)])
        figures += beside_peers(bench, task, data, rows[-1])
    searched = [
        [task.name, *candidate, *measured]
        for task in TASKS
        for candidate, measured in found.get(task.name, {}).items()
    ]
    chosen = {kind: choose(_of_kind(found, kind)) for kind in GRID if searches}
    notes = [
        f"By the rule fixed beforehand, for {kind}: {_in_words(candidate)}."
        for kind, candidate in chosen.items()
    ]
    headings = ["data", "test score", "ECE %", "seconds", "passes", "gap %"]
    tables = [Table("The defaults", headings, rows)]
    if searches:
        headings = ["data", *Candidate._fields, "dev score", *headings[2:5]]
        tables.append(Table("The search", headings, searched))
    return Report(
        figures,
        settings={"SEARCHED": SEARCHED, "LIMIT": LIMIT, "WORTH": WORTH},
        seeds=[0],
        tables=tables,
        notes=notes,
    )


def _of_kind(
    found: dict[str, dict[Candidate, Measured]], kind: str
) -> list[dict[Candidate, Measured]]:
    return [found[task.name] for task in TASKS if task.kind == kind]


def _in_words(candidate: Candidate | None) -> str:
    if candidate is None:
        return "nobody was in time on all data sets"
    return f"{candidate.loss}, C = {candidate.C:g}, tol = {candidate.tol:g}"


def choose(found: Sequence[dict[Candidate, Measured]]) -> Candidate | None:
    """Apply the rule to what was measured on data sets of one kind."""
    able = set.intersection(*(set(measured) for measured in found))
    if not able:
        return None
    best = [max(m.score for m in measured.values()) for measured in found]

    def mean(candidate: Candidate, field: str) -> float:
        return fmean(getattr(measured[candidate], field) for measured in found)

    def seconds(candidate: Candidate) -> float:
        return math.exp(fmean(math.log(m[candidate].seconds) for m in found))

    missing = {c: fmean(best) - mean(c, "score") for c in able}
    good = [c for c in able if missing[c] <= min(missing.values()) + WORTH]
    least = min(map(seconds, good))
    fast = [c for c in good if seconds(c) <= SLOWER * least]
    return min(fast, key=lambda c: (mean(c, "ece"), c))


# --- the search -----------------------------------------------------------------------


class _Watch(Callback):
    """Scores weights when the gap first is below a tolerance, off the clock."""

    class Late(Exception):
        """Time is over."""

    def __init__(self, task: Task, model: Any, dev: tuple[Any, Any], begin: float):
        self.task, self.model, self.dev = task, model, dev
        self.begin, self.found = begin, dict[float, Measured]()

    def on_pass(self, row: Any, w: Any) -> None:
        now = time.process_time()
        reached = [
            t
            for t in TOLS[self.task.kind]
            if t not in self.found and row.relative_gap <= t
        ]
        if reached:
            self.model.weights_ = w
            scores = measure(self.task, self.model, self.dev)
            took = now - self.begin
            new = dict.fromkeys(reached, Measured(*scores, took, row.iteration))
            self.found.update(new)
        self.begin += time.process_time() - now
        if now - self.begin > LIMIT:
            raise self.Late


def search(bench: Bench, task: Task, data: Data) -> dict[Candidate, Measured]:
    """Return what candidates do that are in time."""
    data = data.some(bench.choose(SEARCHED[task.kind], 200))
    unit = 1.0
    if task.kind in (NUMBERS, IMAGES):
        unit = 1.0 / float(np.mean(np.sum(np.vstack(data.train[0]) ** 2, axis=1)))
    found = {}
    for loss, costs in GRID[task.kind].items():
        few = _fitted(task, data, {"loss": loss, "max_iter": 1})  # compiles
        for C in costs:
            begin = time.process_time()
            watch = _Watch(task, copy.copy(few), data.dev, begin)
            settings = {"loss": loss, "C": C * unit, "callbacks": [watch]}
            most = {"tol": min(TOLS[task.kind]), "max_iter": 10_000}
            try:
                _fitted(task, data, settings | most)
            except _Watch.Late:
                pass
            found |= {Candidate(loss, C, t): m for t, m in watch.found.items()}
    return found


def _fitted(task: Task, data: Data, settings: dict[str, Any]) -> Any:
    """Return a model of the settings."""
    X, y = data.train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it ended is measured
        if task.kind == TREES:
            return DependencyParser(crossing="lift", **settings).fit(X)
        if task.kind == IMAGES:
            return MulticlassClassifier(**settings).fit(X, y)
        if task.kind == WORDS and not isinstance(X[0][0], dict):
            settings = {"template": "default", **settings}
        return SequenceTagger(**settings).fit(X, y)


def measure(task: Task, model: Any, part: tuple[Any, Any]) -> tuple[float, float]:
    """Return score and expected calibration error in percent."""
    X, y = part
    if task.kind == TREES:
        return 100 * model.score(X), math.nan
    if task.kind == IMAGES:
        shares, names = model.predict_proba(X), model.classes_
        right = names[shares.argmax(axis=1)] == y
        return 100 * model.score(X, y), 100 * calibration_error(shares.max(1), right)
    predicted, shares = model.predict(X), np.vstack(model.predict_marginals(X))
    likely = model.classes_[shares.argmax(axis=1)]
    right = likely == np.array([label for one in y for label in one], object)
    measured = chunk_f1 if task.measure == "F1" else token_accuracy
    ece = calibration_error(shares.max(axis=1), right)
    return 100 * measured(y, predicted), 100 * ece


# --- the defaults ---------------------------------------------------------------------


def measure_default(task: Task, data: Data) -> list[Any]:
    """Return test score, calibration error, seconds, passes and gap in percent."""
    _fitted(task, data.some(30), {})  # compiles
    begin = time.process_time()
    model = _fitted(task, data, {})
    seconds = time.process_time() - begin
    gap = 100 * model.certificate_.relative_gap
    return [*measure(task, model, data.test), seconds, model.n_iter_, gap]


def beside_peers(bench: Bench, task: Task, data: Data, own: list[Any]) -> list[Figure]:
    """Return the figures that have goals, with the peers' in the same run."""
    _, score, _, seconds, *_ = own
    name = f"{task.name}: the default's"
    if task.name == "digits, moved":
        return [
            Figure(f"{name} seconds", seconds, "s", at_most=IMAGE_SECONDS),
            Figure(f"{name} accuracy", score, "%", at_least=_logistic(data)),
        ]
    if task.name == "letters":
        # The goal is for folds 1 to 9 to learn from, as CRFsuite has them too.
        data = data._replace(train=_joined(data.train, data.dev))
        _, score, _, seconds, *_ = [None, *measure_default(task, data)]
        peer = _peer(bench, (for_peer(data.train[0]), data.train[1]), "ap")
        return [
            Figure(f"{name} seconds (goal: CRFsuite ap's)", seconds, "s",
                   at_most=peer.seconds),
            Figure(f"{name} letter error", 100 - score, "%", at_most=LETTER_ERROR),
        ]  # fmt: skip
    if task.name == "Spanish names":
        peer, theirs = _spanish_peer(bench, data)
        return [
            Figure(f"{name} seconds (goal: CRFsuite lbfgs's)", seconds, "s",
                   at_most=peer.seconds),
            Figure(f"{name} test F1 (goal: CRFsuite lbfgs's)", score, "%",
                   at_least=theirs),
        ]  # fmt: skip
    return []


def _joined(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] + b[0], a[1] + b[1]


def _peer(bench: Bench, part: tuple[Any, Any], algorithm: str) -> crfsuite.Trained:
    trainer = crfsuite.make_trainer(*part)
    path = bench.scratch / "defaults.crfsuite"
    most = bench.choose({}, {"max_iterations": 20})
    return crfsuite.train(trainer, path, algorithm, **most)


def _spanish_peer(bench: Bench, data: Data) -> tuple[crfsuite.Trained, float]:
    """Train CRFsuite with its defaults on the very same attributes; return its F1."""
    X, y = data.train
    encoder = TemplateEncoder(default_template(len(X[0][0])))
    encoder.fit_encode(ColumnData.from_sentences(X))
    trained = _peer(bench, (list(_strings(encoder, X)), y), "lbfgs")
    X_test, y_test = data.test
    predicted = crfsuite.tag(trained.path, _strings(encoder, X_test))
    return trained, 100 * chunk_f1(y_test, predicted)


def _strings(encoder: TemplateEncoder, X: Any) -> Any:
    """Yield the names of the attributes of every token, sentence by sentence."""
    columns = ColumnData.from_sentences(X)
    encoded, names = encoder.encode(columns), encoder.attribute_names()
    ptr, idx = encoded.nodes.ptr.tolist(), encoded.nodes.idx.tolist()
    bounds = encoded.ptr.tolist()
    for a, b in pairwise(bounds):
        yield [[names[k] for k in idx[ptr[t] : ptr[t + 1]]] for t in range(a, b)]


def _logistic(data: Data) -> float:
    """Return the better test accuracy of two linear models of scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their defaults do not converge
        peers = [LogisticRegression(), LinearSVC()]
        return max(100 * peer.fit(*data.train).score(*data.test) for peer in peers)
