"""The best derivations and the sum over all of them, as the waist asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.grammar.chart import best_root, fill_best, read_best
from partwise.structures.grammar.corpus import ConstituencyTrees
from partwise.structures.grammar.inside_outside import inside, outside
from partwise.structures.grammar.kbest import best_derivations
from partwise.structures.grammar.log_inside_outside import log_inside, log_outside
from partwise.structures.grammar.parts import n_words, part_offsets, part_views
from partwise.structures.grammar.places import cell_at
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import fill


@waist.argmax.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    n, scores = n_words(s, i), part_views(s, i, theta)
    fill_best(s.grammar, scores, n, ws.chart)
    root = best_root(s.grammar, n, ws.chart.value)
    if root < 0:
        return -np.inf
    read_best(s.grammar, scores, n, root, 0, n, y, ws.chart)
    return ws.chart.value[cell_at(n, 0, n), root]


@waist.log_partition.implement(ConstituencyTrees)
def _(s: ConstituencyTrees, i: int, theta: FloatArray, ws: Any) -> float:
    n, scores = n_words(s, i), part_views(s, i, theta)
    log_z, safe = inside(s.grammar, scores, n, ws.chart, ws.sums)
    if not safe:
        total, top = ws.sums.pair_share, ws.sums.probability
        log_z = log_inside(s.grammar, scores, n, ws.chart, total, top)
    return log_z


@waist.marginals.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees, i: int, theta: FloatArray, mu: FloatArray, ws: Any
) -> float:
    n, scores, out = n_words(s, i), part_views(s, i, theta), part_views(s, i, mu)
    fill(mu, part_offsets(s, i)[3], 0.0)
    log_z, safe = inside(s.grammar, scores, n, ws.chart, ws.sums)
    if safe and log_z > -np.inf:
        outside(s.grammar, scores, n, out, ws.chart, ws.sums)
    elif not safe:
        space = ws.sums.probability
        log_z = log_inside(s.grammar, scores, n, ws.chart, ws.sums.pair_share, space)
        if log_z > -np.inf:
            log_outside(s.grammar, scores, n, log_z, out, ws.chart, space)
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
    of_parts = part_views(s, i, theta)
    n = n_words(s, i)
    return best_derivations(s.grammar, of_parts, n, k, ys, scores, ws.chart, ws.kbest)
