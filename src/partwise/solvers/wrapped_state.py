"""The state of a solver that lets others do the work, one after another."""

from __future__ import annotations

from partwise.losses import Certificate
from partwise.solvers.base import State
from partwise.structures.interface import FloatArray


class WrappedState(State):
    """What the loop asks of it is answered by the state of the solver at work.

    Attributes
    ----------
    active : State
        The state of the solver at work.
    """

    active: State

    @property
    def w(self) -> FloatArray:  # type: ignore[override]
        """The weights now."""
        return self.active.w

    @property
    def oracle_calls(self) -> int:
        """How many argmax or marginals were computed so far."""
        return self.active.oracle_calls

    @oracle_calls.setter
    def oracle_calls(self, count: int) -> None:
        self.active.oracle_calls = count

    @property
    def estimate(self) -> Certificate | None:
        """The certificate as far as the last pass has seen it."""
        return self.active.estimate

    @estimate.setter
    def estimate(self, estimate: Certificate | None) -> None:
        self.active.estimate = estimate

    def hand_over(self, state: State) -> None:
        """Continue with the state of another solver."""
        state.oracle_calls += self.oracle_calls
        self.active = state

    def choices(self) -> list[FloatArray]:
        """Return the weights that development data may choose from, after a pass."""
        return self.active.choices()
