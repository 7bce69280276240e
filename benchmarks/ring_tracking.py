"""Max-margin hidden Markov models: the tracking problem on a ring of paper 003.

Ten states on a ring, seven symbols; a mistake costs the distance along the ring. The
paper gives neither noise exactly; its figures (94.6 +- 13.5 for margins, 103.4 +- 19.1
for the likelihood) fit 0.55 and 0.6, which is an inference, and a map over both noises
stands beside it. (a) losses of both, repeated; (b) Figure 1 and Table 1: bounds against
iterations, and where the time goes; (c) the map, over references and C, with the choice
that held-out sequences make.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.harness.ring import (
    LENGTH,
    N_STATES,
    N_SYMBOLS,
    RING,
    Losses,
    Noise,
    Tracks,
    draw,
    losses,
    measure,
)
from partwise import C_path, HiddenMarkovModel
from partwise.losses import get_loss
from partwise.solvers import RestrictedSimplicialDecomposition, make_problem
from partwise.solvers.log_distributions import uniform_reference
from partwise.structures import make_hidden_markov

FITTED = Noise(0.55, 0.6)
TRANSITION_NOISES = (0.1, 0.3, 0.55, 0.8)
OBSERVATION_NOISES = (0.1, 0.3, 0.6, 0.7)
CS = [0.0003, 0.001, 0.003, 0.01, 0.1]
REFERENCES = ("likelihood", "uniform")
ETA = 0.1  # of the paper's experiment, which does not tell its own

AHEAD = 6.0  # a little less than what the paper's figures are apart
SECONDS = 60.0
NOT_MUCH_WORSE = 1.0
TOL = 1e-3


def run(bench: Bench) -> Report:
    """Repeat the experiment, watch one run, and draw the map."""
    n_train, n_test = bench.choose((100, 1000), (20, 50))
    repetitions = bench.choose(20, 1)
    sizes = (n_train, n_test)
    margin(0.01, "uniform").fit(*draw(3, FITTED, np.random.default_rng(0)))  # compiles

    table, ahead = repeat(bench, sizes, repetitions)
    watched = watch(draw(n_train, FITTED, np.random.default_rng(0)))
    mapped, plot, worst, chosen_ahead = chart(bench, sizes)
    figures = [
        Figure(
            "ring loss a sequence, likelihood minus margin", ahead, "", at_least=AHEAD
        ),
        Figure("seconds to 0.1% of optimal", watched.seconds, "s", at_most=SECONDS),
        Figure(
            "ring loss, chosen model minus likelihood, worst of all noises",
            worst,
            "",
            at_most=NOT_MUCH_WORSE,
        ),
        Figure(
            "ring loss, likelihood minus chosen model, best of all noises",
            chosen_ahead,
            "",
        ),
    ]
    return Report(
        figures,
        settings={
            "fitted noise": FITTED,
            "eta": ETA,
            "Cs of the map": CS,
            "references": REFERENCES,
            "sequences": sizes,
            "tol": TOL,
        },
        seeds=list(range(repetitions)),
        tables=[table, watched.table, mapped],
        plots=[watched.plot, plot],
        notes=[
            "Spread: the standard deviation over test sequences, averaged over the "
            "repetitions; 'of means': that of the average loss from one repetition to "
            "the next.",
            "Least expected cost: the probabilities are those of the likelihood; at "
            "every position the state is predicted that costs least on average.",
            "The symbol itself: state k is predicted where symbol k is seen, and "
            "nothing is learnt.",
            "The chosen model: objective='auto', by five folds of the training "
            "sequences.",
        ],
    )


def margin(C: float, reference: str, costs: str = "ring") -> HiddenMarkovModel:
    """Make a model that is trained for margins."""
    return HiddenMarkovModel("margin", C, reference, costs=costs, tol=TOL)


# --- (a) losses -----------------------------------------------------------------------


def repeat(
    bench: Bench, sizes: tuple[int, int], repetitions: int
) -> tuple[Table, float]:
    """Return the losses, and how far margins are ahead of the likelihood."""
    found: dict[str, list[Losses]] = {}
    for seed in range(repetitions):
        bench.say(f"repetition {seed + 1} of {repetitions}")
        rng = np.random.default_rng(seed)
        train, test = (draw(n, FITTED, rng) for n in sizes)
        for name, result in one_repetition(train, test).items():
            found.setdefault(name, []).append(result)
    rows: list[list[Any]] = [
        [name, *np.mean(some, axis=0).tolist(), float(np.std(some, axis=0)[0])]
        for name, some in found.items()
    ]
    ahead = rows[0][1] - rows[1][1]
    rows.append(["paper: maximum likelihood", 103.4, 19.1, None, None])
    rows.append(["paper: max-margin, uniform c", 94.6, 13.5, None, None])
    headings = ["", "ring", "spread", "Hamming", "ring, spread of means"]
    return Table("Losses a sequence, fitted noise", headings, rows), ahead


def one_repetition(train: Tracks, test: Tracks) -> dict[str, Losses]:
    """Train every model once; return its losses on other sequences."""
    counted = HiddenMarkovModel("likelihood", costs="ring").fit(*train)
    chosen = HiddenMarkovModel("auto", costs="ring", tol=TOL).fit(*train)
    by_hamming = margin(ETA, "uniform", costs="hamming").fit(*train)
    return {
        "maximum likelihood": measure(counted, test),
        f"max-margin, uniform c, eta {ETA:g}": measure(
            margin(ETA, "uniform").fit(*train), test
        ),
        f"max-margin, uniform c, eta {ETA:g}, for Hamming": measure(by_hamming, test),
        "max-margin, likelihood c, eta 0.003": measure(
            margin(0.003, "likelihood").fit(*train), test
        ),
        "chosen by folds": measure(chosen, test),
        "maximum likelihood, least expected cost": measure(
            counted, test, "minimum_risk"
        ),
        "the symbol itself": losses(test, test.X),
    }


# --- (b) Figure 1 and Table 1 ---------------------------------------------------------


class Watched(NamedTuple):
    """What was seen of one run: where the time went, the bounds, the seconds."""

    table: Table
    plot: Plot
    seconds: float


def watch(train: Tracks) -> Watched:
    """Solve the paper's problem to 0.1%, pass by pass, and note the bounds."""
    s = make_hidden_markov(
        train.X.ravel(),
        LENGTH * np.arange(len(train.X) + 1),
        train.y.ravel(),
        N_STATES,
        N_SYMBOLS,
        costs=RING,
    )
    loss = get_loss("hinge")
    uniform = uniform_reference(make_problem(s, loss).distributions())
    problem = make_problem(s, loss, ETA, reference=uniform)
    solver, rng = RestrictedSimplicialDecomposition(), np.random.default_rng(0)
    begin = time.perf_counter()
    state = solver.start(problem, rng, None)
    upper, lower, estimate, outside = [], [], [], []
    while True:
        for _ in solver.run_pass(problem, state, rng):
            pass
        upper.append(state.primal)
        lower.append(state.dual)
        estimate.append(state.estimate_of_paper)
        outside.append(state.outside)
        if upper[-1] - lower[-1] <= TOL * upper[-1] or len(upper) == 5000:
            break
    seconds = time.perf_counter() - begin
    parts = dict(state.seconds)
    parts["everything else"] = seconds - sum(parts.values())
    rows: list[list[Any]] = [
        [name, spent, 100 * spent / seconds] for name, spent in parts.items()
    ]
    paper = {"master": 3.4, "directions": 86.6, "centre": 10.0}
    for row in rows:
        row.append(paper.get(row[0]))
    rows.append(["all", seconds, 100.0, 100.0])
    rows += [
        ["iterations (paper: about 1000)", len(upper), None, None],
        ["points at the end (paper: 61)", len(state.points), None, None],
        ["centre changes", state.n_changes, None, None],
        ["distributions outside the dual's domain at the end", outside[-1], None, None],
    ]
    passes = list(range(1, len(upper) + 1))
    curves = [
        Curve("upper bound", passes, upper),
        Curve("lower bound", passes, lower),
        Curve("the paper's estimate", passes, estimate),
    ]
    best = upper[-1]
    plot = Plot(
        "bounds", "iteration", "objective", curves, y_range=(0.9 * best, 1.1 * best)
    )
    headings = ["", "s, or number", "% of time", "paper: % of 717 s"]
    return Watched(Table("One run to 0.1% of optimal", headings, rows), plot, seconds)


# --- (c) the map ----------------------------------------------------------------------


def chart(bench: Bench, sizes: tuple[int, int]) -> tuple[Table, Plot, float, float]:
    """Return the map over noises, references and C, and how the choice does."""
    headings = ["transition", "observation", "likelihood", "least expected cost"]
    headings += [f"{reference}, {C:g}" for reference in REFERENCES for C in CS]
    headings += ["chosen", "which"]
    rows, gains = [], {}
    seeds = range(bench.choose(3, 1))
    for observation in bench.choose(OBSERVATION_NOISES, (FITTED.observation,)):
        for transition in bench.choose(TRANSITION_NOISES, (FITTED.transition,)):
            noise = Noise(transition, observation)
            bench.say(f"map: {noise}")
            found = [one_place(noise, sizes, 100 + seed) for seed in seeds]
            means = np.mean([ring for ring, _ in found], axis=0).tolist()
            names = sorted({name for _, name in found})
            gains[noise] = means[0] - means[-1]
            rows.append([*noise, *means, "; ".join(names)])
    curves = [
        Curve(
            f"observation noise {observation:g}",
            [noise.transition for noise in gains if noise.observation == observation],
            [gain for noise, gain in gains.items() if noise.observation == observation],
        )
        for observation in dict.fromkeys(noise.observation for noise in gains)
    ]
    plot = Plot(
        "map", "transition noise", "ring loss, likelihood minus chosen model", curves
    )
    table = Table("Map: ring loss a sequence", headings, rows)
    return table, plot, -min(gains.values()), max(gains.values())


def one_place(
    noise: Noise, sizes: tuple[int, int], seed: int
) -> tuple[list[float], str]:
    """Return the ring loss of every model at these noises, and what was chosen."""
    rng = np.random.default_rng(seed)
    train, test = (draw(n, noise, rng) for n in sizes)
    counted = HiddenMarkovModel("likelihood", costs="ring").fit(*train)
    result = [measure(counted, test).ring, measure(counted, test, "minimum_risk").ring]
    for reference in REFERENCES:
        path = C_path(margin(1.0, reference), train.X, train.y, CS)
        result += [measure(point.estimator, test).ring for point in path]
    chosen = HiddenMarkovModel("auto", costs="ring", tol=TOL).fit(*train)
    result.append(measure(chosen, test).ring)
    name = "likelihood"
    if chosen.objective_ == "margin":
        name = f"margin, {chosen.reference_}, {chosen.C_:g}"
    return result, name
