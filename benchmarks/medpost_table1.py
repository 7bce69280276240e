"""MedPost tagging: Table 1 and Figure 2 of the linear programming paper (2009).

Words and the label before are all the features; five random splits of 5,700 and 1,000
sentences. Of the first, 700 are development data: C is chosen on that of the first
split, and how many passes or rounds are kept on that of every split; nothing is chosen
on test data. All but the HMM have the same weights, for pairs of word and label that
occur. The paper's linear program has margins of one and weights that are not negative;
beside it stands one with margins by cost.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from partwise import ColumnGeneration, HiddenMarkovModel, SequenceTagger
from partwise.solvers.trace import Trace
from partwise.synthetic import make_corpus

FILES = [
    f"medpost/tag_{part}.ioc.gz"
    for part in ("cl", "mb", *(f"mb{n:02d}" for n in range(1, 11)), "ml01")
]
N_TEST, N_DEV = 1000, 700
PAPER = {
    "CRF": (4.58, 51403), "MIRA": (4.91, 9084), "perceptron": (5.38, 26),
    "LP, HiGHS": (4.94, 3879), "LP, extragradient": (4.92, 856), "HMM": (20.02, None),
}  # fmt: skip
LP, HIGHS, MIRA = "LP, Chambolle-Pock", "LP, HiGHS", "MIRA"
# The paper's own: Algorithms 1 and 2 as printed.
PRINTED = "LP, extragradient"

Sentence = list[tuple[str, str]]
Data = tuple[list[Any], list[list[str]]]


class Method(NamedTuple):
    """Settings of a tagger, and the values of C to choose from."""

    settings: dict[str, Any]
    costs: list[float]
    budget: float = 1.0


def _program(master: str, margin: str, **how: Any) -> dict[str, Any]:
    return {
        "loss": "hinge",
        "penalty": "l1",
        "positive": True,
        "margin": margin,
        "solver": ColumnGeneration(master, **how),
    }


METHODS = {
    "perceptron": Method({"solver": "perceptron"}, [1.0]),
    MIRA: Method({"solver": "mira"}, [0.01, 0.1, 1.0]),
    "CRF": Method({"loss": "log_loss", "solver": "eg"}, [3.0, 10.0, 30.0]),
    LP: Method(_program("chambolle-pock", "unit"), [10.0, 30.0, 100.0]),
    "LP, proximal": Method(_program("proximal", "unit"), []),
    # Without rows of online passes, whose master problem simplex does not finish.
    HIGHS: Method(_program("highs", "unit", passes=0), []),
    PRINTED: Method(_program("extragradient", "unit", steps=300, as_printed=True), []),
    "LP, costs, Chambolle-Pock": Method(
        _program("chambolle-pock", "cost"), [1.0, 10.0]
    ),
    "LP, costs, proximal": Method(_program("proximal", "cost"), []),
}
SAME_C = {
    HIGHS: LP,
    "LP, proximal": LP,
    PRINTED: LP,
    "LP, costs, proximal": "LP, costs, Chambolle-Pock",
}


class Result(NamedTuple):
    """What a method did on one split."""

    error: float
    dev_error: float
    seconds: float
    passes: int
    gap: float
    n_used: int
    trace: Trace


def read_sentences(*paths: Path) -> list[Sentence]:
    """Read sentences of ``word_TAG``, one a line, after a line that names them."""
    sentences = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                tokens = [token.rpartition("_") for token in line.split()]
                if tokens and all(mark for _, mark, _ in tokens):
                    sentences.append([(word, tag) for word, _, tag in tokens])
    return sentences


def _generated() -> list[Sentence]:
    corpus = make_corpus(400, random_state=0, noise=0.05)
    return [list(zip(s.words, s.tags, strict=True)) for s in corpus.sentences]


def _pairs(sentences: list[Sentence]) -> Data:
    X = [[{"word": word} for word, _ in s] for s in sentences]
    return X, [[tag for _, tag in s] for s in sentences]


def run(bench: Bench) -> Report:
    """Train all methods on all splits."""
    sentences = bench.data("MedPost", FILES, read_sentences, _generated)
    seeds = bench.choose([0, 1, 2, 3, 4], [0])
    limit = bench.choose(45.0, 3.0)
    n_test, n_dev = bench.choose((N_TEST, N_DEV), (100, 50))
    sentences = bench.choose(sentences, sentences[:400])
    chosen: dict[str, float] = {}
    results: dict[str, list[Result]] = {name: [] for name in METHODS}
    hmm: list[float] = []
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(sentences))
        shuffled = [sentences[i] for i in order]
        test = _pairs(shuffled[:n_test])
        dev = _pairs(shuffled[n_test : n_test + n_dev])
        train = _pairs(shuffled[n_test + n_dev :])
        hmm.append(_hmm_error(train, test))
        for name, method in METHODS.items():
            if name not in chosen:
                bench.say(f"{name}: choosing C")
                _fit(method, 1.0, _first(train, 20), _first(dev, 5), 1.0)
                costs = method.costs
                if not costs:
                    chosen[name] = chosen[SAME_C[name]]
                elif len(costs) > 1:
                    tried = {C: _fit(method, C, train, dev, limit / 2) for C in costs}
                    chosen[name] = max(tried, key=lambda C: _best_dev(tried[C]))
                else:
                    chosen[name] = costs[0]
            bench.say(f"split {seed}: {name}, C = {chosen[name]:g}")
            results[name].append(
                _measure(method, chosen[name], train, dev, test, limit)
            )
    return _report(results, hmm, chosen, list(seeds), limit)


def _first(data: Data, count: int) -> Data:
    return data[0][:count], data[1][:count]


def _hmm_error(train: Data, test: Data) -> float:
    words = [[[token["word"] for token in s] for s in X] for X in (train[0], test[0])]
    model = HiddenMarkovModel(objective="likelihood").fit(words[0], train[1])
    return 100 * (1 - model.score(words[1], test[1]))


def _fit(method: Method, C: float, train: Data, dev: Data, limit: float) -> Any:
    import warnings

    tagger = SequenceTagger(
        C=C, pairs="observed", start=False, end=False, dev_metric="accuracy",
        patience=15, max_iter=100, time_limit=limit, tol=1e-2, **method.settings,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the budget was too small is reported
        return tagger.fit(*train, dev=dev)


def _best_dev(tagger: Any) -> float:
    return float(np.nanmax([*tagger.trace_["dev_score"], 0.0]))


def _measure(
    method: Method, C: float, train: Data, dev: Data, test: Data, limit: float
) -> Result:
    begin = time.perf_counter()
    tagger = _fit(method, C, train, dev, limit)
    spent = time.perf_counter() - begin
    trace, certificate = tagger.trace_, tagger.certificate_
    return Result(
        100 * (1 - tagger.score(*test)),
        100 * (1 - _best_dev(tagger)),
        float(trace["seconds"][-1]) if len(trace) else spent,
        len(trace),
        float("nan") if certificate is None else certificate.relative_gap,
        int(np.count_nonzero(tagger.weights_)),
        trace,
    )


def _last_gap(trace: Trace) -> float:
    """Return the smallest gap, which is that of the best bounds."""
    return float(np.nanmin(trace["relative_gap"], initial=np.inf))


def _seconds_to_gap(trace: Trace, gap: float) -> float:
    close = np.flatnonzero(trace["relative_gap"] <= gap)
    return float(trace["seconds"][close[0]]) if close.size else np.inf


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def _report(
    results: dict[str, list[Result]],
    hmm: list[float],
    chosen: dict[str, float],
    seeds: list[int],
    limit: float,
) -> Report:
    mean = {
        name: float(np.mean([r.error for r in own])) for name, own in results.items()
    }
    rows: list[list[Any]] = []
    for name, own in results.items():
        paper = PAPER.get(name, (None, None))
        rows.append(
            [
                name, chosen[name], _spread([r.error for r in own]),
                float(np.mean([r.seconds for r in own])),
                float(np.mean([r.passes for r in own])),
                100 * float(np.mean([r.gap for r in own])),
                float(np.mean([r.n_used for r in own])), *paper,
            ]
        )  # fmt: skip
    rows.append(["HMM", None, _spread(hmm), None, None, None, None, *PAPER["HMM"]])
    programs = [name for name in METHODS if name.startswith("LP")]
    best = min(
        programs, key=lambda name: float(np.mean([r.dev_error for r in results[name]]))
    )
    slowest = max(r.seconds for name in programs for r in results[name])
    shares = [
        _seconds_to_gap(own.trace, _last_gap(other.trace)) / other.seconds
        for own, other in zip(results[LP], results[HIGHS], strict=True)
    ]
    figures = [
        Figure(f"error of {best}, best on development data, above MIRA's",
               mean[best] - mean[MIRA], "points", at_most=0.3),
        Figure(f"error of {LP} above MIRA's", mean[LP] - mean[MIRA], "points",
               at_most=0.3),
        Figure("time of Chambolle-Pock to the last gap of HiGHS, as a share of its",
               float(np.mean(shares)), "", at_most=1.0),
        Figure("longest training of a linear program", slowest, "s", at_most=856.0),
    ]  # fmt: skip
    headings = ["", "C", "error, %", "s", "passes", "gap, %", "non-zero",
                "paper: error", "paper: s"]  # fmt: skip
    curves = [
        Curve(
            f"{name}, split {seed}",
            r.trace["iteration"].tolist(),
            r.trace["seconds"].tolist(),
        )
        for name in (LP, HIGHS)
        for seed, r in zip(seeds, results[name], strict=True)
    ]
    falling = [
        Curve(
            name,
            results[name][0].trace["seconds"].tolist(),
            results[name][0].trace["primal"].tolist(),
        )
        for name in (LP, "LP, proximal", HIGHS)
    ]
    return Report(
        figures,
        settings={"seconds for every training": limit, "C": chosen},
        seeds=seeds,
        tables=[Table("Five splits: mean and standard deviation", headings, rows)],
        plots=[
            Plot("rounds", "round", "seconds", curves, log_y=True),
            Plot("objective", "seconds", "objective", falling, log_y=True),
        ],
        notes=[
            "Training ends at a gap of 1%, after 15 passes without a better error on "
            "development data, or when its time is up, which HiGHS may overrun, since "
            "a master problem is not interrupted.",
        ],
    )
