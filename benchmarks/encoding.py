"""From text to arrays: column file and feature dicts, beside feeding python-crfsuite.

Each job runs in processes of its own, which do nothing else, so that the peak memory
is the job's. The peer reads the same file, makes the same features in Python, and
hands them to its trainer sentence by sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.child import peak_mib, run_in_child
from benchmarks.harness.chunking import (
    TEMPLATE,
    Chunked,
    corpus,
    feature_dicts,
    feature_strings,
    read_sentences,
)
from benchmarks.harness.report import Figure, Report, Table

JOBS = (
    "columns_to_partwise",
    "columns_to_crfsuite",
    "dicts_to_partwise",
    "dicts_to_crfsuite",
)
GOALS = {"columns": 5.0, "dicts": 1.5}
TITLES = {"columns": "column file and template", "dicts": "feature dicts"}


def run(bench: Bench) -> Report:
    """Measure both ways, ours and the peer's taking turns."""
    crfsuite.peer()
    train, _ = corpus(bench)
    found: dict[str, list[dict[str, Any]]] = {job: [] for job in JOBS}
    for number in range(bench.choose(5, 1)):
        for job in JOBS:
            bench.say(f"{job}, run {number + 1}")
            found[job].append(run_in_child("benchmarks.encoding", job, str(train)))

    def middle(job: str, field: str) -> float:
        return float(median(result[field] for result in found[job]))

    figures = []
    for kind, goal in GOALS.items():
        ours, theirs = f"{kind}_to_partwise", f"{kind}_to_crfsuite"
        times = middle(theirs, "seconds") / middle(ours, "seconds")
        memory = middle(ours, "peak_mib") / middle(theirs, "peak_mib")
        added = middle(ours, "added_mib") / middle(theirs, "added_mib")
        title = TITLES[kind]
        figures += [
            Figure(f"{title}: times faster than crfsuite", times, "x", at_least=goal),
            Figure(f"{title}: peak memory / crfsuite's", memory, "ratio", at_most=1.0),
            Figure(f"{title}: memory added / crfsuite's", added, "ratio", at_most=1.0),
        ]
    rows = [
        [
            job.replace("_", " "),
            middle(job, "seconds"),
            middle(job, "n_tokens") / middle(job, "seconds"),
            middle(job, "peak_mib"),
            middle(job, "added_mib"),
        ]
        for job in JOBS
    ]
    headings = ["", "seconds", "tokens/s", "MiB at the peak", "MiB added"]
    return Report(
        figures,
        settings={"template": "19 lines", "repeats": bench.choose(5, 1)},
        tables=[Table("Median of all runs", headings, rows)],
        notes=[
            "Peak memory is that of the whole process: the interpreter, all libraries "
            "(Numba with its compiler among ours) and, for dicts, the dicts "
            "themselves. Memory added is by how much the job raised that peak.",
        ],
    )


def _measured(job: Callable[[], int]) -> dict[str, Any]:
    before = peak_mib()
    begin = time.perf_counter()
    n_tokens = job()
    seconds = time.perf_counter() - begin
    added = peak_mib() - before
    return {"seconds": seconds, "n_tokens": n_tokens, "added_mib": added}


def columns_to_partwise(path: str) -> dict[str, Any]:
    """Read a column file and encode it through the template."""
    from partwise.data import ColumnData, read_columns
    from partwise.features import TemplateEncoder

    TemplateEncoder(TEMPLATE).fit_encode(
        ColumnData.from_sentences([[("a", "B"), ("c", "D")]])
    )

    def job() -> int:
        data = read_columns(path)
        encoded = TemplateEncoder(TEMPLATE).fit_encode(data)
        return int(encoded.ptr[-1])

    return _measured(job)


def columns_to_crfsuite(path: str) -> dict[str, Any]:
    """Read a column file, make the features as strings, and append them."""
    trainer = crfsuite.make_trainer([], [])

    def job() -> int:
        n_tokens = 0
        for words, tags, chunks in read_sentences(path):
            trainer.append(feature_strings(words, tags), chunks)
            n_tokens += len(words)
        return n_tokens

    return _measured(job)


def dicts_to_partwise(path: str) -> dict[str, Any]:
    """Encode feature dicts that are in memory."""
    from partwise.features import FeatureDictEncoder

    FeatureDictEncoder().fit_encode([[{"a": "b"}]])
    X, _ = _ready(path)
    return _measured(lambda: int(FeatureDictEncoder().fit_encode(X).ptr[-1]))


def dicts_to_crfsuite(path: str) -> dict[str, Any]:
    """Append feature dicts that are in memory."""
    trainer = crfsuite.make_trainer([], [])
    X, y = _ready(path)

    def job() -> int:
        for xs, ys in zip(X, y, strict=True):
            trainer.append(xs, ys)
        return sum(map(len, y))

    return _measured(job)


def _ready(path: str) -> tuple[list[list[dict[str, str]]], list[list[str]]]:
    sentences: list[Chunked] = list(read_sentences(Path(path)))
    return [feature_dicts(s.words, s.tags) for s in sentences], [
        s.chunks for s in sentences
    ]
