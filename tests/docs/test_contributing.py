"""What CONTRIBUTING.md shows is what the example files hold, and it works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.parametrize("name", ["candidates.py", "batch_frank_wolfe.py"])
def test_contributing_shows_the_example_files(name: str) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    source = (EXAMPLES / name).read_text()
    assert source in blocks
    assert sum(bool(line.strip()) for line in source.splitlines()) < 60


def run_examples(**environment: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "check.py")],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "the examples work\n", ended.stderr


def test_contributing_examples_work_in_plain_python() -> None:
    run_examples(NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_contributing_examples_work_compiled() -> None:
    run_examples(NUMBA_DISABLE_JIT="0")


TRY = "from partwise.structures.interface import largest_sizes\nprint({})"
OWN = (
    "largest_sizes(Candidates(zeros((2, 1)), array([0, 2]), zeros(1, 'i4'), zeros(2)))"
)
OTHER = "largest_sizes(make_multiclass(make_dense_rows([[1.0]]), [0], 3))"


def test_contributing_own_structure_does_not_disturb_programs_without_it(
    tmp_path: Path,
) -> None:
    """Compiled code is shared by all programs; not all can import the structure."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path),
        "NUMBA_DISABLE_JIT": "0",
    }
    own = "from candidates import Candidates\nfrom numpy import array, zeros\n"
    other = "from partwise.structures import make_dense_rows, make_multiclass\n"
    for script, path, answer in (
        (own + TRY.format(OWN), str(EXAMPLES), "(2, 1)\n"),
        (other + TRY.format(OTHER), "", "(3, 1)\n"),
    ):
        ended = subprocess.run(
            [sys.executable, "-c", script],
            env=environment | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert ended.stdout == answer, ended.stderr
    assert list(tmp_path.rglob("*.nbc")), "nothing was cached"


def test_contributing_names_commands_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(
        r"^    make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(), re.M
    )
    assert len(named) == 9
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.M), target
