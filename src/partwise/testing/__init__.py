"""Laws that every structure obeys, for the tests of your own.

Make a `Case`: a small corpus, an example of it, the list of all its legal outputs, and
the meaning of its features and costs written down in the plainest way. Then either
`check_structure`, or every law as a test::

    @pytest.mark.parametrize("law", LAWS, ids=law_name)
    def test_my_structure_obeys(law):
        law(make_my_case())

A law compares the answers of compiled code with brute force (of plain Python with
``NUMBA_DISABLE_JIT=1``), and says what it expected. What asks for something that the
structure does not answer is skipped.
"""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable

from partwise.testing import feature_laws, inference_laws
from partwise.testing.cases import (
    Case,
    NotAnswered,
    Output,
    draw_scores,
    enumerate_outputs,
)

Law = Callable[[Case], None]


def _as_test(law: Law) -> Law:
    """Make a law that skips the test where the structure does not answer."""

    @functools.wraps(law)
    def test(case: Case) -> None:
        try:
            law(case)
        except NotAnswered as reason:
            raise unittest.SkipTest(str(reason)) from None

    return test


INFERENCE_LAWS = [
    _as_test(inference_laws.argmax_is_the_best_legal_output),
    _as_test(inference_laws.kbest_are_the_best_in_order),
    _as_test(inference_laws.log_partition_sums_every_output),
    _as_test(inference_laws.marginals_are_expected_counts),
    _as_test(inference_laws.marginals_are_the_gradient),
    _as_test(inference_laws.answers_do_not_depend_on_earlier_ones),
]
"""What must hold of the best output, the k best, sums and marginals."""

FEATURE_LAWS = [
    _as_test(feature_laws.part_scores_are_dot_products),
    _as_test(feature_laws.parts_add_up_to_the_output),
    _as_test(feature_laws.add_parts_is_the_adjoint_of_part_scores),
    _as_test(feature_laws.blocks_answer_as_their_examples_do),
    _as_test(feature_laws.costs_add_up_over_parts),
    _as_test(feature_laws.differences_are_those_of_the_features),
    _as_test(feature_laws.differences_by_default_are_the_same),
]
"""What must hold of scores, features, costs, and differences of outputs."""

LAWS = INFERENCE_LAWS + FEATURE_LAWS
"""All of them. Each takes a `Case` and raises `AssertionError` if it is broken."""


def law_name(law: Law) -> str:
    """Name a law in the list of tests."""
    return law.__name__


def check_structure(case: Case) -> list[str]:
    """Check all laws on one example.

    Parameters
    ----------
    case : Case
        The example, and what is true about it.

    Returns
    -------
    list of str
        The laws that were skipped, since they ask what the structure does not answer.

    Raises
    ------
    AssertionError
        Says which example broke a law, and what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> from partwise.testing import Case, check_structure
    >>> x = np.array([2.0, -1.0])  # two features, three classes
    >>> case = Case(
    ...     s=make_multiclass(make_dense_rows(x[None]), [1], 3),
    ...     i=0,
    ...     outputs=[(0,), (1,), (2,)],
    ...     theta=np.array([0.5, 0.0, -1.0]),
    ...     w=np.arange(6.0),
    ...     features=lambda y: np.outer(x, np.arange(3) == y[0]).ravel(),
    ...     cost=lambda y: float(y != (1,)),
    ... )
    >>> check_structure(case)
    []
    """
    skipped = []
    for law in LAWS:
        try:
            law(case)
        except unittest.SkipTest:
            skipped.append(law_name(law))
    return skipped


__all__ = [
    "FEATURE_LAWS",
    "INFERENCE_LAWS",
    "LAWS",
    "Case",
    "Law",
    "NotAnswered",
    "Output",
    "check_structure",
    "draw_scores",
    "enumerate_outputs",
    "law_name",
]
