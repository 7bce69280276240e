"""The regularisation path, the default C, and what "auto" says it picked."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import problems
from class_data import easy_classes
from log_problems import LOG_LOSS
from partwise import C_path, MulticlassClassifier, SequenceTagger, load
from partwise.estimators.sequence.inputs import DictInput
from partwise.losses import get_loss
from partwise.solvers import automatic, make_problem, solve
from partwise.solvers.registry import all_solvers, make_solver
from tagging_data import CHUNKS, TEST_CHUNKS, TEST_WORDS, WORDS, InterruptAfter, dicts

X, Y = dicts(WORDS[:5]), CHUNKS[:5]
DEV = dicts(TEST_WORDS[:5]), TEST_CHUNKS[:5]
ROWS, TARGET = easy_classes(80, n_classes=3, n_features=9)
CS = [1.0, 0.01, 0.1]

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")


# --- the path ---


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="too much for plain Python")
def test_c_path_models_are_those_of_separate_fits() -> None:
    path = C_path(SequenceTagger(tol=0.01), X, Y, CS)
    assert [point.C for point in path] == sorted(CS)
    for point in path:
        alone = SequenceTagger(tol=0.01, C=point.C).fit(X, Y)
        assert point.certificate is not None
        assert alone.certificate_ is not None
        assert point.certificate.relative_gap <= 0.01
        assert point.certificate.primal == pytest.approx(
            alone.certificate_.primal, rel=0.011
        )
        assert point.estimator.C_ == point.estimator.C == point.C
        assert point.estimator.predict(X[:1]) == alone.predict(X[:1])


def test_c_path_encodes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    encode = DictInput.fit_encode

    def count(self: Any, sequences: Any) -> Any:
        calls.append(1)
        return encode(self, sequences)

    monkeypatch.setattr(DictInput, "fit_encode", count)
    C_path(SequenceTagger(tol=0.1), X, Y, CS)
    assert len(calls) == 1


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_c_path_takes_fewer_oracle_calls_than_separate_fits(loss: str) -> None:
    grid = np.geomspace(0.01, 1.0, 7)
    model = MulticlassClassifier(loss)
    path = C_path(model, ROWS, TARGET, grid)
    alone = [clone(model).set_params(C=C).fit(ROWS, TARGET).trace_ for C in grid]
    warm = sum(point.trace[-1].oracle_calls for point in path)
    assert warm < 0.9 * sum(trace[-1].oracle_calls for trace in alone)


def test_c_path_best_is_best_on_development_data() -> None:
    path = C_path(SequenceTagger(tol=0.01, patience=3), X, Y, CS, dev=DEV)
    scores = [point.dev_score for point in path]
    assert path.best.dev_score == max(s for s in scores if s is not None)
    assert path.best is path[scores.index(path.best.dev_score)]
    best = path.best_estimator
    found = best._evaluator(*DEV)(best.weights_)
    assert found == pytest.approx(path.best.dev_score)
    assert str(path).count("\n") == len(CS)


def test_c_path_leaves_the_estimator_as_it_was() -> None:
    tagger = SequenceTagger(tol=0.1)
    C_path(tagger, X, Y, CS)
    assert not hasattr(tagger, "weights_")
    assert tagger.C is None


def test_c_path_passes_weights_on() -> None:
    weight = np.linspace(0.0, 2.0, len(TARGET))
    (point,) = C_path(MulticlassClassifier(), ROWS, TARGET, [0.5], weight)
    alone = MulticlassClassifier(C=0.5).fit(ROWS, TARGET, weight)
    assert np.array_equal(point.weights, alone.weights_)
    heavy = [[2.0] * len(labels) for labels in Y]
    (tagged,) = C_path(SequenceTagger(tol=0.1), X, Y, [0.5], token_weight=heavy)
    again = SequenceTagger(C=0.5, tol=0.1).fit(X, Y, token_weight=heavy)
    assert np.array_equal(tagged.weights, again.weights_)


def test_c_path_models_are_saved_and_pickled(tmp_path: Path) -> None:
    point = C_path(SequenceTagger(tol=0.1), X, Y, CS)[0]
    point.estimator.save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert found.C == found.C_ == 0.01
    for model in (found, pickle.loads(pickle.dumps(point.estimator))):
        assert model.predict(X) == point.estimator.predict(X)


def test_c_path_ends_with_ctrl_c() -> None:
    tagger = SequenceTagger(tol=1e-9, callbacks=[InterruptAfter(2)])
    with pytest.warns(ConvergenceWarning, match="C=0.01: interrupted"):
        path = C_path(tagger, X, Y, CS)
    assert path.interrupted
    assert [point.C for point in path] == [0.01]


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        ([], "Cs is empty"),
        ([1.0, 0.0], "every C must be a positive number, not 0.0"),
        ([np.inf], "every C must be a positive number, not inf"),
        (["1"], "every C must be a positive number, not '1'"),
        (1.0, "Cs must be a list of positive numbers, not 1.0"),
    ],
)
def test_c_path_mistakes_raise(Cs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        C_path(SequenceTagger(), X, Y, Cs)


def test_c_path_without_development_data_has_no_best() -> None:
    path = C_path(MulticlassClassifier(), ROWS, TARGET, [1.0])
    with pytest.raises(ValueError, match="give C_path dev="):
        _ = path.best


def test_c_path_refuses_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="C_path keeps no checkpoints"):
        C_path(SequenceTagger(checkpoint=tmp_path / "c"), X, Y, CS)


# --- every solver, from another C ---


@plain
@pytest.mark.parametrize(
    ("make", "before", "after"),
    [(problems.classes_costs, 0.1, 1.0), (problems.chain_masked, 1.0, 0.1)],
    ids=["larger", "smaller"],
)
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        (name, loss)
        for name, solver in sorted(all_solvers().items())
        for loss in solver.losses
        if solver.minimises and name != "sgd" and "l2" in solver.penalties
    ],
)
def test_start_from_another_c_reaches_the_same_optimum(
    make: problems.Maker, name: str, loss: str, before: float, after: float
) -> None:
    s = problems.make_small(make, 4)
    settings: dict[str, Any] = {"tol": 1e-3, "max_iter": 3000}
    first = solve(
        make_problem(s, get_loss(loss), before), make_solver(name), **settings
    )
    problem = make_problem(s, get_loss(loss), after)
    warm = solve(problem, make_solver(name), previous=first.state, **settings)
    cold = solve(problem, make_solver(name), **settings)
    assert warm.converged
    assert warm.certificate is not None
    assert cold.certificate is not None
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1.1e-3)
    assert warm.certificate.dual <= cold.certificate.primal * (1 + 1e-9)


@plain
@pytest.mark.parametrize("name", ["eg", "sdca"])
def test_start_from_a_smaller_c_has_a_dual_above_zero(name: str) -> None:
    """Kept as it was, the dual point would have weights far too large."""
    s = problems.make_small(problems.chain_sparse)
    first = solve(make_problem(s, LOG_LOSS, 0.01), make_solver(name), tol=1e-4)
    rng = np.random.default_rng(0)
    problem = make_problem(s, LOG_LOSS, 100.0)
    state: Any = make_solver(name).start(problem, rng, first.state)
    assert state.dual_value > 0
    certificate = make_solver(name).certify(problem, state)
    assert certificate is not None
    assert certificate.dual == pytest.approx(state.dual_value)


# --- the default C ---


@pytest.mark.parametrize(
    ("loss", "C"), [("squared_hinge", 0.1), ("hinge", 0.3), ("log_loss", 3.0)]
)
def test_default_c_is_that_of_the_loss(loss: str, C: float) -> None:
    tagger = SequenceTagger(loss)
    assert tagger._effective_C() == C
    assert SequenceTagger(loss, 0.2)._effective_C() == 0.2
    assert MulticlassClassifier(loss)._effective_C() == 1.0
    assert clone(tagger).get_params()["C"] is None


def test_default_c_is_the_one_that_is_used(tmp_path: Path) -> None:
    usual = SequenceTagger(tol=0.1).fit(X, Y)
    named = SequenceTagger("log_loss", tol=0.1, C=3.0).fit(X, Y)
    assert usual.C_ == 3.0
    assert usual.C is None
    assert np.array_equal(usual.weights_, named.weights_)
    usual.save(tmp_path / "m")
    assert load(tmp_path / "m").C_ == 3.0


# --- what "auto" picked ---


def test_auto_says_what_it_picked_and_why() -> None:
    tagger = SequenceTagger("squared_hinge", tol=0.1).fit(X, Y)
    name = automatic.name_of(tagger.solver_)
    assert type(make_solver(name)) is type(tagger.solver_)
    assert tagger.status_.endswith(
        f"(solver {name}: the default for the squared hinge)"
    )
    chosen = SequenceTagger(tol=0.1, solver="dcd-light").fit(X, Y)
    assert "(solver" not in chosen.status_


def test_auto_takes_less_memory_where_there_is_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    s = problems.make_small(problems.chain_sparse)
    monkeypatch.setattr(automatic, "fits_in_memory", lambda problem, solver: False)
    for loss, name in automatic.SMALLEST.items():
        choice = automatic.choose_solver(make_problem(s, get_loss(loss)))
        assert automatic.name_of(choice.solver) == name
        assert "of memory, more than is free" in choice.reason


def test_auto_with_an_l1_norm_says_so() -> None:
    s = problems.make_small(problems.chain_sparse)
    choice = automatic.choose_solver(make_problem(s, LOG_LOSS, l1_ratio=0.5))
    assert choice.reason == "the default for the log loss with penalty 'elasticnet'"


@pytest.mark.parametrize("name", sorted(all_solvers()))
def test_name_of_a_solver_makes_the_same_solver(name: str) -> None:
    solver = make_solver(name)
    assert repr(make_solver(automatic.name_of(solver))) == repr(solver)
