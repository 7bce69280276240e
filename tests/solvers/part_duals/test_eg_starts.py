"""Where exponentiated gradient starts: right outputs, weights, or an earlier run."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import problems
from dual_mirror import DualMirror
from foreign import answer_like_multiclass
from log_problems import LOG_LOSS, WEIGHTS, best_log_loss, passes
from partwise.losses import get_loss
from partwise.solvers import (
    LBFGS,
    DualCoordinateDescent,
    ExponentiatedGradient,
    Problem,
    SequentialMinimalOptimization,
    StochasticDualCoordinateAscent,
    make_problem,
    solve,
)
from partwise.structures import interface as waist
from problems import Maker

HINGE = get_loss("hinge")
FORMS = ("online", "batch", "primal")
ONLINE = ExponentiatedGradient()
SDCA = StochasticDualCoordinateAscent()
LOSSES = [LOG_LOSS, HINGE]
plain_only = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="more solvers or structures to compile"
)


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(
    loss: Any = LOG_LOSS, C: float = 1.0, make: Maker = problems.chain_sparse
) -> Problem:
    return make_problem(problems.make_small(make), loss, C, WEIGHTS)


def begin(problem: Problem, solver: Any, previous: Any = None) -> Any:
    return solver.start(problem, np.random.default_rng(0), previous)


# --- at the right outputs, and at weights ---


def test_eg_starts_mixing_with_weights_of_zero(make: Maker) -> None:
    problem = small(LOG_LOSS, 1.0, make)
    state = begin(problem, ONLINE)
    assert state.mixing
    assert not state.w.any()
    assert state.dual_value == 0.0
    assert ONLINE.certify(problem, state).dual == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("form", ["online", "batch"])
def test_eg_starts_near_the_right_outputs(make: Maker, form: str, loss: Any) -> None:
    """Nearly all the mass of every example is there, so nearly no weights."""
    problem = small(loss, 1.0, make)
    state = begin(problem, ExponentiatedGradient(form, start_at="gold"))
    mirror, dual = DualMirror(problem), getattr(state, "parts", state).dual
    if loss is HINGE and form == "online":
        assert not dual.mass.any()
        assert not state.w.any()
        return
    for i, out in enumerate(mirror.outputs):
        p = mirror.gibbs(i, dual.theta[dual.ptr[i] : dual.ptr[i + 1]])
        # For the hinge in proportion to the largest cost, beside which some are small.
        expected = 0.999 if loss is LOG_LOSS else 0.2
        assert p[out.cost == 0.0].sum() > expected
    assert np.abs(state.w).max() < (0.01 if loss is LOG_LOSS else 3.0)


@pytest.mark.parametrize("form", ["online", "batch"])
def test_eg_starts_near_a_long_right_output(form: str) -> None:
    """Parts that all positions share must not outweigh those of single ones."""
    s = problems.chain_sparse(problems.examples(1, (200,)))
    problem = make_problem(s, LOG_LOSS)
    state = begin(problem, ExponentiatedGradient(form, step=0.1))
    dual = getattr(state, "parts", state).dual
    right = dual.mu[: 200 * problems.N_LABELS].reshape(200, -1)[
        np.arange(200), s.labels
    ]
    assert right.min() > 0.99
    # A start as good as the right outputs themselves, where the dual is zero.
    assert state.dual_value > -1e-3


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_eg_starts_nearer_with_a_higher_gold_score(loss: Any) -> None:
    sizes = []
    for score in (0.0, 1.0, 5.0, 20.0):
        solver = ExponentiatedGradient(
            "batch", step=0.1, start_at="gold", gold_score=score
        )
        sizes.append(np.abs(begin(small(loss), solver).w).max())
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1e-3 * sizes[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_eg_starts_of_the_hinge_are_not_below_the_right_outputs(
    form: str, C: float
) -> None:
    """There the dual is zero; more costs more mass on them if need be."""
    problem = small(HINGE, C)
    assert begin(problem, ExponentiatedGradient(form)).dual_value >= 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("form", FORMS)
def test_eg_starts_at_the_distributions_of_weights(
    make: Maker, form: str, loss: Any
) -> None:
    problem = small(loss, 1.0, make)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    state = begin(problem, ExponentiatedGradient(form, start_at=w))
    mirror = DualMirror(problem)
    mirror.alpha = [mirror.gibbs_of_weights(i, w) for i in range(problem.n_examples)]
    # All examples at once: the best share of it; the rest is the right outputs'.
    share = getattr(state, "scale", 1.0)
    values = share * mirror.values
    mirror.keep_share(share)
    np.testing.assert_allclose(state.w, mirror.w, atol=1e-10)
    assert state.dual_value == pytest.approx(mirror.dual(values), rel=1e-10)
    assert (values <= mirror.values + 1e-12).all()


@pytest.mark.parametrize("form", FORMS)
def test_eg_starts_at_the_best_weights_and_is_done(form: str) -> None:
    problem = small()
    _, w = best_log_loss(problem)
    solver = ExponentiatedGradient(form, start_at=w)
    assert len(solve(problem, solver, tol=1e-7, max_iter=5).trace) == 1


def test_eg_starts_leave_the_given_weights_alone() -> None:
    w = np.ones(21)
    for form in FORMS:
        solve(small(), ExponentiatedGradient(form, start_at=w), max_iter=3)
    np.testing.assert_array_equal(w, np.ones(21))


# --- at the end of an earlier run ---


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("then", FORMS)
@pytest.mark.parametrize("first", FORMS)
def test_eg_starts_where_another_form_ended(first: str, then: str, loss: Any) -> None:
    problem = small(loss, 0.5)
    earlier = solve(problem, ExponentiatedGradient(first), tol=1e-2, max_iter=500)
    assert earlier.converged
    kept = {k: v.copy() for k, v in earlier.state.tensors().items()}
    state = begin(problem, ExponentiatedGradient(then), earlier.state)
    if then == "primal" and first != "primal":
        # It cannot be at any dual point: it starts anew.
        np.testing.assert_array_equal(
            state.w, begin(problem, ExponentiatedGradient(then)).w
        )
        return
    assert earlier.certificate is not None
    slack = 2e-2 if first == "online" else 1e-9
    assert state.dual_value >= earlier.certificate.dual * (1 - slack)
    later = solve(
        problem, ExponentiatedGradient(then), tol=1e-2, previous=earlier.state
    )
    assert len(later.trace) <= 10
    for name, value in earlier.state.tensors().items():
        np.testing.assert_array_equal(value, kept[name], err_msg=name)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("form", FORMS)
def test_eg_starts_where_it_ended_with_another_C(form: str, loss: Any) -> None:
    solver = ExponentiatedGradient(form)
    earlier = solve(small(loss, 0.5), solver, tol=1e-3, max_iter=500)
    problem = small(loss, 0.55)
    cold = solve(problem, solver, tol=1e-2, max_iter=500)
    warm = solve(problem, solver, tol=1e-2, max_iter=500, previous=earlier.state)
    assert warm.converged
    # Near a vertex, where the hinge ends, turning to another one takes its time.
    assert len(warm.trace) < len(cold.trace) + (loss is HINGE) * 10
    assert warm.certificate is not None
    assert warm.certificate.primal == pytest.approx(problem.primal(warm.w))
    if loss is LOG_LOSS:
        best, _ = best_log_loss(problem)
    else:
        outputs = problems.enumerate_outputs(problem.structure)
        best, _ = problems.best_hinge(outputs, problem.C)
    assert warm.certificate.dual <= best * (1 + 1e-8)
    assert best <= warm.certificate.primal * (1 + 1e-8)


def test_eg_starts_where_coordinate_ascent_ended_and_back(make: Maker) -> None:
    problem = small(LOG_LOSS, 3.0, make)
    for first, then in ((SDCA, ONLINE), (ONLINE, SDCA)):
        earlier = solve(problem, first, tol=1e-4, max_iter=200)
        state = begin(problem, then, earlier.state)
        assert earlier.certificate is not None
        assert state.dual_value == pytest.approx(earlier.certificate.dual, rel=1e-9)
        later = solve(problem, then, tol=1e-6, max_iter=200, previous=earlier.state)
        assert later.converged
        best, _ = best_log_loss(problem)
        assert later.certificate is not None
        assert later.certificate.primal == pytest.approx(best, rel=2e-6)
        assert later.certificate.dual <= best * (1 + 1e-9)


@pytest.mark.parametrize("step", ["guaranteed", 0.01])
@pytest.mark.parametrize("form", ["online", "batch"])
@pytest.mark.parametrize("first", [SDCA, ONLINE], ids=["sdca", "mixing"])
def test_eg_starts_with_fixed_steps_on_gibbs_distributions(
    first: Any, form: str, step: Any
) -> None:
    """After mixing, the scores must come to fit the marginals before such a step."""
    problem = small(LOG_LOSS, 100.0)
    earlier = solve(problem, first, tol=1e-9, max_iter=3)
    assert earlier.certificate is not None
    solver = ExponentiatedGradient(form, step=step, order="cyclic")
    state = begin(problem, solver, earlier.state)
    assert not getattr(state, "mixing", False)
    duals = [state.dual_value]
    # Not at the uniform distribution, whose dual value is far below zero.
    assert duals[0] > 0.0
    if step == "guaranteed":
        for _ in range(5):
            list(solver.run_pass(problem, state, np.random.default_rng(0)))
            duals.append(solver.certify(problem, state).dual)
        assert np.diff(duals).min() >= -1e-9


@plain_only
def test_eg_starts_where_sequential_minimal_optimisation_ended(make: Maker) -> None:
    if make in problems.ONE_WAY:
        pytest.skip("from the marginals of trees there is no way back to scores")
    problem = small(HINGE, 0.5, make)
    smo = SequentialMinimalOptimization()
    earlier = solve(problem, smo, tol=1e-4, max_iter=500)
    assert earlier.certificate is not None
    for form in ("online", "batch"):
        state = begin(problem, ExponentiatedGradient(form), earlier.state)
        anew = begin(problem, ExponentiatedGradient(form))
        lost = earlier.certificate.dual - state.dual_value
        assert lost <= 0.1 * (earlier.certificate.dual - anew.dual_value)


@pytest.mark.parametrize("form", FORMS)
def test_eg_starts_after_a_run_of_another_loss(form: str) -> None:
    """Its marginals are a dual point of any loss; otherwise it starts anew."""
    for first_loss, loss in ((HINGE, LOG_LOSS), (LOG_LOSS, HINGE)):
        for first in FORMS:
            before = ExponentiatedGradient(first)
            earlier = solve(small(first_loss), before, max_iter=5).state
            solver = ExponentiatedGradient(form)
            solution = solve(small(loss), solver, tol=0.1, previous=earlier)
            assert solution.converged
            assert solution.certificate is not None
            primal = small(loss).primal(solution.w)
            assert solution.certificate.primal == pytest.approx(primal)


@plain_only
@pytest.mark.parametrize("form", FORMS)
def test_eg_starts_anew_after_a_solver_without_a_dual_point(form: str) -> None:
    squared = make_problem(small().structure, get_loss("squared_hinge"))
    for earlier in (
        solve(small(), LBFGS(), max_iter=3).state,
        solve(squared, DualCoordinateDescent(), max_iter=3).state,
    ):
        solver = ExponentiatedGradient(form)
        cold, warm = begin(small(), solver), begin(small(), solver, earlier)
        np.testing.assert_array_equal(cold.w, warm.w)
    assert begin(small(), SDCA, solve(small(HINGE), ONLINE).state).dual_value == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("then", FORMS)
@pytest.mark.parametrize("first", FORMS)
def test_eg_starts_of_another_corpus_are_refused(
    first: str, then: str, loss: Any
) -> None:
    # Primal states know weights only, so here there are more of these.
    other = problems.make_small(problems.chain_edges, count=8)
    before = ExponentiatedGradient(first)
    earlier = solve(make_problem(other, loss), before, max_iter=1).state
    solver = ExponentiatedGradient(then)
    if then == "primal" and first != "primal":
        # Nothing is taken over, so nothing is wrong.
        assert len(solve(small(loss), solver, max_iter=1, previous=earlier).trace) == 1
        return
    with pytest.raises(ValueError, match="another structure"):
        solve(small(loss), solver, previous=earlier)


@plain_only
def test_eg_starts_of_another_corpus_by_smo_are_refused() -> None:
    other = problems.make_small(problems.chain_sparse, count=8)
    smo = SequentialMinimalOptimization()
    earlier = solve(make_problem(other, HINGE), smo, max_iter=1).state
    with pytest.raises(ValueError, match="another structure"):
        solve(small(HINGE), ONLINE, previous=earlier)


class NoScores(NamedTuple):
    """Classes that cannot tell scores from marginals."""

    rows: Any
    labels: Any
    n_classes: int
    costs: Any


answer_like_multiclass(
    NoScores, *waist.REQUIRED, waist.marginals, waist.log_partition, waist.argmax,
    waist.add_costs, waist.cost,
)  # fmt: skip


@plain_only
def test_eg_starts_anew_where_scores_cannot_be_had_from_marginals() -> None:
    s = NoScores(*problems.make_small(problems.classes_dense))
    for first, then, loss in (
        (SDCA, ExponentiatedGradient("batch"), LOG_LOSS),
        (SequentialMinimalOptimization(), ONLINE, HINGE),
    ):
        problem = make_problem(s, loss)
        earlier = solve(problem, first, max_iter=3).state
        solution = solve(problem, then, tol=0.05, max_iter=200, previous=earlier)
        assert solution.converged


def test_eg_starts_mixing_and_then_multiplies() -> None:
    """The first passes are those of coordinate ascent, bit for bit."""
    problem = small(LOG_LOSS, 3.0)
    ours = passes(problem, ONLINE, 30)
    theirs = passes(problem, SDCA, 30)
    mixed = 0
    for eg, sdca in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(eg.w, sdca.w)
        mixed += 1
        if not eg.mixing:
            break
    assert 2 <= mixed < 20
    assert next(ours).w is not None
    assert not np.array_equal(next(ours).w, next(theirs).w)
