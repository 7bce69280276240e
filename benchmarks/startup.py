"""From shell to file: what a user waits for, with and without compiled kernels.

Every time is that of a fresh process, from its start to its end: with nothing on disk,
with all that an earlier run compiled, and with kernels as a wheel carries them.
python-crfsuite does the same jobs, with its own features made in Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tools.build_wheel import compile_kernels

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import ROOT, Bench
from benchmarks.harness.clock import seconds
from benchmarks.harness.report import Figure, Report, Table
from partwise.synthetic import make_corpus

PROGRAM = ("-c", "from partwise.cli import main; main()")
PEER = "benchmarks.harness.crfsuite_jobs"
WRITES_MODULES = {"PYTHONDONTWRITEBYTECODE": ""}
"""As on users' machines: else every process would compile all modules it imports."""

OWN_STRUCTURE = f"""
import sys
sys.path.insert(0, {str(ROOT / "docs" / "examples")!r})
import numpy as np
from candidates import Candidates
from partwise.losses import get_loss
from partwise.solvers import DualCoordinateDescent, make_problem, solve

values = np.random.default_rng(0).normal(size=(60, 4))
costs, right = np.tile([0.0, 1.0, 1.0], 20), np.zeros(20, np.int32)
s = Candidates(values, np.arange(0, 61, 3), right, costs)
print(solve(make_problem(s, get_loss("squared_hinge")), DualCoordinateDescent()).status)
"""


@dataclass(frozen=True)
class Job:
    """What a user does, and how long it may take in seconds."""

    name: str
    command: tuple[str, ...]
    cold: float | None = None
    cached: float | None = None
    peer: tuple[str, ...] = ()
    is_packaged: bool = True

    def run(self, scratch: Path, environment: dict[str, str]) -> float:
        """Return the seconds of a fresh process."""

        def process() -> None:
            subprocess.run(
                [sys.executable, *self.command],
                cwd=scratch,
                env=os.environ | environment | WRITES_MODULES,
                check=True,
                capture_output=True,
            )

        return seconds(process)


def _jobs(scratch: Path) -> list[Job]:
    train, test = "train.txt", "test.txt"
    tag = (*PROGRAM, "train", "tag", train, "--quiet", "--model")
    parse = (*PROGRAM, "train", "parse", "train.conllu", "--crossing", "lift")
    phrases = (*PROGRAM, "train", "constituency", "train.mrg", "--quiet", "--model")
    peer = ("-m", PEER)
    return [
        Job("import partwise", ("-c", "import partwise"), cached=0.1,
            peer=("-c", "import pycrfsuite")),
        Job("import SequenceTagger", ("-c", "from partwise import SequenceTagger"),
            cached=0.5),
        Job("--help", (*PROGRAM, "--help")),
        Job("train tag, log loss", (*tag, "crf.partwise"), 15, 2,
            peer=(*peer, "train", train, "peer.crfsuite")),
        Job("train tag, squared hinge",
            (*tag, "margin.partwise", "--loss", "squared_hinge"), 15, 2),
        Job("predict", (*PROGRAM, "predict", "crf.partwise", test, "-o", "out.txt"),
            cached=0.8, peer=(*peer, "tag", "peer.crfsuite", test, "peer.txt")),
        Job("train parse", (*parse, "--quiet", "--model", "trees.partwise"), 20),
        Job("train constituency", (*phrases, "phrases.partwise"), 25),
        Job("a structure of a user's", ("-c", OWN_STRUCTURE), 25,
            is_packaged=False),
    ]  # fmt: skip


def run(bench: Bench) -> Report:
    """Run every job in every state of the disk."""
    crfsuite.peer()
    scratch = bench.scratch
    _write_data(scratch, bench.choose(1920, 100), bench.choose(240, 20))
    jobs = _jobs(scratch)
    if bench.quick:
        jobs = jobs[:3]
    kernels = scratch / "kernels"
    kernels.mkdir()
    if not bench.quick:
        bench.say("compiling the kernels that a wheel carries")
        compile_kernels(kernels, ["tag", "parse", "constituency"])
    nothing = str(scratch / "nothing")
    repeats = bench.choose(5, 1)
    rows, figures, missing = [], [], 0
    for number, job in enumerate(jobs):
        bench.say(job.name)
        own = {"NUMBA_CACHE_DIR": str(scratch / f"cache{number}")}
        own["PARTWISE_PREBUILT"] = nothing
        cold = job.run(scratch, own)
        cached = median(job.run(scratch, own) for _ in range(repeats))
        # What is prebuilt is loaded from the wheel each time: nothing else is there.
        empty = scratch / f"empty{number}"
        came = {"NUMBA_CACHE_DIR": str(empty), "PARTWISE_PREBUILT": str(kernels)}
        prebuilt = median(job.run(scratch, came) for _ in range(repeats))
        if job.is_packaged:
            missing += len(list(empty.rglob("*.nbc")))
        theirs = float("nan")
        if job.peer:
            peer = Job(job.name, job.peer)
            environment = {"PYTHONPATH": str(ROOT)}
            theirs = median(peer.run(scratch, environment) for _ in range(repeats))
        rows.append([job.name, cold, cached, prebuilt, theirs])
        if job.cold is not None:
            figures.append(
                Figure(f"{job.name}, nothing compiled", cold, "s", at_most=job.cold)
            )
        if job.cached is not None:
            for state, value in (("cached", cached), ("prebuilt", prebuilt)):
                name = f"{job.name}, {state}"
                figures.append(Figure(name, value, "s", at_most=job.cached))
    figures.append(Figure("kernels missing from the wheel", missing, "", at_most=0))
    headings = ["", "nothing compiled", "cached", "prebuilt", "python-crfsuite"]
    return Report(
        figures,
        settings={"training sentences": bench.choose(1920, 100)},
        seeds=[0],
        tables=[Table("Seconds from shell to file", headings, rows)],
        notes=[
            "The peer trains with `ap`, ten iterations, on words, their neighbours, "
            "affixes and tags made in Python, and tags with that model.",
            "Parsers are trained on a fifth of the sentences; training them takes "
            "seconds, which all columns include.",
            "A structure of a user's is never in a wheel: that column is another run "
            "with what it compiled itself."
            if not bench.quick
            else "A small version.",
        ],
    )


def _write_data(scratch: Path, n_train: int, n_test: int) -> None:
    corpus = make_corpus(n_train + n_test)
    train, test = corpus.split(n_test / (n_train + n_test))
    for name, part in (("train", train), ("test", test)):
        (scratch / f"{name}.txt").write_text(part.to_columns(), encoding="utf-8")
    small, _ = train.split(0.8)
    (scratch / "train.conllu").write_text(small.to_conllu(), encoding="utf-8")
    (scratch / "train.mrg").write_text(small.to_brackets(), encoding="utf-8")
