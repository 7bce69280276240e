"""Relaxed graphs: bounds that hold, and training that is honest about them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drivers as ask
import problems
from graph_cases import CHOICES, make_case
from laws import FEATURE_LAWS, brute_scores, law_name
from partwise.errors import PairingError
from partwise.losses import get_loss, margin
from partwise.losses.base import fill_all
from partwise.losses.margin import count_unproved
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows, with_good_outputs
from partwise.structures.decoding import decode_with_bounds
from partwise.structures.graph import (
    CliqueKind,
    Layout,
    make_graph,
    make_relaxed_graph,
)

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

RELAXED = CHOICES | {"forbid": st.just(False), "make": st.just(make_relaxed_graph)}


@pytest.mark.parametrize("law", FEATURE_LAWS, ids=law_name)
@settings(max_examples=10)
@given(case=st.builds(make_case, **RELAXED))
def test_relaxed_graphs_obey(law, case):
    law(case)


@settings(max_examples=60)
@given(case=st.builds(make_case, **RELAXED))
def test_relaxed_graph_bounds_the_best(case):
    y, ws = np.zeros(waist.output_size(case.s, case.i), np.int32), None
    ws = waist.workspace(case.s, 1)
    score = ask.argmax(case.s, case.i, case.theta, y, ws)
    slack = float(waist.shortfall(case.s, case.i, ws))
    scores = brute_scores(case)
    rounding = 1e-8 * (1 + np.abs(case.theta).sum())
    own = scores[case.outputs.index(tuple(y.tolist()))]
    assert score == pytest.approx(own, abs=rounding)
    assert slack >= 0.0
    assert score + slack >= scores.max() - rounding
    if slack == 0.0:
        assert score == pytest.approx(scores.max(), abs=rounding)


def test_relaxed_graph_is_exact_on_trees():
    for seed in range(25):
        case = make_case("tree", 1, True, False, False, 5.0, seed, make_relaxed_graph)
        y, ws = np.zeros(waist.output_size(case.s, 0), np.int32), None
        ws = waist.workspace(case.s, 1)
        score = waist.argmax(case.s, 0, case.theta, y, ws)
        assert waist.shortfall(case.s, 0, ws) == 0.0
        assert score == pytest.approx(brute_scores(case).max(), abs=1e-7)


# --- training ----------------------------------------------------------------------

EDGE_WEIGHTS = [0.0, 1.0, 1.0, 0.0]
DIFFERENT = np.array([0.0, 0.0, *EDGE_WEIGHTS])


def frustrated(make):
    """Make edges with different labels, and a triangle, where not all can be.

    Features tell the first label of an edge; the other one has to follow from it.
    """
    layout = Layout(
        [0, 2, 4, 7],
        [2] * 7,
        [0, 2, 4, 7],
        [0, 1, 3, 4, 6, 8, 10, 12],
        [0, 0, 1, 0, 0, 1, 0, 1, 1, 2, 2, 0],
        [0, 1, 0, 1, 1, 1, 1],
    )
    values = [1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0]
    rows = make_sparse_rows(range(8), [0] * 7, values)
    kinds = [CliqueKind((2,)), CliqueKind((2, 2))]
    weight = [1.0] * 4 + [0.1] * 3
    return make(layout, kinds, rows, [0, 1, 1, 0, 0, 0, 1], vertex_weight=weight)


def test_relaxed_graph_says_what_it_could_not_prove():
    s, y = frustrated(make_relaxed_graph), np.zeros(3, np.int32)
    ws = waist.workspace(s, 1)
    assert waist.argmax(s, 2, np.tile(EDGE_WEIGHTS, 3), y, ws) == 2.0
    assert waist.shortfall(s, 2, ws) == pytest.approx(1.0)
    found = decode_with_bounds(s, DIFFERENT)
    assert found.scores.tolist() == [1.0, 1.0, 2.0]
    np.testing.assert_allclose(found.bounds, [1.0, 1.0, 3.0])


def test_exact_graphs_prove_everything():
    s = frustrated(make_graph)
    found = decode_with_bounds(s, DIFFERENT)
    assert found.bounds.tolist() == found.scores.tolist() == [1.0, 1.0, 2.0]
    assert count_unproved(s, DIFFERENT) == 0


@pytest.mark.parametrize("make", [make_graph, make_relaxed_graph])
def test_good_outputs_around_exact_graphs_cost_no_pass_to_prove(make, monkeypatch):
    s, passes = frustrated(make), []
    right = [np.zeros(size, np.int32) for size in (2, 2, 3)]
    for i, y in enumerate(right):
        waist.gold(s, i, y)
    sets = [[y, 1 - y] for y in right]

    def watched(job, *args, **options):
        passes.append(job)
        return fill_all(job, *args, **options)

    monkeypatch.setattr(margin, "fill_all", watched)
    relaxed = make is make_relaxed_graph
    for corpus in (s, with_good_outputs(s, sets)):
        assert count_unproved(corpus, DIFFERENT) == relaxed
    assert len(passes) == 2 * relaxed


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("dcd-ssvm", "squared_hinge"),
        ("frank-wolfe", "hinge"),
        ("smo", "hinge"),
        ("cutting-plane", "hinge"),
    ],
)
def test_relaxed_training_reports_no_less_than_the_objective(solver, loss):
    relaxed, exact = (
        make_problem(frustrated(make), get_loss(loss), 10.0, np.array([1, 1, 0.01]))
        for make in (make_relaxed_graph, make_graph)
    )
    found = solve(relaxed, make_solver(solver), tol=1e-4, max_iter=50)
    best = solve(exact, make_solver(solver), tol=1e-4, max_iter=200)
    assert best.converged
    assert found.certificate.primal >= exact.primal(found.w) - 1e-9
    assert found.certificate.dual <= best.certificate.primal + 1e-9
    assert not found.converged
    assert found.trace[-1].unproved == count_unproved(relaxed.structure, found.w) == 1
    assert "inference left 1 of 3 examples without a proof" in found.status


@pytest.mark.parametrize("solver", ["perceptron", "mira", "sgd"])
def test_relaxed_graphs_can_be_learnt_by_all_that_asks_for_the_best(solver):
    problem = make_problem(frustrated(make_relaxed_graph), get_loss("squared_hinge"))
    w = solve(problem, make_solver(solver), max_iter=5).w
    assert w[0] > w[1]
    assert w[3] + w[4] > w[2] + w[5]


def test_relaxed_graph_has_no_marginals():
    problem = make_problem(frustrated(make_relaxed_graph), get_loss("hinge"))
    with pytest.raises(PairingError, match=r"needs 'marginals'.* use .*frank-wolfe"):
        solve(problem, make_solver("eg"))


def test_relaxed_graph_refuses_no_sweeps():
    with pytest.raises(ValueError, match="n_sweeps must be at least 1"):
        frustrated(partial(make_relaxed_graph, n_sweeps=0))
