"""One example of a corpus with all that is true about it, and the brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.testing import assert_allclose

from partwise._jit import Generic
from partwise.structures import interface as waist
from partwise.structures.interface import CodeArray, FloatArray
from partwise.testing import questions as ask

Output: TypeAlias = tuple[int, ...]

# Room behind every array: nobody may read it (it is not a number) or write to it.
GUARD = 3


class Case(NamedTuple):
    """One example of a corpus, with all that is true about it.

    Attributes
    ----------
    s : structure
        A small corpus.
    i : int
        The example that the laws ask about.
    outputs : list of tuples of int
        All legal outputs of the example, as codes.
    theta : array
        Any scores of its parts; they need not follow from `w`.
    w : array
        Any weights.
    features : callable
        The feature vector of an output, in full, computed in the plainest way.
    cost : callable, optional
        The cost of an output; None for a structure without costs.
    seed : int
        What random choices of a law follow from.
    """

    s: Any
    i: int
    outputs: list[Output]
    theta: FloatArray
    w: FloatArray
    features: Callable[[Output], FloatArray]
    cost: Callable[[Output], float] | None = None
    seed: int = 0


class NotAnswered(Exception):
    """A law asks what the structure does not answer, and has nothing to say."""


def require(case: Case, *questions: Generic) -> None:
    """Raise `NotAnswered` unless the structure answers all questions of a law."""
    cls = type(case.s)
    missing = [q.__name__ for q in questions if not q.provided_by(cls)]
    if missing:
        raise NotAnswered(f"{cls.__name__} does not answer {', '.join(missing)}")


def enumerate_outputs(
    size: int, n_codes: int, is_legal: Callable[[Output], bool] = lambda y: True
) -> list[Output]:
    """List every legal output of `size` codes.

    Examples
    --------
    >>> enumerate_outputs(2, 2, lambda y: y != (1, 1))
    [(0, 0), (0, 1), (1, 0)]
    """
    return [y for y in itertools.product(range(n_codes), repeat=size) if is_legal(y)]


def draw_scores(random: np.random.Generator, size: int, scale: float) -> FloatArray:
    """Draw scores of the given range; a small one makes many ties."""
    scores: FloatArray = random.uniform(-scale, scale, size)
    return scores.round() if scale <= 2 else scores


# --- what the laws say when they are broken -------------------------------------------


def expect(case: Case, holds: bool, what: str) -> None:
    """Fail with what was expected of which example."""
    if not holds:
        raise AssertionError(f"{_example(case)}: {what}")


def expect_close(
    case: Case, got: Any, expected: Any, what: str, atol: float, rtol: float = 0.0
) -> None:
    """Fail with what was expected of which example, unless numbers agree."""
    message = f"{_example(case)}: expected {what}"
    assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=message)


def _example(case: Case) -> str:
    return f"example {case.i} of {type(case.s).__name__}"


# --- the pieces -----------------------------------------------------------------------


def guarded(values: Any) -> FloatArray:
    """Copy numbers into an array with guarded room behind them."""
    values = np.asarray(values, np.float64)
    return np.concatenate([values, np.full(GUARD, np.nan)])


def unguarded(values: FloatArray) -> FloatArray:
    """Take the numbers out again; fail if something wrote behind them."""
    if not np.isnan(values[-GUARD:]).all():
        raise AssertionError("something was written behind the end of an array")
    return values[:-GUARD]


def code(y: Output) -> CodeArray:
    """Write an output as the waist wants it."""
    return np.array(y, np.int32)


def empty_code(case: Case) -> CodeArray:
    """Make room for an output, filled with a code that no output has."""
    return np.full(waist.output_size(case.s, case.i), -7, np.int32)


def part_counts(case: Case, y: Output) -> FloatArray:
    """Count the parts of an output."""
    n_parts = waist.n_parts(case.s, case.i)
    room = n_parts + 2 * waist.output_size(case.s, case.i)
    ids, counts = np.full(room, -1, np.int64), np.full(room, np.nan)
    found = ask.parts_of(case.s, case.i, code(y), ids, counts)
    total = np.zeros(n_parts)
    np.add.at(total, ids[:found], counts[:found])
    return total


def part_matrix(case: Case) -> FloatArray:
    """Write the feature vector of every part in full."""
    s, i, ws = case.s, case.i, waist.workspace(case.s, 1)
    room = waist.max_features(s)
    matrix = np.zeros((waist.n_parts(s, i), waist.n_weights(s)))
    for r in range(matrix.shape[0]):
        idx, val = np.full(room, -1, np.int64), np.full(room, np.nan)
        found = ask.part_row(s, i, r, idx, val, ws)
        np.add.at(matrix[r], idx[:found], val[:found])
    return matrix


def brute_scores(case: Case) -> FloatArray:
    """Score every legal output."""
    counts = [part_counts(case, y) for y in case.outputs]
    return np.array([count @ case.theta for count in counts])


def brute_log_partition(scores: FloatArray) -> float:
    """Sum over all outputs, in logarithms."""
    return float(np.logaddexp.reduce(scores)) if scores.size else -np.inf


def tolerance(case: Case) -> float:
    """Return what rounding may do to a sum of a few scores of this range."""
    return 1e-13 * (10.0 + 10.0 * float(np.abs(case.theta).max(initial=0.0)))


def every_example(s: Any) -> range:
    """Return the examples of a corpus."""
    return range(waist.n_examples(s))
