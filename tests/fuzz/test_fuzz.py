"""Every fuzzer for a moment on its corpus, and on all that fuzzers have found."""

import time
from pathlib import Path

import pytest
from fuzz.targets import TARGETS
from hypothesis import HealthCheck, given, settings

from covering import THOROUGH
from places import TESTS
from problems import plain_only

FOUND = TESTS / "data" / "fuzz"
SECONDS = 0.3 if THOROUGH else 0.12
# Forged checkpoints of every solver have a test of their own.
QUICK = [name for name in TARGETS if name != "checkpoint"]


@plain_only
@pytest.mark.parametrize("name", QUICK)
def test_fuzzer_finds_nothing_in_a_moment(name: str) -> None:
    target = TARGETS[name]
    for seed in target.seeds():
        target.check(seed)
    end = time.monotonic() + SECONDS

    @settings(
        max_examples=60,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs())
    def check(content: bytes) -> None:
        if time.monotonic() < end:
            target.check(content)

    check()


@plain_only
@pytest.mark.parametrize("path", sorted(FOUND.glob("*/*")), ids=lambda path: path.name)
def test_fuzzer_finds_nothing_in_what_was_found_before(path: Path) -> None:
    TARGETS[path.parent.name].check(path.read_bytes())
