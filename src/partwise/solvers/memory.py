"""Check, before a solver starts, that what it keeps fits into memory."""

from __future__ import annotations

import os

from partwise.errors import OutOfMemoryError
from partwise.solvers.base import Problem, Solver
from partwise.solvers.registry import name_of


def available_memory() -> int | None:
    """Return the bytes of memory that are free, or None if that is unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                name, _, amount = line.partition(":")
                if name == "MemAvailable":
                    return int(amount.split()[0]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


def fits_in_memory(problem: Problem, solver: Solver) -> bool:
    """Say whether the solver's state fits into the memory that is free."""
    free = available_memory()
    return free is None or solver.memory(problem) <= free


def check_memory(problem: Problem, solver: Solver) -> None:
    """Raise `OutOfMemoryError` if the solver's state would not fit into memory."""
    if not fits_in_memory(problem, solver):
        raise OutOfMemoryError(
            f"{name_of(solver)} would keep {in_words(solver.memory(problem))} of "
            f"variables, more than the {in_words(available_memory() or 0)} that are "
            "free; for the log loss use solver 'eg-primal' or 'lbfgs', for margin "
            "losses 'dcd' (squared hinge) or 'eg-primal' (hinge)"
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
