"""Small vector operations, in a form that compiles to vector instructions.

Kernels cut out the piece of an array they work on first, ``row = w[at : at + n]``, and
then count from zero: an index like ``at + k`` might be negative and mean the end of
the array, as far as the compiler can see, and testing for it is four times slower.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import fused_kernel, kernel, prefetch, vector_kernel
from partwise.structures.interface import FloatArray

# Added to a number of moderate size, it leaves the nearest whole number in the low
# bits of the sum.
ROUND = 1.5 * 2.0**52
PER_LN2 = 1.0 / math.log(2.0)
# ln(2) in two parts; whole numbers up to 2^20 times the first are exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
# Below this the result is less than the smallest normal number: zero will do.
LEAST = -708.0
# How many numbers come with one access to memory, and how many need a hint: those
# behind them come by themselves.
LINE, FIRST_FEW = 8, 64

C2, C3, C4, C5 = 1 / 2, 1 / 6, 1 / 24, 1 / 120
C6, C7, C8, C9 = (1 / math.factorial(k) for k in range(6, 10))
C10, C11, C12, C13 = (1 / math.factorial(k) for k in range(10, 14))


@fused_kernel
def exponentials(values: FloatArray, top: float, out: FloatArray) -> None:
    """Set ``out = exp(values - top)``, where `top` is the largest of the values.

    A call of ``exp`` for each would be most of the work of summing over outputs.
    Written out it vectorises: ``exp(x) = 2^n exp(r)`` with a whole `n` and
    ``|r| <= ln(2) / 2``, where thirteen terms of the series are enough.

    The relative error is less than 1e-15; what is below 1e-307 becomes zero, and a NaN
    stays one. `out` must not be `values`, or nothing vectorises.

    Examples
    --------
    >>> out = np.zeros(3)
    >>> exponentials(np.array([0.0, -1.0, -np.inf]), 0.0, out)
    >>> out.round(6).tolist()
    [1.0, 0.367879, 0.0]
    """
    bits = out.view(np.int64)
    for j in range(out.size):
        value = values[j] - top
        x = LEAST if value < LEAST else value
        rounded = x * PER_LN2 + ROUND
        n = rounded - ROUND
        r = (x - n * LN2_HIGH) - n * LN2_LOW
        series = C12 + r * C13
        series = C11 + r * series
        series = C10 + r * series
        series = C9 + r * series
        series = C8 + r * series
        series = C7 + r * series
        series = C6 + r * series
        series = C5 + r * series
        series = C4 + r * series
        series = C3 + r * series
        series = C2 + r * series
        # The low bits of `rounded` hold n, to be added to the exponent's bits.
        out[j] = rounded
        exponent = bits[j] << 52
        out[j] = 1.0 + (r + r * r * series)
        bits[j] += exponent
        if value < LEAST:
            out[j] = 0.0
        if value != value:
            out[j] = value


@kernel
def largest(values: FloatArray) -> float:
    """Return the largest value; NaNs are skipped.

    Four at a time, since every comparison would have to wait for the last one.
    """
    n = values.size - values.size % 4
    one = two = three = top = -np.inf
    for b in range(0, n, 4):
        one = values[b] if values[b] > one else one
        two = values[b + 1] if values[b + 1] > two else two
        three = values[b + 2] if values[b + 2] > three else three
        top = values[b + 3] if values[b + 3] > top else top
    for b in range(n, values.size):
        top = values[b] if values[b] > top else top
    return max(max(one, two), max(three, top))


@vector_kernel
def dot(x: FloatArray, y: FloatArray) -> float:
    """Return the inner product."""
    total = 0.0
    for b in range(x.size):
        total += x[b] * y[b]
    return total


@vector_kernel
def sum_of(x: FloatArray) -> float:
    """Return the sum."""
    total = 0.0
    for b in range(x.size):
        total += x[b]
    return total


@kernel
def fetch(w: FloatArray, at: int | np.int64, n: int) -> None:
    """Let memory begin to bring ``w[at : at + n]``, which will be wanted soon."""
    for k in range(0, min(n, FIRST_FEW), LINE):
        prefetch(w, at + k)
    prefetch(w, at + n - 1)


@kernel
def copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Write `source` to the front of `target`.

    A slice on the left does the same, but what it would say if the lengths differed
    takes longer to compile than most kernels.
    """
    for b in range(source.size):
        target[b] = source[b]


@kernel
def fill(target: NDArray[Any], n: int, value: float) -> None:
    """Write a value to the first `n` places."""
    for b in range(n):
        target[b] = value


@kernel
def all_above(values: FloatArray, least: float) -> bool:
    """Say whether no value is less than `least`."""
    n_below = 0
    for b in range(values.size):
        n_below += values[b] < least
    return n_below == 0


@fused_kernel
def add_rows(shares: FloatArray, rows: FloatArray, out: FloatArray) -> None:
    """Do ``out += shares @ rows``; four rows at a time save loads and stores."""
    n = shares.size - shares.size % 4
    for a in range(0, n, 4):
        one, two, three, four = shares[a], shares[a + 1], shares[a + 2], shares[a + 3]
        for b in range(out.size):
            out[b] += (one * rows[a, b] + two * rows[a + 1, b]) + (
                three * rows[a + 2, b] + four * rows[a + 3, b]
            )
    for a in range(n, shares.size):
        for b in range(out.size):
            out[b] += shares[a] * rows[a, b]


@vector_kernel
def add_scaled(w: FloatArray, at: int | np.int64, x: FloatArray, scale: float) -> float:
    """Do ``w[at:] += scale * x``; return the change of ``|w|^2``.

    Examples
    --------
    >>> w = np.array([0.0, 1.0, 2.0])
    >>> add_scaled(w, 1, np.array([1.0, 0.0]), 2.0), w.tolist()
    (8.0, [0.0, 3.0, 2.0])
    """
    row = w[at : at + x.size]
    change = 0.0
    for k in range(x.size):
        step = scale * x[k]
        old = row[k]
        change += step * (2.0 * old + step)
        row[k] = old + step
    return change


@vector_kernel
def shrink(v: FloatArray, w: FloatArray, l1_ratio: float) -> float:
    """Set ``w = soft(v, l1_ratio) / (1 - l1_ratio)``; return the change of ``|w|^2``.

    Examples
    --------
    >>> w = np.zeros(3)
    >>> shrink(np.array([0.75, -1.0, 0.25]), w, 0.5), w.tolist()
    (1.25, [0.5, -1.0, 0.0])
    """
    change, stretch = 0.0, 1.0 / (1.0 - l1_ratio)
    for k in range(w.size):
        old, above, below = w[k], v[k] - l1_ratio, v[k] + l1_ratio
        left = (above if above > 0.0 else 0.0) + (below if below < 0.0 else 0.0)
        new = left * stretch
        change += (new - old) * (new + old)
        w[k] = new
    return change


@kernel
def soft(x: float, least: float) -> float:
    """Bring `x` nearer to zero by `least`, but not beyond it.

    Examples
    --------
    >>> soft(0.75, 0.5), soft(-0.25, 0.5)
    (0.25, 0.0)
    """
    low = -least if x < -least else x
    return x - (least if low > least else low)


@vector_kernel
def add_scaled_below(
    v: FloatArray, at: int | np.int64, x: FloatArray, scale: float, least: float
) -> float:
    """Do ``v[at:] += scale * x``; return the change of ``|soft(v, least)|^2``.

    Examples
    --------
    >>> v = np.array([0.0, 1.0, 2.0])
    >>> add_scaled_below(v, 1, np.array([1.0, 0.0]), 2.0, 0.5), v.tolist()
    (6.0, [0.0, 3.0, 2.0])
    """
    row = v[at : at + x.size]
    change = 0.0
    for k in range(x.size):
        old = row[k]
        new = old + scale * x[k]
        before, after = soft(old, least), soft(new, least)
        change += (after - before) * (after + before)
        row[k] = new
    return change


@kernel
def place_of_largest(x: FloatArray) -> int:
    """Return where the largest of some numbers is, the first of several."""
    best = 0
    for j in range(1, x.size):
        if x[j] > x[best]:
            best = j
    return best


@kernel
def log_sum(x: FloatArray, scratch: FloatArray) -> float:
    """Return ``log sum exp x``; `scratch` has room for as many numbers."""
    top = largest(x)
    if top == -np.inf:
        return top
    exponentials(x, top, scratch[: x.size])
    return top + np.log(sum_of(scratch[: x.size]))


@kernel
def softmax(x: FloatArray, out: FloatArray) -> float:
    """Write ``exp x`` divided by its sum; return the logarithm of the sum."""
    top = largest(x)
    exponentials(x, top, out)
    total = sum_of(out)
    for j in range(x.size):
        out[j] /= total
    return top + np.log(total)
