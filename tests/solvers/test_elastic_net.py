"""L1 and elastic net: objective, bound, optimum, zeros, and who may do it."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from log_problems import LOG_LOSS, best_log_loss, passes, small_problem, smooth_part
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.solvers import (
    LBFGS,
    OWLQN,
    DualCoordinateDescent,
    Problem,
    Proximal,
    make_problem,
    solve,
)
from partwise.solvers.batch.dual_mixture import DualMixture
from partwise.solvers.penalty import penalty
from partwise.solvers.registry import default_solver, solvers_for
from partwise.structures import make_dense_rows, make_multiclass
from problems import Floats, Maker

RATIOS = [0.05, 0.5, 0.95, 1.0]


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


# --- the objective and its bound ---


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_elastic_net_objective_is_what_it_says(ratio: float) -> None:
    problem = small_problem(C=2.0, l1_ratio=ratio)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    l2, l1 = 0.5 * (1 - ratio) * (w**2).sum(), ratio * np.abs(w).sum()
    assert penalty(w, ratio) == pytest.approx(l2 + l1)
    losses = problem.C @ LOG_LOSS.values(problem.structure, w)
    assert problem.primal(w) == pytest.approx(l2 + l1 + losses)


@pytest.mark.parametrize(
    ("ratio", "name"), [(0.0, "l2"), (0.5, "elasticnet"), (1.0, "l1"), (1, "l1")]
)
def test_elastic_net_penalty_has_a_name(ratio: float, name: str) -> None:
    assert small_problem(l1_ratio=ratio).penalty == name


@pytest.mark.parametrize("ratio", [-0.1, 1.1, math.nan, math.inf])
def test_elastic_net_ratio_is_a_share(ratio: float) -> None:
    with pytest.raises(ValueError, match=r"l1_ratio must lie in 0\.\.1"):
        small_problem(l1_ratio=ratio)


def test_elastic_net_problem_is_another_one() -> None:
    marks = {small_problem(l1_ratio=ratio).fingerprint() for ratio in (0, 0.5, 1)}
    assert len(marks) == 3


def conjugate(v: Floats, ratio: float) -> float:
    if ratio == 1.0:
        return 0.0 if np.abs(v).max() <= 1 + 1e-12 else math.inf
    return float((np.maximum(np.abs(v) - ratio, 0) ** 2).sum() / (2 * (1 - ratio)))


@pytest.mark.parametrize("ratio", [0.0, *RATIOS])
@pytest.mark.parametrize("scale", [0.0, 0.3, 3.0])
def test_elastic_net_bound_is_the_best_mixture_with_the_right_outputs(
    ratio: float, scale: float
) -> None:
    problem = small_problem(C=2.0, l1_ratio=ratio)
    s = problem.structure
    outputs = problems.enumerate_outputs(s)
    w = scale * np.random.default_rng(0).normal(size=problem.n_weights)
    _, gradient = smooth_part(outputs, problem.C, w, ratio)
    entropy, v = 5.0, (1 - ratio) * w - gradient
    dual = DualMixture(w.size)
    dual.offer(w, gradient, entropy, ratio)
    shares = np.linspace(0, 1, 4001)
    best = max(t * entropy - conjugate(t * v, ratio) for t in shares)
    assert dual.bound >= best - 1e-9
    assert dual.bound == pytest.approx(best, rel=2e-3)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.95])
def test_elastic_net_bound_is_that_of_some_mixture(ratio: float) -> None:
    """What is kept, shares of entropy and of `v`, gives the bound that is claimed."""
    problem = small_problem(C=2.0, l1_ratio=ratio)
    outputs = problems.enumerate_outputs(problem.structure)
    rng = np.random.default_rng(0)
    dual, last = DualMixture(problem.n_weights), 0.0
    points: list[tuple[float, Floats]] = []
    for _ in range(8):
        w = 0.5 * rng.normal(size=problem.n_weights)
        _, gradient = smooth_part(outputs, problem.C, w, ratio)
        entropy = float(rng.uniform(0, 8))
        points.append((entropy, (1 - ratio) * w - gradient))
        dual.offer(w, gradient, entropy, ratio)
        kept = dual.entropy - conjugate(dual.mixed, ratio)
        assert dual.bound == pytest.approx(kept)
        assert dual.bound >= last
        last = dual.bound
    # It is a mixture: non-negative shares that add up to at most one.
    from scipy.optimize import nnls

    rows = np.array([[h, *v, 1.0] for h, v in points] + [[0.0] * (w.size + 1) + [1.0]])
    goal = np.array([dual.entropy, *dual.mixed, 1.0])
    assert nnls(rows.T, goal)[1] < 1e-8


# --- the optimum ---


@pytest.mark.parametrize("ratio", RATIOS)
def test_elastic_net_reaches_the_optimum_of_scipy(make: Maker, ratio: float) -> None:
    problem = small_problem(make, C=3.0, l1_ratio=ratio)
    best, _ = best_log_loss(problem)
    solution = solve(problem, OWLQN(), tol=1e-6, max_iter=500)
    assert solution.converged, solution.status
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best, rel=2e-6)
    assert solution.certificate.primal == pytest.approx(problem.primal(solution.w))
    assert solution.certificate.dual <= best * (1 + 1e-8)


@pytest.mark.parametrize("ratio", RATIOS)
def test_elastic_net_certificate_holds_after_every_pass(ratio: float) -> None:
    problem = small_problem(C=3.0, l1_ratio=ratio)
    best, _ = best_log_loss(problem)
    last_primal, last_dual = math.inf, -math.inf
    for state in passes(problem, OWLQN(), 20):
        primal, dual, exact = OWLQN().certify(problem, state)
        assert exact
        assert primal == pytest.approx(problem.primal(state.w), rel=1e-12)
        assert dual <= best * (1 + 1e-8) <= primal * (1 + 2e-8)
        assert primal <= last_primal
        assert dual >= last_dual
        last_primal, last_dual = primal, dual


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_elastic_net_weights_that_are_zero_are_exactly_zero(ratio: float) -> None:
    problem = small_problem(C=1.0, l1_ratio=ratio)
    solution = solve(problem, OWLQN(), tol=1e-7, max_iter=500)
    zeros = np.count_nonzero(solution.w == 0.0)
    assert 0 < zeros < problem.n_weights
    # The optimality conditions: small slopes at zero, exact ones elsewhere.
    outputs = problems.enumerate_outputs(problem.structure)
    _, gradient = smooth_part(outputs, problem.C, solution.w, ratio)
    away = solution.w != 0.0
    assert np.abs(gradient[~away]).max() <= ratio + 1e-3
    np.testing.assert_allclose(
        gradient[away], -ratio * np.sign(solution.w[away]), atol=2e-3
    )


@problems.plain_only
@pytest.mark.parametrize("seed", [16, 124])
def test_elastic_net_weights_that_move_together_do_not_crawl(seed: int) -> None:
    """With half of every direction dropped, 700 passes left a gap of 66% or more."""
    s = problems.chain_sparse(problems.examples(7, (3, 1, 2), seed))
    problem = make_problem(s, LOG_LOSS, 4e5, l1_ratio=0.5)
    solution = solve(problem, OWLQN(), tol=1e-2, max_iter=500)
    assert solution.converged, solution.status


def test_elastic_net_strong_enough_leaves_no_weight() -> None:
    problem = small_problem(C=1e-3, l1_ratio=0.9)
    solution = solve(problem, OWLQN(), tol=1e-9)
    assert solution.converged
    assert not solution.w.any()


def test_elastic_net_resumes_bit_for_bit(tmp_path: Path) -> None:
    problem, path = small_problem(C=10.0, l1_ratio=0.5), tmp_path / "run"
    options: dict[str, Any] = {"tol": 1e-15, "max_iter": 12}
    whole = solve(problem, OWLQN(), **options)
    solve(problem, OWLQN(), tol=1e-15, max_iter=5, checkpoint=path)
    resumed = solve(problem, OWLQN(), **options, checkpoint=path, resume=True)
    np.testing.assert_array_equal(whole.w, resumed.w)
    np.testing.assert_array_equal(whole.trace["dual"], resumed.trace["dual"])


# --- independent references ---


def draw_classes() -> tuple[Floats, Any, Problem]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 6))
    y = np.argmax(x[:, :3] + rng.normal(size=(60, 3)), axis=1).astype(np.int32)
    return x, y, make_problem(make_multiclass(make_dense_rows(x), y, 3), LOG_LOSS)


@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_elastic_net_agrees_with_scikit_learn(ratio: float) -> None:
    from sklearn.linear_model import LogisticRegression

    x, y, problem = draw_classes()
    C = 0.5
    ours = make_problem(problem.structure, LOG_LOSS, C, l1_ratio=ratio)
    solution = solve(ours, OWLQN(), tol=1e-9, max_iter=1000)
    peer = LogisticRegression(
        C=C,
        l1_ratio=ratio,
        solver="saga",
        fit_intercept=False,
        tol=1e-10,
        max_iter=100_000,
    )
    theirs = np.ascontiguousarray(peer.fit(x, y).coef_.T).ravel()
    assert ours.primal(solution.w) <= ours.primal(theirs) * (1 + 1e-9)
    np.testing.assert_allclose(solution.w, theirs, atol=1e-4)


@pytest.mark.parametrize(("c1", "c2"), [(0.3, 0.2), (0.5, 0.0), (0.0, 0.7)])
def test_elastic_net_agrees_with_crfsuite(c1: float, c2: float, tmp_path: Path) -> None:
    import pycrfsuite

    # Pairs of attribute and label whose values add up to less than nothing have no
    # weight in CRFsuite.
    chosen = [(np.abs(x), y) for x, y in problems.examples(12, (3, 4, 2), seed=3)]
    problem = make_problem(
        problems.chain_sparse(chosen), LOG_LOSS, 1 / (2 * c2 + c1),
        l1_ratio=c1 / (2 * c2 + c1),
    )  # fmt: skip
    solution = solve(problem, OWLQN(), tol=1e-9, max_iter=2000)
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in chosen:
        rows = [{str(k): v for k, v in enumerate(row) if v} for row in x]
        trainer.append(pycrfsuite.ItemSequence(rows), [str(label) for label in y])
    trainer.select("lbfgs")
    trainer.set_params(
        {"c1": c1, "c2": c2, "epsilon": 1e-12, "delta": 1e-14, "max_iterations": 5000,
         "feature.possible_states": True, "feature.possible_transitions": True}
    )  # fmt: skip
    path = str(tmp_path / "crf")
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    dump = tagger.info()
    K = problems.N_LABELS
    theirs = np.zeros(problem.n_weights)
    for (feature, label), value in dump.state_features.items():
        theirs[int(feature) * K + int(label)] = value
    at = problem.structure.layout.transition_at
    for (before, after), value in dump.transitions.items():
        theirs[at + int(before) * K + int(after)] = value
    # A model file of CRFsuite keeps its weights to a few digits only.
    assert problem.primal(theirs) == pytest.approx(problem.primal(solution.w), rel=1e-4)
    np.testing.assert_allclose(solution.w, theirs, atol=2e-2)


# --- who may do it ---


def test_elastic_net_is_refused_by_solvers_that_cannot() -> None:
    problem = small_problem(l1_ratio=0.5)
    message = (
        "lbfgs cannot minimise 'log_loss' with penalty='elasticnet': use eg, eg-batch, "
        "eg-halving, eg-primal, owlqn or sdca, or solver='auto'"
    )
    with pytest.raises(PairingError) as caught:
        solve(problem, LBFGS())
    assert str(caught.value) == message


def test_elastic_net_without_l2_norm_names_who_can() -> None:
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, get_loss("squared_hinge"), l1_ratio=1.0)
    with pytest.raises(PairingError, match="use proximal, or solver='auto'"):
        solve(problem, DualCoordinateDescent())


def test_elastic_net_default_solvers_can_do_it() -> None:
    for loss in ("squared_hinge", "log_loss"):
        for penalty_name in ("l2", "elasticnet", "l1"):
            if solvers_for(loss, penalty=penalty_name):
                chosen = default_solver(loss, penalty_name)
                assert loss in chosen.losses
                assert penalty_name in chosen.penalties
    assert default_solver("log_loss", "l1") == Proximal()
