"""Numbers that are only added, multiplied and divided: as they are, or as logarithms.

An algorithm without subtraction is written once, over rows of numbers, and run on
either kind. `Reals` are fast; `Logs` never overflow or vanish. Zero is exact in both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from partwise._jit import generic, kernel
from partwise.structures import vectors
from partwise.structures.interface import FloatArray

Semiring: TypeAlias = Any
"""`Reals` or `Logs`."""


class Reals(NamedTuple):
    """Numbers as they are.

    Examples
    --------
    >>> float(total(Reals(), np.array([1.0, 2.0])))
    3.0
    """


class Logs(NamedTuple):
    """Numbers held as their logarithms.

    Examples
    --------
    >>> round(math.exp(total(Logs(), np.log([1.0, 2.0]))), 12)
    3.0
    """


@generic
def zero(numbers: Semiring) -> float:
    """Return how zero is held."""
    raise NotImplementedError("zero is required of every semiring")


@generic
def one(numbers: Semiring) -> float:
    """Return how one is held."""
    raise NotImplementedError("one is required of every semiring")


@generic
def plus(numbers: Semiring, x: float, y: float) -> float:
    """Return the sum of two numbers."""
    raise NotImplementedError("plus is required of every semiring")


@generic
def logarithm(numbers: Semiring, x: float) -> float:
    """Return the logarithm of a number that is not zero."""
    raise NotImplementedError("logarithm is required of every semiring")


@generic
def from_logs(numbers: Semiring, logs: FloatArray, top: float, out: FloatArray) -> None:
    """Set ``out = exp(logs - top)``, where `top` is the largest of the logarithms."""
    raise NotImplementedError("from_logs is required of every semiring")


@generic
def to_shares(numbers: Semiring, x: FloatArray) -> None:
    """Turn numbers, in place, into ordinary ones that add up to one."""
    raise NotImplementedError("to_shares is required of every semiring")


@generic
def total(numbers: Semiring, x: FloatArray) -> float:
    """Return the sum."""
    raise NotImplementedError("total is required of every semiring")


@generic
def sum_of_products(numbers: Semiring, x: FloatArray, y: FloatArray) -> float:
    """Return the sum of the products."""
    raise NotImplementedError("sum_of_products is required of every semiring")


@generic
def multiply(numbers: Semiring, x: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Set ``out = x * y``."""
    raise NotImplementedError("multiply is required of every semiring")


@generic
def divide(numbers: Semiring, x: FloatArray, by: float, out: FloatArray) -> None:
    """Set ``out = x / by``."""
    raise NotImplementedError("divide is required of every semiring")


@generic
def add_products(
    numbers: Semiring,
    x: FloatArray,
    column: int,
    matrix: FloatArray,
    rows: tuple[int, int],
    at: int,
) -> None:
    """Do ``matrix[i, at:] += matrix[i, column] * x`` for a range of rows `i`.

    `column` is not among those that change.
    """
    raise NotImplementedError("add_products is required of every semiring")


@zero.implement(Reals)
def _zero_real(numbers: Reals) -> float:
    return 0.0


@one.implement(Reals)
def _one_real(numbers: Reals) -> float:
    return 1.0


@plus.implement(Reals)
def _plus_reals(numbers: Reals, x: float, y: float) -> float:
    return x + y


@logarithm.implement(Reals)
def _logarithm_of_real(numbers: Reals, x: float) -> float:
    return math.log(x)


@from_logs.implement(Reals)
def _reals_from_logs(
    numbers: Reals, logs: FloatArray, top: float, out: FloatArray
) -> None:
    vectors.exponentials(logs, top, out)


@to_shares.implement(Reals)
def _shares_of_reals(numbers: Reals, x: FloatArray) -> None:
    _divide_by_sum(x)


@kernel
def _divide_by_sum(x: FloatArray) -> None:
    whole = vectors.sum_of(x)
    for j in range(x.size):
        x[j] /= whole


@total.implement(Reals)
def _total_of_reals(numbers: Reals, x: FloatArray) -> float:
    return vectors.sum_of(x)


@sum_of_products.implement(Reals)
def _dot_of_reals(numbers: Reals, x: FloatArray, y: FloatArray) -> float:
    return vectors.dot(x, y)


@multiply.implement(Reals)
def _multiply_reals(
    numbers: Reals, x: FloatArray, y: FloatArray, out: FloatArray
) -> None:
    for j in range(x.size):
        out[j] = x[j] * y[j]


@divide.implement(Reals)
def _divide_reals(numbers: Reals, x: FloatArray, by: float, out: FloatArray) -> None:
    for j in range(x.size):
        out[j] = x[j] / by


@add_products.implement(Reals)
def _add_products_of_reals(
    numbers: Reals,
    x: FloatArray,
    column: int,
    matrix: FloatArray,
    rows: tuple[int, int],
    at: int,
) -> None:
    for i in range(rows[0], rows[1]):
        scale, out = matrix[i, column], matrix[i, at : at + x.size]
        for j in range(x.size):
            out[j] += scale * x[j]


@zero.implement(Logs)
def _zero_log(numbers: Logs) -> float:
    return -np.inf


@one.implement(Logs)
def _one_log(numbers: Logs) -> float:
    return 0.0


@kernel
def _log_of_sum(x: float, y: float) -> float:
    high, low = max(x, y), min(x, y)
    if low == -np.inf:
        return high
    return high + math.log1p(math.exp(low - high))


@plus.implement(Logs)
def _plus_logs(numbers: Logs, x: float, y: float) -> float:
    return _log_of_sum(x, y)


@logarithm.implement(Logs)
def _logarithm_of_log(numbers: Logs, x: float) -> float:
    return x


@from_logs.implement(Logs)
def _logs_from_logs(
    numbers: Logs, logs: FloatArray, top: float, out: FloatArray
) -> None:
    for j in range(logs.size):
        out[j] = logs[j] - top


@to_shares.implement(Logs)
def _shares_of_logs(numbers: Logs, x: FloatArray) -> None:
    top = vectors.largest(x)
    for j in range(x.size):
        x[j] = math.exp(x[j] - top)
    _divide_by_sum(x)


@total.implement(Logs)
def _total_of_logs(numbers: Logs, x: FloatArray) -> float:
    top = vectors.largest(x)
    if top == -np.inf:
        return top
    result = 0.0
    for j in range(x.size):
        result += math.exp(x[j] - top)
    return top + math.log(result)


@sum_of_products.implement(Logs)
def _dot_of_logs(numbers: Logs, x: FloatArray, y: FloatArray) -> float:
    top = -np.inf
    for j in range(x.size):
        top = max(top, x[j] + y[j])
    if top == -np.inf:
        return top
    result = 0.0
    for j in range(x.size):
        result += math.exp(x[j] + y[j] - top)
    return top + math.log(result)


@multiply.implement(Logs)
def _multiply_logs(
    numbers: Logs, x: FloatArray, y: FloatArray, out: FloatArray
) -> None:
    for j in range(x.size):
        out[j] = x[j] + y[j]


@divide.implement(Logs)
def _divide_logs(numbers: Logs, x: FloatArray, by: float, out: FloatArray) -> None:
    for j in range(x.size):
        out[j] = x[j] - by


@add_products.implement(Logs)
def _add_products_of_logs(
    numbers: Logs,
    x: FloatArray,
    column: int,
    matrix: FloatArray,
    rows: tuple[int, int],
    at: int,
) -> None:
    for i in range(rows[0], rows[1]):
        scale, out = matrix[i, column], matrix[i, at : at + x.size]
        for j in range(x.size):
            out[j] = _log_of_sum(out[j], scale + x[j])
