"""Any structure with a set of good outputs for every example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise._jit import kernel
from partwise.errors import DataError
from partwise.structures import interface as waist
from partwise.structures.delegation import delegate
from partwise.structures.interface import CodeArray, IntArray, Structure
from partwise.structures.vectors import copy


class GoodOutputs(NamedTuple):
    """A corpus and its good outputs; `with_good_outputs` makes one.

    The outputs of example `i`, one after the other, are ``codes[start[i]:]``.
    """

    corpus: Any
    n_outputs: IntArray
    start: IntArray
    codes: CodeArray


@waist.n_good.implement(GoodOutputs)
def _(s: GoodOutputs, i: int) -> int:
    return s.n_outputs[i]


@waist.good_at.implement(GoodOutputs)
def _(s: GoodOutputs, i: int, j: int, y: CodeArray) -> None:
    size = waist.output_size(s.corpus, i)
    at = s.start[i] + j * size
    copy(s.codes[at : at + size], y)


# The default of `is_good` asks the two above.
delegate(GoodOutputs, defaults=(waist.is_good,))


def with_good_outputs(
    structure: Structure, outputs: Sequence[Sequence[Sequence[int]]]
) -> GoodOutputs:
    """Return the same corpus, with several good outputs for every example.

    Parameters
    ----------
    structure : structure
        A corpus; its own output of every example stays the right one.
    outputs : sequence of sequences of outputs
        For every example its good outputs, as integer codes. The right output must be
        among them; which place it has does not matter, nor does what comes twice.

    Returns
    -------
    GoodOutputs
        A structure. Losses that know of sets compare with all good outputs, see
        `SetHinge`; to every other one the right output is the only good one.

    Examples
    --------
    Of three classes, both 0 and 1 are good for the first example:

    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 2], 3)
    >>> s = with_good_outputs(s, [[[0], [1]], [[2]]])
    >>> int(waist.n_good(s, 0)), int(waist.n_good(s, 1))
    (2, 1)
    """
    count = int(waist.n_examples(structure))
    if len(outputs) != count:
        raise DataError(f"{len(outputs)} sets of good outputs for {count} examples")
    sets = [_check_set(structure, i, outputs[i]) for i in range(count)]
    counts = np.array([len(good) for good in sets], np.int64)
    sizes = np.array([good.size for good in sets], np.int64)
    codes = np.concatenate([good.ravel() for good in sets] or [np.zeros(0, np.int32)])
    s = GoodOutputs(structure, counts, np.cumsum(sizes) - sizes, codes)
    if waist.kbest.provided_by(type(waist.innermost(structure))):
        _refuse_all_good(s)
    return s


def _check_set(s: Structure, i: int, outputs: Sequence[Sequence[int]]) -> CodeArray:
    """Return the different good outputs of one example, the right one first."""
    size = int(waist.output_size(s, i))
    right = np.zeros(size, np.int32)
    waist.gold(s, i, right)
    seen = {tuple(right.tolist()): False}
    if len(outputs) == 0:
        raise DataError(f"example {i} has no good output; give it one, or leave it out")
    for y in outputs:
        codes = np.asarray(y)
        if codes.shape != (size,) or codes.dtype.kind not in "iu":
            raise DataError(
                f"a good output of example {i} is {y!r}; expected {size} integer codes"
            )
        seen[tuple(codes.tolist())] = True
    if not seen[tuple(right.tolist())]:
        raise DataError(
            f"the right output of example {i}, {right.tolist()}, is not among its "
            "good ones; add it"
        )
    good = np.array(list(seen)).reshape(len(seen), size)
    if not _are_possible(s, i, good):
        raise DataError(
            f"a good output of example {i} has codes that no output of it can have"
        )
    return good.astype(np.int32)


def _are_possible(s: Structure, i: int, good: Any) -> bool:
    """Say whether outputs have parts that exist, as far as can be told."""
    n_parts, size = int(waist.n_parts(s, i)), int(waist.output_size(s, i))
    limit = max(n_parts, size) + 1  # no structure has more codes than parts
    if (np.abs(good) > limit).any():
        return False
    ids, counts = np.zeros(n_parts + 2 * size, np.int64), np.zeros(n_parts + 2 * size)
    for y in good.astype(np.int32):
        try:
            found = _parts_of(s, i, y, ids, counts)
        except IndexError:  # from plain Python
            return False
        if (ids[:found] < 0).any() or (ids[:found] >= n_parts).any():
            return False
    return True


@kernel
def _parts_of(s: Structure, i: int, y: CodeArray, ids: Any, counts: Any) -> int:
    return waist.parts_of(s, i, y, ids, counts)


def _refuse_all_good(s: GoodOutputs) -> None:
    """Raise `DataError` if an example has no wrong output."""
    most_parts, most_codes = waist.largest_sizes(s)
    most = int(s.n_outputs.max(initial=1)) + 1
    ys, scores = np.zeros((most, most_codes), np.int32), np.zeros(most)
    found = np.zeros(s.n_outputs.size, np.int64)
    _count_outputs(s, np.zeros(most_parts), ys, scores, found, waist.workspace(s, most))
    for i in np.flatnonzero((s.n_outputs > 1) & (found <= s.n_outputs)):
        raise DataError(
            f"every output of example {i} is good: there is nothing to learn from it; "
            "leave it out"
        )


@kernel
def _count_outputs(
    s: GoodOutputs, theta: Any, ys: Any, scores: Any, found: IntArray, ws: Any
) -> None:
    for i in range(found.size):
        if s.n_outputs[i] > 1:
            waist.visit(s, i, ws)
            found[i] = waist.kbest(s, i, theta, s.n_outputs[i] + 1, ys, scores, ws)
