"""A short version of `make soak`."""

import sys

import pytest
from fuzz.soak import soak


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_soak_loses_nothing() -> None:
    counts = soak(4.0, print)
    assert counts["weights after kills are the same"] > 0
    assert counts["the old file stays whole"] > 0
    assert counts["predictions in threads are of one fit"] > 0
