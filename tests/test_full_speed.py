"""What compiles to vector instructions, with all optimisation, as users have it."""

import pytest

import compiling
import problems
from once_more import assert_pass


@pytest.mark.slow
@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_full_speed_gives_what_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in compiling.SET:
        monkeypatch.delenv(name, raising=False)
    # Mixed rows are made of the others.
    assert_pass("vectors rows", NUMBA_OPT="3", PYTEST_ADDOPTS="-k 'not mixed'")
