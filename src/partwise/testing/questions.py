"""The waist as a solver meets it: every question asked from compiled code.

A waist function called from Python runs its plain body; these kernels of the same
names do nothing but call it from compiled code. With ``NUMBA_DISABLE_JIT=1`` they
are plain Python as well. Examples are visited first, as solvers do.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.interface import (
    CodeArray,
    CodeTable,
    Diff,
    FloatArray,
    IntArray,
    Structure,
)


@kernel
def part_scores(
    s: Structure, i: int, w: FloatArray, theta: FloatArray, ws: Any
) -> None:
    """Ask for the scores of the parts of an example."""
    waist.visit(s, i, ws)
    waist.part_scores(s, i, w, theta, ws)


@kernel
def add_parts(
    s: Structure, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    """Ask to add parts to the weights."""
    waist.visit(s, i, ws)
    return waist.add_parts(s, i, mu, scale, w, ws)


@kernel
def block_scores(
    s: Structure, start: int, stop: int, w: FloatArray, theta: FloatArray, ws: Any
) -> None:
    """Ask for the scores of a block of examples."""
    waist.block_scores(s, start, stop, w, theta, ws)


@kernel
def add_block(
    s: Structure, start: int, stop: int, mu: FloatArray, w: FloatArray, ws: Any
) -> None:
    """Ask to add the parts of a block of examples."""
    waist.add_block(s, start, stop, mu, w, ws)


@kernel
def parts_of(
    s: Structure, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    """Ask for the parts of an output."""
    return waist.parts_of(s, i, y, ids, counts)


@kernel
def part_row(
    s: Structure, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    """Ask for the features of a part."""
    waist.visit(s, i, ws)
    return waist.part_row(s, i, r, idx, val, ws)


@kernel
def gold(s: Structure, i: int, y: CodeArray) -> None:
    """Ask for the right output."""
    waist.gold(s, i, y)


@kernel
def add_costs(s: Structure, i: int, theta: FloatArray) -> None:
    """Ask to add costs to scores."""
    waist.add_costs(s, i, theta)


@kernel
def cost(s: Structure, i: int, y: CodeArray) -> float:
    """Ask for the cost of an output."""
    return waist.cost(s, i, y)


@kernel
def argmax(s: Structure, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    """Ask for the best output."""
    waist.visit(s, i, ws)
    return waist.argmax(s, i, theta, y, ws)


@kernel
def kbest(
    s: Structure,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeTable,
    scores: FloatArray,
    ws: Any,
) -> int:
    """Ask for the k best outputs."""
    waist.visit(s, i, ws)
    return waist.kbest(s, i, theta, k, ys, scores, ws)


@kernel
def marginals(
    s: Structure, i: int, theta: FloatArray, mu: FloatArray, ws: Any
) -> float:
    """Ask for the expected counts of parts."""
    waist.visit(s, i, ws)
    return waist.marginals(s, i, theta, mu, ws)


@kernel
def log_partition(s: Structure, i: int, theta: FloatArray, ws: Any) -> float:
    """Ask for the sum over all outputs."""
    waist.visit(s, i, ws)
    return waist.log_partition(s, i, theta, ws)


@kernel
def diff_dot(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    """Ask for the difference of two scores."""
    waist.visit(s, i, ws)
    return waist.diff_dot(s, i, y, y_ref, w, diff, ws)


@kernel
def diff_add(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    """Ask to add the difference of two outputs to the weights."""
    waist.visit(s, i, ws)
    waist.diff_add(s, i, y, y_ref, scale, w, diff, ws)


@kernel
def diff_entries(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> int:
    """Ask for the features of the difference of two outputs."""
    waist.visit(s, i, ws)
    return waist.diff_entries(s, i, y, y_ref, diff, ws)


@kernel
def diff_sqnorm(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    """Ask for the squared length of the difference of two outputs."""
    waist.visit(s, i, ws)
    return waist.diff_sqnorm(s, i, y, y_ref, diff, ws)
