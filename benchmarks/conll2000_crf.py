"""CRFs on CoNLL-2000 chunking: EG, SDCA, L-BFGS and CG beside CRFsuite.

The same features, the same weights, the same objective: in CRFsuite's scaling it is
``sum_i -log p(y_i | x_i) + c2 |w|^2`` with ``c2 = 1``, which is ours times two with
``C = 1/2``. Every run has a process of its own, so that its peak memory is its own.
Training time is without reading, encoding and evaluating, for us and for the peer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.harness import crfsuite
from benchmarks.harness.bench import Bench
from benchmarks.harness.child import run_in_child
from benchmarks.harness.chunking import corpus
from benchmarks.harness.crf_jobs import C
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table

JOBS = "benchmarks.harness.crf_jobs"
SCALE = 1 / C  # from our objective to CRFsuite's
OPTIMUM = 11373.57
GIBIBYTE = 1024.0  # in MiB
NEAR, NEARER, NEAREST = 1e-3, 1e-5, 1e-6  # relative gaps
OBSERVED = "EG online, observed pairs"
LBFGS = "crfsuite lbfgs"
SAME_PAIRS = "crfsuite lbfgs, observed pairs, all transitions"
DEFAULT_PAIRS = "crfsuite lbfgs, its default: observed pairs and transitions"


class Plan(NamedTuple):
    """How one of our solvers is run."""

    solver: str
    seeds: Sequence[int]
    limit: float
    every: int = 1
    observed: bool = False
    proofs: Sequence[float] = ()


def our_plans(bench: Bench) -> dict[str, Plan]:
    """Return what is run; EG is also timed to the gaps that have a goal."""
    seeds = bench.choose([0, 1, 2], [0])
    some, limit = seeds[:2], bench.choose(60.0, 5.0)
    few = bench.choose(3, 1)
    return {
        "EG online": Plan("eg", seeds, limit, proofs=[NEAR, NEARER]),
        "SDCA": Plan("sdca", some, limit),
        "L-BFGS": Plan("lbfgs", [0], limit, few),
        "CG": Plan("cg", [0], limit / 2, few),
        "EG batch": Plan("eg-batch", [0], limit / 2, few),
        OBSERVED: Plan("eg", some, limit, observed=True),
    }


def peer_plans(bench: Bench) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return algorithm and settings of the peer's runs."""
    most = {"c2": 1.0, "max_iterations": bench.choose(10000, 20)}
    states = {"feature_possible_states": True}
    transitions = {"feature_possible_transitions": True}
    epochs = {"max_iterations": bench.choose(20, 5)}
    return {
        LBFGS: ("lbfgs", most | states | transitions),
        "crfsuite l2sgd": ("l2sgd", most | states | transitions | epochs),
        SAME_PAIRS: ("lbfgs", most | transitions),
        DEFAULT_PAIRS: ("lbfgs", most),
    }


class Ours(NamedTuple):
    """One run of ours: the objective in CRFsuite's scaling after passes, and at last.

    The last point comes after the proof, whose time it includes.
    """

    seconds: list[float]
    objective: list[float]
    f1: list[float]
    passes: list[float]
    result: dict[str, Any]

    @classmethod
    def from_result(cls, result: dict[str, Any]) -> Ours:
        """Unpack what `train_ours` returned."""
        end = [result[name] for name in ("seconds", "primal", "score", "calls", "dual")]
        points, n = [*result["points"], end], result["n_examples"]
        seconds, primal, f1, calls, _ = map(list, zip(*points, strict=True))
        objective = [SCALE * value for value in primal]
        return cls(seconds, objective, f1, [c / n for c in calls], result)

    def time_to(self, goal: float) -> float:
        """Return when the objective was at most `goal`."""
        pairs = zip(self.seconds, self.objective, strict=True)
        return next((s for s, value in pairs if value <= goal), math.inf)


def run(bench: Bench) -> Report:
    """Measure everything, one process after the other."""
    crfsuite.peer()
    train, test = map(str, corpus(bench))
    plans = our_plans(bench)
    bench.say("compiling, off the clock")
    known = [[plan.solver, plan.observed] for plan in plans.values()]
    run_in_child(JOBS, "warm_up", train, known)
    most = bench.choose(300, 30)
    runs: dict[str, list[Ours]] = {}
    for name, plan in plans.items():
        for seed in plan.seeds:
            bench.say(f"{name}, seed {seed}")
            result = run_in_child(
                JOBS, "train_ours", train, test, plan._asdict(), seed, NEAREST, most
            )
            runs.setdefault(name, []).append(Ours.from_result(result))
    peers = {}
    model = str(bench.scratch / "peer.crfsuite")
    for name, (algorithm, settings) in peer_plans(bench).items():
        bench.say(name)
        peers[name] = run_in_child(
            JOBS, "train_peer", train, test, model, algorithm, settings
        )
    return _report(plans, runs, peers)


def _figures(
    runs: dict[str, list[Ours]], peers: dict[str, dict[str, Any]]
) -> list[Figure]:
    eg, lbfgs, peer = runs["EG online"], runs["L-BFGS"][0], peers[LBFGS]
    n = eg[0].result["n_examples"]

    def share(name: str, against: str) -> float:
        goal = peers[against]["loss"]
        spent = mean(run.time_to(goal) for run in runs[name])
        return spent / float(peers[against]["training_seconds"])

    def calls_to(tol: float, place: int) -> float:
        """Return the most calls per example; infinite if one proof failed."""
        proofs = [run.result["proofs"][place] for run in eg]
        return max(c / n if gap <= tol else math.inf for gap, c, _ in proofs)

    ours = lbfgs.result["seconds"] / lbfgs.result["passes"]
    theirs = peer["training_seconds"] / len(peer["losses"])
    memory = max(run.result["training_mib"] for run in eg)
    objective = max(SCALE * run.result["primal"] for run in eg)
    calls = "marginal computations per example"
    ratio = "time of EG online to crfsuite lbfgs's objective / its time"
    return [
        Figure(
            f"objective of EG online, distance from {OPTIMUM}",
            abs(objective - OPTIMUM),
            "",
            at_most=0.02,
        ),
        Figure(ratio, share("EG online", LBFGS), "ratio", at_most=1 / 15),
        Figure(f"{ratio} (stretch)", share("EG online", LBFGS), "ratio", at_most=0.04),
        Figure(
            f"{ratio}, observed pairs",
            share(OBSERVED, SAME_PAIRS),
            "ratio",
            at_most=0.1,
        ),
        Figure(
            f"{calls} to a gap of {NEAR:g}, most over seeds",
            calls_to(NEAR, 0),
            "",
            at_most=24,
        ),
        Figure(
            f"{calls} to a gap of {NEARER:g}, most over seeds",
            calls_to(NEARER, 1),
            "",
            at_most=40,
        ),
        Figure(
            "iterations of L-BFGS in the time of one of crfsuite's",
            theirs / ours,
            "x",
            at_least=2,
        ),
        Figure(
            "peak memory of EG online above crfsuite's",
            memory - peer["training_mib"],
            "MiB",
            at_most=GIBIBYTE,
        ),
        Figure("test F1 of EG online, mean", mean(r.result["score"] for r in eg), "%"),
        Figure("test F1 of crfsuite lbfgs", peer["f1"], "%"),
    ]


def _our_rows(
    runs: dict[str, list[Ours]], peers: dict[str, dict[str, Any]]
) -> list[list[Any]]:
    rows = []
    for name, some in runs.items():
        goal = peers[SAME_PAIRS if name == OBSERVED else LBFGS]["loss"]
        reached = mean(run.time_to(goal) for run in some)
        ends = [run.result for run in some]
        rows.append(
            [
                name,
                len(some),
                mean(end["passes"] for end in ends),
                mean(end["calls"] / end["n_examples"] for end in ends),
                mean(end["seconds"] for end in ends),
                reached if math.isfinite(reached) else math.nan,
                f"{mean(SCALE * end['primal'] for end in ends):.3f}",
                f"{mean(SCALE * end['dual'] for end in ends):.3f}",
                mean(end["score"] for end in ends),
                max(end["training_mib"] for end in ends),
            ]
        )
    return rows


def _report(
    plans: dict[str, Plan],
    runs: dict[str, list[Ours]],
    peers: dict[str, dict[str, Any]],
) -> Report:
    eg = runs["EG online"]
    n = eg[0].result["n_examples"]
    headings = [
        "", "seeds", "passes", "calls/example", "seconds", "s to crfsuite's objective",
        "objective", "lower bound", "test F1", "peak MiB",
    ]  # fmt: skip
    peer_rows = [
        [
            name,
            len(peer["losses"]),
            peer["training_seconds"],
            peer["training_seconds"] / len(peer["losses"]),
            f"{peer['loss']:.3f}",
            f"{peer['objective']:.3f}",
            peer["f1"],
            peer["training_mib"],
        ]
        for name, peer in peers.items()
    ]
    proof_rows = [
        [f"{tol:g}", calls / n, seconds, gap]
        for run in eg
        for tol, (gap, calls, seconds) in zip(
            plans["EG online"].proofs, run.result["proofs"], strict=True
        )
    ]
    return Report(
        _figures(runs, peers),
        settings={"C": C, "c2": 1.0, "tol": NEAREST},
        seeds=list(plans["EG online"].seeds),
        tables=[
            Table(f"Partwise to a gap of {NEAREST:g}, mean over seeds", headings,
                  _our_rows(runs, peers)),
            Table("EG online, certified",
                  ["to a gap of", "calls/example", "seconds", "gap"], proof_rows),
            Table("python-crfsuite",
                  ["", "iterations", "seconds", "s/iteration", "objective it reports",
                   "objective recomputed", "test F1", "peak MiB"], peer_rows),
        ],
        plots=_plots(runs, peers),
        notes=_notes(runs),
    )  # fmt: skip


def _plots(runs: dict[str, list[Ours]], peers: dict[str, dict[str, Any]]) -> list[Plot]:
    all_pairs = {name: some[0] for name, some in runs.items() if name != OBSERVED}
    best = SCALE * max(run.result["dual"] for run in runs["EG online"])

    def excess(values: list[float]) -> list[float]:
        return [max(value - best, 1e-3) for value in values]

    against_time = [
        Curve(name, run.seconds, excess(run.objective))
        for name, run in all_pairs.items()
    ]
    against_calls = [
        Curve(name, run.passes, excess(run.objective))
        for name, run in all_pairs.items()
    ]
    for name in (LBFGS, "crfsuite l2sgd"):
        losses = excess(peers[name]["losses"])
        against_time.append(Curve(name, peers[name]["seconds"], losses))
        against_calls.append(Curve(name, peers[name]["calls"], losses))
    f1 = [Curve(name, run.seconds, run.f1) for name, run in all_pairs.items()]
    f1 += [
        Curve(name, [peer["training_seconds"]], [peer["f1"]])
        for name, peer in peers.items()
        if name in (LBFGS, "crfsuite l2sgd")
    ]
    f1_calls = [Curve(name, run.passes, run.f1) for name, run in all_pairs.items()]
    top = max(max(curve.y) for curve in f1)
    view = (top - 3, top + 0.2)
    y = "objective - optimum"
    return [
        Plot("objective-time", "seconds", y, against_time, True, True),
        Plot("objective-passes", "effective passes", y, against_calls, True, True),
        Plot("f1-time", "seconds", "test F1", f1, True, y_range=view),
        Plot("f1-passes", "effective passes", "test F1", f1_calls, True, y_range=view),
    ]


def _notes(runs: dict[str, list[Ours]]) -> list[str]:
    lower = SCALE * max(run.result["dual"] for run in runs["EG online"])
    upper = SCALE * min(run.result["primal"] for run in runs["EG online"])
    weights = runs["EG online"][0].result["n_weights"]
    fewer = runs[OBSERVED][0].result["n_weights"]
    return [
        f"The optimum lies between {lower:.4f} and {upper:.4f}, as EG online proves; "
        "the plots show the distance from the lower of the two.",
        f"All pairs: {weights:,} weights; CRFsuite with feature.possible_states=1 and "
        f"feature.possible_transitions=1 has the same. Observed pairs: {fewer:,}. "
        "There we have a weight for every transition, CRFsuite by default only for "
        "those that occur, which is another objective; so the time is compared with "
        "CRFsuite with feature.possible_transitions=1. Its default is in the table.",
        "Calls are computations of marginals, or of log Z for a certificate, all "
        "counted; an effective pass is as many as there are examples. Objective and F1 "
        "after a pass are computed by the benchmark, off the clock and not counted.",
        "L-BFGS, CG and batch EG are stopped after a fixed time.",
        "CRFsuite's curve is its own log; what l2sgd reports is the running loss of an "
        "epoch, not the loss at its end. The objective is recomputed from the "
        "probabilities that its model gives to the training labels. F1 is known at "
        "the end only.",
        "CRFsuite's times are its own, and are processor time; ours are wall time, and "
        "include setting the solver up and the certificate at the end, but not its "
        "place in the time to CRFsuite's objective.",
    ]
