"""Files made to do harm, kills and interrupts: nothing crashes, and nothing is lost.

Forged model files of every kind are loaded and asked to predict; forged checkpoints of
every solver are resumed; runs are killed at random moments and resumed; a training
command is interrupted twice. Compiled code runs throughout, as users have it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.attempts import Tally, make_attempts
from benchmarks.harness.bench import ROOT, Bench
from benchmarks.harness.kills import count_identical
from benchmarks.harness.report import Figure, Report, Table

SUPPORT = ROOT / "tests" / "support"
PASSES = 12
MOST_MEGABYTES = 1024
INTERRUPTS = "benchmarks.harness.interrupts"
# HiGHS starts again from its own basis: another optimal point of the same value.
NOT_BIT_FOR_BIT = tuple(
    f"column-generation-{master}" for master in ("highs", "pdlp", "printed")
)


def run(bench: Bench) -> Report:
    """Attack; return how often something gave way."""
    sys.path.insert(0, str(SUPPORT))
    os.environ["PYTHONWARNINGS"] = "ignore"
    scale = float(os.environ.get("PARTWISE_HOSTILE_SCALE", "1"))

    def share(full: int, quick: int) -> int:
        return max(int(scale * bench.choose(full, quick)), 1)

    models = _attack_models(bench, share(100_000, 40))
    checkpoints, names = _attack_checkpoints(bench, share(10_000, 60))
    kills = share(100, 2)
    killed = _kill(bench, kills, names[:: bench.choose(1, 8)])
    interrupts = _interrupt(bench, share(1000, 2))
    figures = []
    for what, tally in (("model files", models), ("checkpoints", checkpoints)):
        figures += [
            Figure(f"{what}, attempts", tally.attempts, ""),
            Figure(f"{what}, crashes", len(tally.crashes), "", at_most=0),
            Figure(f"{what}, hangs", len(tally.hangs), "", at_most=0),
            Figure(f"{what}, uncaught", len(tally.uncaught), "", at_most=0),
            Figure(
                f"{what}, largest growth of a process", tally.most_bytes / 2**20, "MiB",
                at_most=MOST_MEGABYTES,
            ),
        ]  # fmt: skip
    worst = min(killed.values())
    total = sum(interrupts.values())
    lost = total - interrupts.get("saved", 0) - interrupts.get("nothing to save", 0)
    figures += [
        Figure("kills per solver", kills, ""),
        Figure("identical after kills, worst solver", worst, "", at_least=kills),
        Figure("double interrupts", total, ""),
        Figure("crashed, hung or lost", lost, "", at_most=0),
    ]
    return Report(
        figures,
        settings={"kills": kills, "passes": PASSES},
        seeds=[0],
        tables=[
            _outcomes(models, checkpoints),
            Table("Identical after kills", ["solver", "of", "identical"],
                  [[name, kills, count] for name, count in killed.items()]),
            Table("Double interrupts", ["outcome", "times"],
                  [list(pair) for pair in interrupts.items()]),
        ],
        notes=[
            "A model that loads predicts for two inputs; a checkpoint that is accepted "
            "is resumed for two passes.",
            "Solvers with HiGHS resume from another basis; they are not among the "
            "runs that are killed.",
        ],
    )  # fmt: skip


def _outcomes(models: Tally, checkpoints: Tally) -> Table:
    rows: list[list[Any]] = []
    for what, tally in (("model files", models), ("checkpoints", checkpoints)):
        rows += [[what, name, count] for name, count in tally.outcomes.items()]
        rows += [[what, f"attempt {n}", said] for n, said in tally.uncaught.items()]
        rows += [[what, f"attempt {n}", "crashed"] for n in tally.crashes]
        rows += [[what, f"attempt {n}", "hung"] for n in tally.hangs]
    return Table("Outcomes", ["attack", "outcome", ""], rows)


def _attack_models(bench: Bench, count: int) -> Tally:
    from fuzz.targets import KINDS, _answer, _model_file

    from corruption import corruptions
    from partwise import load
    from partwise.errors import PartwiseError

    for kind in KINDS:  # compiled once, before there are processes
        path = bench.scratch / f"{kind}.partwise"
        path.write_bytes(_model_file(kind))
        load(path).predict(_answer(kind))

    def attempt(number: int) -> str:
        kind = KINDS[number % len(KINDS)]
        (damaged,) = corruptions(_model_file(kind), 1, number, forged=0.9)
        with tempfile.NamedTemporaryFile(dir=bench.scratch) as file:
            file.write(damaged)
            file.flush()
            try:
                model = load(file.name)
            except PartwiseError:
                return "refused"
        try:
            with np.errstate(all="ignore"):
                model.predict(_answer(kind))
        except (PartwiseError, ValueError):
            return "other-features"
        return "loaded"

    bench.say(f"{count} model files")
    return make_attempts(attempt, count, bench.say)


def _attack_checkpoints(bench: Bench, count: int) -> tuple[Tally, list[str]]:
    from corruption import forge
    from hostile_checkpoints import every_solver
    from partwise.errors import PartwiseError

    cases = [(name, make()) for name, make in every_solver()]
    if bench.quick:
        cases = cases[:3]
    written = []
    for number, (name, case) in enumerate(cases):
        bench.say(name)
        path = bench.scratch / f"{number}.run"
        case.run(path, max_iter=2)
        written.append(path.read_bytes())
        case.run(path, max_iter=4, resume=True)

    def attempt(number: int) -> str:
        which = number % len(cases)
        path = bench.scratch / f"attempt-{os.getpid()}"
        path.write_bytes(forge(written[which], np.random.default_rng(number)))
        try:
            cases[which][1].run(path, max_iter=4, resume=True)
        except PartwiseError:
            return "refused"
        return "resumed"

    bench.say(f"{count} checkpoints")
    return make_attempts(attempt, count, bench.say), [name for name, _ in cases]


def _kill(bench: Bench, kills: int, names: list[str]) -> dict[str, int]:
    from hostile_checkpoints import every_solver

    makers, found = dict(every_solver()), {}
    folder = bench.scratch / "kills"
    folder.mkdir()
    for name in names:
        if name.startswith(NOT_BIT_FOR_BIT):
            continue
        case = makers[name]()
        case.run(None, max_iter=PASSES)
        run = partial(case.run)
        found[name] = count_identical(run, folder / "run", PASSES, kills)
        bench.say(f"{name}: {found[name]} of {kills} identical")
    return found


def _interrupt(bench: Bench, count: int) -> dict[str, int]:
    from partwise.synthetic import make_corpus

    folder = Path(bench.scratch)
    (folder / "train.txt").write_text(make_corpus(150).to_columns(), encoding="utf-8")
    bench.say(f"{count} double interrupts")
    ended = subprocess.run(
        [sys.executable, "-m", INTERRUPTS, folder, str(count), "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        raise RuntimeError(ended.stderr[-2000:])
    counts: dict[str, int] = json.loads(ended.stdout)
    return counts
