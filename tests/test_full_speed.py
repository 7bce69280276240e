"""What compiles to vector instructions, with all optimisation, as users have it."""

import pytest

import problems
from once_more import assert_pass


@pytest.mark.slow
@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_full_speed_gives_what_is_true() -> None:
    # Mixed rows are made of the others.
    assert_pass("vectors rows", NUMBA_OPT="3", PYTEST_ADDOPTS="-k 'not mixed'")
