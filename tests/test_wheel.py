"""The wheel, as a user gets it: built, installed where nothing else is, and used."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from places import ROOT

pytestmark = pytest.mark.slow

# Nothing of the source tree is in reach: the script runs in a folder of its own.
USE = """
import partwise

assert "site-packages" in partwise.__file__, partwise.__file__
X = [{"colour": "red"}, {"colour": "green"}]
model = partwise.MulticlassClassifier().fit(X, ["tomato", "pea"])
model.save("fruit.partwise")
assert partwise.load("fruit.partwise").predict(X).tolist() == ["tomato", "pea"]
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside the source tree, its output in the error if it fails."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "NUMBA_OPT")
    }
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run(*pip, "--wheel-dir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("partwise-*.whl")
    return path


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "partwise").rglob("*.py")
    }
    packaged = {name for name in names if ".dist-info/" not in name}
    assert packaged == sources | {"partwise/py.typed"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    commands = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = commands / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=tmp_path)
    run(python, "-c", USE, cwd=tmp_path)
    program = commands / "partwise"
    shown = run(program, "inspect", "fruit.partwise", cwd=tmp_path)
    assert "MulticlassClassifier" in shown
