"""Segments as users write them, and as codes for every token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.checks import check_listed, check_same_length
from partwise.estimators.labels import Label, LabelCodes
from partwise.metrics.chunks import spans
from partwise.structures.interface import CodeArray, IntArray


class Segment(NamedTuple):
    """A segment: tokens ``start:end``, and its label."""

    start: int
    end: int
    label: Label


class ScoredSegment(NamedTuple):
    """A segment, and its probability under the model."""

    start: int
    end: int
    label: Label
    score: float


class RankedSegments(NamedTuple):
    """One of the k best segmentations, with its score."""

    segments: list[Segment]
    score: float


def segment_lists(
    y: Any, lengths: Iterable[int], outside: Label, called: str = "y"
) -> list[list[Segment]]:
    """Return checked segments, in order; those that are `outside` are left out.

    Parameters
    ----------
    y : list of lists
        Per sequence ``(start, end, label)`` for every segment, in any order; or a label
        for every token that spells them (B-PER, I-PER, O and the like), or None. The
        label of a stretch of which nothing is known is None.
    lengths : iterable of int
        How many tokens each sequence has.
    outside : label
        The label of what is no segment.
    called : str
        What messages call `y`.

    Examples
    --------
    >>> segment_lists([[(1, 2, "LOC")], ["B-PER", "I-PER", "O"]], [2, 3], "O")
    [[Segment(start=1, end=2, label='LOC')], [Segment(start=0, end=2, label='PER')]]
    """
    check_listed(y, f"{called} must be a list of lists of segments")
    listed, sizes = list(y), list(lengths)
    check_same_length(len(sizes), len(listed))
    return [
        _one_sequence(cut, size, f"{called}, sequence {i}", outside)
        for i, (cut, size) in enumerate(zip(listed, sizes, strict=True))
    ]


def _one_sequence(given: Any, length: int, where: str, outside: Label) -> list[Segment]:
    check_listed(
        given, f"{where}: expected a list of segments (start, end, label)", show=True
    )
    items = list(given)
    spelled = (str, set, frozenset)
    if items and all(item is None or isinstance(item, spelled) for item in items):
        if len(items) != length:
            raise DataError(f"{where}: {len(items)} labels for {length} tokens")
        joined = [
            _joined(item, f"{where}, token {t}") if isinstance(item, set | frozenset)
            else item or "O"
            for t, item in enumerate(items)
        ]  # fmt: skip
        known = [Segment(a, b, _parted(label)) for a, b, label in spans(joined)]
        return sorted(known + _unlabelled(items), key=lambda one: one[:2])
    found = sorted(
        (_segment(item, length, where) for item in items), key=lambda one: one[:2]
    )
    for one, two in pairwise(found):
        if two.start < one.end:
            raise DataError(
                f"{where}: the segments {tuple(one)} and {tuple(two)} overlap; a token "
                "can only be in one of them"
            )
    return [one for one in found if one.label != outside]


_OR = "\0"
"""Stands between the types of a segment that is one of several; no file has it."""


def _joined(labels: AbstractSet[Any], where: str) -> str:
    """Return one label that spells what several spell: a segment of one of their types.

    Examples
    --------
    >>> _parted(_joined({"B-PER", "B-LOC"}, "token 0").partition("-")[2]) == {
    ...     "PER", "LOC"
    ... }
    True
    """
    if not labels:
        raise DataError(
            f"{where}: an empty set of labels; write None (? in a file) if any label "
            "is possible"
        )
    if len(labels) == 1:
        return str(next(iter(labels)))
    parts = [str(label).partition("-") for label in labels]
    if len({mark for mark, _, _ in parts}) > 1 or not all(kind for _, _, kind in parts):
        raise DataError(
            f"{where}: the labels {sorted(map(str, labels))} do not spell one segment "
            "of several types, as B-A|B-B and then I-A|I-B do; write None (? in a "
            "file) where it is not known which tokens a segment has"
        )
    return f"{parts[0][0]}-{_OR.join(sorted(kind for _, _, kind in parts))}"


def _parted(label: str) -> Any:
    return set(label.split(_OR)) if _OR in label else label


def _unlabelled(labels: Sequence[Any]) -> list[Segment]:
    """Return the stretches of tokens that have no label."""
    found, at = [], 0
    for unknown, run in groupby(labels, key=lambda label: label is None):
        size = len(list(run))
        if unknown:
            found.append(Segment(at, at + size, None))
        at += size
    return found


def _segment(item: Any, length: int, where: str) -> Segment:
    try:
        start, end, label = item
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: expected segments (start, end, label), not {item!r}"
        ) from None
    for place in (start, end):
        if not isinstance(place, Integral) or isinstance(place, bool):
            raise DataError(
                f"{where}: the start and the end of {tuple(item)} must be integers"
            )
    if not 0 <= start < end <= length:
        raise DataError(
            f"{where}: the segment {tuple(item)} is empty or not inside its sequence "
            f"of {length} tokens (ends are exclusive)"
        )
    if isinstance(label, set | frozenset) and not label:
        raise DataError(
            f"{where}: the segment {tuple(item)} has an empty set of labels; write "
            "None if nothing is known of its tokens"
        )
    return Segment(int(start), int(end), label)


def encode_segments(
    cuts: Sequence[Sequence[Segment]], ptr: IntArray, labels: LabelCodes, outside: Label
) -> CodeArray:
    """Return the codes of all tokens; those outside are segments of their own."""
    K = len(labels)
    codes = np.full(int(ptr[-1]), -1, np.int32)
    for first, cut in zip(ptr.tolist(), cuts, strict=False):
        for start, end, label in cut:
            k = labels.code(label, "y")
            codes[first + start : first + end] = K + k
            codes[first + start] = k
    if (codes < 0).any():
        codes[codes < 0] = labels.code(outside, "y")
    return codes


def decode_segments(
    codes: CodeArray, ptr: IntArray, labels: LabelCodes, outside: Label
) -> list[list[Segment]]:
    """Return the segments that codes spell, without those that are `outside`."""
    K, classes = len(labels), labels.classes
    begins = np.flatnonzero(codes < K)
    ends = np.append(begins[1:], codes.size)
    owner = np.searchsorted(ptr, begins, side="right") - 1
    result: list[list[Segment]] = [[] for _ in range(ptr.size - 1)]
    rows = (owner, begins - ptr[owner], ends - ptr[owner], codes[begins])
    for i, a, b, k in zip(*(row.tolist() for row in rows), strict=True):
        if classes[k] != outside:
            result[i].append(Segment(a, b, classes[k]))
    return result


def find_limits(
    max_length: Any,
    cuts: Sequence[Sequence[Segment]],
    labels: LabelCodes,
    outside: Label,
    known: Mapping[Label, int] | None = None,
) -> NDArray[np.int64]:
    """Return how long segments of each label may be; gold must keep to it.

    Those whose limits are `known` may be as long as that at least.
    """
    known = known or {}
    longest = {label: known.get(label, 1) for label in labels.classes}
    for cut in cuts:
        for start, end, label in cut:
            longest[label] = max(longest[label], end - start)
    limits = dict(longest)
    if isinstance(max_length, Mapping):
        for label, limit in max_length.items():
            labels.code(label, "max_length")
            limits[label] = _limit(limit)
    elif max_length is not None:
        limits = {label: _limit(max_length) for label in longest}
    limits = {name: max(limits[name], known.get(name, 1)) for name in limits}
    limits[outside] = 1
    for i, cut in enumerate(cuts):
        for one in cut:
            if one.end - one.start > limits[one.label]:
                of_label = isinstance(max_length, Mapping)
                limit = f"[{one.label!r}]" if of_label else ""
                raise DataError(
                    f"y, sequence {i}: the segment {tuple(one)} has "
                    f"{one.end - one.start} tokens, more than max_length{limit}="
                    f"{limits[one.label]} allows; raise max_length, or correct it"
                )
    return np.array([limits[label] for label in labels.classes], np.int64)


def _limit(limit: Any) -> int:
    if not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 1:
        raise ValueError(
            "max_length must be an integer >= 1, or a dict of them by label, not "
            f"{limit!r}"
        )
    return int(limit)


def forbidden_codes(
    ptr: IntArray,
    forbidden_labels: NDArray[np.bool_] | None,
    known: Any,
    labels: LabelCodes,
    outside: Label,
    limits: NDArray[np.int64],
) -> NDArray[np.bool_] | None:
    """Return the codes that tokens may not have, by their labels and known segments."""
    if forbidden_labels is None and known is None:
        return None
    K, n_tokens = len(labels), int(ptr[-1])
    mask = np.zeros((n_tokens, 2 * K), bool)
    if forbidden_labels is not None:
        mask[:, :K] = mask[:, K:] = forbidden_labels
    if known is None:
        return mask
    cuts = [() if cut is None else cut for cut in known]
    found = segment_lists(cuts, np.diff(ptr).tolist(), outside, "known")
    for i, cut in enumerate(found):
        first, last = int(ptr[i]), int(ptr[i + 1])
        for start, end, label in cut:
            if label is None:
                continue  # a stretch of which nothing is known
            kinds = label if isinstance(label, set | frozenset) else (label,)
            codes = [labels.code(kind, "known") for kind in kinds]
            if not codes:
                raise DataError(
                    f"known, sequence {i}: the segment ({start}, {end}, {label!r}) has "
                    "an empty set of labels; leave it out if nothing is known of it"
                )
            most = max(int(limits[k]) for k in codes)
            if end - start > most:
                raise DataError(
                    f"known, sequence {i}: the segment ({start}, {end}, {label!r}) has "
                    f"{end - start} tokens, but those of its label have at most "
                    f"{most}; train with a larger max_length, or correct it"
                )
            own = mask[first + start : first + end]
            other = np.ones_like(own)
            other[0, codes] = False
            other[1:, [K + k for k in codes]] = False
            own |= other
            if first + end < last:
                mask[first + end, K:] = True  # where the known segment does not go on
    return mask
