"""The memory of L-BFGS: its direction against the formula with whole matrices."""

import numpy as np
import pytest

from partwise.solvers.batch import curvature_memory as module
from partwise.solvers.batch.curvature_memory import CurvatureMemory
from problems import Floats

N = 23


def draw_pairs(count: int, seed: int = 0) -> list[tuple[Floats, Floats]]:
    """Draw steps, and how the gradient of a quadratic changes along them."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, N))
    hessian = root @ root.T + np.eye(N)
    steps = rng.normal(size=(count, N))
    return [(s, hessian @ s) for s in steps]


def by_matrices(pairs: list[tuple[Floats, Floats]], gradient: Floats) -> Floats:
    """Nocedal and Wright, equations 7.16 and 7.20."""
    s, y = pairs[-1]
    inverse = np.eye(N) * (s @ y) / (y @ y)
    for s, y in pairs:
        rho = 1 / (s @ y)
        v = np.eye(N) - rho * np.outer(y, s)
        inverse = v.T @ inverse @ v + rho * np.outer(s, s)
    return -inverse @ gradient


def remember(memory: CurvatureMemory, pair: tuple[Floats, Floats]) -> None:
    s, y = memory.make_room()
    s[:], y[:] = pair


@pytest.mark.parametrize("block", [4, 8192])
def test_curvature_memory_direction_is_that_of_the_matrices(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    memory, pairs = CurvatureMemory(4, N), draw_pairs(11)
    rng = np.random.default_rng(1)
    for count in range(1, 12):
        remember(memory, pairs[count - 1])
        gradient, out = rng.normal(size=N), np.full(N, np.nan)
        slope = memory.direction(gradient, out)
        expected = by_matrices(pairs[max(0, count - 4) : count], gradient)
        np.testing.assert_allclose(out, expected, rtol=1e-8, atol=1e-10)
        assert slope == pytest.approx(expected @ gradient)
        assert slope < 0
        # Asked again, it says the same.
        again = np.zeros(N)
        memory.direction(gradient, again)
        np.testing.assert_allclose(again, out, rtol=1e-10, atol=1e-14)


def test_curvature_memory_without_any_is_minus_the_gradient() -> None:
    gradient, out = np.arange(1.0, N + 1), np.zeros(N)
    slope = CurvatureMemory(3, N).direction(gradient, out)
    np.testing.assert_array_equal(out, -gradient)
    assert slope == -(gradient @ gradient)


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_curvature_memory_forgets_where_there_is_no_curvature(bad: float) -> None:
    memory, pairs = CurvatureMemory(3, N), draw_pairs(3)
    for pair in pairs[:2]:
        remember(memory, pair)
    s, _ = pairs[2]
    remember(memory, (s, bad * s))
    gradient, out = np.ones(N), np.zeros(N)
    with np.errstate(all="ignore"):
        memory.direction(gradient, out)
    assert len(memory) == 0
    np.testing.assert_array_equal(out, -gradient)
    # And learns anew.
    remember(memory, pairs[0])
    memory.direction(gradient, out)
    np.testing.assert_allclose(out, by_matrices(pairs[:1], gradient))


@pytest.mark.parametrize("count", [0, 2, 5])
def test_curvature_memory_comes_back_as_it_was(count: int) -> None:
    memory, pairs = CurvatureMemory(3, N), draw_pairs(6)
    gradient, there, back = np.ones(N), np.zeros(N), np.zeros(N)
    for pair in pairs[:count]:
        remember(memory, pair)
        memory.direction(gradient, there)
    remember(memory, pairs[5])  # not yet in the table of products
    copy = CurvatureMemory(3, N)
    copy.restore({key: value.copy() for key, value in memory.tensors().items()})
    assert memory.direction(gradient, there) == copy.direction(gradient, back)
    np.testing.assert_array_equal(there, back)


def test_curvature_memory_refuses_damaged_pairs() -> None:
    memory = CurvatureMemory(3, N)
    remember(memory, draw_pairs(1)[0])
    tensors = memory.tensors() | {"order": np.array([2], np.int64)}
    with pytest.raises(ValueError, match="damaged"):
        CurvatureMemory(3, N).restore(tensors)
