"""Steps that start at eta_0 at every visit and are halved until the dual rises."""

import numpy as np
import pytest

import problems
from log_problems import LOG_LOSS, WEIGHTS, best_log_loss
from partwise.losses import get_loss
from partwise.solvers import ExponentiatedGradient, make_problem, solve
from partwise.solvers.part_duals import halving
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist

HINGE = get_loss("hinge")
FORMS = ("online", "batch", "primal")


def small(loss, make=problems.ANY, C=1.0):
    return make_problem(problems.make_small(make), loss, C, WEIGHTS)


def literal(form, **settings):
    return ExponentiatedGradient(form, "halving", "cyclic", "gold", **settings)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
def test_halving_never_lowers_the_dual(form, loss):
    trace = solve(small(loss, C=10.0), literal(form), tol=1e-9, max_iter=30).trace
    duals = np.array([row.dual for row in trace])
    assert (np.diff(duals) >= -1e-12 * np.abs(duals[1:])).all()
    assert duals[-1] > duals[0]


@problems.plain_only
@pytest.mark.parametrize("make", problems.EACH_KIND, ids=lambda make: make.__name__)
def test_halving_reaches_the_optimum_of_the_log_loss(make):
    if not waist.marginals.provided_by(type(problems.make_small(make))):
        pytest.skip("this structure has no marginals")
    problem = small(LOG_LOSS, make)
    solution = solve(problem, literal("online"), tol=1e-6, max_iter=300)
    assert solution.converged
    best = best_log_loss(problem)[0]
    assert solution.certificate.primal == pytest.approx(best, rel=1e-5)


@problems.plain_only
def test_halving_begins_every_visit_at_the_first_step():
    """The steps tried are eta_0, eta_0 / 2, ... whatever the last visit took."""
    tried = []
    look = halving.look_ahead

    def watched(s, i, dual, eta, *rest):
        tried.append(eta)
        return look(s, i, dual, eta, *rest)

    problem = small(LOG_LOSS, C=1e4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(halving, "look_ahead", watched)
        solution = solve(problem, literal("online", first_step=0.8), max_iter=3)
    etas = np.array(tried)
    exponents = np.log2(0.8 / etas)
    assert (exponents == np.round(exponents)).all()
    assert (etas == 0.8).sum() >= 3 * problem.n_examples
    begins = np.flatnonzero(etas == 0.8)
    for a, b in zip(begins, [*begins[1:], etas.size], strict=True):
        np.testing.assert_array_equal(etas[a:b], 0.8 * 0.5 ** np.arange(b - a))
    assert etas.min() < 0.8  # with so large a C the first step is too long
    # Each trial is one call of the oracle: what the paper counts as computation.
    assert solution.trace[-1].oracle_calls >= etas.size


@problems.plain_only
def test_halving_of_all_examples_takes_the_first_step_that_helps():
    problem = small(LOG_LOSS, C=100.0)
    solver = literal("batch", first_step=1.0)
    state = solver.start(problem, np.random.default_rng(0), None)
    before, moves, move = state.dual_value, [], state.move

    def watched(eta, *rest):
        moves.append(eta)
        return move(eta, *rest)

    state.move = watched
    list(solver.run_pass(problem, state, np.random.default_rng(0)))
    np.testing.assert_array_equal(moves, 0.5 ** np.arange(len(moves)))
    assert len(moves) > 1
    assert state.dual_value > before


@problems.plain_only
@pytest.mark.parametrize("form", FORMS)
def test_halving_has_no_units(form):
    """Costs in other units, with C to match, are the same problem."""
    found = []
    for unit in (1.0, 2.0**-20, 2.0**20):
        s = problems.make_small(problems.classes_costs)
        problem = make_problem(s._replace(costs=s.costs * unit), HINGE, unit, WEIGHTS)
        solution = solve(problem, literal(form), tol=1e-9, max_iter=10)
        found.append(solution.certificate.relative_gap)
    np.testing.assert_allclose(found, found[0], rtol=1e-6)


def test_halving_is_a_solver_by_name():
    solver = make_solver("eg-halving")
    assert (solver.step, solver.order, solver.start_at) == ("halving", "cyclic", "gold")


@pytest.mark.parametrize("first_step", [0.0, 1.5, np.nan])
def test_halving_refuses_a_first_step(first_step):
    with pytest.raises(ValueError, match="first_step must lie"):
        ExponentiatedGradient(first_step=first_step)
