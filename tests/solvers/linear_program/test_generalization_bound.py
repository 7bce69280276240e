"""The generalization bound: what it takes."""

import math
from typing import Any

import numpy as np
import pytest

import problems
from partwise import generalization_bound, with_good_outputs
from partwise.losses import SetHinge
from partwise.solvers import make_problem
from partwise.solvers.linear_program.generalization import (
    bound_of,
    count_triples,
    largest_difference,
)
from partwise.structures import interface as waist

KNOWN: dict[str, Any] = {"C": 1.0, "n_features": 10, "n_examples": 10}
KNOWN |= {"n_triples": 10**6, "largest_difference": 1.0}


@pytest.mark.parametrize("name", [*KNOWN, "margin"])
@pytest.mark.parametrize("value", [math.inf, math.nan, -1.0])
def test_generalization_bound_refuses_what_is_not_finite(
    name: str, value: float
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be positive and finite"):
        generalization_bound(1.0, 0.0, **{**KNOWN, name: value})


@problems.plain_only
@pytest.mark.parametrize(
    ("loss", "positive", "weights", "proved"),
    [
        (SetHinge("unit"), True, None, True),
        (SetHinge("unit"), False, None, False),  # signed weights
        (SetHinge("cost"), True, None, False),  # margins by cost
        (SetHinge("unit", "closest"), True, None, False),  # LP (7)
        (SetHinge("unit"), True, [1.0, 2.0, 1.0, 1.0, 1.0, 1.0], False),  # many C
    ],
)
def test_generalization_bound_is_given_for_what_it_is_proved(
    loss, positive, weights, proved
):
    s = problems.make_small(problems.chain_sparse)
    problem = make_problem(s, loss, 2.0, weights, 1.0, positive=positive)
    assert (bound_of(problem, np.ones(problem.n_weights), 10.0) is not None) == proved


@problems.plain_only
@pytest.mark.parametrize(
    "make", [problems.chain_sparse, problems.lattice_paths, problems.derivations]
)
def test_generalization_bound_takes_all_triples_and_their_largest_difference(make):
    """Not only those that column generation has met."""
    s = problems.make_small(make)
    outputs = problems.enumerate_outputs(s)
    differences = np.vstack([own.dphi for own in outputs])
    assert largest_difference(s) >= np.abs(differences).max() > 0.0
    triples = sum(len(own.codes) - 1 for own in outputs)
    assert count_triples(s) == pytest.approx(triples, rel=1e-5)


@problems.plain_only
def test_generalization_bound_counts_good_times_wrong():
    s = problems.make_small(problems.classes_dense)
    right = np.zeros((waist.n_examples(s), 1), np.int32)
    for i, y in enumerate(right):
        waist.gold(s, i, y)
    sets = [[[k], [(k + 1) % 3]] for k in right[:, 0].tolist()]
    assert count_triples(with_good_outputs(s, sets)) == len(sets) * 2
