"""What must hold of the best output, the k best, sums and marginals."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray
from partwise.testing import questions as ask
from partwise.testing.cases import (
    Case,
    brute_log_partition,
    brute_scores,
    empty_code,
    every_example,
    expect,
    expect_close,
    guarded,
    part_counts,
    require,
    tolerance,
    unguarded,
)


def argmax_is_the_best_legal_output(case: Case) -> None:
    """No legal output has a higher score, and the score is the one returned."""
    require(case, waist.argmax)
    y, ws = empty_code(case), waist.workspace(case.s, 1)
    result = ask.argmax(case.s, case.i, guarded(case.theta), y, ws)
    if not case.outputs:
        expect(case, result == -np.inf, f"argmax of no output is -inf, not {result}")
        return
    scores, found = brute_scores(case), tuple(y.tolist())
    expect(case, found in case.outputs, f"argmax wrote {found}, which is not legal")
    atol = tolerance(case)
    best = case.outputs[int(scores.argmax())]
    expect_close(
        case, result, scores.max(), f"argmax to return the score of {best}", atol
    )
    mine = scores[case.outputs.index(found)]
    expect_close(case, mine, scores.max(), f"argmax to write {best}, not {found}", atol)


def kbest_are_the_best_in_order(case: Case) -> None:
    """The k best are distinct, legal and sorted, and as many as there are."""
    require(case, waist.kbest)
    s, i, n_outputs = case.s, case.i, len(case.outputs)
    brute = brute_scores(case)
    for k in {1, 2, 3, n_outputs + 2}:
        ys = np.full((k, waist.output_size(s, i)), -7, np.int32)
        scores = guarded(np.full(k, 0.5))
        ws = waist.workspace(s, k)
        found = ask.kbest(s, i, guarded(case.theta), k, ys, scores, ws)
        scores = unguarded(scores)[:found]
        wanted = min(k, n_outputs)
        expect(case, found == wanted, f"kbest finds {wanted} outputs, not {found}")
        outputs = [tuple(y.tolist()) for y in ys[:found]]
        expect(case, len(set(outputs)) == found, f"the {k} best are distinct")
        illegal = [y for y in outputs if y not in case.outputs]
        expect(case, not illegal, f"kbest wrote {illegal}, which is not legal")
        mine = np.array([brute[case.outputs.index(y)] for y in outputs])
        atol = tolerance(case)
        expect_close(case, scores, mine, "kbest to return their scores", atol)
        best = np.sort(brute)[::-1][:found]
        expect_close(case, scores, best, f"the {k} best outputs", atol)
        expect(case, bool((np.diff(scores) <= 0.0).all()), "the best come first")


def log_partition_sums_every_output(case: Case) -> None:
    """It is the logarithm of the sum over all legal outputs, -inf over none."""
    require(case, waist.log_partition)
    ws = waist.workspace(case.s, 1)
    result = ask.log_partition(case.s, case.i, guarded(case.theta), ws)
    expected = brute_log_partition(brute_scores(case))
    what = "log_partition to sum over all outputs"
    expect_close(case, result, expected, what, tolerance(case))


def marginals_are_expected_counts(case: Case) -> None:
    """They are the mean of the part counts, weighted by exp(score)."""
    require(case, waist.marginals)
    n_parts = waist.n_parts(case.s, case.i)
    mu, ws = guarded(np.full(n_parts, 0.5)), waist.workspace(case.s, 1)
    result = ask.marginals(case.s, case.i, guarded(case.theta), mu, ws)
    scores = brute_scores(case)
    log_z = brute_log_partition(scores)
    expected = np.zeros(n_parts)
    for y, score in zip(case.outputs, scores, strict=True):
        expected += np.exp(score - log_z) * part_counts(case, y)
    atol = tolerance(case)
    expect_close(case, result, log_z, "marginals to return log Z", atol)
    what = "marginals to be the expected counts of parts"
    expect_close(case, unguarded(mu), expected, what, 10 * atol)


def marginals_are_the_gradient(case: Case) -> None:
    """They are the derivative of log Z by the scores, by central differences."""
    require(case, waist.marginals, waist.log_partition)
    if not case.outputs:
        return
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    theta = case.theta * min(1.0, 3.0 / max(1.0, np.abs(case.theta).max(initial=1)))
    mu, step = np.zeros(theta.size), 1e-4
    ask.marginals(s, i, theta, mu, ws)
    for r in range(theta.size):
        there, back = theta.copy(), theta.copy()
        there[r] += step
        back[r] -= step
        change = ask.log_partition(s, i, there, ws) - ask.log_partition(s, i, back, ws)
        what = f"the marginal of part {r} to be the derivative of log Z"
        expect_close(case, mu[r], change / (2 * step), what, 1e-6)


def answers_do_not_depend_on_earlier_ones(case: Case) -> None:
    """A workspace carries nothing over, whatever was asked before."""
    s, i, random = case.s, case.i, np.random.default_rng(case.seed)
    used = waist.workspace(s, 3)
    sizes = [(waist.n_parts(s, j), waist.output_size(s, j)) for j in every_example(s)]

    def answer(j: int, theta: FloatArray, ws: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if waist.argmax.provided_by(type(s)):
            y = np.zeros(sizes[j][1], np.int32)
            found["argmax"] = ask.argmax(s, j, theta, y, ws)
        if waist.marginals.provided_by(type(s)):
            mu = np.zeros(theta.size)
            found["log Z"], found["marginals"] = ask.marginals(s, j, theta, mu, ws), mu
        if waist.kbest.provided_by(type(s)):
            ys, scores = np.zeros((3, sizes[j][1]), np.int32), np.zeros(3)
            count = ask.kbest(s, j, theta, 3, ys, scores, ws)
            found["kbest"], found["scores"] = ys[:count], scores[:count]
        return found

    for j in every_example(s):
        answer(j, random.normal(0.0, 1e3, sizes[j][0]), used)
    fresh, late = (
        answer(i, case.theta, waist.workspace(s, 3)),
        answer(i, case.theta, used),
    )
    for name, expected in fresh.items():
        same = np.array_equal(late[name], expected)
        expect(case, same, f"{name} must not depend on what was asked before")
