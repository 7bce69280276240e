"""From raw text to trees: a pipeline beside UDPipe 1, trained in the same run.

Both learn from the same sentences, annotate the same raw text, and are measured by the
same code, the metrics of the CoNLL 2018 shared task. UDPipe 1 is `ufal.udpipe`; its
settings are its defaults, but for the number of iterations where that is stated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import pipeline_jobs
from benchmarks.harness.bench import Bench
from benchmarks.harness.child import run_in_child
from benchmarks.harness.parsing_task import EWT, SLOVENE, Treebank, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise.metrics import CONLL18_METRICS

JOBS = "benchmarks.harness.pipeline_jobs"
OURS, UDPIPE = "Partwise", "UDPipe 1"
# English has four times the sentences: every fourth is learnt from. UDPipe trains for
# fewer epochs and iterations than by default (100, 20 and 10), which take half an hour.
EVERY = {SLOVENE.name: 1, EWT.name: 4}
UDPIPE_SETTINGS = {
    SLOVENE.name: ["epochs=30", "iterations=10", "iterations=5"],
    EWT.name: ["epochs=10", "iterations=8", "iterations=3"],
}
QUICK = ["epochs=2;early_stopping=0", "iterations=2;early_stopping=0", "iterations=1"]


class Outcome(NamedTuple):
    """What a program made of a treebank."""

    f1: dict[str, float]
    train_seconds: float
    train_mib: float
    words_per_second: float
    megabytes: float
    mib: float


def run(bench: Bench) -> Report:
    """Train and measure both on each treebank."""
    treebanks = {one.name: one for one in bench.choose([SLOVENE, EWT], [EWT])}
    found = {name: _compare(bench, treebanks[name]) for name in bench.parts(treebanks)}
    figures = []
    for name, outcomes in found.items():
        if UDPIPE not in outcomes:
            continue
        ours, other = outcomes[OURS], outcomes[UDPIPE]
        figures += [
            _ahead(f"{name}: LAS from raw text", ours, other, "las"),
            _ahead(f"{name}: UPOS", ours, other, "upos"),
            _ahead(f"{name}: lemmas", ours, other, "lemmas"),
            Figure(
                f"{name}: training time, {OURS} / {UDPIPE}",
                ours.train_seconds / other.train_seconds,
                "ratio",
                at_most=0.25,
            ),
            Figure(
                f"{name}: words a second, {OURS} / {UDPIPE}",
                ours.words_per_second / other.words_per_second,
                "ratio",
                at_least=5.0,
            ),
        ]
    return Report(
        figures,
        settings={"UDPipe": UDPIPE_SETTINGS, "every nth sentence": EVERY},
        seeds=[0],
        tables=[_table(name, outcomes) for name, outcomes in found.items()],
        notes=[
            "F1 in %, from raw text on. Seconds are processor time, without compiling; "
            "memory is the most that a process of its own took.",
            "In UD Slovenian SSJ, comments `# text` tell spaces where entries "
            "`SpaceAfter=No` are missing; both are given entries made from them.",
        ],
    )


def _compare(bench: Bench, treebank: Treebank) -> dict[str, Outcome]:
    parts = read_treebank(bench, treebank)
    parts["train"] = parts["train"][:: bench.choose(EVERY[treebank.name], 1)]
    folder = bench.scratch / treebank.name
    pipeline_jobs.write_parts(folder, parts)
    outcomes = {OURS: _outcome(bench, folder, OURS, "partwise")}
    try:
        import ufal.udpipe  # noqa: F401
    except ImportError:
        bench.say("ufal.udpipe is not installed; measuring Partwise alone")
        return outcomes
    settings = bench.choose(UDPIPE_SETTINGS[treebank.name], QUICK)
    outcomes[UDPIPE] = _outcome(bench, folder, UDPIPE, "udpipe", settings)
    return outcomes


def _outcome(
    bench: Bench, folder: Path, program: str, name: str, *settings: Any
) -> Outcome:
    """Train and measure a program."""
    model = folder / f"model.{name}"
    bench.say(f"{folder.name}: {program}, training")
    trained = _trained(
        bench,
        folder,
        [name, *settings],
        model,
        lambda: run_in_child(JOBS, f"train_{name}", str(folder), str(model), *settings),
    )
    bench.say(f"{folder.name}: {program}, annotating")
    measured = run_in_child(JOBS, f"measure_{name}", str(folder), str(model))
    return Outcome(
        measured["f1"],
        trained["seconds"],
        trained["peak_mib"],
        measured["words_per_second"],
        measured["megabytes"],
        measured["peak_mib"],
    )


def _trained(
    bench: Bench, folder: Path, what: Any, model: Path, train: Callable[[], Any]
) -> dict[str, Any]:
    """Train, or take what an earlier run has kept: UDPipe trains for half an hour.

    Only what was trained on the same data with the same settings is taken, and only
    that of UDPipe: its models do not change.
    """
    digest = hashlib.sha256(json.dumps(what).encode())
    for part in ("train", "dev"):
        digest.update((folder / f"{part}.conllu").read_bytes())
    kept = bench.out / f"udpipe-{digest.hexdigest()[:16]}"
    is_udpipe = what[0] == "udpipe"
    if is_udpipe and kept.with_suffix(".json").exists():
        bench.say(f"taking {kept.with_suffix('.model')}, trained earlier")
        model.write_bytes(kept.with_suffix(".model").read_bytes())
        found: dict[str, Any] = json.loads(kept.with_suffix(".json").read_text())
        return found
    found = train()
    if is_udpipe and not bench.quick:
        bench.out.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".model").write_bytes(model.read_bytes())
        kept.with_suffix(".json").write_text(json.dumps(found))
    return found


def _ahead(what: str, ours: Outcome, other: Outcome, metric: str) -> Figure:
    difference = 100 * (ours.f1[metric] - other.f1[metric])
    return Figure(f"{what}, {OURS} - {UDPIPE}", difference, "points", at_least=0.0)


def _table(name: str, outcomes: dict[str, Outcome]) -> Table:
    names = [*CONLL18_METRICS]
    rows: list[list[Any]] = [
        [metric, *(100 * one.f1[metric] for one in outcomes.values())]
        for metric in names
    ]
    rows += [
        ["seconds to train", *(one.train_seconds for one in outcomes.values())],
        ["words a second", *(one.words_per_second for one in outcomes.values())],
        ["model, MB", *(one.megabytes for one in outcomes.values())],
        ["memory to train, MiB", *(one.train_mib for one in outcomes.values())],
        ["memory to annotate, MiB", *(one.mib for one in outcomes.values())],
    ]
    return Table(name, ["", *outcomes], rows)
