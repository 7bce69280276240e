"""Stochastic dual coordinate ascent for the log loss (Le Priol et al., UAI 2018).

Each step mixes the dual distribution of one example with ``p(y | x; w)``, by an exact
line search, from a single computation of marginals. Examples are visited in
proportion to their share of the duality gap.

The paper keeps the marginals of every clique, whose entropy is known for trees. Here
one number per part and one bound on the entropy are kept instead: the entropy of a
mixture is at least the mixture of the entropies. That takes less memory, holds for
every structure that has marginals, and makes the method a block-coordinate
conditional gradient on the convex hull of (marginals, entropy), whose boundary is
curved: it converges linearly all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from partwise.losses import Certificate
from partwise.solvers.base import Problem, Solver, State
from partwise.solvers.dual_weights import PENALTIES
from partwise.solvers.part_duals.state import DualPartsState, dual_memory
from partwise.solvers.visiting import ORDERS, visiting_order
from partwise.structures.interface import marginals


@dataclass(frozen=True)
class StochasticDualCoordinateAscent(Solver):
    """Dual coordinate ascent for the log loss, on any structure with marginals.

    Parameters
    ----------
    order : {"gaps", "shuffled", "cyclic"}
        Visit examples in proportion to their share of the duality gap, or all once.

    See Also
    --------
    ExponentiatedGradient : Starts like this, and then goes faster.

    Examples
    --------
    >>> StochasticDualCoordinateAscent()
    StochasticDualCoordinateAscent(order='gaps')
    """

    order: str = "gaps"

    names: ClassVar[dict[str, dict[str, Any]]] = {"sdca": {}}
    losses = ("log_loss",)
    penalties = PENALTIES
    follows_pull = True
    needs = (marginals,)
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {"order": ORDERS}

    def memory(self, problem: Problem) -> int:
        """Return the bytes of the marginals."""
        return dual_memory(problem, keep_theta=False)

    def start(
        self, problem: Problem, rng: np.random.Generator, previous: State | None
    ) -> DualPartsState:
        """Start at the right outputs, or where an earlier run ended."""
        state = DualPartsState(problem, keep_theta=False)
        if isinstance(previous, DualPartsState) and previous.same_loss(state):
            state.continue_from(problem, previous)
        return state

    def run_pass(
        self, problem: Problem, state: DualPartsState, rng: np.random.Generator
    ) -> Iterator[float]:
        """Visit about as many examples as there are."""
        if state.catches_up:
            yield from state.catch_up(problem, rng, np.zeros(0))
            return
        order = visiting_order(self.order, state.dual.gap, problem.C, rng)
        yield from state.ascend(problem, order, mix=True, fixed=np.zeros(0))
        state.estimate = state.estimated()

    def certify(self, problem: Problem, state: DualPartsState) -> Certificate:
        """Recompute the weights from the duals, then primal and dual exactly."""
        return state.certify(problem)
