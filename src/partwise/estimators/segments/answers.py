"""What segment taggers answer: best segments, k best, probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._notebooks import Shown, ShownSpans
from partwise.estimators.checks import check_k, check_possible
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.segments.cuts import (
    RankedSegments,
    ScoredSegment,
    Segment,
    decode_segments,
)
from partwise.structures import decoding
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.segments import Segments
from partwise.structures.segments.known import farthest


def best_segments(
    s: Segments, w: FloatArray, labels: LabelCodes, outside: Label, n_jobs: int
) -> list[list[Segment]]:
    """Return the segments of every sequence with the highest score."""
    best = decoding.decode(s, w, n_jobs)
    check_possible(best.scores, partial(farthest, s, None))
    return decode_segments(best.codes, best.ptr, labels, outside)


def best_ranked(
    s: Segments, w: FloatArray, labels: LabelCodes, outside: Label, k: int, n_jobs: int
) -> list[list[RankedSegments]]:
    """Return the `k` best segmentations, best first; fewer where there are fewer."""
    check_k(k)
    ptr, codes, scores, found = decoding.decode_kbest(s, w, k, n_jobs)
    check_possible(scores[:, 0], partial(farthest, s, None))
    ranks = [
        decode_segments(codes[j], ptr, labels, outside)
        for j in range(int(found.max(initial=0)))
    ]
    return [
        [RankedSegments(ranks[j][i], float(scores[i, j])) for j in range(found[i])]
        for i in range(found.size)
    ]


def _marginals(s: Segments, w: FloatArray, n_jobs: int) -> tuple[IntArray, FloatArray]:
    """Return the marginals of all segments, and where those of a sequence are."""
    wanted = s.layout.n_shapes * np.diff(s.ptr)
    ptr, mu, log_z = decoding.part_marginals(s, w, wanted, n_jobs)
    check_possible(log_z, partial(farthest, s, None))
    return ptr, mu


def label_probabilities(
    s: Segments, w: FloatArray, n_jobs: int
) -> list[NDArray[np.float64]]:
    """Return the probability of every label at every token, one row per token."""
    ptr, mu = _marginals(s, w, n_jobs)
    limits = np.diff(s.shape_at)
    label = np.repeat(np.arange(limits.size), limits)
    length = np.concatenate([np.arange(1, limit + 1) for limit in limits])
    result = []
    for a, b in pairwise(ptr.tolist()):
        share = mu[a:b].reshape(-1, s.layout.n_shapes)
        # A segment is added where it begins and taken away where it ends.
        change = np.zeros((len(share) + 1, limits.size))
        start = np.repeat(np.arange(len(share)), length.size)
        end = np.minimum(start + np.tile(length, len(share)), len(share))
        np.add.at(change, (start, np.tile(label, len(share))), share.ravel())
        np.add.at(change, (end, np.tile(label, len(share))), -share.ravel())
        result.append(np.clip(np.cumsum(change, axis=0)[:-1], 0.0, 1.0))
    return result


def scored_segments(
    s: Segments, w: FloatArray, labels: LabelCodes, outside: Label, n_jobs: int
) -> list[list[ScoredSegment]]:
    """Return the best segments, with their probabilities."""
    cuts = best_segments(s, w, labels, outside, n_jobs)
    ptr, mu = _marginals(s, w, n_jobs)
    result = Shown[list[ScoredSegment]]()
    for first, cut in zip(ptr.tolist(), cuts, strict=False):
        found = ShownSpans[ScoredSegment]()
        for start, end, label in cut:
            shape = int(s.shape_at[labels.code(label, "")]) + end - start - 1
            share = float(mu[first + start * s.layout.n_shapes + shape])
            found.append(ScoredSegment(start, end, label, share))
        result.append(found)
    return result


def shares_of(
    s: Segments, w: FloatArray, cuts: Iterable[Any], labels: LabelCodes, n_jobs: int
) -> FloatArray:
    """Return the probabilities of given segments, end to end; 0 for impossible ones."""
    ptr, mu = _marginals(s, w, n_jobs)
    code = {label: k for k, label in enumerate(labels.classes)}
    limits = np.diff(s.shape_at)
    found = []
    for first, cut in zip(ptr.tolist(), cuts, strict=False):
        for start, end, label in cut:
            k, length = code.get(label, -1), end - start
            possible = k >= 0 and length <= limits[k]
            shape = int(s.shape_at[k]) + length - 1
            at = first + start * s.layout.n_shapes + shape
            found.append(float(mu[at]) if possible else 0.0)
    return np.array(found)


def likely_segments(
    s: Segments,
    w: FloatArray,
    labels: LabelCodes,
    outside: Label,
    least: float,
    n_jobs: int,
) -> list[list[ScoredSegment]]:
    """Return all segments that are at least this probable, in order."""
    ptr, mu = _marginals(s, w, n_jobs)
    label = np.repeat(np.arange(len(labels)), np.diff(s.shape_at))
    length = np.arange(label.size) - s.shape_at[label] + 1
    result = []
    for (a, b), n in zip(pairwise(ptr.tolist()), np.diff(s.ptr).tolist(), strict=True):
        share = mu[a:b].reshape(n, -1)
        at, j = np.nonzero((share >= least) & (np.arange(n)[:, None] + length <= n))
        names = [labels.classes[k] for k in label[j].tolist()]
        columns = (at.tolist(), (at + length[j]).tolist(), names, share[at, j].tolist())
        found = list(map(ScoredSegment, *columns))
        result.append([one for one in found if one.label != outside])
    return result


def abstaining(
    cut: Sequence[Segment], likely: Sequence[ScoredSegment]
) -> list[Segment]:
    """Return the segments of a cut that are likely, and that no other likely one meets.

    The label of all other tokens of segments is None: they may be something else.

    Examples
    --------
    >>> cut = [Segment(0, 2, "PER"), Segment(3, 4, "LOC"), Segment(5, 6, "LOC")]
    >>> likely = [ScoredSegment(*one, 0.9) for one in cut[:2]]
    >>> abstaining(cut, [*likely, ScoredSegment(1, 3, "LOC", 0.1)])[:2]
    [Segment(start=0, end=3, label=None), Segment(start=3, end=4, label='LOC')]
    """
    own, known = set(cut), {Segment(*one[:3]) for one in likely}
    sure = [
        one
        for one in cut
        if one in known
        and not any(
            other.start < one.end and one.start < other.end and other != one
            for other in known
        )
    ]
    disputed = sorted((own | known) - set(sure), key=lambda one: one[:2])
    found: list[Segment] = []
    for start, end, _ in disputed:
        if found and start <= found[-1].end:
            start, end = found[-1].start, max(end, found.pop().end)
        found.append(Segment(start, end, None))
    return sorted(sure + found)


def spell(
    cuts: Iterable[Sequence[Any]], lengths: Iterable[int], outside: Label
) -> list[list[str]]:
    """Return a label for every token: B-LABEL, I-LABEL, or the one outside.

    It is ? where the label of a segment is None: where nothing is known.

    Examples
    --------
    >>> spell([[(0, 2, "PER"), (3, 4, "_"), (4, 5, None)]], [5], "O")
    [['B-PER', 'I-PER', 'O', 'B', '?']]
    """
    result = []
    for cut, length in zip(cuts, lengths, strict=True):
        spelled = [str(outside)] * length
        for start, end, label in cut:
            if label is None:
                spelled[start:end] = ["?"] * (end - start)
                continue
            rest = "" if label == "_" else f"-{label}"
            spelled[start:end] = ["B" + rest] + ["I" + rest] * (end - start - 1)
        result.append(spelled)
    return result
