"""The hinge over wrong outputs: a margin between good outputs and all others.

LP (6), (7) and (8) of paper 002. Every wrong output has to score less than a good one
by a margin; what is missing most is the loss. With one good output, and costs for
margins, it is the ordinary hinge.
"""

from __future__ import annotations

from dataclasses import dataclass

from partwise.losses.base import DualPoint, Loss
from partwise.losses.wrong_outputs import CODES, FEATURES, PARTS, Rules, Search
from partwise.structures.interface import FloatArray, Structure, add_costs, cost, kbest
from partwise.structures.parallel import Worker

MARGINS = ("unit", "cost")
COMPARISONS = ("worst", "closest")
DISTANCES = {"codes": CODES, "parts": PARTS, "features": FEATURES}


@dataclass(frozen=True)
class SetHinge(Loss):
    """``max_y [margin - w . (Phi(good) - Phi(y))]`` over wrong outputs, at least zero.

    Parameters
    ----------
    margin : {"unit", "cost"}
        One for every wrong output, or the cost of it.
    compare : {"worst", "closest"}
        With which good output a wrong one is compared, where there are several: the
        one that scores worst, so with all of them (LP 8 of paper 002), or the closest
        one (LP 7).
    distance : {"codes", "parts", "features"}
        What close means: few codes that differ, few parts that differ, or a small
        Euclidean distance of the feature vectors.

    Notes
    -----
    With "closest" the output that scores best need not be the one that is violated
    most. The best outputs are listed, up to 256, until the rest cannot be violated
    more; if that does not settle it, the value is an upper bound.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> from partwise.structures import with_good_outputs
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 3)
    >>> w = np.array([2.0, 0.5, 1.0])
    >>> SetHinge().values(s, w).tolist()  # one good output
    [0.0]
    >>> s = with_good_outputs(s, [[[0], [1]]])
    >>> SetHinge().values(s, w).tolist()  # output 1 is good too, and scores less
    [1.5]
    """

    margin: str = "unit"
    compare: str = "worst"
    distance: str = "codes"

    name = "set_hinge"
    needs = (kbest, add_costs, cost)

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, known in (
            ("margin", MARGINS),
            ("compare", COMPARISONS),
            ("distance", tuple(DISTANCES)),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, "
                    f"not {getattr(self, name)!r}"
                )

    def key(self) -> str:
        """Return the name with all settings."""
        return repr(self)

    def rules(self) -> Rules:
        """Return the settings in the form that kernels use."""
        return Rules(
            self.margin == "unit", self.compare == "closest", DISTANCES[self.distance]
        )

    def values(self, s: Structure, w: FloatArray, n_jobs: int = 1) -> FloatArray:
        """Return the largest violation of every example."""
        search = Search(s, self.rules(), n_jobs)
        for _ in search.run(w):
            pass
        return search.found.slack

    def fill(
        self,
        s: Structure,
        w: FloatArray,
        out: FloatArray,
        start: int,
        stop: int,
        worker: Worker,
    ) -> None:
        """Write the largest violations of some examples to `out`."""
        out[start:stop] = self.values(s, w)[start:stop]

    def dual(
        self, w: FloatArray, C: FloatArray, point: DualPoint, l1_ratio: float = 0.0
    ) -> float:
        """Return ``sum_i C_i alpha_i margin - (1 - l1_ratio)/2 |w|^2``."""
        return float(C @ point.cost - 0.5 * (1.0 - l1_ratio) * (w @ w))

    def gaps(self, values: FloatArray, C: FloatArray, point: DualPoint) -> FloatArray:
        """Split the gap over the examples, for the L2 penalty."""
        return C * (values - (point.cost - point.margin))
