"""A line search for the Wolfe conditions, one question at a time.

The search only ever sees numbers: it says which step to try (`WolfeSearch.step`)
and is told what was found there, so that the caller may show progress, or stop, in
a long evaluation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

DECREASE = 1e-4
ROUNDING = 1e-12


class Probe(NamedTuple):
    """A step, and the value and slope of the objective there."""

    step: float
    value: float
    slope: float


class WolfeSearch:
    """Search for a step that decreases enough and flattens the slope enough.

    The bracket always holds such a step: its lower end decreases enough but is
    still steep, its upper end decreases too little, climbs, or is not finite. New
    steps come from cubic interpolation (Nocedal and Wright 2006, equation 3.59)
    kept away from the ends. Where rounding hides the decrease, slopes decide (the
    approximate conditions of Hager and Zhang, SIAM J. Optim. 16, 2005).

    Parameters
    ----------
    value, slope : float
        The objective and its slope (negative) at step 0.
    step : float
        The first step to try.
    curvature : float
        How much of the slope may remain.

    Examples
    --------
    Along ``(x - 3)^2``, starting at 0:

    >>> search = WolfeSearch(value=9.0, slope=-6.0, step=0.1, curvature=0.1)
    >>> while not search.tell((search.step - 3) ** 2, 2 * (search.step - 3)):
    ...     pass
    >>> round(search.step, 6)
    3.0
    """

    def __init__(self, value: float, slope: float, step: float, curvature: float = 0.9):
        self.start = Probe(0.0, value, slope)
        self.step = step
        self.curvature = curvature
        self._low = self.start
        self._high: Probe | None = None

    def tell(self, value: float, slope: float) -> bool:
        """Take what was found at `step`; say whether to keep it, or move on."""
        here = Probe(self.step, value, slope)
        if not math.isfinite(value) or not math.isfinite(slope):
            self._high = here
        elif not self._decreases(here) or slope > self.curvature * -self.start.slope:
            self._high = here
        elif slope < self.curvature * self.start.slope:
            self._low = here
        else:
            return True
        self.step = self._next()
        return False

    def _decreases(self, here: Probe) -> bool:
        """Say whether the value, or where that is all rounding the slope, is fine."""
        start = self.start
        if here.value <= start.value + DECREASE * here.step * start.slope:
            return True
        hidden = abs(here.value - start.value) <= ROUNDING * abs(start.value)
        return hidden and here.slope <= -0.8 * start.slope

    def _next(self) -> float:
        low, high = self._low, self._high
        if high is None:
            # To where the slope would vanish if it went on changing as it did.
            change = low.slope - self.start.slope
            reach = -low.slope * low.step / change if change > 0.0 else math.inf
            return low.step + min(max(reach, low.step), 9.0 * low.step)
        width = high.step - low.step
        if not math.isfinite(high.value) or not math.isfinite(high.slope):
            return low.step + 0.1 * width
        step = cubic_minimum(low, high)
        if not low.step < step < high.step:
            step = low.step + 0.5 * width
        return min(max(step, low.step + 0.05 * width), high.step - 0.05 * width)


def cubic_minimum(a: Probe, b: Probe) -> float:
    """Return where the cubic through two points with their slopes is least.

    NaN if it has no minimum.

    Examples
    --------
    >>> cubic_minimum(Probe(0.0, 1.0, -2.0), Probe(3.0, 4.0, 4.0))
    1.0
    """
    width = b.step - a.step
    theta = 3.0 * (a.value - b.value) / width + a.slope + b.slope
    inside = theta * theta - a.slope * b.slope
    if not inside >= 0.0:
        return math.nan
    root = math.sqrt(inside)
    below = b.slope - a.slope + 2.0 * root
    if below == 0.0:
        return math.nan
    return b.step - width * (b.slope + root - theta) / below
