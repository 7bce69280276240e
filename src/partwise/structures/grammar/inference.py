"""The best derivations and the sum over all of them, as the waist asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.grammar.chart import Parsing, best_root, fill_best, read_best
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.inside_outside import inside, outside
from partwise.structures.grammar.kbest import best_derivations
from partwise.structures.grammar.log_inside_outside import (
    draw_derivation,
    log_inside,
    log_outside,
)
from partwise.structures.grammar.parts import n_words, part_offsets, part_views
from partwise.structures.grammar.places import cell_at
from partwise.structures.interface import (
    CodeArray,
    CodeTable,
    FloatArray,
    IntArray,
)
from partwise.structures.vectors import fill


@kernel
def _parsing(s: ConstituencyTrees, i: int, theta: FloatArray, ws: Any) -> Parsing:
    return Parsing(s.grammar, part_views(s, i, theta), n_words(s, i), ws.chart)


@kernel
def _scaled_inside(parsing: Parsing, ws: Any) -> tuple[float, bool]:
    """Return log Z and whether it is safe; never if applications have own scores."""
    if parsing.scores.application.size > 0:
        return 0.0, False
    return inside(parsing, ws.sums)


@waist.argmax.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    n, parsing = n_words(s, i), _parsing(s, i, theta, ws)
    fill_best(parsing)
    root = best_root(s.grammar, n, ws.chart.value)
    if root < 0:
        return -np.inf
    read_best(parsing, root, 0, n, y)
    return ws.chart.value[cell_at(n, 0, n), root]


@waist.log_partition.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, theta: FloatArray, ws: Any) -> float:
    parsing = _parsing(s, i, theta, ws)
    log_z, safe = _scaled_inside(parsing, ws)
    if not safe:
        log_z = log_inside(parsing, ws.sums.pair_share, ws.sums.probability)
    return log_z


@waist.marginals.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, theta: FloatArray, mu: FloatArray, ws: Any
) -> float:
    parsing, out = _parsing(s, i, theta, ws), part_views(s, i, mu)
    fill(mu, part_offsets(s, i)[4], 0.0)
    log_z, safe = _scaled_inside(parsing, ws)
    if safe and log_z > -np.inf:
        outside(parsing, out, ws.sums)
    elif not safe:
        space = ws.sums.probability
        log_z = log_inside(parsing, ws.sums.pair_share, space)
        if log_z > -np.inf:
            log_outside(parsing, log_z, out, space)
    return log_z


@waist.kbest.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    if k == 1:
        scores[0] = waist.argmax(s, i, theta, ys[0], ws)
        return 1 if scores[0] > -np.inf else 0
    return best_derivations(_parsing(s, i, theta, ws), k, ys, scores, ws.kbest)


@waist.sample.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees,
    i: int,
    theta: FloatArray,
    space: waist.SamplingSpace,
    state: IntArray,
    ys: CodeTable,
    ws: Any,
) -> bool:
    parsing = _parsing(s, i, theta, ws)
    log_z = log_inside(parsing, ws.sums.pair_share, ws.sums.probability)
    if log_z == -np.inf:
        return False
    for j in range(ys.shape[0]):
        draw_derivation(parsing, log_z, ys[j], state)
    return True
