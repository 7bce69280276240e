"""Learners with helpers: outputs found a block ahead, and all else as exact as ever."""

import threading
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import problems
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures.ahead import find_ahead, make_plan

BLOCKS = [(0, 3), (3, 5), (5, 9)]

DUAL = [
    ("dcd-ssvm", "squared_hinge"),
    ("dcd-light", "squared_hinge"),
    ("smo", "hinge"),
    ("frank-wolfe", "hinge"),
]


# --- the pipeline ---


@pytest.mark.parametrize("n_threads", [2, 3])
def test_ahead_sees_what_was_learnt_before_the_block(n_threads: int) -> None:
    learnt, notes, found = [0], {}, {}

    def take(number: int, start: int, stop: int) -> None:
        for visit in range(start, stop):
            notes[visit] = learnt[0]

    def find(number: int, start: int, stop: int) -> None:
        for visit in range(start, stop):
            found[visit] = notes[visit]

    seen = []
    for start, stop in find_ahead(n_threads, BLOCKS, 8, take, find):
        seen.append([found[visit] for visit in range(start, stop)])
        learnt[0] += 1
    # The first two blocks were noted before anything was learnt, the third after one.
    assert seen == [[0] * 3, [0] * 2, [1] * 4]


def test_ahead_raises_what_goes_wrong_beside_the_learner() -> None:
    def find(number: int, start: int, stop: int) -> None:
        if stop > 5:
            raise ZeroDivisionError("in a helper")

    with pytest.raises(ZeroDivisionError, match="in a helper"):
        list(find_ahead(2, BLOCKS, 8, lambda *_: None, find))


def test_ahead_ends_its_threads_when_the_learner_has_enough() -> None:
    before, calls = threading.active_count(), [0]

    def find(number: int, start: int, stop: int) -> None:
        calls[0] += 1
        time.sleep(0.002)

    many = [(n, n + 1) for n in range(1000)]
    blocks = find_ahead(2, many, 8, lambda *_: None, find)
    next(blocks)
    blocks.close()
    after = calls[0]
    assert threading.active_count() == before
    time.sleep(0.02)
    assert calls[0] == after < 1000


def test_ahead_places_of_neighbouring_blocks_are_apart() -> None:
    sizes = np.random.default_rng(0).integers(1, 9, 200)
    order = np.random.default_rng(1).integers(0, 200, 300)
    plan = make_plan(order, sizes)
    assert [v for a, b in plan.blocks for v in range(a, b)] == list(range(300))
    used = [
        {
            p
            for v in range(a, b)
            for p in range(plan.at[v], plan.at[v] + sizes[order[v]])
        }
        for a, b in plan.blocks
    ]
    for one, two in pairwise(used):
        assert not one & two
    assert max(map(max, used)) < plan.room
    assert [len(u) for u in used] == [
        int(sizes[order[a:b]].sum()) for a, b in plan.blocks
    ]


# --- solvers ---


def with_helpers(loss: str, n_jobs: int = 2) -> Any:
    s = problems.make_small(problems.chain_sparse, count=8)
    return make_problem(s, get_loss(loss), n_jobs=n_jobs)


@problems.plain_only
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize(("name", "loss"), DUAL)
def test_ahead_dual_is_exact_though_directions_are_old(name: str, loss: str) -> None:
    problem, solver = with_helpers(loss), make_solver(name)
    state = solver.start(problem, rng := np.random.default_rng(0), None)
    before = 0.0
    for _ in range(5):
        for _ in solver.run_pass(problem, state, rng):
            pass
        kept = state.dual
        exact = solver.certify(problem, state).dual
        assert kept == pytest.approx(exact, rel=1e-9)
        assert exact >= before - 1e-9  # no step lowers it
        before = exact


@problems.plain_only
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize(("name", "loss"), DUAL)
def test_ahead_reaches_the_same_optimum(name: str, loss: str) -> None:
    solver = make_solver(name)
    two = solve(with_helpers(loss), solver, tol=1e-2, max_iter=100)
    one = solve(with_helpers(loss, 1), solver, tol=1e-2, max_iter=100)
    assert two.converged
    assert two.certificate is not None
    assert one.certificate is not None
    assert two.certificate.primal >= one.certificate.dual
    assert one.certificate.primal >= two.certificate.dual


@problems.plain_only
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("name", ["mira", "arow"])
def test_ahead_finds_that_all_is_right_as_surely(name: str) -> None:
    """Where a pass corrects nothing, its weights were those of every visit."""
    problem = with_helpers("hinge")
    solution = solve(problem, make_solver(name), max_iter=30)
    if solution.converged:
        again = replace(problem, n_jobs=1)
        state = make_solver(name).start(again, np.random.default_rng(1), solution.state)
        state.average = solution.state.average
        for _ in make_solver(name).run_pass(again, state, np.random.default_rng(1)):
            pass
        assert state.halted
    assert np.isfinite(solution.w).all()


@problems.plain_only
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("name", ["sgd", "perceptron", "pa"])
def test_ahead_is_not_for_steps_that_nothing_shortens(name: str) -> None:
    """Steps of fixed length from old outputs go too far: these solvers learn alone."""
    many, one = (
        solve(with_helpers("squared_hinge", n), make_solver(name), max_iter=8).w
        for n in (4, 1)
    )
    np.testing.assert_array_equal(many, one)
