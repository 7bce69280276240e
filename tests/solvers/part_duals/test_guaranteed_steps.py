"""Steps that theory guarantees: the bound behind them, and what they promise."""

import numpy as np
import pytest

import problems
from dual_mirror import DualMirror
from log_problems import WEIGHTS, passes
from partwise.losses import get_loss
from partwise.solvers import ExponentiatedGradient, Problem, make_problem, solve
from partwise.solvers.part_duals.dual_parts import LARGEST_STEP
from partwise.solvers.part_duals.guaranteed_steps import guaranteed_steps
from partwise.structures import make_dense_rows, make_multiclass
from problems import Maker


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def small(make: Maker, loss: str, C: float = 1.0) -> Problem:
    return make_problem(problems.make_small(make), get_loss(loss), C, WEIGHTS)


def test_guaranteed_steps_stay_below_the_enumerated_bound(make: Maker) -> None:
    """``1 / (1 + A)`` and ``1 / A``, with ``A = C max_y |dPhi(y)|^2`` or more."""
    outputs = problems.enumerate_outputs(problems.make_small(make))
    largest = [np.square(out.dphi).sum(axis=1).max() for out in outputs]
    for C in (0.01, 1.0, 100.0):
        A = C * WEIGHTS * largest
        for loss, one in (("log_loss", 1.0), ("hinge", 0.0)):
            problem = small(make, loss, C)
            online = guaranteed_steps(problem, together=False)
            batch = guaranteed_steps(problem, together=True)
            assert (online > 0).all()
            assert (online * (one + A) <= 1 + 1e-12).all()
            assert (batch == batch[0]).all()
            assert 0 < batch[0] * (one + A.sum()) <= 1 + 1e-12


def test_guaranteed_steps_are_not_needlessly_small() -> None:
    """Where parts do not overlap, the bound by parts is that of the outputs."""
    s = make_multiclass(make_dense_rows([[3.0, 4.0], [0.0, 1.0]]), [0, 1], 3)
    problem = make_problem(s, get_loss("hinge"), 0.5)
    steps = guaranteed_steps(problem, together=False)
    np.testing.assert_allclose(steps, 1 / (0.5 * np.array([100.0, 4.0])))


@pytest.mark.parametrize("form", ["online", "batch", "primal"])
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_guaranteed_steps_never_lower_the_dual(
    make: Maker, loss: str, form: str
) -> None:
    """Online, every step of it: `test_dual_parts`. Here after every pass."""
    for C in (0.1, 10.0, 1000.0):
        problem = small(make, loss, C)
        solver = ExponentiatedGradient(form=form, step="guaranteed", order="cyclic")
        state = solver.start(problem, np.random.default_rng(0), None)
        last = solver.certify(problem, state).dual
        for state in passes(problem, solver, 5):
            reached = solver.certify(problem, state).dual
            # Part scores are 12 at the start, and cancel in the entropies.
            assert reached >= last - 1e-12 * (abs(last) + 12 * problem.C.sum())
            last = reached


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_guaranteed_steps_of_both_batch_forms_are_the_same(loss: str) -> None:
    problem = small(problems.chain_sparse, loss)
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    ends = []
    for form in ("batch", "primal"):
        solver = ExponentiatedGradient(form=form, step="guaranteed", start_at=w)
        *_, state = passes(problem, solver, 20)
        ends.append(state.w)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


@pytest.mark.parametrize("form", ["online", "batch"])
def test_guaranteed_steps_reach_the_optimum_in_the_end(form: str) -> None:
    problem = small(problems.classes_dense, "log_loss", 0.05)
    solver = ExponentiatedGradient(form=form, step="guaranteed")
    solution = solve(problem, solver, tol=1e-4, max_iter=500)
    assert solution.converged, solution.status


@pytest.mark.parametrize("form", ["online", "batch", "primal"])
def test_guaranteed_steps_survive_examples_without_features(form: str) -> None:
    """There any step keeps the guarantee; an infinite one would not stay a number."""
    rows = make_dense_rows([[0.0], [0.0], [1.0]])
    s = make_multiclass(rows, [0, 2, 1], 3, costs=problems.COSTS)
    problem = make_problem(s, get_loss("hinge"), 1.0, np.array([1.0, 0.0, 1.0]))
    steps = guaranteed_steps(problem, together=False)
    assert steps[0] == steps[1] == LARGEST_STEP / 3.0  # the largest cost
    solver = ExponentiatedGradient(form=form, step="guaranteed")
    solution = solve(problem, solver, tol=1e-9, max_iter=50)
    assert np.isfinite(solution.w).all()
    assert solution.certificate is not None
    best, _ = problems.best_hinge(problems.enumerate_outputs(s), problem.C)
    assert solution.certificate.dual <= best * (1 + 1e-9)
    assert solution.certificate.primal >= best * (1 - 1e-9)


def test_guaranteed_steps_too_large_by_far_would_lower_the_dual() -> None:
    """The law above can fail: so large a step does not keep it."""
    problem = small(problems.chain_sparse, "log_loss", 10.0)
    solver = ExponentiatedGradient(form="batch", step=0.9)
    state = solver.start(problem, np.random.default_rng(0), None)
    duals = [solver.certify(problem, state).dual]
    duals += [state.dual_value for state in passes(problem, solver, 5)]
    assert np.diff(duals).min() < -1.0


def test_guaranteed_steps_start_at_gibbs_distributions() -> None:
    """The theory speaks of steps from a Gibbs distribution: one must be there."""
    problem = small(problems.chain_masked, "log_loss", 1000.0)
    solver = ExponentiatedGradient(step="guaranteed")
    state = solver.start(problem, np.random.default_rng(0), None)
    mirror = DualMirror(problem)
    for i in range(problem.n_examples):
        first, last = state.dual.ptr[i], state.dual.ptr[i + 1]
        alpha = mirror.gibbs(i, state.dual.theta[first:last])
        mu = alpha @ mirror.counts[i]
        np.testing.assert_allclose(state.dual.mu[first:last], mu, atol=1e-13)
