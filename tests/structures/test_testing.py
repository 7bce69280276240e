"""The laws of `partwise.testing`: they fail, skip, and say what they expected."""

import unittest
from typing import Any, NamedTuple

import numpy as np
import pytest

from partwise.structures import interface as waist
from partwise.testing import LAWS, Case, check_structure, enumerate_outputs, law_name


class Switch(NamedTuple):
    """On or off, one weight each; `wrong` names the answer that is wrong."""

    wrong: Any


waist.n_examples.implement(Switch)(lambda s: 1)
waist.n_weights.implement(Switch)(lambda s: 2)
waist.n_parts.implement(Switch)(lambda s, i: 2)
waist.output_size.implement(Switch)(lambda s, i: 1)
waist.max_features.implement(Switch)(lambda s: 2)
waist.workspace.implement(Switch)(lambda s, k: ())


@waist.part_scores.implement(Switch)
def _(s, i, w, theta, ws):
    theta[0], theta[1] = w[0], w[1] if s.wrong[0] != 1 else 2 * w[1]


@waist.add_parts.implement(Switch)
def _(s, i, mu, scale, w, ws):
    before = w[0] ** 2 + w[1] ** 2
    for r in range(2):
        w[r] += scale * mu[r]
    return w[0] ** 2 + w[1] ** 2 - before


@waist.parts_of.implement(Switch)
def _(s, i, y, ids, counts):
    ids[0], counts[0] = y[0], 1.0
    return 1


@waist.part_row.implement(Switch)
def _(s, i, r, idx, val, ws):
    idx[0], val[0] = r, 1.0
    return 1


@waist.gold.implement(Switch)
def _(s, i, y):
    y[0] = 1


@waist.argmax.implement(Switch)
def _(s, i, theta, y, ws):
    y[0] = 1 if theta[1] > theta[0] else 0
    if s.wrong[0] == 2:
        y[0] = 1 - y[0]
    return theta[y[0]]


def make_case(wrong: int) -> Case:
    return Case(
        s=Switch(np.array([wrong])),
        i=0,
        outputs=enumerate_outputs(1, 2),
        theta=np.array([0.5, 2.0]),
        w=np.array([1.0, -1.0]),
        features=lambda y: np.eye(2)[y[0]],
    )


@pytest.fixture(autouse=True)
def in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask without compiling: what is tried here are the laws."""
    from partwise.testing import questions

    for name in ("part_scores", "add_parts", "parts_of", "part_row", "argmax"):
        monkeypatch.setattr(questions, name, getattr(waist, name))
    for name in ("block_scores", "add_block", "diff_dot", "diff_add", "diff_sqnorm"):
        monkeypatch.setattr(questions, name, getattr(waist, name))


def test_laws_about_what_a_structure_does_not_answer_are_skipped() -> None:
    assert set(check_structure(make_case(0))) == {
        "kbest_are_the_best_in_order",
        "log_partition_sums_every_output",
        "marginals_are_expected_counts",
        "marginals_are_the_gradient",
        "costs_add_up_over_parts",
        "differences_by_default_are_the_same",
    }
    law = next(one for one in LAWS if law_name(one).startswith("kbest"))
    with pytest.raises(unittest.SkipTest, match="Switch does not answer kbest"):
        law(make_case(0))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (1, "expected part_scores to be products of the weights with part_row"),
        (2, r"expected argmax to return the score of \(1,\)"),
    ],
)
def test_laws_say_what_they_expected(wrong: int, expected: str) -> None:
    with pytest.raises(AssertionError, match=f"example 0 of Switch: {expected}"):
        check_structure(make_case(wrong))
