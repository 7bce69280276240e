"""The rates of convergence that theory promises of batch EG hold.

Globerson et al. (ICML 2007), sections 4.2, 4.4 and 4.5: with a step that is small
enough the dual rises by at least what each step moved, and after `T` steps is within
``D[best || first] / (eta T)`` of its maximum, in the scaling of the paper.
"""

import numpy as np
import pytest

import problems
from log_problems import LOG_LOSS, best_log_loss
from partwise.losses import get_loss
from partwise.solvers import ExponentiatedGradient, make_problem
from partwise.solvers.part_duals.guaranteed_steps import guaranteed_steps
from partwise.structures import interface as waist

HINGE = get_loss("hinge")
PASSES = 40
pytestmark = problems.plain_only


def distributions(problem, theta, ptr, outputs):
    """Return the probability of every output of every example, by enumeration."""
    result = []
    for i, own in enumerate(outputs):
        s, scores = problem.structure, theta[ptr[i] : ptr[i + 1]]
        counts = np.zeros((len(own.codes), scores.size))
        ids, times = np.zeros(200, np.int64), np.zeros(200)
        for row, y in zip(counts, own.codes, strict=True):
            found = waist.parts_of(s, i, y, ids, times)
            np.add.at(row, ids[:found], times[:found])
        log_p = counts @ scores
        result.append(np.exp(log_p - np.logaddexp.reduce(log_p)))
    return result


def divergence(p, q):
    return sum(
        float(np.sum(a[a > 0] * np.log(a[a > 0] / b[a > 0])))
        for a, b in zip(p, q, strict=True)
    )


def best_distributions(problem, outputs, loss):
    """Return the optimum, and dual distributions that reach it."""
    if loss is LOG_LOSS:
        value, w = best_log_loss(problem)
        result = []
        for own in outputs:
            log_p = -own.dphi @ w
            result.append(np.exp(log_p - np.logaddexp.reduce(log_p)))
        return value, result
    # Frank-Wolfe with exact line search, on distributions that are listed.
    value, _ = problems.best_hinge(outputs, problem.C)
    alpha = [np.eye(len(own.codes))[0] for own in outputs]
    C = problem.C[0]
    for _ in range(1000):
        w = C * sum(a @ own.dphi for a, own in zip(alpha, outputs, strict=True))
        for i, own in enumerate(outputs):
            score = own.cost - own.dphi @ w
            direction = np.eye(score.size)[score.argmax()] - alpha[i]
            move = C * direction @ own.dphi
            gain = C * direction @ score
            step = min(gain / max(move @ move, 1e-300), 1.0) if gain > 0 else 0.0
            alpha[i] = alpha[i] + step * direction
            w = w + step * move
    return value, alpha


@pytest.mark.parametrize("loss", [LOG_LOSS, HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("make", [problems.classes_costs, problems.chain_sparse])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_batch_eg_is_as_fast_as_the_theorems_promise(loss, make, C):
    problem = make_problem(problems.make_small(make), loss, C)
    outputs = problems.enumerate_outputs(problem.structure)
    optimum, best = best_distributions(problem, outputs, loss)
    solver = ExponentiatedGradient("batch", step="guaranteed", start_at="gold")
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    ptr = state.parts.dual.ptr
    here = distributions(problem, state.theta, ptr, outputs)
    eta, first = guaranteed_steps(problem, together=True)[0], divergence(best, here)
    for t in range(1, PASSES + 1):
        dual, before = state.dual_value, here
        list(solver.run_pass(problem, state, rng))
        here = distributions(problem, state.theta, ptr, outputs)
        # In units of the paper: our dual divided by C; for the hinge, whose entropy
        # has no weight, a step of ours is one of eta / C in theirs, too.
        moved = divergence(before, here) / eta
        assert (state.dual_value - dual) / C >= moved * (1 - 1e-6) - 1e-12
        # The best distributions of the hinge were found to a few digits.
        assert (optimum - state.dual_value) / C <= first / (eta * t) + 1e-6 * optimum


@pytest.mark.parametrize("make", [problems.classes_costs, problems.chain_sparse])
def test_structured_eg_is_eg_on_the_program_written_out(make):
    """Theorem 1 of Bartlett et al. (NIPS 2004): Figure 2 is Figure 3, part by part."""
    problem = make_problem(problems.make_small(make), HINGE, 0.5)
    outputs, C, eta = problems.enumerate_outputs(problem.structure), 0.5, 0.2
    solver = ExponentiatedGradient("batch", step=eta)
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, None)
    ptr = state.parts.dual.ptr
    alpha = distributions(problem, state.theta, ptr, outputs)
    for _ in range(10):
        w = C * sum(a @ own.dphi for a, own in zip(alpha, outputs, strict=True))
        np.testing.assert_allclose(state.w, w, atol=1e-10)
        # The paper's step is ours divided by C, and its gradient C times this one.
        alpha = [
            a * np.exp(eta * (own.cost - own.dphi @ w))
            for a, own in zip(alpha, outputs, strict=True)
        ]
        alpha = [a / a.sum() for a in alpha]
        list(solver.run_pass(problem, state, rng))
        found = distributions(problem, state.theta, ptr, outputs)
        for a, b in zip(alpha, found, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)
