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


def run(bench: Bench) -> Report:
    """Serve a tagger, a parser and the peer's tagger; load each."""
    crfsuite.peer()
    seconds = bench.choose(10.0, 1.0)
    train, test = corpus(bench)
    sentences = [
        " ".join(map("|".join, zip(words, tags, strict=True)))
        for words, tags, _ in read_sentences(test)
    ]
    bench.say("training")
    models = _train(bench, train)
    rows: list[list[Any]] = []
    best: dict[str, float] = {}
    for name, inputs in (("chunks", sentences), ("parser", models["sentences"])):
        command = [sys.executable, "-m", "partwise", "serve"]
        served = f"{name}={models[name]}"
        with _server([*command, served, "--port", str(PORT)]) as process:
            path = f"/models/{name}/predict"
            load(PORT, path, inputs, 1, 1.0)  # compiling is not serving
            for connections in CONNECTIONS:
                found = load(PORT, path, inputs, connections, seconds)
                rows.append([f"partwise, {name}", connections, *found[:4]])
                best[name] = max(best.get(name, 0.0), found.per_second)
            if name == "chunks":
                before = _memory(process.pid)
                bench.say("a long load, with a reload in the middle")
                long = _with_reload(
                    path, inputs, models[name], bench.choose(600.0, 4.0)
                )
                growth = _memory(process.pid) / before
    peer = [sys.executable, "-m", "benchmarks.harness.crfsuite_server"]
    with _server([*peer, str(models["crfsuite"]), str(PORT)]):
        for connections in CONNECTIONS:
            path = "/models/chunks/predict"
            found = load(PORT, path, sentences, connections, seconds)
            rows.append(["python-crfsuite, chunks", connections, *found[:4]])
            best["peer"] = max(best.get("peer", 0.0), found.per_second)
    ratio = best["chunks"] / best["peer"]
    failures = sum(row[5] for row in rows)
    return Report(
        [
            Figure("requests a second / python-crfsuite's", ratio, "x", at_least=1.0),
            Figure("requests that failed", failures, "requests", at_most=0),
            Figure("of these during a reload", long.failures, "requests", at_most=0),
            Figure("memory after / before", growth, "ratio", at_most=MOST_GROWTH),
        ],
        settings={"seconds": seconds, "connections": list(CONNECTIONS)},
        tables=[
            Table(
                "One sentence a request",
                ["", "connections", "requests/s", "p50 ms", "p99 ms", "failed"],
                rows,
            )
        ],
        notes=["The load generator runs on the same two cores as the server."],
    )


def _train(bench: Bench, train: Path) -> dict[str, Any]:
    from partwise import DependencyParser, SequenceTagger
    from partwise.data import read_columns

    data = read_columns(train)
    tagger = SequenceTagger(loss="log_loss", C=1.0, template=TEMPLATE)
    tagger.fit(data.without(-1), data.column_sequences(-1))
    found: dict[str, Any] = {
        name: bench.scratch / f"{name}.model"
        for name in ("chunks", "parser", "crfsuite")
    }
    tagger.save(found["chunks"])
    parts = read_treebank(bench, EWT)
    DependencyParser(crossing="lift", max_iter=5).fit(parts["train"]).save(
        found["parser"]
    )
    found["sentences"] = [
        " ".join(f"{form}|{tag}" for form, tag in zip(s.forms, s.upos, strict=True))
        for s in parts["test"]
        if not any("|" in form or " " in form for form in s.forms)
    ]
    read = list(read_sentences(train))
    trainer = crfsuite.make_trainer(
        [feature_strings(words, tags) for words, tags, _ in read],
        [chunks for _, _, chunks in read],
    )
    crfsuite.train(trainer, found["crfsuite"], "lbfgs", max_iterations=30)
    return found


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


def _with_reload(path: str, inputs: Any, model: Path, seconds: float) -> Any:
    """Load for some seconds; write the model's file anew in the middle."""

    def write_anew() -> None:
        copy = model.with_suffix(".new")
        shutil.copy(model, copy)
        os.replace(copy, model)

    timer = threading.Timer(seconds / 2, write_anew)
    timer.start()
    found = load(PORT, path, inputs, 8, seconds)
    timer.join()
    return found


def _memory(pid: int) -> float:
    """Return the memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
