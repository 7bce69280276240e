"""Handwritten words with the hinge: how soon each solver proves a gap of 1%.

Letters are 128 pixels, words are chains of letters. Trained on fold 0 and tested on
the others, and the reverse, with two values of C. The hinge is minimised by
block-coordinate Frank-Wolfe, SMO, exponentiated gradient and the 1-slack cutting plane
method; dual coordinate descent minimises the squared hinge, and so another objective.
"""

from __future__ import annotations

import math
import time
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.ocr_letters import Words, generate_words, letter_error, read_words
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import decode
from partwise.structures.rows import make_dense_rows

TOL = 0.01
COSTS = (0.1, 1.0)
FIRST = "frank-wolfe"
LOSSES = {
    FIRST: "hinge",
    "smo": "hinge",
    "eg": "hinge",
    "cutting-plane": "hinge",
    "dcd-ssvm": "squared_hinge",
}


class Quoted(NamedTuple):
    """A run of PyStruct 0.3.2 that was measured at another time; nan: not recorded."""

    task: str
    learner: str
    passes: float
    seconds: float
    primal: float
    dual: float
    error: float

    @property
    def gap(self) -> float:
        """The relative gap."""
        return (self.primal - self.dual) / self.primal


# All with C = 0.1.
PYSTRUCT = [
    Quoted("fold 0", "Frank-Wolfe", 50, 8.9, 204.9, 192.2, 21.9),
    Quoted("fold 0", "1-slack cutting plane", math.nan, 23.0, 216.2, 198.3, 22.3),
    Quoted("folds 1-9", "Frank-Wolfe", 10, 20.0, math.nan, math.nan, 14.5),
]


class Task(NamedTuple):
    """Words to learn from, and others to test on."""

    chain: Chain
    unseen: Chain
    y_test: list[list[str]]
    letters: list[str]

    def error(self, w: Any) -> float:
        """Return the share of wrong letters of unseen words in percent."""
        ptr, codes, _ = decode(self.unseen, w)
        found = [self.letters[code] for code in codes.tolist()]
        bounds = zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True)
        return letter_error(self.y_test, [found[a:b] for a, b in bounds])


class Run(NamedTuple):
    """A solver's way to the gap, or to the time limit.

    `primal` is computed here; `seconds` and `calls` include the proof.
    """

    seconds: float
    passes: int
    calls: int
    primal: float
    dual: float
    error: float
    curve: Curve

    @property
    def gap(self) -> float:
        """The relative gap."""
        return (self.primal - self.dual) / max(abs(self.primal), abs(self.dual))

    @property
    def time_to_goal(self) -> float:
        """The time, infinite if the gap was not reached."""
        return self.seconds if self.gap <= TOL else math.inf


Runs = dict[tuple[str, float, str], list[Run]]  # by task, C and solver


def make_task(words: Words, train: Any) -> Task:
    """Split the words."""
    letters = sorted({letter for word in words.y for letter in word})
    code = {letter: number for number, letter in enumerate(letters)}

    def chain(X: list[Any], y: list[list[str]]) -> Chain:
        ptr = np.cumsum([0, *map(len, y)])
        gold = np.array([code[letter] for word in y for letter in word], np.int32)
        return make_chain(make_dense_rows(np.vstack(X)), ptr, gold, len(letters))

    test = words.where(~train)
    return Task(chain(*words.where(train)), chain(*test), test[1], letters)


def train(
    task: Task, solver: str, C: float, seed: int, limit: float, most: int = 100_000
) -> Run:
    """Train until the gap is proved, or the time is up, or after `most` passes."""
    problem = make_problem(task.chain, get_loss(LOSSES[solver]), C)
    begin = time.perf_counter()
    solution = solve(
        problem,
        make_solver(solver),
        tol=TOL,
        max_iter=most,
        random_state=seed,
        time_limit=limit,
    )
    seconds = time.perf_counter() - begin
    assert solution.certificate is not None
    trace = solution.trace
    gaps = [max(gap, 1e-4) for gap in trace["relative_gap"]]
    return Run(
        seconds,
        len(trace),
        solution.state.oracle_calls,
        problem.primal(solution.w),
        solution.certificate.dual,
        task.error(solution.w),
        Curve(f"{solver}, C={C:g}", list(trace["seconds"]), gaps),
    )


def run(bench: Bench) -> Report:
    """Train everything on both tasks."""
    words = bench.data("letters", ["ocr-letters.npz"], read_words, generate_words)
    if bench.quick:
        some = np.arange(len(words.X)) % max(1, len(words.X) // 300) == 0
        words = Words(*words.where(some), words.fold[some])
    tasks = {
        "fold 0": make_task(words, words.fold == 0),
        "folds 1-9": make_task(words, words.fold != 0),
    }
    seeds = bench.choose({"fold 0": [0, 1, 2]}, {"fold 0": [0]}) | {"folds 1-9": [0]}
    limit = bench.choose(60.0, 1.0)
    solvers = bench.choose(list(LOSSES), [FIRST, "eg", "dcd-ssvm"])
    bench.say("compiling, off the clock")
    few = make_task(words, np.arange(len(words.X)) < 20)
    for solver in solvers:
        train(few, solver, COSTS[0], 0, math.inf, most=4)
    runs: Runs = {}
    for name, task in tasks.items():
        for C in COSTS:
            for solver in solvers:
                bench.say(f"{name}, C={C:g}: {solver}")
                runs[name, C, solver] = [
                    train(task, solver, C, seed, limit) for seed in seeds[name]
                ]
    return _report(runs, seeds, limit)


def _time_figures(runs: Runs) -> list[Figure]:
    """Compare times with a tenth of what PyStruct's Frank-Wolfe took."""
    figures = []
    for peer in PYSTRUCT:
        if peer.learner != "Frank-Wolfe":
            continue
        spent = [run.time_to_goal for run in runs[peer.task, COSTS[0], FIRST]]
        figures.append(
            Figure(
                f"time of {FIRST} to a gap of 1%, {peer.task}, C = {COSTS[0]:g} (goal: "
                f"a tenth of PyStruct's {peer.seconds:g} s, quoted)",
                median(spent),
                "s",
                at_most=peer.seconds / 10,
            )
        )
    return figures


def _overlap(runs: Runs) -> float:
    """Return how far the largest lower bound is above the smallest objective.

    Relative, and the worst of all problems: solvers that minimise the same must prove
    bounds below each other's objectives.
    """
    worst = -math.inf
    for task, C in {key[:2] for key in runs}:
        same = [
            run
            for (of, cost, solver), some in runs.items()
            if (of, cost) == (task, C) and LOSSES[solver] == "hinge"
            for run in some
        ]
        low = min(run.primal for run in same)
        worst = max(worst, (max(run.dual for run in same) - low) / low)
    return worst


def _report(runs: Runs, seeds: dict[str, list[int]], limit: float) -> Report:
    rows = [
        [
            task,
            f"{C:g}",
            solver,
            LOSSES[solver],
            median(run.seconds for run in some),
            median(run.passes for run in some),
            100 * max(run.gap for run in some),
            f"{median(run.primal for run in some):.2f}",
            f"{median(run.dual for run in some):.2f}",
            median(run.error for run in some),
        ]
        for (task, C, solver), some in runs.items()
    ]
    headings = [
        "trained on", "C", "", "loss", "seconds", "passes", "gap %", "objective",
        "lower bound", "letter error %",
    ]  # fmt: skip
    quoted = [
        [
            peer.task, f"{COSTS[0]:g}", peer.learner, peer.seconds, peer.passes,
            100 * peer.gap, peer.primal, peer.dual, peer.error,
        ]
        for peer in PYSTRUCT
    ]  # fmt: skip
    first = runs["fold 0", COSTS[0], FIRST]
    errors = [
        Figure(f"letter error of {FIRST}, {task}, C = {COSTS[0]:g}", some[0].error, "%")
        for task in seeds
        if (some := runs[task, COSTS[0], FIRST])
    ]
    return Report(
        [
            *_time_figures(runs),
            *errors,
            Figure(
                "largest lower bound above the smallest objective, hinge, relative",
                _overlap(runs),
                "",
                at_most=0.0,
            ),
        ],
        settings={"tol": TOL, "C": COSTS, "time_limit": limit},
        seeds=seeds["fold 0"],
        tables=[
            Table("To a gap of 1%, median over seeds", headings, rows),
            Table(
                "PyStruct 0.3.2, hinge, quoted: not measured in this run",
                [*headings[:3], *headings[4:]],
                quoted,
            ),
        ],
        plots=[
            Plot(
                task.replace(" ", "-"),
                "seconds",
                "relative gap",
                [some[0].curve for key, some in runs.items() if key[0] == task],
                True,
                True,
            )
            for task in seeds
        ],
        notes=[
            "PyStruct's figures are quoted. Its last release, 0.3.2, does not build "
            "with today's tools, so it could not run beside us. They were measured "
            "earlier on two cores of a Xeon at 2.8 GHz, one thread, single runs, with "
            "times that varied by up to 1.7; a ratio to them is rough.",
            f"Fold 0, C = {COSTS[0]:g}: the optimum lies between {PYSTRUCT[0].dual} "
            f"and {PYSTRUCT[0].primal} by PyStruct's account, between "
            f"{max(run.dual for run in first):.2f} and "
            f"{min(run.primal for run in first):.2f} by ours. On the full data these "
            "must overlap, since it is the same problem.",
            "How large PyStruct's gap was on folds 1-9 is not recorded; at 10 passes "
            "it was hardly small.",
            f"Seeds: {len(seeds['fold 0'])} on fold 0, {len(seeds['folds 1-9'])} on "
            "folds 1-9; the gap is the largest over seeds. A run that has not proved "
            f"1% after {limit:g} s is stopped, and its gap then is in the table.",
            "Objectives are computed here, from the weights; lower bounds are the "
            "solvers'. The curves are the solvers' own account, pass by pass.",
            "dcd-ssvm minimises the squared hinge: its time is to 1% of another "
            "optimum, and does not count for the goal.",
        ],
    )
