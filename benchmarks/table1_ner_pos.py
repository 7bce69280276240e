"""Names and parts of speech: dual, online and batch methods beside python-crfsuite.

Four corpora, the same ordinary features for all methods and for the peer: the word and
two on each side, its lower case, pairs of words, affixes of up to four letters, shape
flags, and the tag column where there is one. Every method chooses C on development
data and then makes 25 passes. A second part uses the features that the package
recommends for names (``ner``) and for parts of speech (``pos``).
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any, NamedTuple

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.harness.tagging import SOURCES, Corpus, Source, read_corpus
from benchmarks.harness.tagging_task import TaggingTask
from benchmarks.harness.tuned import Budget, Method, Tuned, train, tune
from partwise.data import ColumnData

COSTS = [0.01, 0.05, 0.1, 0.5, 1.0, 5.0]
PASSES = 25
ITERATIONS = 100  # of crfsuite's L-BFGS
WORDS = "words:2,lower,bigrams,affixes:4,kind,flags"
TAGS = ",tags:2"  # further columns, where there are any
DCD, EG = "DCD, squared hinge", "EG, log loss"
METHODS = [
    Method(DCD, "dcd-ssvm", "squared_hinge"),
    Method(EG, "eg", "log_loss"),
    Method("perceptron", "perceptron", "hinge", online=True, uses_C=False),
    Method("MIRA", "mira", "hinge", online=True),
    Method("MIRA, 5 best", "mira-kbest", "hinge", online=True),
    Method("SGD, hinge", "sgd", "hinge", online=True),
    Method("SGD, squared hinge", "sgd", "squared_hinge", online=True),
    Method("SGD, log loss", "sgd", "log_loss", online=True),
    Method("Frank-Wolfe, hinge", "frank-wolfe", "hinge", one_seed=True),
    # A pass is one plane only, and with few planes small C always look best.
    Method(
        "cutting plane, hinge",
        "cutting-plane",
        "hinge",
        search_passes=PASSES,
        one_seed=True,
    ),
]
QUICK = {DCD, EG, "perceptron", "SGD, hinge"}
OWN = (DCD, EG)
GOALS = dict(zip([s.name for s in SOURCES], [80.8, 80.0, 96.5, 95.0], strict=True))
LBFGS, AP = "crfsuite lbfgs", "crfsuite ap"


class Peer(NamedTuple):
    """What python-crfsuite did; `c2` was chosen on development data."""

    c2: float | None
    dev: float
    test: float
    seconds: float


class Result(NamedTuple):
    """All that was found on one corpus."""

    source: Source
    n_attributes: int
    n_test: int
    methods: dict[str, Tuned]
    peers: dict[str, Peer]
    own: dict[str, Tuned]

    def best_online(self) -> float:
        """Return the best test score of the online methods."""
        online = {method.name for method in METHODS if method.online}
        return max(t.test for name, t in self.methods.items() if name in online)

    def chosen_own(self) -> str:
        """Return which method is better on development data with our features."""
        return max(self.own, key=lambda name: self.own[name].dev)


def run(bench: Bench) -> Report:
    """Take the corpora one after the other."""
    crfsuite.peer()
    methods = [m for m in METHODS if m.name in QUICK or not bench.quick]
    budget = bench.choose(Budget(COSTS, 8, PASSES, [0]), Budget([0.1, 1.0], 2, 3, [0]))
    results: list[Result] = []
    for source in SOURCES:
        corpus = read_corpus(bench, source)
        if not results:
            bench.say("compiling, off the clock")
            few = Corpus(*(ColumnData.from_sentences(islice(p, 20)) for p in corpus))
            task = TaggingTask(few, ordinary(few), source.measure)
            for method in methods:
                train(task, method, 0.1, 4)
        results.append(measure(bench, source, corpus, methods, budget))
    return _report(results, budget)


def ordinary(corpus: Corpus) -> str:
    """Return the features that everybody gets."""
    return WORDS + (TAGS if corpus.train.n_columns > 2 else "")


def measure(
    bench: Bench, source: Source, corpus: Corpus, methods: list[Method], budget: Budget
) -> Result:
    """Tune, train and test everything on a corpus."""
    task = TaggingTask(corpus, ordinary(corpus), source.measure)
    found = {}
    for method in methods:
        bench.say(f"{source.name}: {method.name}")
        found[method.name] = tune(task, method, budget)
    peers = train_peers(bench, source, task, budget.passes)
    n_attributes = task.encoder.n_attributes
    task = TaggingTask(corpus, source.own, source.measure)
    own = {}
    for method in methods:
        if method.name in OWN:
            bench.say(f"{source.name}: {method.name}, features {source.own!r}")
            own[method.name] = tune(task, method, budget)
    n_test = corpus.test.n_tokens
    return Result(source, n_attributes, n_test, found, peers, own)


def train_peers(
    bench: Bench, source: Source, task: TaggingTask, passes: int
) -> dict[str, Peer]:
    """Train python-crfsuite on the same attributes."""
    path = bench.scratch / "peer.crfsuite"
    trainer = crfsuite.make_trainer(task.strings("train"), task.parts["train"].labels)
    iterations = bench.choose(ITERATIONS, 10)

    def one(algorithm: str, c2: float | None, **settings: Any) -> Peer:
        bench.say(f"{source.name}: crfsuite {algorithm} {c2 or ''}")
        if c2 is not None:
            settings["c2"] = c2
        seconds = crfsuite.train(trainer, path, algorithm, **settings).seconds
        dev, test = (
            task.score_labels(crfsuite.tag(path, task.strings(part)), part)
            for part in ("dev", "test")
        )
        return Peer(c2, dev, test, seconds)

    lbfgs = [one("lbfgs", c2, max_iterations=iterations) for c2 in (0.1, 1.0)]
    return {
        LBFGS: max(lbfgs, key=lambda peer: peer.dev),
        AP: one("ap", None, max_iterations=passes),
    }


def _figures(results: list[Result]) -> list[Figure]:
    figures = []
    for result in results:
        name, measure = result.source.name, result.source.measure
        ours = max(result.methods[DCD].test, result.methods[EG].test)
        theirs = max(peer.test for peer in result.peers.values())
        what = f"{name}: test {measure} of the better of DCD and EG"
        chosen = result.chosen_own()
        figures += [
            Figure(
                f"{what} (goal: the best online method's)",
                ours,
                "%",
                at_least=result.best_online(),
            ),
            Figure(f"{what} (goal: the best of crfsuite's)", ours, "%", theirs),
            Figure(
                f"{name}: test {measure} with the features {result.source.own!r}, "
                f"{chosen}",
                result.own[chosen].test,
                "%",
                at_least=GOALS[name],
            ),
        ]
    return figures


def _summary(results: list[Result]) -> Table:
    names = list(results[0].methods)
    rows: list[list[Any]] = [
        [name, *(_two(r.methods[name].test) for r in results)] for name in names
    ]
    rows += [
        [peer, *(_two(r.peers[peer].test) for r in results)] for peer in (LBFGS, AP)
    ]
    rows += [
        [f"{name}, our features", *(_two(r.own[name].test) for r in results)]
        for name in results[0].own
    ]
    headings = ["", *(f"{r.source.name}, {r.source.measure}" for r in results)]
    return Table("Test scores, mean over seeds", headings, rows)


def _two(value: float) -> str:
    return f"{value:.2f}"


def _details(result: Result) -> Table:
    rows: list[list[Any]] = []
    for note, some in (("", result.methods), (", our features", result.own)):
        for name, tuned in some.items():
            rows.append(
                [
                    name + note,
                    tuned.C,
                    _two(tuned.dev),
                    _two(tuned.test),
                    f"{min(tuned.tests):.2f} to {max(tuned.tests):.2f}",
                    tuned.seconds,
                    100 * tuned.gap,
                ]
            )
    for name, peer in result.peers.items():
        c2 = f"c2={peer.c2:g}" if peer.c2 else None
        scores = _two(peer.dev), _two(peer.test)
        rows.append([name, c2, *scores, None, peer.seconds, None])
    headings = ["", "C", "dev", "test", "over seeds", "seconds", "gap %"]
    return Table(
        f"{result.source.name}: {result.source.measure}, {result.n_attributes:,} "
        "attributes",
        headings,
        rows,
    )


def _search(results: list[Result], costs: Any) -> Table:
    rows = []
    for result in results:
        for note, some in (("", result.methods), (", our features", result.own)):
            for name, tuned in some.items():
                if tuned.search:
                    scores = (_two(tuned.search[C]) for C in costs)
                    rows.append([result.source.name, name + note, *scores])
    headings = ["", "", *(f"C = {C:g}" for C in costs)]
    return Table("The choice of C: development scores", headings, rows)


def _plot(result: Result) -> Plot:
    curves = [tuned.curve for tuned in result.methods.values()]
    curves += [
        Curve(name, [peer.seconds], [peer.test]) for name, peer in result.peers.items()
    ]
    top = max(max(curve.y) for curve in curves)
    span = 6.0 if result.source.measure == "F1" else 2.0
    name = result.source.files[0].partition(".")[0].replace("/", "-")
    return Plot(
        name,
        "seconds",
        f"test {result.source.measure}",
        curves,
        log_x=True,
        y_range=(top - span, top + 0.1 * span),
    )


def _standard_error(result: Result) -> str:
    share = result.methods[EG].test / 100
    error = 100 * math.sqrt(share * (1 - share) / result.n_test)
    return f"{result.source.name} {error:.2f}"


def _report(results: list[Result], budget: Budget) -> Report:
    errors = [_standard_error(r) for r in results if r.source.measure == "accuracy"]
    return Report(
        _figures(results),
        settings={**budget._asdict(), "features": WORDS, "with a tag column": TAGS},
        seeds=list(budget.seeds),
        tables=[
            _summary(results),
            *map(_details, results),
            _search(results, budget.costs),
        ],
        plots=[_plot(result) for result in results],
        notes=[
            f"C is chosen by the development score after {budget.search_passes} passes "
            f"(cutting plane: {PASSES}), two runs at a time; then {budget.passes} "
            f"passes with every seed ({len(budget.seeds)}), the first of them alone "
            "and timed; Frank-Wolfe and the cutting plane method have one. crfsuite "
            f"chooses c2 from 0.1 and 1, and has {ITERATIONS} iterations of L-BFGS in "
            "a full run.",
            "The better of DCD and EG is the better on test data, as the goal has it, "
            "and so is the best of the others. With our features it is the better on "
            "development data.",
            "Online methods are the perceptron, MIRA and SGD, as in the paper. "
            "Frank-Wolfe and the cutting plane method are not among them.",
            "One standard error of an accuracy, in points, taking tokens as "
            f"independent: {', '.join(errors)}. Smaller differences mean little.",
            "The peer gets the very attributes of our encoder, as strings. We have a "
            "weight for every pair of label and attribute, it has by default one for "
            "those that occur.",
            "The perceptron and MIRA minimise no objective, and so have no gap. MIRA's "
            "C bounds a step; the perceptron has no C.",
            "Seconds are for all passes, without reading, encoding, scoring and the "
            "certificate at the end; crfsuite's are its own account, of processor "
            "time. SGD's include the choice of its first step.",
            "Sentences that only mark the beginning of a document are left out.",
        ],
    )
