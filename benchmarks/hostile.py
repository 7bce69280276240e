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
from collections.abc import Callable
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
INTERRUPTED = "benchmarks.harness.interrupts"
MODELS, CHECKPOINTS, INTERRUPTS = "model files", "checkpoints", "double interrupts"
KILLS = "kills of "
"""The parts, which `--only` may choose from; every run that is killed is one."""
Cases = dict[str, Callable[[], Any]]
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

    from hostile_checkpoints import every_solver

    cases: Cases = dict(every_solver())
    names = [f"{KILLS}{name}" for name in cases if not name.startswith(NOT_BIT_FOR_BIT)]
    parts = bench.parts([MODELS, CHECKPOINTS, *names, INTERRUPTS])
    attacks = {
        MODELS: lambda: _attack_models(bench, share(100_000, 40)),
        CHECKPOINTS: lambda: _attack_checkpoints(bench, cases, share(10_000, 60)),
    }
    tallies = {what: attack() for what, attack in attacks.items() if what in parts}
    figures = [one for what, tally in tallies.items() for one in _judge(what, tally)]
    tables = [_outcomes(tallies)] if tallies else []
    killed = [name.removeprefix(KILLS) for name in parts if name.startswith(KILLS)]
    kills = share(100, 2)
    if killed:
        found = _kill(bench, cases, kills, killed[:: bench.choose(1, 8)])
        worst = min(found.values())
        figures += [
            Figure("kills per solver", kills, ""),
            Figure("identical after kills, worst solver", worst, "", at_least=kills),
        ]
        rows: list[list[Any]] = [[name, kills, count] for name, count in found.items()]
        tables.append(
            Table("Identical after kills", ["solver", "of", "identical"], rows)
        )
    if INTERRUPTS in parts:
        counts = _interrupt(bench, share(1000, 2))
        total = sum(counts.values())
        lost = total - counts.get("saved", 0) - counts.get("nothing to save", 0)
        figures += [
            Figure(INTERRUPTS, total, ""),
            Figure("crashed, hung or lost", lost, "", at_most=0),
        ]
        rows = [list(pair) for pair in counts.items()]
        tables.append(Table("Double interrupts", ["outcome", "times"], rows))
    return Report(
        figures,
        settings={"kills": kills, "passes": PASSES},
        seeds=[0],
        tables=tables,
        notes=[
            "A model that loads predicts for two inputs; a checkpoint that is accepted "
            "is resumed for two passes.",
            "Solvers with HiGHS resume from another basis; they are not among the "
            "runs that are killed.",
        ],
    )


def _judge(what: str, tally: Tally) -> list[Figure]:
    return [
        Figure(f"{what}, attempts", tally.attempts, ""),
        Figure(f"{what}, crashes", len(tally.crashes), "", at_most=0),
        Figure(f"{what}, hangs", len(tally.hangs), "", at_most=0),
        Figure(f"{what}, uncaught", len(tally.uncaught), "", at_most=0),
        Figure(
            f"{what}, largest growth of a process", tally.most_bytes / 2**20, "MiB",
            at_most=MOST_MEGABYTES,
        ),
    ]  # fmt: skip


def _outcomes(tallies: dict[str, Tally]) -> Table:
    rows: list[list[Any]] = []
    for what, tally in tallies.items():
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


def _attack_checkpoints(bench: Bench, makers: Cases, count: int) -> Tally:
    from corruption import forge
    from partwise.errors import PartwiseError

    chosen = list(makers.items())[: bench.choose(None, 3)]
    cases = [(name, make()) for name, make in chosen]
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
    return make_attempts(attempt, count, bench.say)


def _kill(bench: Bench, makers: Cases, kills: int, names: list[str]) -> dict[str, int]:
    found = {}
    folder = bench.scratch / "kills"
    folder.mkdir()
    for name in names:
        case = makers[name]()
        case.run(None, max_iter=PASSES)
        found[name] = count_identical(case.run, folder / "run", PASSES, kills)
        bench.say(f"{name}: {found[name]} of {kills} identical")
    return found


def _interrupt(bench: Bench, count: int) -> dict[str, int]:
    from partwise.synthetic import make_corpus

    folder = Path(bench.scratch)
    (folder / "train.txt").write_text(make_corpus(150).to_columns(), encoding="utf-8")
    bench.say(f"{count} double interrupts")
    ended = subprocess.run(
        [sys.executable, "-m", INTERRUPTED, folder, str(count), "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        raise RuntimeError(ended.stderr[-2000:])
    counts: dict[str, int] = json.loads(ended.stdout)
    return counts
