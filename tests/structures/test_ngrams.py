"""Chains of higher order: the laws, agreement with chains, sizes."""

import itertools
from typing import Any

import numpy as np
import pytest

import problems
from partwise.errors import DataError
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures import make_chain, make_sparse_rows
from partwise.structures.ngrams import (
    illegal_positions,
    make_ngram_chain,
    make_ngrams,
    observed_tuples,
)
from partwise.structures.ngrams.table import BORDER, FORGOTTEN, all_pairs
from partwise.testing import LAWS, Case, draw_scores, law_name

pytestmark = problems.plain_only


def corpus(
    order: int,
    lengths: list[int],
    K: int,
    random: Any,
    unseen: bool = False,
    **options: Any,
) -> Any:
    """Make a corpus at random, where some tuples never occur."""
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    n = int(ptr[-1])
    labels = random.integers(K, size=n).astype(np.int32)
    grams = make_ngrams(
        observed_tuples(labels, ptr, order),
        with_weights(labels, ptr, order + 1, K, unseen),
        K,
        start=bool(order % 2),
        unseen=unseen,
    )
    counts = random.integers(0, 3, size=n)
    idx = np.concatenate([random.choice(4, c, replace=False) for c in counts])
    rows = make_sparse_rows(np.cumsum([0, *counts]), idx.astype(int), None, 4)
    return make_ngram_chain(rows, ptr, labels, K, grams, end=True, **options)


def with_weights(labels: Any, ptr: Any, size: int, K: int, unseen: bool) -> Any:
    """List the tuples with weights; with unseen ones, these are all pairs as well."""
    rows = observed_tuples(labels, ptr, size)
    return np.vstack([all_pairs(K, size), rows]) if unseen else rows


def tuples_of(s: Any) -> set[tuple[int, ...]]:
    """Read the tuples back from the steps, in the plainest way."""
    order = s.grams.weight.shape[1]
    found, waiting = {}, [(0, (BORDER,) * order)]
    while waiting:
        state, memory = waiting.pop()
        if state not in found:
            found[state] = memory
            for k, e in enumerate(s.grams.next_step[state]):
                if e >= 0:
                    waiting.append((int(s.grams.target[e]), (*memory[1:], k)))
    return set(found.values())


def make_case(order: int, seed: int, scale: float = 2.0) -> Case:
    random = np.random.default_rng(seed)
    K, lengths = 3 if order < 3 else 2, [4, 0, 3, 1]
    tokens = random.random((sum(lengths), K)) < 0.2 * (seed % 2)
    costs = random.random((K, K)) * (1 - np.eye(K))
    unseen = seed > 1
    s = corpus(
        order, lengths, K, random, unseen,
        forbidden_labels=tokens,
        forbidden_end=np.arange(K) == seed % (K + 1),
        costs=costs, token_weight=random.random(sum(lengths)),
    )  # fmt: skip
    i = seed % len(lengths)
    first, n = int(s.ptr[i]), lengths[i]
    legal = set() if unseen else tuples_of(s)

    def walk(y: tuple[int, ...]) -> list[tuple[int, ...]]:
        padded = (BORDER,) * order + y
        return [padded[t : t + order + 1] for t in range(n)]

    def is_legal(y: tuple[int, ...]) -> bool:
        return (
            (unseen or all(gram[1:] in legal for gram in walk(y)))
            and not any(tokens[first + t, k] for t, k in enumerate(y))
            and (not y or s.mask.end[y[-1]] > 0)
        )

    outputs = [y for y in itertools.product(range(K), repeat=n) if is_legal(y)]
    numbers: dict[tuple[int, ...], int] = {}
    for row in with_weights(s.labels, s.ptr, order + 1, K, unseen).tolist():
        for size in range(2, order + 2):
            gram = tuple(row[-size:])
            if (
                FORGOTTEN not in gram
                and gram[:2] != (BORDER, BORDER)
                and (order % 2 or gram[0] != BORDER)
            ):
                numbers.setdefault(gram, len(numbers))

    def features(y: tuple[int, ...]) -> Any:
        total = np.zeros(waist.n_weights(s))
        for t, k in enumerate(y):
            for c in s.nodes.idx[s.nodes.ptr[first + t] : s.nodes.ptr[first + t + 1]]:
                total[c * K + k] += 1
        for gram in walk(y):
            for size in range(2, order + 2):
                if gram[-size:] in numbers:
                    total[s.layout.ngram_at + numbers[gram[-size:]]] += 1
        if y:
            total[s.layout.end_at + y[-1]] += 1
        return total

    def cost(y: tuple[int, ...]) -> float:
        right = s.labels[first : first + n]
        weight = s.token_weight[first : first + n]
        return float(
            sum(w * costs[a, b] for w, a, b in zip(weight, right, y, strict=True))
        )

    theta = draw_scores(random, int(waist.n_parts(s, i)), scale)
    w = random.normal(size=waist.n_weights(s))
    return Case(s, i, outputs, theta, w, features, cost, seed)


@pytest.mark.parametrize("law", LAWS, ids=law_name)
@pytest.mark.parametrize("order", [2, 3])
def test_ngrams_obey_the_laws(law: Any, order: int) -> None:
    for seed in range(4):
        law(make_case(order, seed))


@pytest.mark.parametrize("scale", [0.0, 300.0, 1e4])
@pytest.mark.parametrize("law", LAWS, ids=law_name)
def test_ngrams_obey_the_laws_at_any_scale(law: Any, scale: float) -> None:
    law(make_case(2, 2, scale))


def test_ngrams_of_order_one_are_a_chain() -> None:
    rng = np.random.default_rng(0)
    K, ptr = 3, np.array([0, 4, 9])
    labels = np.arange(9) % K
    rows = make_sparse_rows(np.arange(10), rng.integers(4, size=9), None, 4)
    every = [(a, b) for a in range(BORDER, K) for b in range(K)]
    grams = make_ngrams(np.arange(BORDER, K)[:, None], every, K)
    s = make_ngram_chain(rows, ptr, labels, K, grams, end=True)
    chain = make_chain(rows, ptr, labels, K, start=True, end=True)
    assert waist.n_weights(s) == waist.n_weights(chain)
    for loss, solver in (("log_loss", "lbfgs"), ("squared_hinge", "dcd-ssvm")):
        one, other = (
            solve(make_problem(c, get_loss(loss)), make_solver(solver), tol=1e-5)
            for c in (s, chain)
        )
        assert one.certificate is not None
        assert other.certificate is not None
        assert one.certificate.primal == pytest.approx(
            other.certificate.primal, rel=1e-4
        )


def test_ngrams_that_never_end_may_go_anywhere() -> None:
    grams = make_ngrams(
        observed_tuples([0, 1], [0, 2], 2), observed_tuples([0, 1], [0, 2], 3), 2
    )
    rows = make_sparse_rows(np.zeros(8, int), [], None, 1)
    s = make_ngram_chain(rows, [0, 7], None, 2, grams)
    y, ws = np.zeros(7, np.int32), waist.workspace(s, 1)
    assert waist.argmax(s, 0, np.zeros(waist.n_parts(s, 0)), y, ws) == 0.0
    assert y[:2].tolist() == [0, 1]


def test_ngrams_too_many_are_refused_with_their_number() -> None:
    y = np.random.default_rng(0).integers(9, size=500)
    tuples = [observed_tuples(y, [0, 500], size) for size in (2, 3)]
    with pytest.raises(DataError, match="order=2: more than 100 pairs of label tuples"):
        make_ngrams(*tuples, 9, most_steps=100)


def test_ngrams_illegal_labels_are_found() -> None:
    grams = make_ngrams(
        observed_tuples([0, 1, 0], [0, 3], 2), observed_tuples([0, 1, 0], [0, 3], 3), 2
    )
    rows = make_sparse_rows(np.zeros(4, int), [], None, 1)
    s = make_ngram_chain(rows, [0, 3], [0, 0, 1], 2, grams)
    assert illegal_positions(s).tolist() == [1]
    with pytest.raises(ValueError, match="labels must lie in"):
        make_ngram_chain(rows, [0, 3], [0, 0, 2], 2, grams)
