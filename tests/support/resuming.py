"""Runs that are interrupted, and compared with unbroken ones."""

import numpy as np

from partwise.losses import get_loss
from partwise.solvers import Callback, Problem, Solution, make_problem
from partwise.solvers.trace import COLUMNS
from partwise.structures import make_dense_rows, make_multiclass

TINY = 1e-12


def make(C: float = 10.0, count: int = 20) -> Problem:
    """Make a problem whose working sets hold three outputs and more.

    Fewer are never shuffled, so the random numbers would not matter.
    """
    rng = np.random.default_rng(0)
    rows = make_dense_rows(rng.normal(size=(20, 4))[:count])
    s = make_multiclass(rows, rng.integers(6, size=20)[:count], 6)
    return make_problem(s, get_loss("squared_hinge"), C)


def assert_same(one: Solution, two: Solution) -> None:
    """Compare everything but the time it took, bit for bit."""
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.state.w, two.state.w)
    assert one.certificate == two.certificate
    assert one.reason == two.reason
    for name in set(COLUMNS) - {"seconds"}:
        np.testing.assert_array_equal(one.trace[name], two.trace[name], err_msg=name)
    for name, value in one.state.tensors().items():
        np.testing.assert_array_equal(value, two.state.tensors()[name], err_msg=name)


class InterruptAt(Callback):
    def __init__(self, iteration: int):
        self.iteration = iteration

    def on_progress(self, iteration: int, fraction: float) -> None:
        if iteration == self.iteration:
            raise KeyboardInterrupt
