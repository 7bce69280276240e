"""One line changed: python-crfsuite's programs with our modules, beside the originals.

The same script runs twice, each time in a process of its own, with
``import pycrfsuite`` or ``import partwise.pycrfsuite as pycrfsuite``: CoNLL-2000 chunks
with the features of CRFsuite's tutorial, Spanish names with those of
sklearn-crfsuite's.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

from benchmarks.harness import crfsuite
from benchmarks.harness import drop_in_jobs as jobs
from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.child import run_in_child
from benchmarks.harness.chunking import corpus
from benchmarks.harness.report import Figure, Report, Table

JOBS = "benchmarks.harness.drop_in_jobs"
SIDES = ("original", "partwise")
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "lbfgs": ("lbfgs", {}),
    "lbfgs, c1=c2=0.1": ("lbfgs", {"c1": 0.1, "c2": 0.1, "max_iterations": 100}),
    "l2sgd": ("l2sgd", {"max_iterations": 50}),
    "ap": ("ap", {"max_iterations": 20}),
    "pa": ("pa", {"max_iterations": 20}),
    "arow": ("arow", {"max_iterations": 20}),
}
SEARCH = "search of c1 and c2"
CORRECTING = ("ap", "pa", "arow")
NAMES = ["conll2002/esp.train.gz", "conll2002/esp.testb.gz"]


def run(bench: Bench) -> Report:
    """Train, tag and search with both."""
    crfsuite.peer()
    data = {"chunks": tuple(map(str, corpus(bench)))}
    if not bench.quick:
        data["names"] = bench.data(
            "names", NAMES, lambda *paths: tuple(map(str, paths)), _no_names
        )
    pairs = {f"{task}, {name}": (task, name) for task in data for name in ALGORITHMS}
    searchable = not bench.quick and find_spec("sklearn_crfsuite") is not None
    parts = bench.parts([*pairs, SEARCH] if searchable else pairs)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for task, name in (pairs[part] for part in parts if part in pairs):
        train, test = data[task]
        algorithm, params = ALGORITHMS[name]
        for side in SIDES:
            bench.say(f"{task}, {name}, {side}")
            model = str(bench.scratch / f"{side}.crfsuite")
            most = {"max_iterations": 5} if bench.quick else {}
            given = task, train, model, algorithm, params | most
            one = run_in_child(JOBS, "train", side, *given)
            tagged = run_in_child(
                JOBS, "tag", side, task, test, model, bench.choose(5, 1)
            )
            one["f1"] = jobs.f1(task, test, tagged["labels"])
            one["tagging"] = tagged["seconds"]
            found[task, name, side] = one
    searches = {}
    for side in SIDES if SEARCH in parts else ():
        bench.say(f"{SEARCH}, {side}")
        given_search = data["names"][0], 1000, 5
        searches[side] = run_in_child(JOBS, "search", side, *given_search)
    return _report(found, searches)


def _no_names() -> tuple[str, ...]:
    raise Skip("names are not generated")


def _report(
    found: dict[tuple[str, str, str], dict[str, Any]],
    searches: dict[str, dict[str, Any]],
) -> Report:
    figures, rows = [], []
    for task, name in dict.fromkeys(key[:2] for key in found):
        theirs, ours = (found[task, name, side] for side in SIDES)
        figures += _figures(task, name, theirs, ours)
        for side, one in zip(SIDES, (theirs, ours), strict=True):
            rows.append(
                [
                    task, name, side, one["iterations"], one["feeding"],
                    one["seconds"], one["wall"], one["loss"], one["f1"],
                    one["tagging"], one["added_mib"],
                ]
            )  # fmt: skip
    if searches:
        ratio = searches["original"]["seconds"] / searches["partwise"]["seconds"]
        figures.append(Figure(f"{SEARCH}, times faster", ratio, "x"))
    headings = [
        "task", "algorithm", "module", "iterations", "s of append", "s of train",
        "s by the clock", "last loss", "test F1", "s to tag", "MiB added",
    ]  # fmt: skip
    return Report(
        figures,
        settings={name: params for name, (_, params) in ALGORITHMS.items()},
        tables=[Table("The same program with two modules", headings, rows)],
        notes=[
            "Times are the processor's, of all threads, in the calls that users make: "
            "all `append`, `train`, and `tag` sentence by sentence, the fastest of "
            "five.",
            "What our module compiles is compiled on a few sentences, off the clock.",
            "Our training with `lbfgs` ends with a relative gap of a millionth; "
            "CRFsuite's loss is what its log says at the end.",
        ],
    )


def _figures(
    task: str, name: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> list[Figure]:
    faster = theirs["seconds"] / ours["seconds"]
    if name in CORRECTING:
        return [
            Figure(f"{task}, {name}: times faster", faster, "x", at_least=1),
            Figure(
                f"{task}, {name}: F1 above the original's",
                ours["f1"] - theirs["f1"],
                "points",
                at_least=-0.1,
            ),
        ]
    figures = [Figure(f"{task}, {name}: times faster", faster, "x")]
    if name == "lbfgs":
        tagging = theirs["tagging"] / ours["tagging"]
        worse = (ours["loss"] or math.inf) / (theirs["loss"] or math.nan) - 1
        figures = [
            Figure(f"{task}, {name}: times faster", faster, "x", at_least=5),
            Figure(
                f"{task}, {name}: loss above the original's", worse, "", at_most=1e-6
            ),
            Figure(f"{task}: tagging, times faster", tagging, "x", at_least=2.5),
        ]
    return figures
