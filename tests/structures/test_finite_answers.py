"""No finite scores give NaN: huge and tiny ones, ties, masks, long and wide corpora."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import drivers as ask
import problems
from newer_structures import NEWER
from partial_problems import hide
from partwise.structures import interface as waist
from partwise.structures import make_chain, make_segments, make_sparse_rows
from partwise.structures.partial import best_completions, expected_completions

Floats = problems.Floats
KINDS = (
    (*problems.EACH_KIND, problems.trees_labelled)
    if problems.PLAIN_PYTHON
    else (problems.classes_dense, problems.chain_masked)
)


def extremes(n: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return scores of `n` parts, each kind of which has broken something somewhere."""
    signs = rng.choice([-1.0, 1.0], n)
    return {
        "huge": 1e300 * signs,
        "all huge": np.full(n, 1e300),
        "none but huge": np.full(n, -1e300),
        "huge and small": np.where(rng.random(n) < 0.5, 1e300, 1.0) * signs,
        "denormal": 5e-324 * rng.integers(-3, 4, n),
        "tied": np.zeros(n),
        "one part": np.where(np.arange(n) == n // 2, 1e300, 0.0),
        "wide": 10.0 ** rng.uniform(-300, 300, n) * signs,
        "beyond exp": rng.uniform(-1e4, 1e4, n),
    }


def assert_finite(s: Any, i: int, theta: Floats) -> None:
    """Ask everything about an example."""
    ws = waist.workspace(s, 3)
    size = waist.output_size(s, i)
    y, mu = np.zeros(size, np.int32), np.full(theta.size, np.nan)
    if waist.argmax.provided_by(type(s)):
        best = ask.argmax(s, i, theta, y, ws)
        assert np.isfinite(best)
        assert waist.is_output(s, i, y)
    if waist.kbest.provided_by(type(s)):
        ys, scores = np.zeros((3, size), np.int32), np.zeros(3)
        found = ask.kbest(s, i, theta, 3, ys, scores, ws)
        assert np.isfinite(scores[:found]).all()
    if waist.marginals.provided_by(type(s)):
        log_z = ask.marginals(s, i, theta, mu, ws)
        assert np.isfinite(log_z)
        assert np.isfinite(mu).all()
        assert mu.min() >= -1e-9
        assert np.isfinite(ask.log_partition(s, i, theta, ws))


@pytest.mark.parametrize("make", KINDS)
def test_answers_are_finite_whatever_the_scores(make: problems.Maker) -> None:
    s, rng = problems.make_small(make), np.random.default_rng(0)
    for i in range(waist.n_examples(s)):
        for scores in extremes(waist.n_parts(s, i), rng).values():
            assert_finite(s, i, scores)


@problems.plain_only
@pytest.mark.parametrize("make", NEWER)
def test_answers_of_newer_structures_are_finite_whatever_the_scores(
    make: Callable[[], Any],
) -> None:
    s, rng = make(), np.random.default_rng(0)
    for i in range(waist.n_examples(s)):
        for scores in extremes(waist.n_parts(s, i), rng).values():
            assert_finite(s, i, scores)


@problems.plain_only
@pytest.mark.parametrize("make", [problems.chain_edges, problems.derivations])
def test_completions_are_finite_whatever_the_weights(make: problems.Maker) -> None:
    """Of hidden states and known brackets, at weights that make such scores."""
    s, rng = hide(problems.make_small(make), 0.5), np.random.default_rng(0)
    for w in extremes(waist.n_weights(s), rng).values():
        completed, entropy = expected_completions(s, w)
        assert np.isfinite(entropy).all()
        assert np.isfinite(completed.expected.numbers).all()
        assert completed.expected.numbers.min(initial=0.0) >= -1e-9
        best = best_completions(s, w)
        for i in range(waist.n_examples(best)):
            y = np.zeros(waist.output_size(best, i), np.int32)
            waist.gold(best, i, y)
            assert waist.is_output(best, i, y)


def segments(lengths: list[int], limits: list[int]) -> Any:
    """Make sequences of segments, some of whose transitions and codes are masked."""
    n_tokens, K = sum(lengths), len(limits)
    rows = make_sparse_rows(np.arange(n_tokens + 1), np.zeros(n_tokens, np.int32))
    codes = np.zeros((n_tokens, 2 * K), bool)
    codes[1, K:] = True
    return make_segments(
        rows, np.cumsum([0, *lengths]), np.zeros(n_tokens, np.int32), limits,
        start=True, end=True, forbidden_codes=codes,
        forbidden_transitions=np.arange(K)[:, None] < np.arange(K),
    )  # fmt: skip


@problems.plain_only
def test_answers_about_segments_are_finite_whatever_the_scores() -> None:
    s, rng = segments([5, 1, 3], [3, 2]), np.random.default_rng(0)
    for i in range(3):
        for scores in extremes(waist.n_parts(s, i), rng).values():
            assert_finite(s, i, scores)


def chain(n_tokens: int, n_labels: int) -> Any:
    """Make a sequence with one feature per token, and a transition that is masked."""
    rows = make_sparse_rows(np.arange(n_tokens + 1), np.zeros(n_tokens, np.int32))
    labels = np.zeros(n_tokens, np.int32)
    forbidden = np.zeros((n_labels, n_labels), bool)
    forbidden[0, 1] = True
    return make_chain(
        rows, [0, n_tokens], labels, n_labels, forbidden_transitions=forbidden
    )


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="a million tokens take long")
@pytest.mark.parametrize(("n_tokens", "n_labels"), [(1_000_000, 3), (3, 2_000)])
@pytest.mark.parametrize("kind", ["huge", "denormal", "beyond exp", "tied"])
def test_answers_are_finite_however_long_and_wide(
    n_tokens: int, n_labels: int, kind: str
) -> None:
    s, rng = chain(n_tokens, n_labels), np.random.default_rng(0)
    theta = extremes(waist.n_parts(s, 0), rng)[kind]
    ws = waist.workspace(s, 1)
    y, mu = np.zeros(n_tokens, np.int32), np.zeros(theta.size)
    assert np.isfinite(ask.argmax(s, 0, theta, y, ws))
    assert not ((y[:-1] == 0) & (y[1:] == 1)).any()
    assert np.isfinite(ask.marginals(s, 0, theta, mu, ws))
    assert np.isfinite(mu).all()
    of_tokens = mu[: n_tokens * n_labels].reshape(n_tokens, n_labels)
    np.testing.assert_allclose(of_tokens.sum(axis=1), 1.0, atol=1e-6)
