"""The averaged perceptron, and what the loop makes of a solver without objective."""

import json
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import mistake_mirror
import partwise
import problems
from partwise.cli.app import app
from partwise.errors import PairingError
from partwise.losses import LOSSES, Hinge, get_loss
from partwise.solvers import Callback, Problem, Solution, make_problem, solve
from partwise.solvers.mistake_driven import base as module
from partwise.solvers.mistake_driven.arow import AROW
from partwise.solvers.mistake_driven.base import MistakeDriven
from partwise.solvers.mistake_driven.kbest_mira import KBestMIRA
from partwise.solvers.mistake_driven.mira import MIRA
from partwise.solvers.mistake_driven.passive_aggressive import PassiveAggressive
from partwise.solvers.mistake_driven.perceptron import Perceptron
from partwise.solvers.pairing import check_pairing
from partwise.solvers.registry import default_solver, make_solver, solvers_for
from partwise.solvers.trace import COLUMNS
from partwise.structures import Multiclass, make_dense_rows, make_multiclass
from partwise.structures import interface as waist
from partwise.structures.decoding import decode, decode_kbest
from partwise.synthetic import make_classes, make_corpus
from problems import Floats, Maker, Outputs
from scripted_clock import script_clock

HINGE = get_loss("hinge")
WEIGHTS = np.array([0.5, 2.0, 0.0, 0.25, 1.0, 3.0])
# They differ in what they do at an example, and in nothing else.
ALL: tuple[type[MistakeDriven], ...] = (
    Perceptron,
    MIRA,
    KBestMIRA,
    PassiveAggressive,
    AROW,
)


@pytest.fixture(params=mistake_mirror.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


@pytest.fixture
def problem() -> Problem:
    """Labels that follow the features only roughly: nothing separates them."""
    s = problems.make_small(problems.ANY, count=20)
    return make_problem(s, HINGE, 0.5)


def two_examples(sample_weight: Any = None, C: float = 1.0) -> Problem:
    s = make_multiclass(make_dense_rows([[1.0, 0.0], [0.0, 2.0]]), [1, 2], 3)
    weight = None if sample_weight is None else np.array(sample_weight)
    return make_problem(s, HINGE, C, weight)


def matrix(solution: Solution) -> Any:
    return solution.w.reshape(2, 3).tolist()


# --- the updates ---


def test_perceptron_updates_are_those_by_hand() -> None:
    """At zero weights class 0 wins; both examples are corrected once."""
    solver = Perceptron(averaging=False, order="cyclic")
    first = solve(two_examples(), solver, max_iter=1)
    assert matrix(first) == [[-1.0, 1.0, 0.0], [-2.0, 0.0, 2.0]]
    assert first.reason == "max_iter"
    second = solve(two_examples(), solver, max_iter=9)
    assert matrix(second) == matrix(first)
    assert len(second.trace) == 2
    assert second.converged
    assert second.status == (
        "converged after 2 passes: pass 2 found every training example right"
    )


def test_perceptron_average_is_that_by_hand() -> None:
    """The second row was zero after the first of four visits."""
    solution = solve(two_examples(), Perceptron(order="cyclic"))
    assert matrix(solution) == [[-1.0, 1.0, 0.0], [-1.5, 0.0, 1.5]]


def test_perceptron_sample_weights_multiply_the_step() -> None:
    solver = Perceptron(averaging=False, order="cyclic")
    solution = solve(two_examples([4.0, 1.0]), solver, max_iter=1)
    assert matrix(solution) == [[-1.0, 1.0, 0.0], [-0.5, 0.0, 0.5]]
    solution = solve(two_examples([0.0, 1.0]), solver)
    assert matrix(solution) == [[0.0, 0.0, 0.0], [-2.0, 0.0, 2.0]]
    assert solution.trace["oracle_calls"].tolist() == [1, 2]


def test_perceptron_C_changes_nothing() -> None:
    one, two = (solve(two_examples(C=C), Perceptron()) for C in (0.1, 30.0))
    np.testing.assert_array_equal(one.w, two.w)


def perceptron_rule(cost_augmented: bool, largest: float) -> Any:
    def rule(out: Outputs, C: float, w: Floats) -> Floats:
        best = mistake_mirror.best_first(out, w, cost_augmented)[0]
        return C / largest * out.dphi[best]

    return rule


@pytest.mark.parametrize("cost_augmented", [False, True])
def test_perceptron_average_is_the_naive_one(make: Maker, cost_augmented: bool) -> None:
    problem = make_problem(problems.make_small(make), HINGE, 1.0, WEIGHTS)
    start = mistake_mirror.random_start(problem)
    seen = mistake_mirror.weights_after_visits(
        problem, perceptron_rule(cost_augmented, 3.0), start.w, passes=4
    )
    assert not np.allclose(seen[0], seen[-1]), "nothing was learnt"
    for averaging, expected in ((True, np.mean(seen, axis=0)), (False, seen[-1])):
        solver = Perceptron(averaging, cost_augmented, "cyclic")
        rng = np.random.default_rng(0)
        state = solver.start(problem, rng, start)
        for _ in range(4):
            for _ in solver.run_pass(problem, state, rng):
                pass
        np.testing.assert_allclose(state.w, expected, atol=1e-12)
        np.testing.assert_allclose(state.average.now, seen[-1], atol=1e-12)


def test_perceptron_cost_augmented_asks_for_a_margin() -> None:
    s = make_multiclass(make_dense_rows([[0.25]]), [0], 2)
    problem = make_problem(s, HINGE)
    assert not solve(problem, Perceptron()).w.any()
    solution = solve(problem, Perceptron(averaging=False, cost_augmented=True))
    assert solution.converged
    # Each of eight corrections widens the margin by 1/8, up to the cost of 1.
    assert solution.w.tolist() == [2.0, -2.0]


# --- separable data ---


def teach(make: Maker, count: int) -> Any:
    """Make a corpus whose labels are the best outputs under some weights, by far."""
    drawn = problems.draw(make, count)
    s = make(drawn)
    w = np.random.default_rng(5).normal(size=waist.n_weights(s))
    best, next_best = decode_kbest(s, w, 2).scores.T
    found = decode(s, w)
    labels = np.split(found.codes, found.ptr[1:-1])
    clear = np.flatnonzero(best - next_best > 0.5)
    assert clear.size >= count / 3
    return make([(drawn[i][0], labels[i]) for i in clear])


# Not those whose features, or legal outputs, depend on the labels.
TEACHABLE = [
    make for make in mistake_mirror.MAKERS if make is not problems.chain_masked
]


@pytest.mark.parametrize("make", TEACHABLE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_separate_what_can_be_separated(
    make: Maker, kind: type[MistakeDriven]
) -> None:
    problem = make_problem(teach(make, 24), HINGE, C=100.0)
    solution = solve(problem, kind(averaging=False), max_iter=500)
    assert solution.reason == "separated", solution.status
    assert len(solution.trace) > 1
    found = decode(problem.structure, solution.w)
    for i in range(problem.n_examples):
        right = np.zeros(found.ptr[i + 1] - found.ptr[i], np.int32)
        waist.gold(problem.structure, i, right)
        assert found.codes[found.ptr[i] : found.ptr[i + 1]].tolist() == right.tolist()


# --- without an objective ---


class NoLoss(Hinge):
    """A loss that nobody may ask for its value."""

    def fill(self, *args: Any) -> None:
        raise AssertionError("the loss was computed")


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_never_compute_a_loss(
    problem: Problem, kind: type[MistakeDriven]
) -> None:
    silent = Problem(problem.structure, NoLoss(), problem.C)
    scores = iter([0.5, 0.9, 0.3])
    solution = solve(
        silent, kind(), tol=1e9, max_iter=3, evaluate=lambda w: next(scores)
    )
    assert len(solution.trace) == 3, "tol ended it"
    assert solution.certificate is None
    for column in ("primal", "dual", "relative_gap"):
        assert np.isnan(solution.trace[column]).all()
    assert not solution.trace["exact"].any()


def test_perceptron_status_says_that_there_is_no_gap(problem: Problem) -> None:
    solution = solve(problem, Perceptron(), max_iter=3)
    assert not solution.converged
    assert solution.status == (
        "stopped after 3 passes: Perceptron minimises no objective, so there is no "
        "gap; choose max_iter on development data"
    )


def test_perceptron_keeps_the_best_weights_on_development_data(
    problem: Problem,
) -> None:
    scores = iter([0.5, 0.9, 0.3])
    best = solve(problem, Perceptron(), max_iter=2)
    solution = solve(problem, Perceptron(), max_iter=3, evaluate=lambda w: next(scores))
    np.testing.assert_array_equal(solution.w, best.w)
    assert solution.status == (
        "stopped after 3 passes: Perceptron minimises no objective, so there is no "
        "gap; the weights of pass 2, best on the development data, are kept"
    )
    scores = iter([0.5, 0.4, 0.3])
    early = solve(problem, Perceptron(), evaluate=lambda w: next(scores), patience=2)
    assert early.reason == "stopped_early"
    assert early.certificate is None


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_cut_short_keep_what_they_learnt(
    problem: Problem, kind: type[MistakeDriven], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        script_clock(patch, tick=0.01)
        late = solve(problem, kind(), time_limit=0.1)
    assert late.status == "out of time after 0 passes; the weights so far are kept"
    assert late.w.any()

    class CtrlC(Callback):
        def on_progress(self, iteration: int, fraction: float) -> None:
            if fraction > 0.3:  # the first few examples may all be right
                raise KeyboardInterrupt

    ended = solve(problem, kind(), callbacks=[CtrlC()])
    assert ended.status == "interrupted after 0 passes; the weights so far are kept"
    assert ended.w.any()
    assert ended.certificate is None


def test_perceptron_says_when_the_weights_overflow() -> None:
    problem = two_examples()
    start = mistake_mirror.random_start(problem)
    start.w[:] = np.inf
    solution = solve(problem, Perceptron(averaging=False), previous=start)
    assert solution.reason == "not_finite"
    assert "scale the features" in solution.status


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_perceptron_runs_with_any_loss_and_ignores_it(
    problem: Problem, loss: str
) -> None:
    other = make_problem(problem.structure, get_loss(loss), 0.5)
    one, two = (solve(p, Perceptron(), max_iter=2) for p in (problem, other))
    np.testing.assert_array_equal(one.w, two.w)


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_are_no_minimisers_to_advise(
    kind: type[MistakeDriven],
) -> None:
    for loss in LOSSES:
        assert not kind.names.keys() & set(solvers_for(loss))
        assert default_solver(loss).minimises
    problem = make_problem(two_examples().structure, get_loss("log_loss"), l1_ratio=1.0)
    with pytest.raises(PairingError, match=r"penalty='l1': use owlqn"):
        solve(problem, kind())


class OnlyArgmax(NamedTuple):
    """Classes without marginals, which the log loss would need."""

    labels: Any


for _question in (*waist.REQUIRED, waist.argmax, waist.add_costs, waist.cost):
    _question.implement(OnlyArgmax)(_question.body_for(Multiclass))  # type: ignore[attr-defined]


def test_perceptron_needs_nothing_of_the_loss() -> None:
    problem = make_problem(OnlyArgmax(np.zeros(2, np.int32)), get_loss("log_loss"))
    check_pairing(problem, Perceptron())
    check_pairing(problem, MIRA())
    with pytest.raises(PairingError, match="mira-kbest needs 'kbest'"):
        check_pairing(problem, KBestMIRA())


# --- seeds, cuts, checkpoints, settings ---


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_same_seed_gives_the_same_bits(
    problem: Problem, kind: type[MistakeDriven]
) -> None:
    runs = [solve(problem, kind(), max_iter=4, random_state=r) for r in (5, 5, 6)]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)
    assert not np.array_equal(runs[0].w, runs[2].w)
    cyclic = [
        solve(problem, kind(order="cyclic"), max_iter=4, random_state=r).w
        for r in (5, 6)
    ]
    np.testing.assert_array_equal(cyclic[0], cyclic[1])


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_do_not_depend_on_the_cuts(
    problem: Problem, kind: type[MistakeDriven], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(size: int) -> Floats:
        def cut(count: int, seconds: float = 0.1) -> Iterator[tuple[int, int]]:
            for start in range(0, count, size):
                yield start, min(start + size, count)

        monkeypatch.setattr(module, "chunks", cut)
        return solve(problem, kind(), max_iter=3).w

    np.testing.assert_array_equal(run(20), run(3))


@pytest.mark.parametrize("averaging", [True, False])
@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_resumed_is_unbroken(
    problem: Problem, kind: type[MistakeDriven], averaging: bool, tmp_path: Path
) -> None:
    solver, path = kind(averaging), tmp_path / "run"
    unbroken = solve(problem, solver, max_iter=6)
    solve(problem, solver, max_iter=2, checkpoint=path)
    resumed = solve(problem, solver, max_iter=6, checkpoint=path, resume=True)
    np.testing.assert_array_equal(unbroken.w, resumed.w)
    assert unbroken.status == resumed.status
    for name in set(COLUMNS) - {"seconds"}:
        np.testing.assert_array_equal(unbroken.trace[name], resumed.trace[name])
    for name, value in unbroken.state.tensors().items():
        np.testing.assert_array_equal(value, resumed.state.tensors()[name])


def test_perceptron_resumed_after_its_end_has_nothing_to_do(tmp_path: Path) -> None:
    path = tmp_path / "run"
    ended = solve(two_examples(), Perceptron(), checkpoint=path)
    again = solve(two_examples(), Perceptron(), checkpoint=path, resume=True)
    assert again.reason == ended.reason == "separated"
    assert len(again.trace) == len(ended.trace)
    np.testing.assert_array_equal(again.w, ended.w)


def test_perceptron_goes_on_from_the_weights_of_any_solver(problem: Problem) -> None:
    first = mistake_mirror.random_start(problem)
    before = first.w.copy()
    solver = Perceptron(averaging=False)
    state = solver.start(problem, np.random.default_rng(0), first)
    np.testing.assert_array_equal(state.w, before)
    again = solve(problem, solver, previous=first, max_iter=1)
    assert not np.array_equal(again.w, solve(problem, solver, max_iter=1).w)
    np.testing.assert_array_equal(first.w, before)
    with pytest.raises(ValueError, match="another structure"):
        solve(two_examples(), solver, previous=first)


def test_perceptron_memory_is_what_it_keeps(problem: Problem) -> None:
    for averaging in (True, False):
        solver = Perceptron(averaging)
        state = solver.start(problem, np.random.default_rng(0), None)
        kept = state.average.now.nbytes + state.average.late.nbytes
        assert solver.memory(problem) == kept


@pytest.mark.parametrize("kind", ALL)
def test_perceptron_and_mira_wrong_order_is_refused(kind: type[MistakeDriven]) -> None:
    with pytest.raises(ValueError, match="unknown order 'gaps'; choose from shuffled"):
        kind(order="gaps")


def test_perceptron_is_found_by_its_name() -> None:
    assert make_solver("perceptron") == Perceptron()


def test_perceptron_has_nothing_to_certify(problem: Problem) -> None:
    state = Perceptron().start(problem, np.random.default_rng(0), None)
    with pytest.raises(TypeError, match="Perceptron minimises no objective"):
        Perceptron().certify(problem, state)


# --- estimators and the command line ---


def test_perceptron_trains_a_tagger_that_can_be_saved(tmp_path: Path) -> None:
    corpus = make_corpus(60)
    X = [[{"word": w, "suffix": w[-2:]} for w in s.words] for s in corpus]
    y = corpus.column("chunks")
    # No warning either: all its passes are all that it was to do.
    tagger = partwise.SequenceTagger(solver="perceptron", max_iter=3).fit(X, y)
    assert tagger.certificate_ is None
    assert tagger.status_.startswith("stopped after 3 passes: Perceptron minimises no")
    assert tagger.score(X, y) > 0.9
    tagger.save(tmp_path / "model")
    loaded = partwise.load(tmp_path / "model")
    assert loaded.certificate_ is None
    assert loaded.status_ == tagger.status_
    assert math.isnan(loaded.trace_[0].primal)
    assert loaded.predict(X) == tagger.predict(X)


@pytest.mark.parametrize("name", ["perceptron", "mira", "mira-kbest"])
def test_perceptron_and_mira_train_a_classifier(name: str) -> None:
    X, y = make_classes(100, n_classes=3, n_features=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = partwise.MulticlassClassifier(solver=name, max_iter=10).fit(X, y)
    assert model.score(X, y) > 0.8


def test_perceptron_on_the_command_line_shows_no_gap(tmp_path: Path) -> None:
    def run(*arguments: object) -> str:
        result = CliRunner().invoke(app, [*map(str, arguments)])
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
        return result.output

    run("demo", "--size", 100, "--save-data", tmp_path)
    model = tmp_path / "model"
    train = ["train", "tag", tmp_path / "train.txt", "-m", model]
    train += ["--solver", "perceptron", "--max-iter", 2]
    shown = run(*train)
    assert "stopped after 2 passes: Perceptron minimises no objective" in shown
    assert "There is no certificate" in shown
    assert "gap  " not in shown
    assert "nan" not in shown
    numbers = json.loads(run(*train, "--json", "--quiet").splitlines()[-1])
    assert numbers["certificate"] is None
    assert numbers["passes"] == 2
    assert "There is no certificate" in run("inspect", model)
    described = json.loads(run("inspect", model, "--json").splitlines()[-1])
    assert described["certificate"] is None
    assert described["trace"]["primal"] == [None, None]
