"""The small vector operations agree with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.structures.vectors import (
    LEAST,
    add_rows,
    add_scaled,
    all_above,
    dot,
    exponentials,
    largest,
    sum_of,
)

lengths = st.integers(1, 37)


def _random(n: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, *shape))


@given(st.lists(st.floats(-900, 0), min_size=1, max_size=40))
def test_exponentials_agree_with_numpy(values: list[float]) -> None:
    x = np.array(values)
    out = np.empty_like(x)
    exponentials(x, 0.0, out)
    expected = np.where(x < LEAST, 0.0, np.exp(x))
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=0)


def test_exponentials_over_the_largest() -> None:
    x = np.array([1e6, 1e6 - 1.0, 0.0])
    out = np.empty(3)
    exponentials(x, 1e6, out)
    np.testing.assert_allclose(out, [1.0, np.exp(-1.0), 0.0], rtol=1e-15)


def test_exponentials_of_what_is_no_number() -> None:
    out = np.empty(3)
    exponentials(np.array([-np.inf, np.nan, 0.0]), 0.0, out)
    assert out[0] == 0.0
    assert np.isnan(out[1])
    assert out[2] == 1.0


@given(lengths)
def test_largest_of_any_length(n: int) -> None:
    x = _random(n)
    assert largest(x) == x.max()


@pytest.mark.parametrize("at", range(7))
def test_largest_passes_over_nan(at: int) -> None:
    x = np.arange(7.0)
    x[at] = np.nan
    assert largest(x) == np.nanmax(x)


@given(lengths)
def test_sums_of_any_length(n: int) -> None:
    x, y = _random(n), _random(n)[::-1].copy()
    assert sum_of(x) == pytest.approx(x.sum(), abs=1e-13)
    assert dot(x, y) == pytest.approx(x @ y, abs=1e-13)


@given(lengths, st.integers(1, 9))
def test_add_rows_is_a_product(n: int, width: int) -> None:
    shares, rows, out = _random(n), _random(n, width), np.ones(width)
    add_rows(shares, rows, out)
    np.testing.assert_allclose(out, 1.0 + shares @ rows, atol=1e-12)


@given(lengths, st.integers(0, 5))
def test_add_scaled_changes_only_its_piece(n: int, at: int) -> None:
    x, w = _random(n), _random(n + 7)
    before = w.copy()
    change = add_scaled(w, at, x, 0.3)
    expected = before.copy()
    expected[at : at + n] += 0.3 * x
    np.testing.assert_allclose(w, expected, rtol=1e-15)
    assert change == pytest.approx(w @ w - before @ before, abs=1e-12)


def test_all_above_looks_at_every_value() -> None:
    x = np.full(9, 2.0)
    assert all_above(x, 2.0)
    x[8] = 1.9
    assert not all_above(x, 2.0)
