"""Segmentations that are known in part.

A segment whose label is None is a stretch of which nothing is known: it may hold any
segments. A segment whose label is a set has one of these labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import is_partial
from partwise.estimators.segments.cuts import Segment
from partwise.structures.interface import IntArray

Cuts = Sequence[Sequence[Segment]]


def known_in_part(cuts: Cuts) -> bool:
    """Say whether a stretch is not known, or a segment has one of several labels."""
    return any(is_partial(one.label) for cut in cuts for one in cut)


def possible_segments(cuts: Cuts) -> list[list[Segment]]:
    """Return the segments that are known, once for each of their possible labels.

    Examples
    --------
    >>> possible_segments([[Segment(0, 2, {"LOC"}), Segment(2, 5, None)]])
    [[Segment(start=0, end=2, label='LOC')]]
    """
    found: list[list[Segment]] = []
    for cut in cuts:
        own = []
        for start, end, label in cut:
            some = sorted(label) if isinstance(label, set | frozenset) else [label]
            own += [Segment(start, end, one) for one in some if one is not None]
        found.append(own)
    return found


def one_completion(
    cuts: Cuts, labels: LabelCodes, outside: Label
) -> list[list[Segment]]:
    """Return segmentations with one of the possible labels.

    What is not known is outside, or where nothing is, segments of one token.
    """
    filler = None if outside in labels.classes else labels.classes[0]
    found = []
    for cut in cuts:
        own: list[Segment] = []
        for start, end, label in cut:
            if label is not None:
                own.append(
                    Segment(start, end, min(label) if is_partial(label) else label)
                )
            elif filler is not None:
                own += [Segment(t, t + 1, filler) for t in range(start, end)]
        found.append(own)
    return found


def agreeing_cuts(
    cuts: Cuts, others: Sequence[Sequence[Segment]]
) -> list[list[Segment]]:
    """Return segmentations with segments of others where these agree with them.

    Examples
    --------
    >>> cut, other = [Segment(0, 2, None)], [Segment(1, 2, "LOC"), Segment(2, 3, "PER")]
    >>> agreeing_cuts([cut], [other])
    [[Segment(start=1, end=2, label='LOC')]]
    """
    found = []
    for cut, other in zip(cuts, others, strict=True):
        own: list[Segment] = []
        for one in cut:
            start, end, label = one
            if not is_partial(label):
                own.append(one)
            elif label is None:
                own += [two for two in other if start <= two.start and two.end <= end]
            else:
                same = [a for a in label if (start, end, a) in other]
                own.append(Segment(start, end, *(same or [min(label)])))
        found.append(own)
    return found


def wrong_codes(
    cuts: Cuts, ptr: IntArray, labels: LabelCodes, outside: Label
) -> NDArray[np.bool_]:
    """Return the codes that tokens do not have; none where nothing is known.

    A segment ends where it is known to end, whatever comes after it.
    """
    K, known = len(labels), labels.classes
    wrong = np.ones((int(ptr[-1]), 2 * K), bool)
    if outside in known:  # the label of all that is not in a segment
        wrong[:, known.index(outside)] = False
    for i, cut in enumerate(cuts):
        first, last = int(ptr[i]), int(ptr[i + 1])
        for start, end, label in cut:
            own = wrong[first + start : first + end]
            if label is None:
                own[:] = False
                continue
            some = label if is_partial(label) else (label,)
            codes = labels.encode(some, "y")
            own[:] = True
            own[0, codes] = False
            own[1:, K + codes] = False
        # Nothing goes on from a segment that has ended, and nothing at the start.
        for _, end, label in cut:
            if label is not None and first + end < last:
                wrong[first + end, K:] = True
        if first < last:
            wrong[first, K:] = True
    return wrong
