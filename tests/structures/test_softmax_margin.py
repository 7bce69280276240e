"""The log loss with costs: sums, optimum and certificate against enumeration."""

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import drivers
import problems
from log_problems import LOG_LOSS, WEIGHTS, log_sum_and_shares, passes
from partwise.errors import PairingError
from partwise.solvers import ExponentiatedGradient, Problem, make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import (
    GoodOutputs,
    SoftmaxMargin,
    make_chain,
    make_softmax_margin,
    with_good_outputs,
)
from partwise.structures.delegation import DELEGATED
from partwise.structures.gibbs import part_pointers, scores_from_marginals
from partwise.structures.interface import (
    REQUIRED,
    gold,
    innermost,
    n_examples,
    n_good,
    n_parts,
    part_scores,
    parts_of,
    untied,
    visit,
    workspace,
)
from partwise.structures.scratch import make_scratch, score_of
from problems import Floats, Maker, Outputs

SOLVERS = (
    ("eg", "eg-batch", "eg-primal", "sdca", "lbfgs", "cg", "owlqn")
    if problems.PLAIN_PYTHON
    else ("lbfgs",)  # "eg" is compiled for it by the guide to costs
)


def weighted_chain(chosen: Any) -> Any:
    """A chain with costs and a weight of every token, zero among them."""
    s = problems.chain_costs(chosen)
    weight = np.arange(int(s.ptr[-1])) % 4 / 2
    return make_chain(
        s.nodes, s.ptr, s.labels, problems.N_LABELS, costs=s.costs, token_weight=weight
    )


# Compiled, classes are enough: they need far less time.
MAKERS: tuple[Maker, ...] = (
    (*problems.MAKERS, weighted_chain)
    if problems.PLAIN_PYTHON
    else (problems.classes_costs,)
)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Maker:
    chosen: Maker = request.param
    return chosen


def problem_of(make: Maker, l1_ratio: float = 0.0) -> Problem:
    s = make_softmax_margin(problems.make_small(make))
    return make_problem(s, LOG_LOSS, 1.0, WEIGHTS, l1_ratio)


def outputs_of(problem: Problem) -> list[Outputs]:
    return problems.enumerate_outputs(problem.structure.corpus)


def objective(
    outputs: list[Outputs], C: Floats, w: Floats, l1_ratio: float = 0.0
) -> tuple[float, Floats]:
    """Return value and gradient of all but the L1 norm, by enumeration."""
    value, gradient = 0.5 * (1 - l1_ratio) * w @ w, (1 - l1_ratio) * w
    for out, c in zip(outputs, C, strict=True):
        log_sum, p = log_sum_and_shares(out.cost - out.dphi @ w)
        value += c * log_sum
        gradient = gradient - c * p @ out.dphi
    return float(value), gradient


@functools.cache
def best(make: Maker) -> float:
    """Minimise by SciPy over the enumerated outputs."""
    problem = problem_of(make)
    outputs = outputs_of(problem)
    found = minimize(
        lambda w: objective(outputs, problem.C, w),
        np.zeros(problem.n_weights),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-8},
    )
    return float(found.fun)


# --- the two sums ---


def test_softmax_margin_sums_outputs_with_their_costs(make: Maker) -> None:
    s = make_softmax_margin(problems.make_small(make))
    scratch, ws = make_scratch(s), workspace(s, 1)
    w = np.random.default_rng(0).normal(size=problem_of(make).n_weights)
    for i, out in enumerate(problems.enumerate_outputs(s.corpus)):
        drivers.part_scores(s, i, w, scratch.theta, ws)
        kept = scratch.theta.copy()
        scores = np.array([score_of(s, i, y, kept, scratch) for y in out.codes])
        expected = logsumexp(scores + out.cost)
        log_z = drivers.marginals(s, i, scratch.theta, scratch.mu, ws)
        assert log_z == pytest.approx(expected)
        assert drivers.log_partition(s, i, scratch.theta, ws) == pytest.approx(expected)
        mu = np.zeros(n_parts(s, i))
        for p, y in zip(softmax(scores + out.cost), out.codes, strict=True):
            for j in range(parts_of(s, i, y, scratch.ids, scratch.counts)):
                mu[scratch.ids[j]] += p * scratch.counts[j]
        assert scratch.mu[: mu.size] == pytest.approx(mu, abs=1e-12)
        assert np.array_equal(scratch.theta, kept), "scores are the caller's"


def test_softmax_margin_scores_come_back_from_marginals(make: Maker) -> None:
    if make in problems.ONE_WAY:
        pytest.skip("from the marginals of trees there is no way back")
    s = untied(make_softmax_margin(problems.make_small(make)))
    ptr, scratch, ws = part_pointers(s), make_scratch(s), workspace(s, 1)
    w = np.random.default_rng(1).normal(size=problem_of(make).n_weights)
    wanted = np.zeros(ptr[-1])
    for i in range(n_examples(s)):
        visit(s, i, ws)
        part_scores(s, i, w, scratch.theta, ws)
        drivers.marginals(s, i, scratch.theta, wanted[ptr[i] : ptr[i + 1]], ws)
    theta = scores_from_marginals(s, wanted, epsilon=0.0)
    for i in range(n_examples(s)):
        drivers.marginals(s, i, theta[ptr[i] : ptr[i + 1]], scratch.mu, ws)
        found = scratch.mu[: ptr[i + 1] - ptr[i]]
        assert found == pytest.approx(wanted[ptr[i] : ptr[i + 1]], abs=1e-7)


def test_softmax_margin_without_costs_is_the_log_loss() -> None:
    costs = np.zeros((problems.N_LABELS, problems.N_LABELS))
    drawn = problems.draw(problems.chain_sparse)
    s = problems.chain_sparse(drawn, costs=costs)
    w = np.random.default_rng(0).normal(size=make_problem(s, LOG_LOSS).n_weights)
    with_costs = LOG_LOSS.values(make_softmax_margin(s), w)
    assert np.array_equal(with_costs, LOG_LOSS.values(s, w))


# --- training ---


@pytest.mark.parametrize("name", SOLVERS)
def test_softmax_margin_solvers_reach_the_optimum(make: Maker, name: str) -> None:
    problem = problem_of(make)
    solution = solve(problem, make_solver(name), tol=1e-6, max_iter=2000)
    assert solution.converged
    assert solution.certificate is not None
    assert solution.certificate.primal == pytest.approx(best(make), rel=2e-6)
    value, _ = objective(outputs_of(problem), problem.C, solution.w)
    assert value == pytest.approx(solution.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_softmax_margin_certificate_holds_in_every_pass(make: Maker, name: str) -> None:
    problem = problem_of(make)
    optimum, solver = best(make), make_solver(name)
    for state in passes(problem, solver, 6):
        certificate = solver.certify(problem, state)
        assert certificate is not None
        assert certificate.dual <= optimum * (1 + 1e-9) <= certificate.primal + 1e-8


@pytest.mark.parametrize("name", ["owlqn", "eg"])
def test_softmax_margin_elastic_net_has_no_slope_left(name: str) -> None:
    """At the optimum, soft-thresholding minus the gradient gives the weights again."""
    problem, ratio = problem_of(problems.chain_costs, 0.3), 0.3
    w = solve(problem, make_solver(name), tol=1e-9, max_iter=2000).w
    _, slope = objective(outputs_of(problem), problem.C, w, ratio)
    moved = w - slope
    assert np.sign(moved) * np.maximum(np.abs(moved) - ratio, 0) == pytest.approx(
        w, abs=1e-3
    )


def test_softmax_margin_is_another_problem_than_the_log_loss() -> None:
    s = problems.make_small(problems.chain_sparse)
    plain, costly = (make_problem(x, LOG_LOSS) for x in (s, make_softmax_margin(s)))
    assert plain.fingerprint() != costly.fingerprint()


def test_softmax_margin_needs_costs() -> None:
    class Bare(NamedTuple):
        size: int

    with pytest.raises(PairingError, match="costs with the log loss need 'add_costs'"):
        make_softmax_margin(Bare(1))


@pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="run by test_plain_python")
def test_softmax_margin_of_trees_goes_on_without_their_scores() -> None:
    """Trees do not get back from marginals to scores, and so neither does this."""
    s = make_softmax_margin(problems.make_small(problems.trees_projective))
    problem = make_problem(s, LOG_LOSS, 1.0)
    before = solve(problem, make_solver("sdca"), max_iter=3)
    solver = ExponentiatedGradient(step="guaranteed")
    after = solve(problem, solver, max_iter=3, previous=before.state)
    assert after.certificate.dual <= after.certificate.primal < np.inf


def test_softmax_margin_and_good_outputs_answer_every_question() -> None:
    assert {*REQUIRED, n_good} < {*DELEGATED}
    for question in DELEGATED:
        for wrapping in (SoftmaxMargin, GoodOutputs):
            assert question.provided_by(wrapping)


def test_softmax_margin_hands_on_what_it_does_not_know_of() -> None:
    """What the corpus inside says of good outputs, too."""
    s = problems.make_small(problems.classes_costs)
    y = np.zeros(1, np.int32)
    gold(s, 0, y)
    others = [[[0], [1]] if y[0] < 2 else [[0], [2]]]
    for i in range(1, int(n_examples(s))):
        gold(s, i, y)
        others.append([y.tolist()])
    wrapped = make_softmax_margin(with_good_outputs(s, others))
    assert n_good(wrapped, 0) == 2
    assert innermost(wrapped) is s
