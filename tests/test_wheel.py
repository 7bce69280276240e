"""Wheels, as a user gets them: built, installed where nothing else is, and used."""

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

from partwise._jit.cache import counts
print(dict(counts))
"""


def run(*command: str | Path, cwd: Path, **settings: str) -> str:
    """Run a command outside the source tree, its output in the error if it fails."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "NUMBA_OPT")
    }
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment | settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run(*pip, "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("partwise-*-py3-none-any.whl")
    names = files_in(wheel)
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "partwise").rglob("*.py")
    }
    packaged = {name for name in names if ".dist-info/" not in name}
    assert packaged == sources | {"partwise/py.typed"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_wheel_with_machine_code_compiles_nothing(tmp_path: Path) -> None:
    build = [sys.executable, ROOT / "tools" / "build_wheel.py", "--out", tmp_path]
    run(*build, "--loss", "squared_hinge", "MulticlassClassifier", cwd=tmp_path)
    (wheel,) = tmp_path.glob("partwise-*.whl")
    assert "-none-any" not in wheel.name
    kernels = {name for name in files_in(wheel) if name.endswith(".nbc")}
    assert len(kernels) > 20

    venv.create(tmp_path / "env", with_pip=True)
    commands = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = commands / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=tmp_path)
    counted = run(python, "-c", USE, cwd=tmp_path)
    assert "loaded" in counted
    assert "compiled" not in counted

    program = commands / "partwise"
    shown = run(program, "inspect", "fruit.partwise", cwd=tmp_path)
    assert "MulticlassClassifier" in shown
    assert f"kernels  {len(kernels)}" in run(program, "doctor", cwd=tmp_path)
