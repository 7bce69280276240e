"""Requests a second and latency of `partwise serve`, beside python-crfsuite's.

One sentence a request, on loopback, by 1 to 64 connections. The peer is behind the same
framework. While a load runs, the model's file is written anew: no request may fail.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.chunking import (
    TEMPLATE,
    corpus,
    feature_strings,
    read_sentences,
)
from benchmarks.harness.load import load
from benchmarks.harness.parsing_task import EWT, read_treebank
from benchmarks.harness.report import Figure, Report, Table

CONNECTIONS = (1, 8, 64)
PORT = 8917
MOST_GROWTH = 1.1
PATH = "/models/{}/predict"
TAGGER, PARSER, LONG = "tagger", "parser", "long load with a reload"


def run(bench: Bench) -> Report:
    """Serve a tagger, a parser and the peer's tagger; load each."""
    chosen = bench.parts([TAGGER, PARSER, LONG])
    seconds = bench.choose(10.0, 1.0)
    rows: list[list[Any]] = []
    figures: list[Figure] = []
    if TAGGER in chosen or LONG in chosen:
        _load_taggers(bench, chosen, seconds, rows, figures)
    if PARSER in chosen:
        model, sentences = _train_parser(bench)
        with _server(_ours("parser", model)):
            rows += _loads("partwise, parser", "parser", sentences, seconds)
    failures = sum(row[5] for row in rows)
    return Report(
        [
            *figures,
            Figure("requests that failed", failures, "requests", at_most=0),
        ],
        settings={"seconds": seconds, "connections": list(CONNECTIONS)},
        tables=[
            Table(
                "One sentence a request",
                ["", "connections", "requests/s", "p50 ms", "p99 ms", "failed"],
                rows,
            )
        ],
        notes=["The load generator runs on the same cores as the server."],
    )


def _load_taggers(
    bench: Bench,
    chosen: list[str],
    seconds: float,
    rows: list[list[Any]],
    figures: list[Figure],
) -> None:
    """Load our tagger, for long if that is asked for, and the peer's."""
    crfsuite.peer()
    train, test = corpus(bench)
    sentences = [
        " ".join(map("|".join, zip(words, tags, strict=True)))
        for words, tags, _ in read_sentences(test)
    ]
    model, peers = _train_taggers(bench, train)
    with _server(_ours("chunks", model)) as process:
        if TAGGER in chosen:
            rows += _loads("partwise, chunks", "chunks", sentences, seconds)
        if LONG in chosen:
            load(PORT, PATH.format("chunks"), sentences, 8, seconds)
            before = _memory(process.pid)
            bench.say("a long load, with a reload in the middle")
            long = _with_reload(sentences, model, bench.choose(600.0, 4.0))
            growth = _memory(process.pid) / before
            figures += [
                Figure("failed during a reload", long.failures, "requests", at_most=0),
                Figure("memory after / before", growth, "ratio", at_most=MOST_GROWTH),
            ]
            rows.append(["partwise, chunks, long", 8, *long[:4]])
    if TAGGER not in chosen:
        return
    ours = {row[1]: row[2] for row in rows if row[0] == "partwise, chunks"}
    command = [sys.executable, "-m", "benchmarks.harness.crfsuite_server"]
    with _server([*command, str(peers), str(PORT)]):
        theirs = _loads("python-crfsuite, chunks", "chunks", sentences, seconds)
    rows += theirs
    figures += [
        Figure(
            f"requests a second / python-crfsuite's, {row[1]} connections",
            ours[row[1]] / row[2],
            "x",
            at_least=1.0,
        )
        for row in theirs
    ]


def _ours(name: str, model: Path) -> list[str]:
    served = f"{name}={model}"
    return [sys.executable, "-m", "partwise", "serve", served, "--port", str(PORT)]


def _loads(what: str, name: str, inputs: list[str], seconds: float) -> list[list[Any]]:
    """Load a server with few and with many connections."""
    path = PATH.format(name)
    load(PORT, path, inputs, 1, 1.0)  # compiling is not serving
    return [
        [what, connections, *load(PORT, path, inputs, connections, seconds)[:4]]
        for connections in CONNECTIONS
    ]


def _train_taggers(bench: Bench, train: Path) -> tuple[Path, Path]:
    """Return the files of our tagger and of the peer's."""
    from partwise import SequenceTagger
    from partwise.data import read_columns

    bench.say("training taggers")
    ours, theirs = bench.scratch / "chunks.model", bench.scratch / "crfsuite.model"
    data = read_columns(train)
    tagger = SequenceTagger(loss="log_loss", C=1.0, template=TEMPLATE)
    tagger.fit(data.without(-1), data.column_sequences(-1)).save(ours)
    read = list(read_sentences(train))
    trainer = crfsuite.make_trainer(
        [feature_strings(words, tags) for words, tags, _ in read],
        [chunks for _, _, chunks in read],
    )
    crfsuite.train(trainer, theirs, "lbfgs", max_iterations=30)
    return ours, theirs


def _train_parser(bench: Bench) -> tuple[Path, list[str]]:
    """Return the file of a parser, and sentences for it."""
    from partwise import DependencyParser

    bench.say("training a parser")
    parts = read_treebank(bench, EWT)
    path = bench.scratch / "parser.model"
    DependencyParser(crossing="lift", max_iter=5).fit(parts["train"]).save(path)
    sentences = [
        " ".join(f"{form}|{tag}" for form, tag in zip(s.forms, s.upos, strict=True))
        for s in parts["test"]
        if not any("|" in form or " " in form for form in s.forms)
    ]
    return path, sentences


@contextlib.contextmanager
def _server(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it answers, and end it."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health").read()
                break
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def _with_reload(inputs: Any, model: Path, seconds: float) -> Any:
    """Load for some seconds; write the model's file anew in the middle."""

    def write_anew() -> None:
        copy = model.with_suffix(".new")
        shutil.copy(model, copy)
        os.replace(copy, model)

    timer = threading.Timer(seconds / 2, write_anew)
    timer.start()
    found = load(PORT, PATH.format("chunks"), inputs, 8, seconds)
    timer.join()
    return found


def _memory(pid: int) -> float:
    """Return the memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
