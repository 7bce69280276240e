"""Check, before a solver starts, that what it keeps fits into memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from partwise.errors import OutOfMemoryError
from partwise.solvers.base import Problem, Solver
from partwise.solvers.registry import name_of

_LIMIT: ContextVar[int | None] = ContextVar("memory limit", default=None)
_UNITS = {unit: 10 ** (3 * n) for n, unit in enumerate(["", "K", "M", "G", "T"])}
_BINARY = {f"{unit}I": 2 ** (10 * n) for n, unit in enumerate("KMGT", 1)}


def in_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> in_bytes("2GB"), in_bytes("512 MiB"), in_bytes(1000)
    (2000000000, 536870912, 1000)
    """
    units = _UNITS | _BINARY
    if type(memory) is int and memory > 0:
        return memory
    found = re.fullmatch(r"([0-9.]+)\s*([KMGT]?I?)B?", str(memory).upper().strip())
    try:
        amount = float(found[1]) * units[found[2]] if found else 0.0
    except (KeyError, ValueError):
        amount = 0.0
    if amount < 1.0 or isinstance(memory, float | bool):
        raise ValueError(f"memory must be an amount such as 2GB, not {memory!r}")
    return int(amount)


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Let this process have no more memory than `limit`, if that is not None."""
    token = _LIMIT.set(limit if limit is not None else _LIMIT.get())
    try:
        yield
    finally:
        _LIMIT.reset(token)


def own_memory() -> int:
    """Return how much memory this process has, pages of files aside; 0 if unknown."""
    return _read("/proc/self/status", "RssAnon") or 0


def available_memory() -> int | None:
    """Return the bytes that are free, or are left below a limit; None if unknown."""
    limit, free = _LIMIT.get(), machine_memory()
    if limit is None:
        return free
    left = max(limit - own_memory(), 0)
    return left if free is None else min(left, free)


def _read(path: str, wanted: str) -> int | None:
    """Return an amount that the kernel says, in bytes."""
    try:
        with open(path, encoding="ascii") as lines:
            for line in lines:
                name, _, amount = line.partition(":")
                if name == wanted:
                    return int(amount.split()[0]) * 1024
    except (OSError, ValueError):
        pass
    return None


def machine_memory() -> int | None:
    """Return the bytes of memory that are free, or None if that is unknown."""
    found = _read("/proc/meminfo", "MemAvailable")
    if found is not None:
        return found
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


SMALLER = {
    "log_loss": ("lbfgs", "eg-primal", "sgd"),
    "squared_hinge": ("dcd-light", "sgd"),
    "hinge": ("eg-primal", "sgd"),
}
"""Solvers that keep little, for each loss."""


def fits_in_memory(problem: Problem, solver: Solver) -> bool:
    """Say whether the solver's state fits into the memory that is free."""
    free = available_memory()
    return free is None or needed_memory(problem, solver) <= free


def needed_memory(problem: Problem, solver: Solver) -> int:
    """Return about how many bytes the solver's state takes, with weights."""
    return solver.memory(problem) + 8 * problem.n_weights


def check_memory(problem: Problem, solver: Solver) -> None:
    """Raise `OutOfMemoryError` if the solver's state would not fit into memory."""
    if fits_in_memory(problem, solver):
        return
    needed, free = needed_memory(problem, solver), available_memory() or 0
    smaller = [n for n in SMALLER.get(problem.loss.name, ()) if n != name_of(solver)]
    others = f"solvers that may need less: {', '.join(smaller)}"
    if _LIMIT.get() is None:
        raise OutOfMemoryError(
            f"{name_of(solver)} would keep {in_words(needed)} of variables, more than "
            f"the {in_words(free)} that are free; {others}"
        )
    least = in_words(own_memory() + needed)
    raise OutOfMemoryError(
        f"{name_of(solver)} would keep {in_words(needed)} of variables, more than the "
        f"{in_words(free)} that are left of the memory it was given: give it more than "
        f"{least}, or fewer features; {others}"
    )


def in_words(n_bytes: int) -> str:
    """Return a size in MiB or GiB.

    Examples
    --------
    >>> in_words(512), in_words(3 * 2**20), in_words(5 * 2**30)
    ('1 MiB', '3 MiB', '5.0 GiB')
    """
    if n_bytes < 2**30:
        return f"{max(round(n_bytes / 2**20), 1)} MiB"
    return f"{n_bytes / 2**30:.1f} GiB"
