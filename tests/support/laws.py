"""The laws of `partwise.testing`, and that compiled defaults obey them too.

In the package, default bodies are tried in plain Python; here also compiled, by
classes that have nothing but the defaults.
"""

import drivers
from partwise.testing import (
    FEATURE_LAWS,
    INFERENCE_LAWS,
    LAWS,
    Case,
    draw_scores,
    enumerate_outputs,
    law_name,
)
from partwise.testing.cases import brute_scores, part_counts, tolerance
from partwise.testing.feature_laws import (
    check_differences,
    costs_add_up_over_parts,
    part_scores_are_dot_products,
    parts_add_up_to_the_output,
)
from partwise.testing.inference_laws import marginals_are_expected_counts


def differences_by_compiled_defaults_are_the_same(case: Case) -> None:
    """The default bodies say what the structure's own, faster ones say."""
    check_differences(case, drivers.PLAIN_CLASSES[type(case.s)](*case.s), drivers)


LAWS = [*LAWS, differences_by_compiled_defaults_are_the_same]

__all__ = [
    "FEATURE_LAWS",
    "INFERENCE_LAWS",
    "LAWS",
    "Case",
    "brute_scores",
    "costs_add_up_over_parts",
    "draw_scores",
    "enumerate_outputs",
    "law_name",
    "marginals_are_expected_counts",
    "part_counts",
    "part_scores_are_dot_products",
    "parts_add_up_to_the_output",
    "tolerance",
]
