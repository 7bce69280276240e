"""Coarse to fine: a cheap model says what an expensive one need not look at.

The cheap model, the coarse one, has outputs that stand for those of the expensive one,
and says how probable their parts are. What is hardly probable is pruned. What the best
coarse output has stays in any case, so that something is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise._jit import generic, kernel
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.sharing import borders, filled


@generic
def keep_probable(
    s: Structure,
    i: int,
    mu: FloatArray,
    y: CodeArray,
    least: float,
    kept: NDArray[np.uint8],
) -> None:
    """Mark what stays of example `i`: what is probable, and what output `y` has.

    `mu` are the marginals of its parts, and `least` is the threshold that users set.
    What the numbers of `kept` stand for, each structure says for itself.
    """
    raise NotImplementedError("keep_probable is required of structures that prune")


def prune(
    s: Structure, w: FloatArray, least: float, ptr: IntArray, n_jobs: int = 1
) -> NDArray[np.uint8]:
    """Say what a coarse model leaves of every example.

    Parameters
    ----------
    s : structure
        The corpus as the coarse model sees it.
    w : array
        The weights of the coarse model.
    least : float
        How probable something must be to stay.
    ptr : array of int
        The numbers for example `i` are ``ptr[i]:ptr[i + 1]`` of what is returned.
    n_jobs : int
        How many threads.
    """
    kept = np.zeros(int(ptr[-1]), np.uint8)
    make_crew(s, n_jobs).run(_prune, w, float(least), borders(ptr), filled(kept, ptr))
    return kept


@kernel
def _prune(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    least: float,
    ptr: IntArray,
    kept: NDArray[np.uint8],
) -> None:
    scratch, ws = worker.scratch, worker.ws
    for i in range(start, stop):
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        if waist.argmax(s, i, scratch.theta, scratch.y, ws) > -np.inf:
            waist.marginals(s, i, scratch.theta, scratch.mu, ws)
            own = kept[ptr[i] : ptr[i + 1]]
            keep_probable(s, i, scratch.mu, scratch.y, least, own)
