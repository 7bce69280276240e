"""Probabilities of margin models: calibration error, and coverage of sets of labels.

Five corpora: names in Spanish and Dutch, parts of speech of the WSJ sample and of EWT,
chunks of CoNLL-2000. Every tagger is trained with the squared hinge; its development
data scales and maps probabilities, and promises the coverage of sets. Test data judges.
A promise holds for data like that which it was made on, on average over draws: it is
judged on the test data as it comes, and as the mean over draws in which the sentences
that are held out for it are drawn at random from these and the test data.
"""

from __future__ import annotations

import random
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Figure, Report, Table
from benchmarks.harness.tagging import SOURCES, Corpus, read_corpus
from partwise import SequenceTagger
from partwise.data import ColumnData, read_columns
from partwise.estimators.calibration import Calibration, strangeness
from partwise.metrics import calibration_error, coverage
from partwise.synthetic import make_corpus

RISKS = (0.1, 0.05)
METHODS = ("temperature", "isotonic")
DRAWS = 20


def run(bench: Bench) -> Report:
    """Train and measure on every corpus."""
    sources = {source.name: source for source in SOURCES}
    figures, rows = [], []
    for name in bench.parts([*sources, "chunks"]):
        bench.say(name)
        corpus = (
            _chunks(bench) if name == "chunks" else read_corpus(bench, sources[name])
        )
        features = "ner" if "names" in name else "pos"
        found, drawn = _measure(corpus, features, bench.choose(4000, 100))
        rows += [[name, *row] for row in found]
        plain, *calibrated = found
        best = min(row[1] for row in calibrated)
        figures.append(Figure(f"{name}: ECE before", plain[1], "%"))
        figures.append(Figure(f"{name}: ECE after", best, "%", at_most=2))
        figures += _coverage_figures(name, calibrated)
        rows += [[f"{name}, drawn", *row] for row in drawn]
        figures += _coverage_figures(f"{name}, drawn", drawn)
    headings = ["corpus", "probabilities", "ECE %"]
    headings += [f"coverage % at risk {risk:g}" for risk in RISKS]
    headings += [f"labels in a set at risk {risk:g}" for risk in RISKS]
    headings += [f"answered % at risk {risk:g}" for risk in RISKS]
    return Report(
        figures,
        settings={"loss": "squared_hinge", "C": "the default", "risks": list(RISKS)},
        seeds=[0],
        tables=[Table("All corpora", headings, rows)],
        notes=[
            "Every other sentence of the development data stops training and fits the "
            "calibration; the others are held out for the sets.",
            "The promise is one for tokens of sentences like those of the development "
            "data; test data of another time or source need not keep to it.",
            f"Drawn: the mean of {DRAWS} draws of the held-out sentences.",
        ],
    )


def _coverage_figures(name: str, rows: list[list[Any]]) -> list[Figure]:
    figures = []
    for number, risk in enumerate(RISKS):
        # The promise is a lower bound; a set of more than that is too large.
        off = max(abs(row[2 + number] - 100 * (1 - risk)) for row in rows)
        title = f"{name}: coverage of {100 * (1 - risk):g}% is off by"
        figures.append(Figure(title, off, "%", at_most=1))
    return figures


def _chunks(bench: Bench) -> Corpus:
    files = ["conll2000/train.txt.gz", "conll2000/test.txt.gz"]

    def read(train: Path, test: Path) -> Corpus:
        rows = list(read_columns(train))
        own, dev = [r for i, r in enumerate(rows) if i % 5], rows[::5]
        parts = (own, dev, list(read_columns(test)))
        return Corpus(*(ColumnData.from_sentences(part) for part in parts))

    def generate() -> Corpus:
        sentences = make_corpus(300, noise=0.05)
        rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in sentences]
        parts = (rows[:100], rows[100:200], rows[200:])
        return Corpus(*(ColumnData.from_sentences(part) for part in parts))

    return bench.data("chunks", files, read, generate)


def _drawn(tagger: SequenceTagger, held_out: Any, test: Any) -> list[float]:
    """Return the coverage for each risk, in percent, on average over draws."""
    codes = {label: k for k, label in enumerate(tagger.classes_.tolist())}
    right = [
        [
            float(row[codes[y]]) if y in codes else 0.0
            for row, y in zip(*pair, strict=True)
        ]
        for X, labels in (held_out, test)
        for pair in zip(tagger.predict_marginals(X), labels, strict=True)
    ]
    found = []
    for seed in range(DRAWS):
        random.Random(seed).shuffle(right)
        own, rest = right[: len(held_out[0])], right[len(held_out[0]) :]
        promise = Calibration(
            1.0, np.zeros(0), np.zeros(0), strangeness([p for one in own for p in one])
        )
        others = np.array([p for one in rest for p in one])
        found.append(
            [100 * float(np.mean(others >= promise.least_share(r))) for r in RISKS]
        )
    return [float(mean) for mean in np.mean(found, axis=0)]


def _measure(
    corpus: Corpus, features: str, first: int
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return calibration error, coverage, size of sets and answers of each method.

    And the same where held-out sentences are drawn, as far as it is another.
    """
    X, y = _split(corpus.train, first)
    dev, (X_test, y_test) = _split(corpus.dev, first), _split(corpus.test, first)
    gold = [label for labels in y_test for label in labels]
    rows, drawn = [], []
    for method in (None, *METHODS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it converged is not the question
            settings = {"template": features, "calibrate": method, "max_iter": 10}
            tagger = SequenceTagger("squared_hinge", **settings).fit(X, y, dev=dev)
        shares = np.vstack(tagger.predict_marginals(X_test))
        right = tagger.classes_[shares.argmax(axis=1)] == np.array(gold, object)
        row: list[Any] = [method or "none"]
        row.append(100 * calibration_error(shares.max(axis=1), right))
        if method is None:
            rows.append(row + [float("nan")] * 3 * len(RISKS))
            continue
        sets = {
            risk: [some for one in tagger.predict_sets(X_test, risk) for some in one]
            for risk in RISKS
        }
        row += [100 * coverage(sets[risk], gold) for risk in RISKS]
        row += [float(np.mean([*map(len, sets[risk])])) for risk in RISKS]
        row += [100 * float(np.mean([len(s) == 1 for s in sets[r]])) for r in RISKS]
        rows.append(row)
        held_out = dev[0][1::2], dev[1][1::2]
        nothing = [float("nan")] * 2 * len(RISKS)
        drawn.append([method, row[1], *_drawn(tagger, held_out, (X_test, y_test))])
        drawn[-1] += nothing
    return rows, drawn


def _split(data: ColumnData, first: int) -> tuple[list[Any], list[list[str]]]:
    """Return the cells of tokens without labels, and the labels."""
    labels = data.column_sequences(-1)[:first]
    return list(islice(data.without(-1), first)), labels
