"""The line search: what it accepts, how it gets there, what it survives."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.solvers.batch.line_search import (
    DECREASE,
    Probe,
    WolfeSearch,
    cubic_minimum,
)

Line = Callable[[float], tuple[float, float]]


def parabola(x: float) -> tuple[float, float]:
    return (x - 3.0) ** 2, 2.0 * (x - 3.0)


def softplus(x: float) -> tuple[float, float]:
    """Fall steeply, then rise slowly."""
    e = math.exp(-min(5 * x, 700.0))
    return math.log1p(e) + 0.01 * x, -5 * e / (1 + e) + 0.01


def wall(x: float) -> tuple[float, float]:
    """Fall towards a place beyond which nothing is defined."""
    if x >= 1.0:
        return math.nan, math.nan
    return -x - 0.01 * math.log(1 - x), -1 + 0.01 / (1 - x)


def search_along(line: Line, step: float, curvature: float) -> tuple[float, int]:
    value, slope = line(0.0)
    search = WolfeSearch(value, slope, step, curvature)
    for trial in range(1, 60):
        if search.tell(*line(search.step)):
            return search.step, trial
    pytest.fail("no step was accepted")


@pytest.mark.parametrize("line", [parabola, softplus, wall])
@given(
    step=st.floats(1e-6, 1e6),
    curvature=st.sampled_from([0.1, 0.4, 0.9]),
)
def test_line_search_meets_the_wolfe_conditions(
    line: Line, step: float, curvature: float
) -> None:
    found, _ = search_along(line, step, curvature)
    (value, slope), (start, start_slope) = line(found), line(0.0)
    assert value <= start + DECREASE * found * start_slope
    assert abs(slope) <= curvature * abs(start_slope)


def test_line_search_accepts_a_good_first_step_at_once() -> None:
    assert search_along(parabola, 3.0, 0.9) == (3.0, 1)


def test_line_search_finds_the_minimum_of_a_parabola_in_two() -> None:
    step, trials = search_along(parabola, 8.0, 0.1)
    assert step == pytest.approx(3.0)
    assert trials == 2


def test_line_search_goes_by_slopes_where_rounding_hides_the_decrease() -> None:
    """The value no longer falls by anything, but the slope has nearly vanished."""
    search = WolfeSearch(value=1e6, slope=-1e-9, step=1.0)
    assert search.tell(1e6 + 1e-10, 1e-11)
    steep = WolfeSearch(value=1e6, slope=-1e-9, step=1.0)
    assert not steep.tell(1e6 + 1e-10, 0.95e-9)
    rising = WolfeSearch(value=1.0, slope=-1.0, step=1.0)
    assert not rising.tell(1.1, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_line_search_steps_back_from_what_is_not_finite(bad: float) -> None:
    for value, slope in ((bad, -1.0), (0.0, bad)):
        search = WolfeSearch(value=1.0, slope=-1.0, step=1.0)
        assert not search.tell(value, slope)
        assert 0.0 < search.step < 1.0


@given(at=st.floats(-3, 3), width=st.floats(0.1, 5))
def test_line_search_cubic_minimum_is_that_of_the_cubic(
    at: float, width: float
) -> None:
    def cubic(x: float) -> Probe:
        z = x - at
        return Probe(x, z**3 + 4 * z**2, 3 * z**2 + 8 * z)

    found = cubic_minimum(cubic(at - 0.5), cubic(at - 0.5 + width))
    assert found == pytest.approx(at, abs=1e-6)
