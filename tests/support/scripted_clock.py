"""A clock that goes on only as a test says, so that hours take no time."""

from types import SimpleNamespace

import pytest

from partwise._jit import clock


class ScriptedClock:
    """Every look at it takes `tick` seconds; whoever works says how long it took."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now = 0.0
        self.tick = tick

    def perf_counter(self) -> float:
        self.now += self.tick
        return self.now


def script_clock(monkeypatch: pytest.MonkeyPatch, tick: float = 0.0) -> ScriptedClock:
    """Let `working_time`, and all that asks it, look at a scripted clock."""
    scripted = ScriptedClock(tick)
    monkeypatch.setattr(
        clock, "time", SimpleNamespace(perf_counter=scripted.perf_counter)
    )
    return scripted
