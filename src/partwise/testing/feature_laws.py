"""What must hold of scores, features, costs, and differences of outputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from partwise.structures import interface as waist
from partwise.testing import questions as ask
from partwise.testing.cases import (
    Case,
    NotAnswered,
    code,
    empty_code,
    expect,
    expect_close,
    guarded,
    part_counts,
    part_matrix,
    require,
    unguarded,
)


def part_scores_are_dot_products(case: Case) -> None:
    """The score of a part is its feature vector times the weights."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    theta = guarded(np.full(waist.n_parts(s, i), 0.5))
    ask.part_scores(s, i, guarded(case.w), theta, ws)
    expected = part_matrix(case) @ case.w
    what = "part_scores to be products of the weights with part_row"
    expect_close(case, unguarded(theta), expected, what, 1e-9, 1e-7)


def parts_add_up_to_the_output(case: Case) -> None:
    """The feature vector of an output is the sum of those of its parts."""
    matrix = part_matrix(case)
    n_weights, n = matrix.shape[1], case.w.size
    expect(case, n_weights == n, f"n_weights is {n_weights}, the case has {n} weights")
    for y in case.outputs:
        mine = part_counts(case, y) @ matrix
        what = f"the features of the parts of {y} to add up to its own"
        expect_close(case, mine, case.features(y), what, 1e-12, 1e-7)


def add_parts_is_the_adjoint_of_part_scores(case: Case) -> None:
    """``v . (change of w) = scale * mu . scores(v)`` for all `mu` and `v`."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    random = np.random.default_rng(case.seed)
    mu = random.normal(size=waist.n_parts(s, i))
    v = random.normal(size=case.w.size)
    theta = np.zeros(mu.size)
    ask.part_scores(s, i, v, theta, ws)
    w, scale = guarded(case.w), -0.7
    change = ask.add_parts(s, i, guarded(mu), scale, w, ws)
    w = unguarded(w)
    what = "add_parts to be the adjoint of part_scores"
    expect_close(case, v @ (w - case.w), scale * mu @ theta, what, 1e-9, 1e-7)
    what = "add_parts to add the rows of the parts"
    expect_close(case, w - case.w, scale * mu @ part_matrix(case), what, 1e-9, 1e-7)
    what = "add_parts to return the change of |w|^2"
    expect_close(case, change, w @ w - case.w @ case.w, what, 1e-8, 1e-7)


def blocks_answer_as_their_examples_do(case: Case) -> None:
    """Scores and sums of a block are those of its examples, one after the other."""
    s, ws, random = case.s, waist.workspace(case.s, 1), np.random.default_rng(case.seed)
    first = case.i
    last = min(first + waist.block_size(s), waist.n_examples(s))
    sizes = [waist.n_parts(s, i) for i in range(first, last)]
    expected = [np.zeros(n) for n in sizes]
    mus = [random.normal(size=n) for n in sizes]
    w = case.w.copy()
    for i, theta, mu in zip(range(first, last), expected, mus, strict=True):
        ask.part_scores(s, i, case.w, theta, ws)
        ask.add_parts(s, i, mu, 1.0, w, ws)
    block, sums = guarded(np.full(sum(sizes), 0.5)), guarded(case.w)
    ask.block_scores(s, first, last, case.w, block, ws)
    ask.add_block(s, first, last, np.concatenate(mus), sums, ws)
    what = "block_scores to be the part_scores of its examples"
    expect_close(case, unguarded(block), np.concatenate(expected), what, 1e-9, 1e-7)
    what = "add_block to do what add_parts does for its examples"
    expect_close(case, unguarded(sums), w, what, 1e-9, 1e-7)


def costs_add_up_over_parts(case: Case) -> None:
    """The cost of an output is that of its parts, and nothing at gold."""
    require(case, waist.cost, waist.add_costs, waist.gold)
    if case.cost is None:
        raise NotAnswered("the case has no costs")
    s, i = case.s, case.i
    base = np.arange(waist.n_parts(s, i), dtype=float)
    theta = guarded(base)
    ask.add_costs(s, i, theta)
    part_costs = unguarded(theta) - base
    for y in case.outputs:
        mine = ask.cost(s, i, code(y))
        expect_close(case, mine, case.cost(y), f"the cost of {y}", 1e-12, 1e-7)
        parts = part_counts(case, y) @ part_costs
        what = f"add_costs of the parts of {y} to add up to its cost"
        expect_close(case, parts, case.cost(y), what, 1e-9, 1e-7)
    right = empty_code(case)
    ask.gold(s, i, right)
    at_gold = ask.cost(s, i, right)
    expect(case, at_gold == 0.0, f"the right output costs 0, not {at_gold}")


def differences_are_those_of_the_features(case: Case) -> None:
    """All of ``diff_*`` speak of ``Phi(y_ref) - Phi(y)``."""
    check_differences(case, case.s, ask)
    if waist.diff_entries.changed_by(type(case.s)) and case.outputs:
        _check_listed(case, case.outputs[0], case.outputs[-1])


def _check_listed(case: Case, y: Any, y_ref: Any) -> None:
    """Compare ``diff_entries`` with brute force."""
    s, delta = case.s, np.zeros(case.w.size)
    diff = waist.make_diff(s)
    ws, codes = waist.workspace(s, 1), (code(y), code(y_ref))
    found = ask.diff_entries(s, case.i, *codes, diff, ws)
    np.add.at(delta, diff.idx[: max(found, 0)], diff.val[: max(found, 0)])
    right = case.features(y_ref) - case.features(y)
    if found >= 0:
        what = f"diff_entries of {y_ref} and {y}"
        expect_close(case, delta, right, what, 1e-9, 1e-7)


def differences_by_default_are_the_same(case: Case) -> None:
    """The default bodies say what the structure's own, faster ones say."""
    own = (waist.diff_dot, waist.diff_add, waist.diff_sqnorm)
    if not any(question.changed_by(type(case.s)) for question in own):
        raise NotAnswered(f"{type(case.s).__name__} has no diff_* of its own")
    bodies = {question.__name__: _visited(question) for question in own}
    check_differences(case, case.s, SimpleNamespace(**bodies))


def _visited(question: Any) -> Any:
    """Return the default body of a question about two outputs, after a visit."""

    def answer(s: Any, i: int, *rest: Any) -> Any:
        waist.visit(s, i, rest[-1])
        return question.stub(s, i, *rest)

    return answer


def check_differences(case: Case, s: Any, asked: Any) -> None:
    """Compare ``diff_*`` with brute force on some pairs of outputs."""
    if not case.outputs:
        return
    random = np.random.default_rng(case.seed)
    first, last = case.outputs[0], case.outputs[-1]
    pairs = [(first, first), (first, last)]
    for a, b in random.integers(0, len(case.outputs), (4, 2)):
        pairs.append((case.outputs[a], case.outputs[b]))
    ws, diff = waist.workspace(s, 1), waist.make_diff(s)
    for y, y_ref in pairs:
        delta = case.features(y_ref) - case.features(y)
        n, most = np.count_nonzero(delta), waist.max_features(s)
        expect(case, n <= most, f"max_features is {most}, {y_ref} - {y} has {n}")
        there, ref, w = code(y), code(y_ref), guarded(case.w)
        between = f"of {y_ref} and {y}"
        dot = asked.diff_dot(s, case.i, there, ref, w, diff, ws)
        expect_close(case, dot, delta @ case.w, f"diff_dot {between}", 1e-9, 1e-7)
        asked.diff_add(s, case.i, there, ref, -0.7, w, diff, ws)
        added = case.w - 0.7 * delta
        expect_close(case, unguarded(w), added, f"diff_add {between}", 1e-9, 1e-7)
        sqnorm = asked.diff_sqnorm(s, case.i, there, ref, diff, ws)
        expect_close(case, sqnorm, delta @ delta, f"diff_sqnorm {between}", 1e-9, 1e-7)
