"""The best path and the k best paths through a chain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures.chain.scores import ChainScores, mask_transitions
from partwise.structures.interface import CodeArray, FloatArray


class ViterbiSpace(NamedTuple):
    """Scratch arrays: scores and back pointers by position, label and rank.

    Of two best paths, `after` has the best score of what follows a label, `onward` that
    of a label and what follows it, and `legal_into` transitions by the label after.
    """

    legal: FloatArray
    best: FloatArray
    arrive: FloatArray
    rank_score: NDArray[np.float64]
    rank_label: NDArray[np.int32]
    rank_rank: NDArray[np.int32]
    cursor: CodeArray
    after: FloatArray
    onward: FloatArray
    legal_into: FloatArray


def make_viterbi_space(longest: int, n_labels: int, k: int) -> ViterbiSpace:
    """Make the scratch arrays for `viterbi`, and for `kbest_paths` if ``k > 1``."""
    ranks = (longest, n_labels, k) if k > 2 else (0, 0, 0)
    several = k > 1
    return ViterbiSpace(
        np.zeros((n_labels, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros((longest, n_labels)),
        np.zeros(ranks),
        np.zeros(ranks, np.int32),
        np.zeros(ranks, np.int32),
        np.zeros(n_labels, np.int32),
        np.zeros((several * longest, n_labels)),
        np.zeros(n_labels),
        np.zeros((several * n_labels, n_labels)),
    )


@kernel
def reach(before: FloatArray, steps: FloatArray, out: FloatArray) -> None:
    """Set ``out[b]`` to the largest ``before[a] + steps[a, b]``.

    Four labels before at a time, or every one would wait for the sums of the last.
    """
    n = before.size
    first = steps[0]
    for b in range(out.size):
        out[b] = before[0] + first[b]
    for a in range(1, n - 3, 4):
        p, q, r, s = before[a], before[a + 1], before[a + 2], before[a + 3]
        to_p, to_q, to_r, to_s = steps[a], steps[a + 1], steps[a + 2], steps[a + 3]
        for b in range(out.size):
            one, two = max(p + to_p[b], q + to_q[b]), max(r + to_r[b], s + to_s[b])
            out[b] = max(out[b], max(one, two))
    for a in range(n - (n - 1) % 4, n):
        p, to_p = before[a], steps[a]
        for b in range(out.size):
            out[b] = max(out[b], p + to_p[b])


@kernel
def viterbi(given: ChainScores, y: CodeArray, space: ViterbiSpace) -> float:
    """Write the best legal labels to `y`; return their score, or -inf.

    Of equal scores the lowest label wins.
    """
    node, transition, start, end, mask, token_mask = given
    length, n_labels = node.shape
    best, arrive, legal = space.best, space.arrive, space.legal
    tied = transition.shape[0] == 1
    if transition.shape[0] > 0:
        mask_transitions(transition[0], mask.transitions, legal)
    for b in range(n_labels):
        best[0, b] = node[0, b] + start[b] if mask.start[b] else -np.inf
    for t in range(length):
        if t > 0:
            if not tied and t > 1:
                mask_transitions(transition[t - 1], mask.transitions, legal)
            here = arrive[t]
            reach(best[t - 1], legal, here)
            for b in range(n_labels):
                best[t, b] = here[b] + node[t, b]
        if token_mask.shape[0] > 0:
            for b in range(n_labels):
                if not token_mask[t, b]:
                    best[t, b] = -np.inf
    result = -np.inf
    y[length - 1] = 0
    for b in range(n_labels):
        score = best[length - 1, b] + end[b] if mask.end[b] else -np.inf
        if score > result:
            result = score
            y[length - 1] = b
    # No back pointers: the label before is the first that gives the same sum again,
    # and leaving them out lets the inner loop above run on whole vectors.
    for t in range(length - 1, 0, -1):
        if not tied and t < length - 1:
            mask_transitions(transition[t - 1], mask.transitions, legal)
        b = y[t]
        y[t - 1] = 0
        for a in range(n_labels):
            if best[t - 1, a] + legal[a, b] == arrive[t, b]:
                y[t - 1] = a
                break
    return result


@kernel
def _look_ahead(given: ChainScores, space: ViterbiSpace) -> None:
    """Set ``space.after[t, a]`` to the best score of what may follow `a` at `t`."""
    node, transition, _, end, mask, token_mask = given
    length, n_labels = node.shape
    after, onward, into = space.after, space.onward, space.legal_into
    tied = transition.shape[0] == 1
    for b in range(n_labels):
        after[length - 1, b] = end[b] if mask.end[b] else -np.inf
    for t in range(length - 2, -1, -1):
        if not tied or t == length - 2:
            scores = transition[0 if tied else t]
            for a in range(n_labels):
                for b in range(n_labels):
                    into[b, a] = scores[a, b] if mask.transitions[a, b] else -np.inf
        for b in range(n_labels):
            legal = token_mask.shape[0] == 0 or token_mask[t + 1, b]
            onward[b] = node[t + 1, b] + after[t + 1, b] if legal else -np.inf
        reach(onward, into, after[t])


@kernel
def _two_best_paths(
    given: ChainScores, ys: NDArray[np.int32], scores: FloatArray, space: ViterbiSpace
) -> int:
    """Write the two best legal label sequences; return how many exist.

    The second has a label somewhere that the first has not there: of the best paths
    through every such label it is the best. O(T K^2), on whole vectors.
    """
    scores[0] = viterbi(given, ys[0], space)
    if scores[0] == -np.inf:
        return 0
    _look_ahead(given, space)
    node, transition, _, _, mask, token_mask = given
    length, n_labels = node.shape
    best, arrive, after = space.best, space.arrive, space.after
    tied = transition.shape[0] == 1
    top, at = -np.inf, 0
    y = ys[1]
    for t in range(length):
        for b in range(n_labels):
            through = best[t, b] + after[t, b]
            if through > top and b != ys[0, t]:
                top, at = through, t
                y[t] = b
    if top == -np.inf:
        return 1
    scores[1] = min(top, scores[0])  # whatever rounding says
    # As in `viterbi`, sums that come out the same again show where paths go.
    for t in range(at, 0, -1):
        scores_here, b = transition[0 if tied else t - 1], y[t]
        for a in range(n_labels):
            same = best[t - 1, a] + scores_here[a, b] == arrive[t, b]
            if same and mask.transitions[a, b]:
                y[t - 1] = a
                break
    for t in range(at + 1, length):
        scores_here, a = transition[0 if tied else t - 1], y[t - 1]
        for b in range(n_labels):
            onward = node[t, b] + after[t, b]
            same = scores_here[a, b] + onward == after[t - 1, a]
            legal = token_mask.shape[0] == 0 or token_mask[t, b]
            if same and legal and mask.transitions[a, b]:
                y[t] = b
                break
    return 2


@kernel
def kbest_paths(
    given: ChainScores,
    k: int,
    ys: NDArray[np.int32],
    scores: FloatArray,
    space: ViterbiSpace,
) -> int:
    """Write the `k` best legal label sequences, best first; return how many exist.

    Every (position, label) keeps its `k` best prefixes; the next best prefix is
    merged from the sorted lists of the labels before: O(T K^2 k).
    """
    if k == 1:
        scores[0] = viterbi(given, ys[0], space)
        return 1 if scores[0] > -np.inf else 0
    if k == 2:
        return _two_best_paths(given, ys, scores, space)
    node, transition, start, end, mask, token_mask = given
    length, n_labels = node.shape
    score, label, rank = space.rank_score, space.rank_label, space.rank_rank
    legal, cursor = space.legal, space.cursor
    tied = transition.shape[0] == 1
    if transition.shape[0] > 0:
        mask_transitions(transition[0], mask.transitions, legal)
    for b in range(n_labels):
        score[0, b, :k] = -np.inf
        if mask.start[b] and (token_mask.shape[0] == 0 or token_mask[0, b]):
            score[0, b, 0] = node[0, b] + start[b]
    for t in range(1, length):
        if not tied and t > 1:
            mask_transitions(transition[t - 1], mask.transitions, legal)
        for b in range(n_labels):
            score[t, b, :k] = -np.inf
            if token_mask.shape[0] > 0 and not token_mask[t, b]:
                continue
            cursor[:] = 0
            for j in range(k):
                top, best_a = -np.inf, -1
                for a in range(n_labels):
                    if cursor[a] < k:
                        candidate = score[t - 1, a, cursor[a]] + legal[a, b]
                        if candidate > top:
                            top, best_a = candidate, a
                if best_a < 0:
                    break
                score[t, b, j] = top + node[t, b]
                label[t, b, j] = best_a
                rank[t, b, j] = cursor[best_a]
                cursor[best_a] += 1
    cursor[:] = 0
    found = 0
    while found < k:
        top, best_b = -np.inf, -1
        for b in range(n_labels):
            if mask.end[b] and cursor[b] < k:
                candidate = score[length - 1, b, cursor[b]] + end[b]
                if candidate > top:
                    top, best_b = candidate, b
        if best_b < 0:
            break
        scores[found] = top
        b, r = best_b, cursor[best_b]
        for t in range(length - 1, 0, -1):
            ys[found, t] = b
            b, r = label[t, b, r], rank[t, b, r]
        ys[found, 0] = b
        cursor[best_b] += 1
        found += 1
    return found
