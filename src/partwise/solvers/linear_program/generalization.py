"""The generalization bound of paper 002, section 6."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partwise._jit import kernel
from partwise.losses import SetHinge
from partwise.solvers.base import Problem
from partwise.structures import interface as waist
from partwise.structures.interface import Diff, FloatArray, Structure
from partwise.structures.parallel import Worker, make_crew
from partwise.structures.scratch import Scratch, score_of
from partwise.structures.sharing import filled


def generalization_bound(
    l1_norm: float,
    slack: float,
    *,
    C: float,
    n_features: int,
    n_examples: int,
    n_triples: int | float,
    largest_difference: float,
    confidence: float = 0.95,
    margin: float = 1.0,
) -> float:
    """Return the bound of theorem 6.2 on the error of a linear program's weights.

    The program is LP (8): margins of one, weights that are not negative, every good
    output ahead of every wrong one, and the same C for all examples. LP (6) is the case
    of one good output; for LP (7), signed weights or margins by cost nothing is proved.
    According to the theorem, with probability `confidence` no more than this share of
    triples (input, good output, wrong output) has the wrong output ahead of the good
    one, provided that no misclassified training input has a probability of its own.
    Treat the number as a curiosity, not as a guarantee: the triples of one
    example are not independent, and there are exponentially many of them, which is
    all that makes the bound small.

    Parameters
    ----------
    l1_norm : float
        ``|w|_1``.
    slack : float
        ``sum_i xi_i``, the sum of the losses.
    C : float
        The weight of the losses.
    n_features : int
        How many weights there are, ``d``.
    n_examples : int
        How many examples, ``m``.
    n_triples : int or float
        How many triples, ``|S|``: for every example, its good outputs times its wrong
        ones.
    largest_difference : float
        What no number in any ``Phi(good) - Phi(wrong)`` exceeds in absolute value, of
        all inputs there may be: not only of the constraints that training has met.
    confidence : float
        One minus the probability that the bound does not hold.
    margin : float
        The margin gamma that is asked for.

    Returns
    -------
    float
        The bound; one or more says nothing.

    Examples
    --------
    >>> known = dict(C=1.0, n_features=10**4, n_examples=1000, largest_difference=1.0)
    >>> bound = generalization_bound(50.0, 10.0, n_triples=10**12, **known)
    >>> round(bound, 6)
    0.000543
    """
    for name, value in (
        ("C", C), ("n_features", n_features), ("n_examples", n_examples),
        ("n_triples", n_triples), ("largest_difference", largest_difference),
        ("margin", margin),
    ):  # fmt: skip
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, not {value!r}")
    for name, value in (("l1_norm", l1_norm), ("slack", slack)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and >= 0, not {value!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    c, b = l1_norm + C * slack, max(largest_difference, 1.0 / C)
    # Corollary 6.3 for a sample of 2 |S| and half the margin. Whole numbers have no
    # largest one; floats do.
    size, gamma = 2 * n_triples, margin / 2
    covering = 36 * (c * b / gamma) ** 2 * (1 + math.log(n_features + n_examples))
    covering *= math.log2(2 * math.ceil(4 * c * b / gamma + 2) * size + 1)
    # The theorem asks for |S| > 2 / bound: always so, since `share` is more than one.
    share = covering + math.log2(2 / (1.0 - confidence))
    return 2.0 ** (1 + math.log2(share) - math.log2(n_triples))


@kernel
def _count_outputs(
    s: Structure, out: FloatArray, start: int, stop: int, scratch: Scratch, ws: Any
) -> None:
    """Write log2 of good outputs times wrong ones; all but the good ones are wrong."""
    scratch.theta[:] = 0.0
    for i in range(start, stop):
        waist.visit(s, i, ws)
        n_all = waist.log_partition(s, i, scratch.theta, ws) / np.log(2.0)
        n_good = np.log2(float(waist.n_good(s, i)))
        share = np.exp2(n_good - n_all)
        out[i] = n_good + n_all + np.log2(1.0 - share) if share < 1.0 else -np.inf


def _fill_counts(
    s: Structure, start: int, stop: int, worker: Worker, out: FloatArray
) -> None:
    _count_outputs(s, out, start, stop, worker.scratch, worker.ws)


def count_triples(s: Structure) -> int:
    """Return how many triples of input, good and wrong output there are."""
    logs = np.zeros(int(waist.n_examples(s)))
    make_crew(s).run(_fill_counts, filled(logs))
    most = float(logs.max())
    if most == -np.inf:
        return 0
    shift = math.floor(most)
    # Rounded down, by a millionth at most: fewer triples make the bound larger.
    return max(int(np.exp2(logs - shift).sum() * 2**20) << max(shift, 0) >> 20, 1)


@kernel
def _largest_difference(
    s: Structure, start: int, stop: int, scratch: Scratch, diff: Diff, ws: Any
) -> float:
    """Bound the entries of ``Phi(good) - Phi(y)`` by those of the parts of both."""
    largest = 0.0
    for i in range(start, stop):
        waist.visit(s, i, ws)
        for r in range(waist.n_parts(s, i)):
            scratch.theta[r] = 0.0
            for j in range(waist.part_row(s, i, r, diff.idx, diff.val, ws)):
                scratch.theta[r] = max(scratch.theta[r], abs(diff.val[j]))
        top = waist.argmax(s, i, scratch.theta, scratch.y, ws)
        for j in range(waist.n_good(s, i)):
            waist.good_at(s, i, j, scratch.y_gold)
            own = score_of(s, i, scratch.y_gold, scratch.theta, scratch)
            largest = max(largest, own + max(top, own))
    return largest


def largest_difference(s: Structure) -> float:
    """Return what no entry of any ``Phi(good) - Phi(wrong)`` exceeds."""
    largest = np.zeros(int(waist.n_examples(s)))
    make_crew(s).run(_fill_largest, filled(largest))
    return float(largest.max(initial=0.0))


def _fill_largest(
    s: Structure, start: int, stop: int, worker: Worker, out: FloatArray
) -> None:
    """Write the largest of some examples to the place of the first of them."""
    diff = waist.make_diff(s)
    out[start] = _largest_difference(s, start, stop, worker.scratch, diff, worker.ws)


def bound_of(problem: Problem, w: FloatArray, primal: float) -> float | None:
    """Return the bound for weights with this objective; None where it is not proved.

    It is proved for LP (8), of which LP (6) is the case of one good output: margins of
    one, weights that are not negative, the good output that scores worst, and one C.
    """
    loss, structure = problem.loss, type(waist.innermost(problem.structure))
    is_program = (
        isinstance(loss, SetHinge)
        and loss.margin == "unit"
        and loss.compare == "worst"
        and problem.positive
        and (problem.C == problem.C[0]).all()
    )
    if not is_program or not waist.log_partition.provided_by(structure):
        return None
    C, l1_norm = float(problem.C[0]), float(np.abs(w).sum())
    largest = largest_difference(problem.structure)
    n_triples = count_triples(problem.structure)
    if not largest > 0.0 or n_triples == 0:
        return None
    return generalization_bound(
        l1_norm,
        max(primal - l1_norm, 0.0) / C,
        C=C,
        n_features=problem.n_weights,
        n_examples=problem.n_examples,
        n_triples=n_triples,
        largest_difference=largest,
    )
