"""Running tests once more, as another process compiles them, or without compiling."""

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT, SOURCE, TESTS

LEFT_OUT = "PARTWISE_TESTS_LEFT_OUT"
"""Names a file with the tests that need not run, one a line."""


DOCTESTS = (
    "estimators/bayesian_network/classifier estimators/graph/labeler "
    "estimators/lattice/ranker losses/set_hinge"
)
"""Modules whose examples run in plain Python: compiling them would take far longer."""


def find(name: str) -> Path:
    """Return the file of tests with this name, or the module at this path."""
    if "/" in name:
        return SOURCE / f"{name}.py"
    (found,) = TESTS.rglob(f"test_{name}.py")
    return found


def assert_pass(names: str, **environment: str) -> None:
    """Run the quick tests of these files with other environment variables."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-m", "not slow and not bench"),
            *(str(find(name)) for name in names.split()),
        ],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
