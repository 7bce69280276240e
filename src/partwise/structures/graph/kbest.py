"""The k best labellings of a graph, by branching off from better ones.

After messages of best scores, the best way to go on from any labels of the bags near
the root is known. So every labelling is the one that goes on best after a *branch*: at
some bag, from the row of a better labelling to the next row in order of its column.
Each has just one such origin (Lawler, Management Science 18, 1972), and what a branch
costs is a difference of two numbers in a table.

The queue holds the best branch that is left of every labelling, and no more: when one
is taken, the next of the same labelling and the first of the new one come in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.graph import messages
from partwise.structures.graph.corpus import Graph
from partwise.structures.graph.junction_tree import Bags
from partwise.structures.heap import rise, take_first
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.vectors import copy


class BranchQueue(NamedTuple):
    """A heap of branches, the best first: their origin, bag, row and loss.

    `size` counts the branches in the heap, and all that were ever in it. `branched_at`
    is the bag where each labelling found so far branched off.
    """

    heap: IntArray
    score: FloatArray
    loss: FloatArray
    origin: IntArray
    bag: IntArray
    row: IntArray
    size: IntArray
    branched_at: IntArray


def make_branch_queue(k: int) -> BranchQueue:
    """Make an empty queue for `k` labellings."""
    room = 2 * k if k > 1 else 0  # a branch of the first, two more with every other
    return BranchQueue(
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(2, np.int64),
        np.zeros(room, np.int64),
    )


@kernel
def _push(
    queue: BranchQueue, score: float, loss: float, origin: int, bag: int, row: int
) -> None:
    at, new = queue.size[0], queue.size[1]
    queue.size[0] += 1
    queue.size[1] += 1
    queue.score[new], queue.loss[new] = score, loss
    queue.origin[new], queue.bag[new], queue.row[new] = origin, bag, row
    queue.heap[at] = new
    rise(queue.heap, at, queue.score, None)


@kernel
def _next_row(
    table: FloatArray, n_own: int, n_shared: int, row: int
) -> tuple[int, float]:
    """Return the row after `row` in order of score, then number; and what it loses."""
    score = table[row * n_shared]
    found, best = -1, -np.inf
    for a in range(n_own):
        value = table[a * n_shared]
        if (value < score or (value == score and a > row)) and value > best:
            found, best = a, value
    return found, (score - best if found >= 0 else np.inf)


@kernel
def _push_branch(
    bags: Bags,
    stop: int,
    origin: int,
    y: CodeArray,
    score: float,
    last_loss: float,
    last_bag: int,
    queue: BranchQueue,
    tables: FloatArray,
) -> None:
    """Queue the branch of a labelling that follows its last one, if there is one.

    Branches are ordered by loss; those of equal loss from the root on.
    """
    found_loss, found_bag, found_row = np.inf, -1, -1
    for b in range(queue.branched_at[origin], stop - 1, -1):
        n_own, n_shared = bags.n_own[b], bags.n_shared[b]
        at = messages.index_of(bags, b, y)
        column = tables[bags.table_at[b] + at % n_shared :]
        row, loss = _next_row(column, n_own, n_shared, at // n_shared)
        is_later = loss > last_loss or (loss == last_loss and b < last_bag)
        if is_later and loss < found_loss:
            found_loss, found_bag, found_row = loss, b, row
    if found_bag >= 0:
        _push(queue, score - found_loss, found_loss, origin, found_bag, found_row)


@kernel
def best_labellings(
    s: Graph,
    i: int,
    theta: FloatArray,
    k: int,
    ys: NDArray[np.int32],
    scores: FloatArray,
    queue: BranchQueue,
    ws: messages.MessageSpace,
) -> int:
    """Write the `k` best labellings, best first; return how many there are."""
    bags, t = s.inference.bags, s.inference.topology[i]
    stop, root = bags.ptr[t], bags.ptr[t + 1] - 1
    n_labels = s.vertices.n_labels[s.vertices.ptr[i] : s.vertices.ptr[i + 1]]
    scores[0] = messages.collect(s.cliques, s.kinds, s.inference, i, theta, False, ws)
    if scores[0] == -np.inf:
        return 0
    messages.trace_best(bags, root, stop, n_labels, ys[0], ws)
    if k == 1:
        return 1
    queue.size[0] = queue.size[1] = 0
    queue.branched_at[0] = root
    _push_branch(bags, stop, 0, ys[0], scores[0], -1.0, root + 1, queue, ws.tables)
    found = 1
    while found < k and queue.size[0] > 0:
        taken = take_first(queue.heap, queue.size[0], queue.score, None)
        queue.size[0] -= 1
        score, loss, origin = queue.score[taken], queue.loss[taken], queue.origin[taken]
        bag, row = queue.bag[taken], queue.row[taken]
        y, before = ys[found], ys[origin]
        copy(before[: n_labels.size], y)
        messages.set_own(bags, bag, row, n_labels, y)
        messages.trace_best(bags, bag - 1, stop, n_labels, y, ws)
        scores[found] = score
        queue.branched_at[found] = bag
        _push_branch(
            bags, stop, origin, before, scores[origin], loss, bag, queue, ws.tables
        )
        _push_branch(bags, stop, found, y, score, -1.0, root + 1, queue, ws.tables)
        found += 1
    return found
