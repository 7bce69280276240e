"""Probabilities of margin models: calibration error, and coverage of sets of labels.

Five corpora: names in Spanish and Dutch, parts of speech of the WSJ sample and of EWT,
chunks of CoNLL-2000. Every tagger is trained with the squared hinge; its development
data scales and maps probabilities, and promises the coverage of sets. Test data judges.
A promise holds for data like that which it was made on: it is judged on the test data
as it comes, and where development and test data are shuffled first.
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
from partwise.metrics import calibration_error, coverage
from partwise.synthetic import make_corpus

RISKS = (0.1, 0.05)
METHODS = ("temperature", "isotonic")


def run(bench: Bench) -> Report:
    """Train and measure on every corpus."""
    corpora = {source.name: read_corpus(bench, source) for source in SOURCES}
    corpora["chunks"] = _chunks(bench)
    figures, rows = [], []
    for name, corpus in corpora.items():
        bench.say(name)
        features = "ner" if "names" in name else "pos"
        found = _measure(corpus, features, bench.choose(4000, 100))
        rows += [[name, *row] for row in found]
        plain, *calibrated = found
        best = min(row[1] for row in calibrated)
        figures.append(Figure(f"{name}: ECE before", plain[1], "%"))
        figures.append(Figure(f"{name}: ECE after", best, "%", at_most=2))
        figures += _coverage_figures(name, calibrated)
        bench.say(f"{name}, shuffled")
        found = _measure(_shuffled(corpus), features, bench.choose(4000, 100))[1:]
        rows += [[f"{name}, shuffled", *row] for row in found]
        figures += _coverage_figures(f"{name}, shuffled", found)
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


def _shuffled(corpus: Corpus) -> Corpus:
    """Return the corpus with its development and test sentences shuffled."""
    dev, test = list(corpus.dev), list(corpus.test)
    both = dev + test
    random.Random(0).shuffle(both)
    return corpus._replace(
        dev=ColumnData.from_sentences(both[: len(dev)]),
        test=ColumnData.from_sentences(both[len(dev) :]),
    )


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


def _measure(corpus: Corpus, features: str, first: int) -> list[list[Any]]:
    """Return calibration error, coverage, size of sets and answers of each method."""
    X, y = _split(corpus.train, first)
    dev, (X_test, y_test) = _split(corpus.dev, first), _split(corpus.test, first)
    gold = [label for labels in y_test for label in labels]
    rows = []
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
    return rows


def _split(data: ColumnData, first: int) -> tuple[list[Any], list[list[str]]]:
    """Return the cells of tokens without labels, and the labels."""
    labels = data.column_sequences(-1)[:first]
    return list(islice(data.without(-1), first)), labels
