"""Wheels, as a user gets them: built, installed where nothing else is, and used."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from compiling import as_users_do
from import_graph import imported_names
from partwise.cli.app import app
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
        for name, value in as_users_do().items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
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


def install(wheel: Path, folder: Path) -> Path:
    """Make an environment with the wheel; return the folder of its programs.

    Other packages are borrowed from the environment of the tests, which takes half a
    minute less than to install them; an editable installation there is out of reach.
    """
    venv.create(folder, with_pip=False)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    python = commands / "python"
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(run(*where, cwd=folder).strip())
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--quiet", "--no-deps", "--no-compile", wheel, cwd=folder)
    return commands


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def container_lines(keyword: str) -> list[str]:
    """Return what the container file says after a keyword, line by line."""
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    return [
        rest for line in lines for k, _, rest in [line.partition(" ")] if k == keyword
    ]


def copy_as_the_container_does(folder: Path) -> None:
    """Fill a folder with what a container is built from, and nothing else."""
    for line in container_lines("COPY"):
        *sources, target = shlex.split(line)
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, folder / target)
            else:
                shutil.copy(ROOT / source, folder / target)


def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    # From what the container file copies: that must be enough.
    (tmp_path / "build").mkdir()
    copy_as_the_container_does(tmp_path / "build")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    run(*pip, "--wheel-dir", tmp_path, tmp_path / "build", cwd=tmp_path)
    (wheel,) = tmp_path.glob("partwise-*-py3-none-any.whl")
    names = files_in(wheel)
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "partwise").rglob("*")
        if path.suffix == ".py" or path.parent.name == "assets"
    }
    packaged = {name for name in names if ".dist-info/" not in name}
    assert packaged == sources | {"partwise/py.typed"}
    assert "partwise/pages/assets/page.html" in packaged
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("sboms/partwise.cdx.json") for name in names)


def test_wheel_with_machine_code_compiles_nothing(tmp_path: Path) -> None:
    build = [sys.executable, ROOT / "tools" / "build_wheel.py", "--out", tmp_path]
    run(*build, "--loss", "log_loss", "MulticlassClassifier", cwd=tmp_path)
    (wheel,) = tmp_path.glob("partwise-*.whl")
    assert "-none-any" not in wheel.name
    kernels = {name for name in files_in(wheel) if name.endswith(".nbc")}
    assert len(kernels) > 20

    commands = install(wheel, tmp_path / "env")
    python = commands / "python"
    counted = run(python, "-c", USE, cwd=tmp_path)
    assert "loaded" in counted
    assert "compiled" not in counted

    program = commands / "partwise"
    shown = run(program, "inspect", "fruit.partwise", cwd=tmp_path)
    assert "MulticlassClassifier" in shown
    found = json.loads(run(program, "doctor", "--json", cwd=tmp_path))
    assert found["prebuilt"]["kernels"] == len(kernels)
    assert [cache["kernels"] for cache in found["caches"]] == [0]


def test_container_runs_commands_that_exist() -> None:
    commands: Any = get_command(app)
    [entry] = container_lines("ENTRYPOINT")
    steps = " && ".join(container_lines("RUN")).split(" && ")
    called = [json.loads(entry), *map(shlex.split, steps)]
    ours = {words[1]: words[2:] for words in called if words[0] == "partwise"}
    assert set(ours) == {"warm", "serve"}
    for name, arguments in ours.items():
        known = {o for p in commands.commands[name].params for o in p.opts}
        assert {word for word in arguments if word.startswith("--")} <= known


def test_container_installs_an_extra_on_a_python_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [image] = container_lines("FROM")
    version = image.removeprefix("python:").removesuffix("-slim")
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    extras = re.findall(r"\.\[(\w+)\]", " ".join(container_lines("RUN")))
    assert extras == ["serve"]
    assert "serve" in project["optional-dependencies"]


def third_party_names() -> set[str]:
    """Return what the source imports, besides itself and the standard library."""
    found = set()
    for path in (ROOT / "src" / "partwise").rglob("*.py"):
        for name, for_types in imported_names(path.read_text("utf-8"), "partwise"):
            if not for_types:
                found.add(name.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"partwise"}


def test_wheel_requires_all_that_the_source_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = ("plots", "translation", "serve", "dask")
    lines = [
        *project["dependencies"],
        *(line for name in extras for line in project["optional-dependencies"][name]),
    ]
    required = {re.split(r"[<>=\[ ]", line)[0].lower() for line in lines}
    # Numba requires its compiler in exactly the version that goes with it.
    required.add("llvmlite")
    providers = packages_distributions()
    missing = {
        name
        for name in third_party_names()
        if required.isdisjoint(one.lower() for one in providers.get(name, []))
    }
    # They hand tables and documents to those who have them.
    assert missing == {"pandas", "spacy"}
