"""The log loss: conditional random fields."""

from __future__ import annotations

import numpy as np

from partwise._jit import kernel
from partwise.losses.base import DualPoint, Loss
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray, Structure
from partwise.structures.parallel import Worker
from partwise.structures.scratch import score_of_right


@kernel
def _fill_log_losses(
    s: Structure, w: FloatArray, out: FloatArray, start: int, stop: int, worker: Worker
) -> None:
    """Write minus the log-probability of every right output to `out`."""
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        right = score_of_right(s, i, scratch.theta, scratch)
        out[i] = max(waist.log_partition(s, i, scratch.theta, ws) - right, 0.0)


class LogLoss(Loss):
    """``log Z(w) - w . Phi(gold)``: minus the log-probability of the right output.

    The dual point is a distribution per example, and ``w = sum_i C_i alpha_i dPhi``.

    Examples
    --------
    >>> LogLoss().name
    'log_loss'
    """

    name = "log_loss"
    needs = (waist.marginals, waist.log_partition)
    fill = staticmethod(_fill_log_losses)

    def dual(
        self, w: FloatArray, C: FloatArray, point: DualPoint, l1_ratio: float = 0.0
    ) -> float:
        """Return ``sum_i C_i H(alpha_i) - (1 - l1_ratio)/2 |w|^2``."""
        return float(C @ point.entropy - 0.5 * (1.0 - l1_ratio) * (w @ w))

    def gaps(self, values: FloatArray, C: FloatArray, point: DualPoint) -> FloatArray:
        """Return ``C KL(alpha || p(w))`` per example."""
        return C * (values + point.margin - point.entropy)

    def mass(self, values: FloatArray, C: FloatArray) -> FloatArray:
        """Return ``C (1 - p(right output))``.

        Examples
        --------
        >>> import numpy as np
        >>> LogLoss().mass(np.log([1.0, 4.0]), np.ones(2)).tolist()
        [0.0, 0.75]
        """
        return -C * np.expm1(-values)
