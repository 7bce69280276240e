"""Values of C that suit the data of a generative model."""

from __future__ import annotations

SHARES = (0.2, 0.6, 2.0, 6.0, 20.0)
"""What violations weigh against the penalty, if every position were wrong. The first is
the default: in the benchmark `ring_tracking` it is at most 2 worse than the likelihood,
and up to 3.5 better, where others are up to 13 worse and up to 9 better."""


def suitable_Cs(n_distributions: int, worst: float) -> list[float]:
    """Return values of `C` around the one where losses and penalty weigh the same.

    The penalty grows with the distributions, the losses with everything that might be
    wrong: `worst` is their sum if all of it were.

    Examples
    --------
    >>> suitable_Cs(10, 100.0)
    [0.02, 0.06, 0.2, 0.6, 2.0]
    """
    return [float(f"{share * n_distributions / worst:.2g}") for share in SHARES]
