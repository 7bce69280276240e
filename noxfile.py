"""Tests with every supported Python, and with the oldest and newest dependencies.

``nox`` runs what there are interpreters for; ``nox -s tests-3.13`` runs one.
"""

import re
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYTHONS = ("3.11", "3.12", "3.13")
QUICK = (
    "tests/data",
    "tests/model_file",
    "tests/estimators/test_model_files.py",
    "tests/estimators/pipeline/test_pipeline_files.py",
    "tests/test_hostile_input.py",
    "tests/test_errors.py",
    "tests/test_interrupts.py",
    "tests/jit",
    "tests/structures",
)
"""Files and readers first, which take seconds; then what is compiled."""

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False


def oldest() -> list[str]:
    """Return the oldest versions of all dependencies that are declared to do."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [re.match(r"([\w-]+)>=([\d.]+)", one) for one in project["dependencies"]]
    return [f"{one[1]}=={one[2]}.*" for one in found if one is not None]


def _test(session: nox.Session) -> None:
    session.run("partwise", "doctor")  # which versions these are
    paths = session.posargs or QUICK
    # Old packages know nothing of what others have deprecated since.
    options = ["-m", "not slow and not bench", "-W", "ignore::DeprecationWarning"]
    session.run("python", "-m", "pytest", "-q", *options, *paths)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Test with the newest dependencies that are allowed."""
    session.install(".[test]")
    _test(session)


@nox.session(name="oldest", python=PYTHONS[0])
def with_oldest(session: nox.Session) -> None:
    """Test with the oldest dependencies that are declared."""
    constraints = Path(session.create_tmp()) / "oldest.txt"
    constraints.write_text("\n".join(oldest()) + "\n")
    session.install(".[test]", "-c", str(constraints))
    _test(session)
