"""Weights for all label/attribute pairs or the observed ones, and C: what to default.

Chunking (CoNLL-2000, the default template) and names (CoNLL-2002 Spanish, the same),
scored on development data only: of CoNLL-2000, which has none, every tenth training
sentence is held out. Each setting is trained in a process of its own.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.harness.bench import Bench
from benchmarks.harness.child import run_in_child
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table

PAIRS = ("all", "observed")
CS = (0.01, 0.1, 1.0)
# A difference in F1 that is worth more memory and time.
WORTH = 0.1


def run(bench: Bench) -> Report:
    """Train every setting on every task."""
    tasks: dict[str, list[str]] = {
        "chunking": _files(bench, "chunking", ["conll2000/train.txt.gz"]),
        "Spanish names": _files(
            bench, "names", ["conll2002/esp.train.gz", "conll2002/esp.testa.gz"]
        ),
    }
    first = bench.choose(0, 400)
    chosen = bench.choose(CS, CS[1:2])
    results: dict[tuple[str, str, float], dict[str, Any]] = {}
    for task, files in tasks.items():
        for pairs in PAIRS:
            for C in chosen:
                bench.say(f"{task}, pairs={pairs!r}, C={C}")
                results[task, pairs, C] = run_in_child(
                    "benchmarks.observed_pairs", "train", files, pairs, C, first,
                    str(bench.scratch),
                )  # fmt: skip
    return _report(tasks, chosen, results)


def _files(bench: Bench, what: str, names: list[str]) -> list[str]:
    return bench.data(what, names, lambda *paths: [str(p) for p in paths], lambda: [])


def train(
    files: list[str], pairs: str, C: float, first: int, scratch: str
) -> dict[str, Any]:
    """Train one setting; return its F1 on development data and what it cost."""
    from partwise import SequenceTagger
    from partwise.metrics import chunk_f1

    X, y, X_dev, y_dev = _data(files, first)
    settings: dict[str, Any] = {"template": "default", "pairs": pairs, "C": C}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is in the table
        SequenceTagger(**settings, max_iter=1).fit(X[:20], y[:20])  # compiles
        begin = time.perf_counter()
        tagger = SequenceTagger(**settings).fit(X, y)
        seconds = time.perf_counter() - begin
    path = Path(scratch) / "observed_pairs.partwise"
    tagger.save(path)
    gap = tagger.certificate_.relative_gap if tagger.certificate_ else float("nan")
    return {
        "f1": 100 * chunk_f1(y_dev, tagger.predict(X_dev)),
        "seconds": seconds,
        "passes": tagger.n_iter_,
        "gap": 100 * gap,
        "model_mib": path.stat().st_size / 2**20,
        "n_weights": tagger.weights_.size,
    }


def _data(files: list[str], first: int) -> tuple[Any, Any, Any, Any]:
    """Return sentences and labels, for training and for development."""
    from partwise.data import ColumnData, read_columns
    from partwise.synthetic import make_corpus

    def split(data: ColumnData) -> tuple[Any, Any]:
        return list(data.without(-1)), data.column_sequences(-1)

    if not files:
        sentences = make_corpus(first + first // 4, noise=0.05)
        rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in sentences]
        X, y = split(ColumnData.from_sentences(rows))
        return X[:first], y[:first], X[first:], y[first:]
    loaded = [split(read_columns(file)) for file in files]
    X, y = loaded[0]
    if len(loaded) == 2:
        X_dev, y_dev = loaded[1]
    else:
        X_dev, y_dev = X[9::10], y[9::10]
        del X[9::10], y[9::10]
    stop = first or None
    return X[:stop], y[:stop], X_dev[:stop], y_dev[:stop]


def _report(
    tasks: dict[str, list[str]],
    chosen: tuple[float, ...],
    results: dict[tuple[str, str, float], dict[str, Any]],
) -> Report:
    def overall(pairs: str, C: float, field: str) -> float:
        return float(mean(results[task, pairs, C][field] for task in tasks))

    best, f1 = {}, {}
    for pairs in PAIRS:
        f1[pairs], best[pairs] = max((overall(pairs, C, "f1"), C) for C in chosen)
    choice = "all" if f1["all"] > f1["observed"] + WORTH else "observed"
    figures = []
    for pairs in PAIRS:
        C = best[pairs]
        figures += [
            Figure(f"pairs={pairs!r}: best C", C, ""),
            Figure(f"pairs={pairs!r}, C={C}: mean dev F1", f1[pairs], "%"),
        ]
    for field, unit in (("seconds", "time"), ("peak_mib", "peak memory"),
                        ("model_mib", "model size")):  # fmt: skip
        ratio = overall("observed", best["observed"], field) / overall(
            "all", best["all"], field
        )
        figures.append(Figure(f"observed / all: {unit}", ratio, "ratio"))
    fields = ["f1", "seconds", "passes", "gap", "peak_mib", "model_mib", "n_weights"]
    rows = [
        [task, pairs, C, *(result[field] for field in fields)]
        for (task, pairs, C), result in results.items()
    ]
    headings = [
        "task", "pairs", "C", "dev F1", "seconds", "passes", "gap %", "peak MiB",
        "model MiB", "weights",
    ]  # fmt: skip
    curves = [
        Curve(
            f"{task}, {pairs}", chosen, [results[task, pairs, C]["f1"] for C in chosen]
        )
        for task in tasks
        for pairs in PAIRS
    ]
    return Report(
        figures,
        settings={"template": "default", "C": list(chosen)},
        seeds=[0],
        tables=[Table("All settings", headings, rows)],
        plots=[Plot("f1", "C", "dev F1", curves, log_x=True)],
        notes=[
            f"By the rule fixed beforehand (all pairs if that is worth {WORTH} of mean "
            f"dev F1, else observed ones) the default is pairs={choice!r}, "
            f"C={best[choice]}. Test data was not looked at.",
        ],
    )
