"""Clusters that break: workers and schedulers killed at random, a slow lossy network.

A small generated corpus, trained with ``lbfgs`` on two workers. In each run something
is lost at a random moment, and the weights must be those of an undisturbed run, bit for
bit. A lost worker must not be noticed. When the scheduler is lost, the program must end
by itself, and the same program, run again on a new cluster, must go on from the
checkpoint. Last, the workers are on two hosts with 50 ms of delay each way and 1% of
packets lost between them. A run that takes longer than two minutes counts as hanging.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.bench import ROOT, Bench, Skip
from benchmarks.harness.cluster_client import make_tagger
from benchmarks.harness.report import Figure, Report, Table
from benchmarks.harness.slow_link import ADDRESSES, on_host, two_hosts
from partwise.data import ColumnData, write_columns
from partwise.structures.interface import FloatArray
from partwise.synthetic import make_corpus

SHARDS, SENTENCES = 4, 120
HANGS_AFTER = 120.0
DELAY, LOSS = 0.05, 0.01
PORT = 18786

Start = Callable[..., "subprocess.Popen[str]"]


def run(bench: Bench) -> Report:
    """Break clusters; count the runs whose weights are right."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise Skip('Dask is not installed: pip install "partwise[dask]"') from None
    wanted = bench.parts(["workers", "scheduler", "slow link"])
    data = _write(bench.scratch)
    figures, rows = [], []
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it tells of kills
    with _local_cluster() as (_, client):
        bench.say("an undisturbed run")
        expected, _ = _fit(client, data)
        seconds = min(_fit(client, data)[1] for _ in range(2))  # the first one compiles
    if "workers" in wanted:
        count = bench.choose(50, 2)
        found = _kill_workers(bench, data, expected, seconds, count)
        rows.append(["a worker killed", count, *found])
        figures.append(Figure("a worker killed: same weights", found[0], "runs", count))
    if "scheduler" in wanted:
        count = bench.choose(10, 1)
        found = _kill_schedulers(bench, data, expected, seconds, count)
        rows.append(["the scheduler killed", count, *found])
        figures.append(
            Figure("the scheduler killed: same weights", found[0], "runs", count)
        )
    if "slow link" in wanted:
        found = _slow_link(bench, data, expected)
        rows.append([f"{1000 * DELAY:.0f} ms, {LOSS:.0%} of packets lost", 1, *found])
        figures.append(Figure("two hosts: same weights", found[0], "runs", 1))
    headings = ["", "runs", "same weights", "hangs", "slowest, s"]
    return Report(
        figures,
        settings={"sentences": SENTENCES, "shards": SHARDS, "undisturbed, s": seconds},
        seeds=[0],
        tables=[Table("Runs", headings, rows)],
        notes=[
            "The slowest run includes what Dask takes to notice, the start of another "
            "cluster, and a second program where the first had to end."
        ],
    )


def _write(folder: Path) -> str:
    """Write a corpus to files, one for each shard; return the pattern of names."""
    corpus = make_corpus(SENTENCES)
    words, tags = corpus.column("words"), corpus.column("chunks")
    cuts = [SENTENCES * n // SHARDS for n in range(SHARDS + 1)]
    for number, (a, b) in enumerate(pairwise(cuts)):
        pairs = zip(words[a:b], tags[a:b], strict=True)
        some = [list(zip(x, y, strict=True)) for x, y in pairs]
        write_columns(folder / f"{number}.txt", ColumnData.from_sentences(some))
    return str(folder / "*.txt")


def _fit(client: Any, data: str) -> tuple[FloatArray, float]:
    import warnings

    import partwise.dask

    tagger, begin = make_tagger(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        partwise.dask.fit(tagger, data, client)
    return tagger.weights_, time.perf_counter() - begin


# --- workers ---


@contextmanager
def _local_cluster() -> Iterator[tuple[Any, Any]]:
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {
        "threads_per_worker": 1,
        "dashboard_address": None,
        "silence_logs": logging.CRITICAL,
    }
    with LocalCluster(n_workers=2, processes=True, **settings) as cluster:
        with Client(cluster, set_as_default=False) as client:
            yield cluster, client


def _kill_workers(
    bench: Bench, data: str, expected: Any, usual: float, count: int
) -> tuple[int, int, float]:
    """Kill a worker in each run; return how many were right, hung, and the slowest."""
    rng, same, hangs, slowest = random.Random(0), 0, 0, 0.0
    for number in range(count):
        with _local_cluster() as (cluster, client):
            client.wait_for_workers(2)
            nanny = rng.choice(list(cluster.workers.values()))
            killing = os.kill, (nanny.pid, signal.SIGKILL)
            timer = threading.Timer(0.9 * rng.random() * usual, *killing)
            timer.start()
            try:
                with _at_most(HANGS_AFTER):
                    weights, seconds = _fit(client, data)
            except TimeoutError:
                hangs += 1
                continue
            finally:
                in_time = timer.finished.is_set()
                timer.join()
        if not in_time:
            raise RuntimeError("a run ended before its worker was killed; run it again")
        same += np.array_equal(weights, expected)
        slowest = max(slowest, seconds)
        bench.say(f"worker {number + 1} of {count}: {seconds:.1f} s, {same} the same")
    return same, hangs, slowest


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds."""

    def expire(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# --- clusters of programs ---


def _start(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(command, text=True, **options)


class Cluster:
    """A scheduler and workers, each a program, which can be killed."""

    def __init__(self, host: str, starts: Sequence[Start], addresses: Sequence[str]):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.address = f"tcp://{host}:{PORT}"
        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        own = ["--host", host, "--port", str(PORT), "--no-dashboard"]
        self.scheduler = starts[0]([*dask, *own], **quiet)
        self.workers = [
            start(
                [
                    *(sys.executable, "-m", "distributed.cli.dask_worker"),
                    *(self.address, "--host", address, "--nthreads", "1"),
                    *("--no-nanny", "--no-dashboard", "--death-timeout", "30"),
                ],
                **quiet,
            )
            for start, address in zip(starts[1:], addresses, strict=True)
        ]

    def kill(self) -> None:
        """Kill everything."""
        for one in (self.scheduler, *self.workers):
            one.kill()
            one.wait()


def _client(
    start: Start, cluster: Cluster, data: str, folder: Path
) -> subprocess.Popen[str]:
    """Start the program that trains; it says when it is ready."""
    ends = str(folder / "run.checkpoint"), str(folder / "weights.npy")
    command = [sys.executable, "-m", "benchmarks.harness.cluster_client"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    program = start(
        [*command, cluster.address, data, *ends],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert program.stdout is not None
    program.stdout.readline()
    return program


def _kill_schedulers(
    bench: Bench, data: str, expected: Any, usual: float, count: int
) -> tuple[int, int, float]:
    """Kill the scheduler in each run, and go on with another."""
    rng, same, hangs, slowest = random.Random(1), 0, 0, 0.0
    host = "127.0.0.1"
    for number in range(count):
        folder = bench.scratch / f"scheduler-{number}"
        folder.mkdir()
        begin = time.perf_counter()
        code: int | None = None
        try:
            for attempt in range(2):
                with ExitStack() as stack:
                    cluster = Cluster(host, [_start] * 3, [host] * 2)
                    stack.callback(cluster.kill)
                    program = _client(_start, cluster, data, folder)
                    stack.callback(program.kill)
                    if attempt == 0:
                        time.sleep(rng.random() * usual)
                        cluster.scheduler.kill()
                    code = program.wait(HANGS_AFTER)
                if code == 0:
                    break
        except subprocess.TimeoutExpired:
            hangs += 1
            continue
        path = folder / "weights.npy"
        same += code == 0 and np.array_equal(np.load(path), expected)
        seconds = time.perf_counter() - begin
        slowest = max(slowest, seconds)
        said = f"scheduler {number + 1} of {count}: {seconds:.1f} s"
        bench.say(f"{said}, {attempt + 1} programs, {same} the same")
    return same, hangs, slowest


def _slow_link(bench: Bench, data: str, expected: Any) -> tuple[int, int, float]:
    """Train on two hosts with a slow link between them."""

    def first(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        return on_host(0, command, **options)

    def second(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        return on_host(1, command, **options)

    folder = bench.scratch / "slow link"
    folder.mkdir()
    with two_hosts(DELAY, LOSS), ExitStack() as stack:
        cluster = Cluster(ADDRESSES[0], [first, first, second], ADDRESSES)
        stack.callback(cluster.kill)
        program = _client(first, cluster, data, folder)
        stack.callback(program.kill)
        begin = time.perf_counter()
        try:
            code = program.wait(5 * HANGS_AFTER)
        except subprocess.TimeoutExpired:
            return 0, 1, 5 * HANGS_AFTER
        seconds = time.perf_counter() - begin
    bench.say(f"two hosts: {seconds:.1f} s")
    right = code == 0 and np.array_equal(np.load(folder / "weights.npy"), expected)
    return int(right), 0, seconds
