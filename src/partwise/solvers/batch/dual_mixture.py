"""Lower bounds on the log-loss objective, from the gradients a solver computes.

At weights `w`, the distributions ``p(.|x_i; w)`` are a dual point, with the entropy
``H = sum_i C_i H_i`` and ``v = sum_i C_i (Phi(i, y_i) - E[Phi])``, which is minus the
gradient of the losses. So are the right outputs, with both zero. In a mixture of
dual points the `v` mix as well, and the entropy is at least the mixture of theirs:
every mixture has a bound ``H - g*(v)``, where ``g*`` is the conjugate of the penalty,
``g*(v) = |soft(v, r)|^2 / (2 (1 - r))``, or for ``r = 1`` zero where no entry of `v`
is beyond 1, and nothing elsewhere.

The bound of the last weights alone, for ``r = 0``, is ``P(w) - 1/2 |grad P|^2``. As
gradients of quasi-Newton methods point in many directions, mixing cancels much of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from partwise._jit import kernel, vector_kernel
from partwise.solvers.keeping import Keeper
from partwise.structures.interface import FloatArray

Along = Callable[[float], tuple[float, float, float]]
"""A function of a share: its value, slope and bend (minus the second derivative)."""


@vector_kernel
def _conjugate(
    mixed: FloatArray,
    w: FloatArray,
    gradient: FloatArray,
    ratio: float,
    old: float,
    new: float,
    old_rate: float,
    new_rate: float,
) -> tuple[float, float, float]:
    """Return ``g*(z)``, its slope and bend as the shares change at their rates.

    ``z = old * mixed + new * v``, with ``v = (1 - ratio) w - gradient``.
    """
    value, slope, bend = 0.0, 0.0, 0.0
    for j in range(w.size):
        v = (1.0 - ratio) * w[j] - gradient[j]
        z = old * mixed[j] + new * v
        rate = old_rate * mixed[j] + new_rate * v
        if z < 0.0:
            z, rate = -z, -rate
        over = z - ratio
        if over > 0.0:
            value += over * over
            slope += over * rate
            bend += rate * rate
    scale = 1.0 - ratio
    return value / (2.0 * scale), slope / scale, bend / scale


@vector_kernel
def _products(
    mixed: FloatArray, w: FloatArray, gradient: FloatArray
) -> tuple[float, float, float]:
    """Return ``|mixed|^2``, ``mixed . v`` and ``|v|^2`` for ``v = w - gradient``."""
    mm, mv, vv = 0.0, 0.0, 0.0
    for j in range(w.size):
        v = w[j] - gradient[j]
        mm += mixed[j] * mixed[j]
        mv += mixed[j] * v
        vv += v * v
    return mm, mv, vv


class _Parabola:
    """What `_conjugate` returns without an L1 part: three inner products say it all."""

    def __init__(self, mixed: FloatArray, w: FloatArray, gradient: FloatArray):
        self.mm, self.mv, self.vv = map(float, _products(mixed, w, gradient))

    def _dot(self, a: tuple[float, float], b: tuple[float, float]) -> float:
        cross = a[0] * b[1] + a[1] * b[0]
        return a[0] * b[0] * self.mm + cross * self.mv + a[1] * b[1] * self.vv

    def __call__(
        self, old: float, new: float, old_rate: float, new_rate: float
    ) -> tuple[float, float, float]:
        z, rate = (old, new), (old_rate, new_rate)
        return 0.5 * self._dot(z, z), self._dot(z, rate), self._dot(rate, rate)


@kernel
def _mix(
    mixed: FloatArray,
    w: FloatArray,
    gradient: FloatArray,
    ratio: float,
    old: float,
    new: float,
) -> None:
    for j in range(w.size):
        v = (1.0 - ratio) * w[j] - gradient[j]
        mixed[j] = old * mixed[j] + new * v


@kernel
def _largest(gradient: FloatArray) -> float:
    most = 0.0
    for j in range(gradient.size):
        most = max(most, abs(gradient[j]))
    return most


class DualMixture(Keeper):
    """A mixture of all the dual points it was offered; its bound never falls.

    Parameters
    ----------
    n_weights : int
        The length of a weight vector.

    Attributes
    ----------
    mixed, entropy : array, float
        `v` and the entropy of the mixture.
    bound : float
        No weights have an objective below this.

    Examples
    --------
    Two classes, one example with ``phi = 1``, at ``w = 0``:

    >>> import numpy as np
    >>> dual = DualMixture(2)
    >>> dual.offer(np.zeros(2), np.array([-0.5, 0.5]), entropy=np.log(2), ratio=0.0)
    >>> round(dual.bound, 4)
    0.4431
    """

    kept = ("mixed", "entropy", "bound")

    def __init__(self, n_weights: int):
        # The right outputs: no entropy, and nothing to learn from them.
        self.mixed = np.zeros(n_weights)
        self.entropy = 0.0
        self.bound = 0.0

    def offer(
        self, w: FloatArray, gradient: FloatArray, entropy: float, ratio: float
    ) -> None:
        """Mix in the dual point at `w`, as far as it raises the bound.

        Parameters
        ----------
        w, gradient : array
            Weights, and the gradient at them of all but ``ratio |w|_1``.
        entropy : float
            ``sum_i C_i H(p(.|x_i; w))``.
        ratio : float
            The share of the L1 norm in the penalty.
        """
        if ratio == 1.0:
            # Shrunk towards the right outputs until no entry of `v` is beyond 1.
            bound = float(entropy) / max(float(_largest(gradient)), 1.0)
            self.bound = max(self.bound, bound)
            return
        mixed = self.mixed
        conjugate: Callable[..., tuple[float, float, float]] = (
            partial(_conjugate, mixed, w, gradient, ratio)
            if ratio
            else _Parabola(mixed, w, gradient)
        )

        def alone(t: float) -> tuple[float, float, float]:
            found = conjugate(0.0, t, 0.0, 1.0)
            return t * entropy - found[0], entropy - found[1], found[2]

        new, _ = _climb(alone, 1.0)
        rise = new * entropy - self.entropy

        def together(c: float) -> tuple[float, float, float]:
            found = conjugate(1.0 - c, c * new, -1.0, new)
            return self.entropy + c * rise - found[0], rise - found[1], found[2]

        share, bound = _climb(together, 0.5)
        if bound > self.bound:
            _mix(mixed, w, gradient, ratio, 1.0 - share, share * new)
            self.entropy += share * rise
            self.bound = bound


def _climb(along: Along, share: float) -> tuple[float, float]:
    """Maximise a concave function of a share, 0 to 1, by Newton's method in a bracket.

    Where nothing is cut off (no L1 part) the function is a parabola, and the second
    look finds its top. Return the best share seen, and the value there.
    """
    low, high = 0.0, 1.0
    best, best_value = 0.0, -np.inf
    tried: set[float] = set()
    for _ in range(12):
        value, slope, bend = map(float, along(share))
        tried.add(share)
        if value > best_value:
            best, best_value = share, value
        low, high = (share, high) if slope >= 0.0 else (low, share)
        # All that is left to gain, as the function is concave.
        if not abs(slope) * (high - low) > 1e-9 * abs(value):
            break
        step = share + slope / bend if bend > 0.0 else np.inf * slope
        step = min(max(step, low), high)
        share = 0.5 * (low + high) if step in tried else step
    return best, float(best_value)
