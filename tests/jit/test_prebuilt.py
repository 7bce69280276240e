"""Machine code that comes with an installation, and caches that are of no use."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import drivers
from compiling import as_users_do
from partwise._jit import prebuilt

pytestmark = pytest.mark.skipif(
    not drivers.IS_COMPILED, reason="nothing is compiled in this process"
)
portable = pytest.mark.skipif(bool(prebuilt.lacking()), reason=prebuilt.lacking())

KERNEL = """
from partwise._jit import kernel


@kernel
def add(x, y):
    return x + y
"""
PROGRAM = """
import json, sys
from kernels import add
from partwise._jit import cache
cache.native_only = "--native" in sys.argv
assert add(20, 22) == 42
print(json.dumps(dict(cache.counts)))
"""
COLLECT = """
import sys
from pathlib import Path
from partwise._jit.prebuilt import write_manifest
write_manifest(Path(sys.argv[1]))
"""


class Place:
    """A folder with a kernel, and programs that run there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.came = folder / "came"
        self.cache = folder / "cache"
        (folder / "kernels.py").write_text(KERNEL)
        (folder / "program.py").write_text(PROGRAM)

    def start(self, *command: str, **settings: str) -> subprocess.Popen[str]:
        environment = as_users_do() | {"NUMBA_CACHE_DIR": str(self.cache)} | settings
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **settings: str) -> tuple[dict[str, int], str]:
        """Return what was compiled and loaded, and what the program said."""
        settings = {"PARTWISE_PREBUILT": str(self.came)} | settings
        process = self.start("program.py", *arguments, **settings)
        out, err = process.communicate()
        assert process.returncode == 0, err
        return json.loads(out), err

    def files(self) -> list[Path]:
        return sorted(self.cache.rglob("*.nbc"))

    def prebuild(self) -> None:
        """Compile for the generic processor, as for a wheel."""
        generic = {"NUMBA_CPU_NAME": prebuilt.GENERIC, "NUMBA_CPU_FEATURES": ""}
        assert self.run(**generic)[0] == {"compiled": 1}
        self.came.mkdir()
        for path in self.files():
            path.rename(self.came / path.name)
        process = self.start("-c", COLLECT, str(self.came))
        process.communicate()
        assert process.returncode == 0

    def change_manifest(self, **changes: Any) -> None:
        path = self.came / prebuilt.MANIFEST
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place where the kernel was compiled for the generic processor."""
    place = Place(tmp_path_factory.mktemp("built"))
    place.prebuild()
    return place


@pytest.fixture
def installed(place: Place, built: Place) -> Place:
    """A place that the kernel came with."""
    shutil.copytree(built.came, place.came)
    return place


@portable
def test_prebuilt_code_is_loaded_and_native_code_preferred(installed: Place) -> None:
    place = installed
    assert place.run() == ({"loaded": 1}, "")
    assert place.files() == []
    assert place.run("--native") == ({"compiled": 1}, "")
    assert len(place.files()) == 1
    for path in place.came.glob("*.nbc"):
        path.unlink()
    assert place.run() == ({"loaded": 1}, "")


@portable
def test_prebuilt_code_of_another_source_is_not_used(installed: Place) -> None:
    place = installed
    (place.folder / "kernels.py").write_text(KERNEL.replace("x + y", "y + x"))
    assert place.run() == ({"compiled": 1}, "")


@portable
@pytest.mark.parametrize("what", ["numba", "python"])
def test_prebuilt_code_of_another_version_is_said_once(
    installed: Place, what: str
) -> None:
    place = installed
    place.change_manifest(**{what: "0.1"})
    counts, said = place.run()
    assert counts == {"compiled": 1}
    assert said.count("the machine code that came with Partwise is not used") == 1
    assert f"compiled with {what} 0.1" in said
    assert "partwise warm" in said
    assert place.run() == ({"loaded": 1}, "")  # nothing is compiled: nothing to say


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kernels": "many"}', "\x00"])
def test_prebuilt_code_without_a_manifest_is_not_there(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path)
    (tmp_path / prebuilt.MANIFEST).write_text(text)
    assert prebuilt.find_prebuilt.__wrapped__() is None


@portable
def test_prebuilt_code_that_is_damaged_is_compiled(installed: Place) -> None:
    place = installed
    (path,) = place.came.glob("*.nbc")
    path.write_bytes(path.read_bytes()[:-7])
    assert place.run() == ({"compiled": 1}, "")


def test_prebuilt_code_is_not_for_every_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    described = {"cpu": prebuilt.GENERIC, "kernels": 1, **prebuilt.versions()}
    has = dict.fromkeys(prebuilt.FEATURES, True) | {"avx2": False, "fma": False}
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: has)
    assert prebuilt._problem_with(described) == "this processor lacks avx2, fma"
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert "this processor is arm64" in prebuilt._problem_with(described)


# --- caches that are of no use ------------------------------------------------------


DAMAGES = {
    "half": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "foreign": lambda whole: b"\x80\x04N.",
    "changed": lambda whole: whole[:-1] + b"\x00",
}


def test_cache_half_written_by_a_killed_process_is_replaced(place: Place) -> None:
    kernels = [KERNEL.replace("add", name) for name in DAMAGES]
    (place.folder / "kernels.py").write_text("\n".join(kernels))
    calls = f"from kernels import {', '.join(DAMAGES)} as add\n"
    calls += "".join(f"assert {name}(20, 22) == 42\n" for name in [*DAMAGES][:-1])
    program = PROGRAM.replace("from kernels import add\n", calls)
    (place.folder / "program.py").write_text(program)
    assert place.run() == ({"compiled": 4}, "")
    heads = {}
    for name, damage in DAMAGES.items():
        (path,) = place.cache.rglob(f"{name}-*.nbc")
        whole = path.read_bytes()
        path.write_bytes(damage(whole))
        path.with_name(f"{path.name}.0123.tmp").write_bytes(damage(whole))
        heads[path] = whole[:40]
    assert place.run() == ({"compiled": 4}, "")
    assert {path: path.read_bytes()[:40] for path in heads} == heads
    assert place.run() == ({"loaded": 4}, "")


FULL = """
import errno
import pathlib


def full(self, data):
    raise OSError(errno.ENOSPC, "No space left on device", str(self))


pathlib.Path.write_bytes = full
"""


def test_cache_on_a_full_disk_is_done_without(place: Place) -> None:
    (place.folder / "program.py").write_text(FULL + PROGRAM)
    for _ in range(2):
        assert place.run() == ({"compiled": 1}, "")
    assert place.files() == []


def test_processes_that_compile_at_once_do_not_disturb_each_other(place: Place) -> None:
    processes = [place.start("program.py") for _ in range(3)]
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert sum(json.loads(out).values()) == 1
    assert len(place.files()) == 1
    assert place.run() == ({"loaded": 1}, "")
    assert not list(place.cache.rglob("*.tmp"))
