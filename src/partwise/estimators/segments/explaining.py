"""Why a segment is one: the best segmentation without it, and what decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partwise.errors import DataError
from partwise.estimators.explanation import (
    Choice,
    Explanation,
    contributions,
    difference,
)
from partwise.estimators.labels import LabelCodes
from partwise.estimators.segments.cuts import Segment, decode_segments
from partwise.estimators.segments.weights import SegmentWeights
from partwise.structures import interface as waist
from partwise.structures.decoding import decode
from partwise.structures.interface import FloatArray
from partwise.structures.partial import best_completions, make_partial
from partwise.structures.segments import Segments
from partwise.structures.segments.parts import part_of


def explain_segments(
    s: Segments,
    w: FloatArray,
    names: SegmentWeights,
    labels: LabelCodes,
    words: Sequence[str],
) -> Explanation:
    """Explain every segment of the one sequence in `s`, those outside as well."""
    ws = waist.workspace(s, 1)
    best = decode(s, w).codes
    result = Explanation()
    for one in decode_segments(best, s.ptr, labels, None)[0]:
        shown = " ".join(words[one.start : one.end])
        part = part_of(s, one.start, best[one.start], one.end - one.start)
        try:
            without = make_partial(s, [0, 1], [part], [0.0])
        except DataError:  # there is no other segmentation
            result.append(Choice(shown, one.label, None, float("inf"), []))
            continue
        other = best_completions(without, w).codes
        change = difference(s, w, best, other, ws)
        [cut] = decode_segments(other, s.ptr, labels, None)
        runner_up = _in_words(one, cut)
        margin = float(np.sum(list(change.values())))
        found = contributions(change, names)
        result.append(Choice(shown, one.label, runner_up, margin, found))
    return result


def _in_words(one: Segment, cut: Sequence[Segment]) -> str:
    """Say what takes the place of a segment: a label, or several with their tokens.

    Examples
    --------
    >>> _in_words(Segment(0, 2, "PER"), [Segment(0, 1, "LOC"), Segment(1, 3, "PER")])
    'LOC 0:1, PER 1:3'
    """
    instead = [two for two in cut if two.start < one.end and one.start < two.end]
    if [two[:2] for two in instead] == [one[:2]]:
        return str(instead[0].label)
    return ", ".join(f"{two.label} {two.start}:{two.end}" for two in instead)
