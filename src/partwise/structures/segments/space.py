"""Scratch arrays of segmented sequences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.segments.corpus import Segments


class SegmentSpace(NamedTuple):
    """Scratch arrays, by token and label or by label and token.

    `roles` has numbers of tokens in their roles; `head` and `tail` what a segment has
    of its first and its last token, prefix sums included; `shapes` a number by shape;
    `reach` how long a segment may be that begins somewhere. `enter` and `leave` are of
    prefixes before and after a segment, `open` and `close` of suffixes from and after
    one. `zeros` are scores without parts, `terms` and `exps` what is added up. The rest
    is for several best outputs.
    """

    roles: FloatArray
    head: FloatArray
    tail: FloatArray
    shapes: FloatArray
    reach: NDArray[np.int32]
    legal: FloatArray
    enter: FloatArray
    leave: FloatArray
    open: FloatArray
    close: FloatArray
    ranked_enter: FloatArray
    enter_label: NDArray[np.int32]
    enter_rank: NDArray[np.int32]
    ranked_leave: FloatArray
    leave_length: NDArray[np.int32]
    leave_rank: NDArray[np.int32]
    cursor: CodeArray
    zeros: FloatArray
    terms: FloatArray
    exps: FloatArray


@waist.workspace.implement(Segments)
def _(s: Segments, k: int) -> Any:
    longest, K = int(np.diff(s.ptr).max(initial=0)), s.layout.n_labels
    by_token, by_label = (longest, K), (K, longest)
    ranked = (longest, K, k if k > 1 else 0)
    widest = int(max(K, np.diff(s.shape_at).max()))
    return SegmentSpace(
        np.zeros((longest, s.layout.n_roles * K)),
        np.zeros(by_label),
        np.zeros(by_label),
        np.zeros(s.layout.n_shapes),
        np.zeros(by_label, np.int32),
        np.zeros((K, K)),
        np.zeros(by_token),
        np.zeros(by_label),
        np.zeros(by_token),
        np.zeros(by_label),
        np.zeros(ranked),
        np.zeros(ranked, np.int32),
        np.zeros(ranked, np.int32),
        np.zeros(ranked),
        np.zeros(ranked, np.int32),
        np.zeros(ranked, np.int32),
        np.zeros(widest, np.int32),
        np.zeros(K),
        np.zeros(widest),
        np.zeros(widest),
    )
