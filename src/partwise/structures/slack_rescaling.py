"""Slack rescaling: a violated margin is multiplied by the cost of the mistake.

Margin rescaling asks the right output to win by ``cost(y)``; slack rescaling asks it
to win by one, and multiplies what is missing: the slack of an output is
``cost(y) (1 - w . dPhi(y))`` (Tsochantaridis et al., JMLR 2005). That is the margin
loss of a structure with the same outputs and other parts: output `y` has its own parts
``cost(y)`` times, those of the right output ``1 - cost(y)`` times, and ``cost(y)``
times one more part, without features, that costs one. So ``dPhi`` is multiplied by the
cost, costs still add up over parts, and no solver of a margin loss has to know.

Only the search for the worst output is another one: see `product_search`. Where it ends
without a proof, `shortfall` tells by how much a worse output might exist.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.errors import PairingError
from partwise.structures import interface as waist
from partwise.structures.delegation import delegate
from partwise.structures.interface import (
    CodeArray,
    Diff,
    FloatArray,
    IntArray,
    Structure,
)
from partwise.structures.product_search import (
    Plane,
    ProductSpace,
    largest_product,
    make_product_space,
)
from partwise.structures.scratch import Scratch, make_scratch, score_of

MOST_OUTPUTS = 64
"""How many of the best outputs are listed before the search gives up its proof."""


class RightParts(NamedTuple):
    """The parts of every right output, one example after the other."""

    ptr: IntArray
    ids: IntArray
    counts: FloatArray


class SlackRescaling(NamedTuple):
    """A corpus whose outputs are rescaled; `make_slack_rescaling` makes one."""

    corpus: Any
    right: RightParts
    most_outputs: int


class SlackRescalingSpace(NamedTuple):
    """The scratch arrays of the corpus, those of the search, and what it left open."""

    corpus: Any
    search: ProductSpace
    unproved: FloatArray


def make_slack_rescaling(
    s: Structure, most_outputs: int = MOST_OUTPUTS
) -> SlackRescaling:
    """Return the same corpus, with margin losses that are rescaled by the cost.

    Parameters
    ----------
    s : structure
        One with costs and k best outputs.
    most_outputs : int
        How many of the best outputs a search may list. An example with fewer outputs
        is always searched exactly.

    Examples
    --------
    >>> from partwise.losses import get_loss
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 2, costs=[[0, 3], [1, 0]])
    >>> loss, w = get_loss("hinge"), np.array([0.5, 0.0])
    >>> loss.values(s, w), loss.values(make_slack_rescaling(s), w)
    (array([2.5]), array([1.5]))
    """
    if most_outputs < 4:
        raise ValueError(f"most_outputs must be at least 4, not {most_outputs!r}")
    for question in (waist.kbest, waist.add_costs, waist.cost):
        if not question.provided_by(type(waist.innermost(s))):
            raise PairingError(
                f"rescaling='slack' needs {question.__name__!r}, which "
                f"{type(s).__name__} does not provide; use rescaling='margin'"
            )
    return SlackRescaling(s, _right_parts(s), int(most_outputs))


@kernel
def _count_right(s: Structure, out: IntArray, scratch: Scratch) -> None:
    for i in range(out.size):
        waist.gold(s, i, scratch.y_gold)
        out[i] = waist.parts_of(s, i, scratch.y_gold, scratch.ids, scratch.counts)


@kernel
def _list_right(s: Structure, right: RightParts, scratch: Scratch) -> None:
    for i in range(right.ptr.size - 1):
        at = right.ptr[i]
        waist.gold(s, i, scratch.y_gold)
        found = waist.parts_of(s, i, scratch.y_gold, scratch.ids, scratch.counts)
        right.ids[at : at + found] = scratch.ids[:found]
        right.counts[at : at + found] = scratch.counts[:found]


def _right_parts(s: Structure) -> RightParts:
    sizes, scratch = np.zeros(int(waist.n_examples(s)), np.int64), make_scratch(s)
    _count_right(s, sizes, scratch)
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    right = RightParts(ptr, np.zeros(ptr[-1], np.int64), np.zeros(ptr[-1]))
    _list_right(s, right, scratch)
    return right


# --- parts: those of the corpus, and after them the one that costs one ---------------


@waist.n_parts.implement(SlackRescaling)
def _(s: SlackRescaling, i: int) -> int:
    return waist.n_parts(s.corpus, i) + 1


@waist.max_features.implement(SlackRescaling)
def _(s: SlackRescaling) -> int:
    # Three outputs: two that are compared, and the right one in both.
    return 2 * waist.max_features(s.corpus)


@waist.part_scores.implement(SlackRescaling)
def _(s: SlackRescaling, i: int, w: FloatArray, theta: FloatArray, ws: Any) -> None:
    waist.part_scores(s.corpus, i, w, theta, ws.corpus)
    theta[waist.n_parts(s.corpus, i)] = 0.0


@waist.add_costs.implement(SlackRescaling)
def _(s: SlackRescaling, i: int, theta: FloatArray) -> None:
    theta[waist.n_parts(s.corpus, i)] += 1.0


@waist.parts_of.implement(SlackRescaling)
def _(
    s: SlackRescaling, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    cost = waist.cost(s.corpus, i, y)
    found = waist.parts_of(s.corpus, i, y, ids, counts)
    begin, end = s.right.ptr[i], s.right.ptr[i + 1]
    if found + end - begin + 1 > ids.size:
        raise ValueError("outputs of this structure list more parts than they have")
    counts[:found] *= cost
    for j in range(begin, end):
        ids[found] = s.right.ids[j]
        counts[found] = (1.0 - cost) * s.right.counts[j]
        found += 1
    ids[found] = waist.n_parts(s.corpus, i)
    counts[found] = cost
    return found + 1


@waist.part_row.implement(SlackRescaling)
def _(
    s: SlackRescaling, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    if r == waist.n_parts(s.corpus, i):
        return 0
    return waist.part_row(s.corpus, i, r, idx, val, ws.corpus)


# --- the worst output ----------------------------------------------------------------


@waist.workspace.implement(SlackRescaling)
def _(s: SlackRescaling, k: int) -> Any:
    return SlackRescalingSpace(
        waist.workspace(s.corpus, max(k, s.most_outputs)),
        make_product_space(s.corpus, s.most_outputs),
        np.zeros(1),
    )


@waist.argmax.implement(SlackRescaling)
def _(s: SlackRescaling, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    n = waist.n_parts(s.corpus, i)
    waist.gold(s.corpus, i, y)
    right = score_of(s.corpus, i, y, theta, ws.search.scratch)
    plane = Plane(theta[:n], right, theta[n])
    best, bound = largest_product(s.corpus, i, plane, y, ws.search, ws.corpus)
    ws.unproved[0] = bound - best
    return right + best


@waist.shortfall.implement(SlackRescaling)
def _(s: SlackRescaling, i: int, ws: Any) -> float:
    return ws.unproved[0]


# --- differences: those of the corpus from the right output, times the cost ----------


@waist.diff_dot.implement(SlackRescaling)
def _(
    s: SlackRescaling,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    cost, cost_ref = waist.cost(s.corpus, i, y), waist.cost(s.corpus, i, y_ref)
    y_gold = ws.search.scratch.y_gold
    waist.gold(s.corpus, i, y_gold)
    total = 0.0
    if cost > 0.0:
        own = waist.diff_dot(s.corpus, i, y, y_gold, w, diff, ws.corpus)
        total += cost * own
    if cost_ref > 0.0:
        own = waist.diff_dot(s.corpus, i, y_ref, y_gold, w, diff, ws.corpus)
        total -= cost_ref * own
    return total


@waist.diff_add.implement(SlackRescaling)
def _(
    s: SlackRescaling,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    cost, cost_ref = waist.cost(s.corpus, i, y), waist.cost(s.corpus, i, y_ref)
    y_gold = ws.search.scratch.y_gold
    waist.gold(s.corpus, i, y_gold)
    if cost > 0.0:
        step = scale * cost
        waist.diff_add(s.corpus, i, y, y_gold, step, w, diff, ws.corpus)
    if cost_ref > 0.0:
        step = -scale * cost_ref
        waist.diff_add(s.corpus, i, y_ref, y_gold, step, w, diff, ws.corpus)


@waist.shrink_diff.implement(SlackRescaling)
def _(
    s: SlackRescaling,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    y_gold = ws.search.scratch.y_gold
    waist.gold(s.corpus, i, y_gold)
    change = waist.shrink_diff(s.corpus, i, y, y_gold, v, w, l1_ratio, diff, ws.corpus)
    return change + waist.shrink_diff(
        s.corpus, i, y_ref, y_gold, v, w, l1_ratio, diff, ws.corpus
    )


@waist.diff_sqnorm.implement(SlackRescaling)
def _(
    s: SlackRescaling, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    a, b = waist.cost(s.corpus, i, y), waist.cost(s.corpus, i, y_ref)
    y_gold = ws.search.scratch.y_gold
    waist.gold(s.corpus, i, y_gold)
    # |a u - b v|^2 = (a - b) (a |u|^2 - b |v|^2) + a b |u - v|^2
    u = v = apart = 0.0
    if a > 0.0:
        u = waist.diff_sqnorm(s.corpus, i, y, y_gold, diff, ws.corpus)
    if b > 0.0:
        v = waist.diff_sqnorm(s.corpus, i, y_ref, y_gold, diff, ws.corpus)
    if a > 0.0 and b > 0.0:
        apart = waist.diff_sqnorm(s.corpus, i, y, y_ref, diff, ws.corpus)
    return max((a - b) * (a * u - b * v) + a * b * apart, 0.0)


# Sums over all outputs, and lists of the best, are not those of the corpus; and it is
# the rescaled structure itself that says what it can answer.
delegate(
    SlackRescaling,
    defaults=(
        *(waist.marginals, waist.log_partition, waist.gibbs_scores, waist.kbest),
        *(waist.block_size, waist.block_scores, waist.add_block, waist.innermost),
        waist.right_parts,
    ),
)
