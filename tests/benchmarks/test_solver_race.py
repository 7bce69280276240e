"""A race is fair: who proves what, when, and how "auto" compares."""

import math

import numpy as np
import pytest
from benchmarks import scaling, solver_race
from benchmarks.harness import race as racing
from benchmarks.harness.race import NEVER, Course, Outcome, Result, Time
from benchmarks.harness.scaling_jobs import VALUES, Shape, draw
from benchmarks.harness.training_sets import TrainingSet, encode, read_tagged
from benchmarks.harness.watched import Point, Run

from partwise.structures import make_dense_rows, make_multiclass

STRUCTURE = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
DATA = TrainingSet("two", STRUCTURE, STRUCTURE, decides=False)
COURSE = Course(DATA, "squared_hinge", 0.1)


def make_run(primals, duals, gap=math.nan, dual=math.nan):
    """Make the run of a solver that took a second a pass."""
    points = [
        Point(float(t), primal, math.nan, t, dual)
        for t, (primal, dual) in enumerate(zip(primals, duals, strict=True), start=1)
    ]
    seconds = len(points) + 0.5
    return Run(points, len(points), gap, dual, primals[-1], math.nan, seconds, 0)


def test_race_near_is_measured_against_the_best_dual():
    result = Result("sgd", make_run([200.0, 110.0, 100.0], [math.nan] * 3), 60.0)
    assert result.near(0.1, 99.0) == Time(2.0, 2)
    assert result.near(0.01, 99.0) == Time(3.0, 3)
    assert result.near(0.001, 99.0) == NEVER


def test_race_proof_needs_a_dual_of_its_own():
    blind = Result("sgd", make_run([100.0], [math.nan]), 60.0)
    assert not blind.came_to(0.1)
    # The dual of an earlier pass still bounds the objective of a later one.
    seeing = Result("eg", make_run([200.0, 100.0], [95.0, math.nan]), 60.0)
    assert seeing.came_to(0.1)
    assert not seeing.came_to(0.01)
    assert Result("lbfgs", make_run([100.0], [math.nan], 0.005), 60.0).came_to(0.01)


def test_race_times_are_medians_over_seeds():
    run = make_run([1.0], [1.0])
    result = Result("eg", run, 60.0, {0.1: [Time(3, 2), Time(1, 4), Time(2, 9)]})
    assert result.proved(0.1) == Time(2, 4)
    assert result.proved(0.01) == NEVER
    assert solver_race.cell(result.proved(0.1), 60.0) == "2 (4)"
    assert solver_race.cell(NEVER, 60.0) == "> 60"


def script(monkeypatch, courses):
    """Let solvers run as written: name to (primals, duals, gap, dual)."""
    asked = []

    def run_solver(task, solver, seed, tol, max_iter, limit, every=1, clock=None):
        asked.append((solver, seed, tol, limit))
        made = courses[solver]
        if tol <= 0.01:
            return make_run(*made)
        return make_run(*(values[:1] for values in made[:2]), tol, made[3])

    monkeypatch.setattr(racing, "run_solver", run_solver)
    return asked


def test_race_runs_those_that_are_close_again(monkeypatch):
    asked = script(
        monkeypatch,
        {
            "quick": ([2.0, 1.0], [0.9, 0.995], 0.005, 0.995),
            "slow": ([2.0] * 8 + [1.0], [0.9] * 8 + [0.999], 0.001, 0.999),
            "blind": ([2.0, 1.01], [math.nan] * 2, 0.9, 0.1),
        },
    )
    ended = racing.race(
        COURSE, ["quick", "slow", "blind"], [0.6, 0.01], [0, 1, 2], 60.0, lambda text: 0
    )
    assert ended.dual == 0.999
    assert ended.fastest(0.01).solver == "quick"
    counts = {result.solver: len(result.times[0.01]) for result in ended.results[:2]}
    assert counts == {"quick": 3, "slow": 1}
    assert ended.result_of("blind").proved(0.01) == NEVER
    # Nobody waits for the second much longer than the first took.
    assert ("slow", 0, 0.01, racing.PATIENCE * 2.5) in asked
    assert ("blind", 0, 0.6, racing.PATIENCE * 2.5) not in asked


@pytest.mark.parametrize(
    ("auto", "fastest", "ratio"), [(2.0, 2.0, 1.0), (3.0, 2.0, 1.5)]
)
def test_race_judges_auto_by_the_fastest(auto, fastest, ratio):
    run, goal = make_run([1.0], [1.0]), 0.1
    picked = "auto"
    results = [
        Result(picked, run, 60.0, {goal: [Time(auto, 1)]}),
        Result("other", run, 60.0, {goal: [Time(fastest, 1)]}),
    ]
    (choice,) = solver_race.judge(Outcome(COURSE, results, 1.0), [goal])
    assert choice.picked.solver == picked
    assert choice.ratio == ratio
    assert choice.row()[-1] == ratio
    assert choice.row()[2] == "dcd"  # what it starts with


def test_race_judges_nothing_that_nobody_reached():
    results = [Result("auto", make_run([1.0], [0.0]), 60.0)]
    (choice,) = solver_race.judge(Outcome(COURSE, results, 1.0), [0.1])
    assert math.isnan(choice.ratio)


def test_race_compares_margins_with_likelihood():
    run, one_percent = make_run([1.0], [1.0]), solver_race.ONE_PERCENT
    times = {"squared_hinge": [Time(9.0, 1)], "hinge": [], "log_loss": [Time(5.0, 1)]}
    outcomes = {
        loss: [
            Outcome(
                COURSE._replace(loss=loss),
                [Result("auto", run, 25.0, {one_percent: took})],
                1.0,
            )
        ]
        for loss, took in times.items()
    }
    squared, plain = solver_race.against_likelihood(outcomes)
    assert (squared.value, squared.at_most) == (9.0 / 5.0, 2.0)
    # The hinge has not got there in all its time.
    assert (plain.value, plain.at_most) == (25.0 / 5.0, 3.0)


def test_training_sets_read_words_and_tags(tmp_path):
    import gzip

    path = tmp_path / "some.conllu.gz"
    lines = ["# text", "1-2\tdon't\t_\t_", "1\tdo\tdo\tAUX", "2\tn't\tnot\tPART", ""]
    path.write_bytes(gzip.compress("\n".join([*lines, "1\tYes\tyes\tINTJ"]).encode()))
    read = read_tagged(path)
    assert read == [[("do", "AUX"), ("n't", "PART")], [("Yes", "INTJ")]]
    chain = encode(read, "U:%x[0,0]\nB\n", ["AUX", "INTJ", "PART"])
    assert chain.labels.tolist() == [0, 2, 1]
    assert chain.ptr.tolist() == [0, 2, 3]


def test_scaling_draws_the_shape_it_is_asked_for():
    shape = Shape(n_sentences=3, length=7, n_labels=4, n_features=2)
    chain = draw(shape)
    assert chain.ptr.tolist() == [0, 7, 14, 21]
    assert np.diff(chain.nodes.ptr).tolist() == [2] * 21
    assert chain.layout.n_labels == 4
    assert chain.nodes.n_columns == 2 * VALUES
    # Mostly, the first feature tells the label.
    first = chain.nodes.idx[::2] % 4
    assert np.mean(first == chain.labels) > 0.5


def test_scaling_fits_the_exponent_of_a_power():
    axis = scaling.Axis("things", [1, 10, 100], draw, "token", len, 1.0)
    growth = scaling.Growth(axis, [{"eg": 3.0 * size**1.5} for size in axis.sizes])
    assert growth.exponent("eg") == pytest.approx(1.5)
    steeper = scaling.Growth(axis, [{"eg": 1.0}, {"eg": 1.0}, {"eg": 100.0}])
    assert steeper.exponent("eg") == pytest.approx(1.0)
    assert steeper.exponent("eg", last=2) == pytest.approx(2.0)
