"""What a loss is: a primal value, a dual value and the gap between them.

``P(w) = 1/2 |w|^2 + sum_i C_i loss_i(w)``. At every feasible dual point `alpha`
the dual value ``D(alpha)`` is a lower bound on ``min P``, so the difference is a
proof of how far `w` can be from the best possible weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from partwise._jit import Generic
from partwise._notebooks import html_table
from partwise.structures.interface import FloatArray, Structure, n_examples
from partwise.structures.parallel import Job, Worker, make_crew
from partwise.structures.sharing import filled

SMALLEST = np.finfo(np.float64).tiny


class Certificate(NamedTuple):
    """How close to optimal a model is, provably.

    Attributes
    ----------
    primal : float
        The objective at the weights.
    dual : float
        A lower bound on the objective of any weights.
    exact : bool
        False for an estimate from scores that were a little out of date.

    Examples
    --------
    >>> certificate = Certificate(primal=101.0, dual=100.0)
    >>> round(certificate.relative_gap, 4)
    0.0099
    >>> print(certificate)
    objective 101; no weights could lower it by more than 0.99%
    >>> Certificate(primal=101.0, dual=0.0).percent
    '100%'
    """

    primal: float
    dual: float
    exact: bool = True

    @property
    def gap(self) -> float:
        """The primal minus the dual value: no weights are better by more."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap relative to the larger of the two values."""
        size = max(abs(self.primal), abs(self.dual), SMALLEST)
        return max(self.gap, 0.0) / size

    @property
    def percent(self) -> str:
        """The relative gap as people write it."""
        percent = 100 * self.relative_gap
        return f"{percent:.2g}%" if percent < 10 else f"{percent:.0f}%"

    def __str__(self) -> str:
        """Return the certificate in words."""
        about = "" if self.exact else "about "
        return (
            f"objective {about}{self.primal:.6g}; no weights could lower it by more "
            f"than {about}{self.percent}"
        )

    def _repr_html_(self) -> str:
        return html_table(
            ["objective", "lower bound", "gap", ""],
            [[f"{self.primal:.6g}", f"{self.dual:.6g}", f"{self.relative_gap:.2%}",
              "exact" if self.exact else "an estimate"]],
        )  # fmt: skip


class LocalCertificate(Certificate):
    """How close to a local optimum a model is, where the objective is not convex.

    The `dual` is a lower bound on the objective with its concave part linearised at the
    weights: no step of the convex-concave procedure lowers it by more than the gap.

    Examples
    --------
    >>> print(LocalCertificate(primal=101.0, dual=100.0))
    objective 101, a local optimum: no convex step could lower it by more than 0.99%
    """

    def __str__(self) -> str:
        """Return the certificate in words."""
        about = "" if self.exact else "about "
        return (
            f"objective {about}{self.primal:.6g}, a local optimum: no convex step "
            f"could lower it by more than {about}{self.percent}"
        )


class DualPoint(NamedTuple):
    """A feasible dual point, summed up per example.

    ``mass = sum_y alpha_y``, ``cost = sum_y alpha_y cost(y)``,
    ``margin = sum_y alpha_y w . dPhi(y)`` at ``w = w(alpha)``, and the entropy.
    """

    mass: FloatArray
    cost: FloatArray
    margin: FloatArray
    entropy: FloatArray


def fill_all(job: Job, s: Structure, *things: Any, n_jobs: int = 1) -> FloatArray:
    """Return what `job` writes for every example, computed by `n_jobs` threads."""
    out = np.zeros(int(n_examples(s)))
    make_crew(s, n_jobs).run(job, *things, filled(out), doing="computing losses")
    return out


def _fill_losses(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    loss: Loss,
    w: FloatArray,
    out: FloatArray,
) -> None:
    loss.fill(s, w, out, start, stop, worker)


class Loss(ABC):
    """A loss, for any structure that answers what it `needs`."""

    name: ClassVar[str]
    needs: ClassVar[tuple[Generic, ...]]

    def key(self) -> str:
        """Return a text that identifies the loss and its settings."""
        return self.name

    @abstractmethod
    def fill(
        self,
        s: Structure,
        w: FloatArray,
        out: FloatArray,
        start: int,
        stop: int,
        worker: Worker,
    ) -> None:
        """Write ``loss_i(w)`` to ``out[i]`` for the examples start..stop-1."""

    @abstractmethod
    def dual(
        self, w: FloatArray, C: FloatArray, point: DualPoint, l1_ratio: float = 0.0
    ) -> float:
        """Return the dual value at `point`, where ``w = w(alpha)``.

        The penalty has the share `l1_ratio` of the L1 norm.
        """

    @abstractmethod
    def gaps(self, values: FloatArray, C: FloatArray, point: DualPoint) -> FloatArray:
        """Split the gap over the examples, given ``values = loss_i(w)``; all >= 0."""

    def mass(self, values: FloatArray, C: FloatArray) -> FloatArray | None:
        """Return the dual mass on wrong outputs that ``values = loss_i(w)`` come to.

        At the optimum this is the mass of the dual variables themselves; None where
        the value of a loss does not determine it.
        """
        return None

    def values(self, s: Structure, w: FloatArray, n_jobs: int = 1) -> FloatArray:
        """Return ``loss_i(w)`` for every example, computed by `n_jobs` threads."""
        return fill_all(_fill_losses, s, self, w, n_jobs=n_jobs)

    def primal(
        self, s: Structure, w: FloatArray, C: FloatArray, n_jobs: int = 1
    ) -> float:
        """Return ``1/2 |w|^2 + sum_i C_i loss_i(w)``."""
        return float(0.5 * w @ w + C @ self.values(s, w, n_jobs))
