"""Tagging: tokens per second, latency and loading, beside python-crfsuite's Tagger.

Both models are loaded once and have the same features. "File to file" reads a column
file and writes it again with one more column; the peer makes its features in Python,
as it must.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import (
    TEMPLATE,
    corpus,
    feature_dicts,
    feature_strings,
    read_sentences,
)
from benchmarks.harness.clock import median_seconds, seconds
from benchmarks.harness.report import Figure, Report, Table
from partwise import SequenceTagger, load
from partwise.data import read_columns, write_columns
from partwise.metrics import chunk_f1

N_THREADS = 4
PASSES = 6


def run(bench: Bench) -> Report:
    """Train both on the same features, then measure."""
    crfsuite.peer()
    train, test = corpus(bench)
    scratch = bench.scratch
    bench.say("training our models and the peer's")
    ours = _train_partwise(train, scratch)
    theirs = _train_crfsuite(train, scratch)
    columns, dicts = load(ours["columns"]), load(ours["dicts"])
    peer_columns = crfsuite.open_tagger(theirs["columns"])
    peer_dicts = crfsuite.open_tagger(theirs["dicts"])
    sentences = list(read_sentences(test))
    X = [feature_dicts(s.words, s.tags) for s in sentences]
    n_tokens = sum(map(len, X))

    bench.say("throughput")
    jobs: dict[str, Callable[[], Any]] = {
        "columns, partwise": lambda: tag_file(columns, test, scratch / "ours.txt"),
        "columns, crfsuite": lambda: tag_file_with_peer(
            peer_columns, test, scratch / "theirs.txt"
        ),
        "dicts, partwise": lambda: dicts.predict(X),
        "dicts, crfsuite": lambda: [peer_dicts.tag(x) for x in X],
    }
    taken = median_seconds(jobs, bench.choose(9, 2))
    bench.say("latency and loading")
    rows = list(read_columns(test).without(-1))
    latency = {
        "columns, partwise": _latency(lambda x: columns.predict([x]), rows),
        "columns, crfsuite": _latency(
            lambda s: peer_columns.tag(feature_strings(s.words, s.tags)), sentences
        ),
        "dicts, partwise": _latency(lambda x: dicts.predict([x]), X),
        "dicts, crfsuite": _latency(peer_dicts.tag, X),
    }
    loading = median_seconds(
        {
            "columns, partwise": lambda: load(ours["columns"]),
            "columns, crfsuite": lambda: crfsuite.open_tagger(theirs["columns"]),
            "dicts, partwise": lambda: load(ours["dicts"]),
            "dicts, crfsuite": lambda: crfsuite.open_tagger(theirs["dicts"]),
        },
        bench.choose(5, 1),
    )
    bench.say(f"{N_THREADS} threads")
    same = _same_from_threads(dicts, X) and _same_from_threads(columns, rows)

    def faster(kind: str) -> float:
        return taken[f"{kind}, crfsuite"] / taken[f"{kind}, partwise"]

    figures = [
        Figure("file to file, times crfsuite", faster("columns"), "x", at_least=5),
        Figure("feature dicts, times crfsuite", faster("dicts"), "x", at_least=2),
        Figure(
            "one sentence from columns, median",
            latency["columns, partwise"],
            "ms",
            at_most=1,
        ),
        Figure(
            "one sentence from dicts, median",
            latency["dicts, partwise"],
            "ms",
            at_most=0.06,
        ),
        Figure("loading a model", 1000 * loading["columns, partwise"], "ms"),
        Figure(f"same answers from {N_THREADS} threads", same, "", at_least=1),
    ]
    paths = {f"{kind}, partwise": path for kind, path in ours.items()}
    paths |= {f"{kind}, crfsuite": path for kind, path in theirs.items()}
    gold = [s.chunks for s in sentences]
    predicted = {
        "columns, partwise": columns.predict(rows),
        "columns, crfsuite": [
            peer_columns.tag(feature_strings(s.words, s.tags)) for s in sentences
        ],
        "dicts, partwise": dicts.predict(X),
        "dicts, crfsuite": [peer_dicts.tag(x) for x in X],
    }
    table = [
        [
            name,
            n_tokens / taken[name],
            latency[name],
            1000 * loading[name],
            Path(paths[name]).stat().st_size / 2**20,
            100 * chunk_f1(gold, predicted[name]),
        ]
        for name in taken
    ]
    headings = [
        "", "tokens/s", "one sentence, ms", "loading, ms", "file, MiB", "test F1",
    ]  # fmt: skip
    return Report(
        figures,
        settings={"passes of training": PASSES, "peer": "ap, 10 iterations"},
        seeds=[0],
        tables=[Table("Medians", headings, table)],
        notes=[
            f"{n_tokens:,} tokens in {len(sentences):,} sentences. The latency of the "
            "peer from columns includes making its features.",
            "Our models hold weights for all label/attribute pairs, the peer's for "
            "those seen in training, as its default is.",
            "The peer maps its model file into memory and reads it when tagging.",
        ],
    )


def tag_file(tagger: Any, source: Path, target: Path) -> None:
    """Read a column file, tag it, and write it with one more column."""
    data = read_columns(source)
    write_columns(target, data, tagger.predict(data.without(-1)))


def tag_file_with_peer(tagger: Any, source: Path, target: Path) -> None:
    """Do the same with the peer, sentence by sentence."""
    with target.open("w", encoding="utf-8") as out:
        for words, tags, chunks in read_sentences(source):
            labels = tagger.tag(feature_strings(words, tags))
            tokens = zip(words, tags, chunks, labels, strict=True)
            out.write("\n".join([*map(" ".join, tokens), "", ""]))


def _train_partwise(train: Path, scratch: Path) -> dict[str, str]:
    data = read_columns(train)
    y = data.column_sequences(-1)
    sentences = read_sentences(train)
    inputs: dict[str, tuple[Any, Any]] = {
        "columns": (data.without(-1), TEMPLATE),
        "dicts": ((feature_dicts(s.words, s.tags) for s in sentences), None),
    }
    paths = {}
    for kind, (X, template) in inputs.items():
        tagger = SequenceTagger(
            "squared_hinge", template=template, max_iter=PASSES, start=False, end=False
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a few passes are enough to tag well
            tagger.fit(X, y)
        paths[kind] = str(scratch / f"{kind}.partwise")
        tagger.save(paths[kind])
    return paths


def _train_crfsuite(train: Path, scratch: Path) -> dict[str, str]:
    paths = {}
    for kind, featurize in (("columns", feature_strings), ("dicts", feature_dicts)):
        sentences = list(read_sentences(train))
        X = (featurize(s.words, s.tags) for s in sentences)
        trainer = crfsuite.make_trainer(X, (s.chunks for s in sentences))
        path = scratch / f"{kind}.crfsuite"
        paths[kind] = crfsuite.train(trainer, path, "ap", max_iterations=10).path
    return paths


def _latency(tag: Callable[[Any], Any], sentences: list[Any]) -> float:
    """Return the median milliseconds of tagging one sentence."""
    tag(sentences[0])
    return 1000 * median(seconds(partial(tag, x)) for x in sentences)


def _same_from_threads(tagger: Any, X: list[Any]) -> bool:
    """Predict from several threads at once, each its own slices, and compare."""
    expected = tagger.predict(X)
    size = max(1, len(X) // 40)
    starts = range(0, len(X), size)
    with ThreadPoolExecutor(N_THREADS) as pool:
        pieces = pool.map(lambda at: tagger.predict(X[at : at + size]), starts)
        return bool([labels for piece in pieces for labels in piece] == expected)
