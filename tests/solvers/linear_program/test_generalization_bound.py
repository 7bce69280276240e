"""The generalization bound: what it takes."""

import math
from typing import Any

import pytest

from partwise import generalization_bound

KNOWN: dict[str, Any] = {"C": 1.0, "n_features": 10, "n_examples": 10}
KNOWN |= {"n_triples": 10**6, "largest_difference": 1.0}


@pytest.mark.parametrize("name", [*KNOWN, "margin"])
@pytest.mark.parametrize("value", [math.inf, math.nan, -1.0])
def test_generalization_bound_refuses_what_is_not_finite(
    name: str, value: float
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be positive and finite"):
        generalization_bound(1.0, 0.0, **{**KNOWN, name: value})
