"""The best path among many labels, from a look at few of them.

Most of many labels are far behind at a position. Transitions are bounded by a share of
the label before and one of the label after; with its shares, a label has a score of its
own. A position lists the labels whose own score comes near the best, and all others
stand behind one *rest*, which has the best own score among them. A path through listed
labels that is better than any with a rest in it is the best of all; else the rests on
the best path give up some of their labels, and the search goes on (Kaji et al. 2010,
"Efficient staggered decoding for sequence labeling").

A rest is a bound in floating point as well: it is raised by all that rounding can have
done to the labels behind it. Listed labels are added up as `viterbi` does. So paths,
scores and ties are the same, bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.chain.scores import ChainScores
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.vectors import largest

MANY_LABELS = 48  # below, whole vectors of labels are as fast
# Whole vectors of labels are faster than one pair of labels after the other: with more
# than this share of all pairs to look at, `viterbi` is.
WORTHWHILE = 1 / 24
ROUNDS = 8
ROUNDING = 8 * np.finfo(float).eps
FIRST_MARGIN = 0.25  # of the range of shares
REST = -1  # where a listed label would be


class StaggeredSpace(NamedTuple):
    """Scratch arrays: listed labels, and the paths to them, by position and place.

    Attributes
    ----------
    out_of, into : (K,) shares of every label: a transition is at most their sum.
    n_listed, label : the listed labels of every position, in ascending order.
    margin : by how much a listed label may be below the best.
    rest, size : the best own score of the others, and how large all its terms can be.
    sure, arrive : the best score of paths through listed labels alone, with and without
        that of the label itself.
    bound, came : the best score of paths with a rest in them, and the place they come
        from.
    to_rest, rest_came : the same for paths that end in the rest.
    """

    out_of: FloatArray
    into: FloatArray
    n_listed: CodeArray
    label: NDArray[np.int32]
    margin: FloatArray
    rest: FloatArray
    size: FloatArray
    sure: FloatArray
    arrive: FloatArray
    bound: FloatArray
    came: NDArray[np.int32]
    to_rest: FloatArray
    rest_came: CodeArray


def make_staggered_space(longest: int, n_labels: int) -> StaggeredSpace:
    """Make the scratch arrays for `staggered_viterbi`; empty where labels are few."""
    if n_labels < MANY_LABELS:
        longest = n_labels = 0
    listed = (longest, n_labels)
    return StaggeredSpace(
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(longest, np.int32),
        np.zeros(listed, np.int32),
        np.zeros(longest),
        np.zeros(longest),
        np.zeros(longest),
        np.zeros(listed),
        np.zeros(listed),
        np.zeros(listed),
        np.zeros(listed, np.int32),
        np.zeros(longest),
        np.zeros(longest, np.int32),
    )


@kernel
def _size(values: FloatArray) -> float:
    """Return the largest absolute value."""
    size = 0.0
    for j in range(values.size):
        size = max(size, abs(values[j]))
    return size


@kernel
def _share(scores: FloatArray, space: StaggeredSpace) -> None:
    """Bound transitions by the best out of a label, then by what is left of them."""
    n_labels = scores.shape[0]
    out_of, into = space.out_of, space.into
    into[:] = -np.inf
    for a in range(n_labels):
        best = largest(scores[a])
        out_of[a] = best
        for b in range(n_labels):
            into[b] = max(into[b], scores[a, b] - best)


@kernel
def _list_labels(given: ChainScores, t: int, space: StaggeredSpace) -> None:
    """List the labels of a position within its margin."""
    node, n_labels = given.node[t], given.node.shape[1]
    before = space.into if t > 0 else given.start
    after = space.out_of if t < given.node.shape[0] - 1 else given.end
    masked = given.token_mask.shape[0] > 0
    top = -np.inf
    for b in range(n_labels):
        if not masked or given.token_mask[t, b]:
            top = max(top, before[b] + node[b] + after[b])
    least, rest, found = top - space.margin[t], -np.inf, 0
    for b in range(n_labels):
        if not masked or given.token_mask[t, b]:
            own = before[b] + node[b] + after[b]
            if own >= least:
                space.label[t, found] = b
                found += 1
            else:
                rest = max(rest, own)
    space.n_listed[t], space.rest[t] = found, rest


@kernel
def _reach_rest(t: int, reached: float, space: StaggeredSpace) -> float:
    """Return a bound on the score of any label behind the rest, coming from there."""
    if reached == -np.inf or space.rest[t] == -np.inf:
        return -np.inf
    # Every sum is off by half a unit in the last place at most.
    return reached + space.rest[t] + ROUNDING * (abs(reached) + space.size[t])


@kernel
def _count_pairs(length: int, space: StaggeredSpace) -> int:
    """Return how many pairs of listed labels there are."""
    total = 0
    for t in range(1, length):
        total += space.n_listed[t - 1] * space.n_listed[t]
    return total


@kernel
def _begin(given: ChainScores, space: StaggeredSpace) -> None:
    """Score the paths of one label, and of one rest."""
    for k in range(space.n_listed[0]):
        b = space.label[0, k]
        legal = given.mask.start[b]
        space.sure[0, k] = given.node[0, b] + given.start[b] if legal else -np.inf
        space.bound[0, k] = -np.inf
    space.to_rest[0] = _reach_rest(0, 0.0, space)
    space.rest_came[0] = REST


@kernel
def _go_on(given: ChainScores, t: int, space: StaggeredSpace) -> None:
    """Score the paths to the labels and the rest of a position from those before."""
    scores, legal = given.transition[0], given.mask.transitions
    for k in range(space.n_listed[t]):
        b = space.label[t, k]
        sure, bound, came = -np.inf, space.to_rest[t - 1] + space.into[b], REST
        for j in range(space.n_listed[t - 1]):
            a = space.label[t - 1, j]
            if legal[a, b]:
                sure = max(sure, space.sure[t - 1, j] + scores[a, b])
                if space.bound[t - 1, j] + scores[a, b] > bound:
                    bound, came = space.bound[t - 1, j] + scores[a, b], j
        space.arrive[t, k] = sure
        space.sure[t, k] = sure + given.node[t, b]
        space.bound[t, k] = bound + given.node[t, b]
        space.came[t, k] = came
    reached, came = space.to_rest[t - 1], REST
    for j in range(space.n_listed[t - 1]):
        here = max(space.sure[t - 1, j], space.bound[t - 1, j])
        here += space.out_of[space.label[t - 1, j]]
        if here > reached:
            reached, came = here, j
    space.to_rest[t] = _reach_rest(t, reached, space)
    space.rest_came[t] = came


@kernel
def _widen(given: ChainScores, place: int, space: StaggeredSpace) -> int:
    """List more labels where the best path with a rest has one; return the first."""
    first = given.node.shape[0] - 1
    for t in range(first, -1, -1):
        if place != REST:
            place = space.came[t, place]
            continue
        space.margin[t] *= 2.0
        _list_labels(given, t, space)
        first, place = t, space.rest_came[t]
        # What comes before may be a path without any.
        if place != REST and space.sure[t - 1, place] >= space.bound[t - 1, place]:
            break
    return first


@kernel
def _follow(
    given: ChainScores, place: int, y: CodeArray, space: StaggeredSpace
) -> None:
    """Write the labels of the best path that ends at a place of the last position."""
    scores, legal = given.transition[0], given.mask.transitions
    for t in range(y.size - 1, -1, -1):
        b = space.label[t, place]
        y[t] = b
        if t > 0:
            for j in range(space.n_listed[t - 1]):
                a = space.label[t - 1, j]
                same = space.sure[t - 1, j] + scores[a, b] == space.arrive[t, place]
                if same and legal[a, b]:
                    place = j
                    break


@kernel
def staggered_viterbi(given: ChainScores, y: CodeArray, space: StaggeredSpace) -> float:
    """Write the best legal labels to `y`; return their score, or -inf: use `viterbi`.

    Transitions must be tied.
    """
    length, n_labels = given.node.shape
    last, most_pairs = length - 1, WORTHWHILE * length * n_labels**2
    _share(given.transition[0], space)
    lowest, highest = np.inf, -np.inf
    for score in space.out_of:
        lowest, highest = min(lowest, score), max(highest, score)
    space.margin[:length] = FIRST_MARGIN * (highest - lowest)
    shares = _size(space.out_of) + _size(space.into)
    ends = _size(given.start) + _size(given.end)
    for t in range(length):
        space.size[t] = shares + ends + _size(given.node[t])
        _list_labels(given, t, space)
    first = 0
    for _ in range(ROUNDS):
        if _count_pairs(length, space) > most_pairs:
            break
        for t in range(first, length):
            if t == 0:
                _begin(given, space)
            else:
                _go_on(given, t, space)
        sure, place = -np.inf, 0
        bound, bound_place = space.to_rest[last], REST
        for k in range(space.n_listed[last]):
            b = space.label[last, k]
            if given.mask.end[b]:
                score = space.sure[last, k] + given.end[b]
                if score > sure:
                    sure, place = score, k
                if space.bound[last, k] + given.end[b] > bound:
                    bound, bound_place = space.bound[last, k] + given.end[b], k
        if sure > bound:
            _follow(given, place, y[:length], space)
            return sure
        first = _widen(given, bound_place, space)
    return -np.inf
