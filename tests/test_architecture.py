"""The shape of the package: imports go one way, and importing is cheap and safe."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import partwise

PACKAGE = Path(partwise.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

# Each layer may import itself and those before it. Everything else in the package
# is a leaf: data, features, metrics and the like, which know no layer.
LAYERS = ["_threads", "_jit", "structures", "losses", "solvers", "estimators", "cli"]
# What the lower layers may know of the leaves, and one leaf of the layers:
# solvers write checkpoints, features are encoded in compiled code.
LEAVES_FOR_ALL = {"errors"}
EXCEPTIONS = {
    ("solvers", "model_file"),
    ("features", "_jit"),
    ("features", "_threads"),
}
SEES_EVERYTHING = {"__init__", "__main__"}

FORBIDDEN_MODULES = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}


def imported_modules(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Yield the full names of what a module imports, inside functions too.

    ``from a import b`` yields ``a.b``, since ``b`` may be a module.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                parents = parents[: len(parents) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def may_import(importer: str, imported: str) -> bool:
    """Say whether one top-level part of the package may import another."""
    if importer in (SEES_EVERYTHING | {imported}) or (importer, imported) in EXCEPTIONS:
        return True
    if importer not in LAYERS:
        return imported not in LAYERS
    if imported not in LAYERS:
        return imported in LEAVES_FOR_ALL or importer in ("estimators", "cli")
    return LAYERS.index(imported) <= LAYERS.index(importer)


def wrong_imports(source: str, module: str, is_package: bool = False) -> list[str]:
    """List the imports that go the wrong way, or reach Numba past ``_jit``."""
    importer = [*module.split("."), "__init__"][1]
    wrong = []
    for name in imported_modules(source, module, is_package):
        root, *rest = name.split(".")
        if root == "partwise" and rest and not may_import(importer, rest[0]):
            wrong.append(name)
        if root in ("numba", "llvmlite") and importer != "_jit":
            wrong.append(name)
    return wrong


def dangers(source: str) -> list[str]:
    """List what could execute the content of a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [f"{node.func.id}()"] if node.func.id in FORBIDDEN_CALLS else []
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found.append("allow_pickle")
    return [
        name
        for name in found
        if name.endswith("()")
        or name == "allow_pickle"
        or name.split(".")[0] in FORBIDDEN_MODULES
    ]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_architecture_imports_go_one_way(path: Path) -> None:
    is_package = path.name == "__init__.py"
    assert wrong_imports(path.read_text(), module_name(path), is_package) == []


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_architecture_executes_no_files(path: Path) -> None:
    assert dangers(path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partwise.structures.chain", "from partwise.solvers import loop"),
        ("partwise.structures.chain", "from partwise import solvers"),
        ("partwise.structures.chain", "from ..losses import hinge"),
        (
            "partwise.structures.chain",
            "from partwise.features import AttributeRows",
        ),
        ("partwise.solvers.loop", "def f():\n    import partwise.estimators.tagger"),
        ("partwise.solvers.loop", "import numba"),
        ("partwise.data.columns", "import partwise._jit"),
        ("partwise.features.csr", "from partwise.structures.chain import Chain"),
        ("partwise.metrics", "from .estimators import tagger"),
        ("partwise.estimators.tagger", "from partwise.cli import main"),
        ("partwise.estimators.tagger", "from numba.core import types"),
    ],
)
def test_architecture_wrong_imports_are_seen(module: str, source: str) -> None:
    assert len(wrong_imports(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("partwise.solvers.loop", "from partwise.losses import hinge"),
        ("partwise.solvers.loop", "from partwise.model_file import write"),
        ("partwise.features.table", "from partwise._jit import kernel"),
        ("partwise.estimators.tagger", "from ..data import columns\nimport sklearn"),
        ("partwise.data.columns", "from .files import read_text"),
        ("partwise._jit", "import numba"),
        ("partwise", "from partwise.estimators.tagger import SequenceTagger"),
    ],
)
def test_architecture_right_imports_pass(module: str, source: str) -> None:
    assert wrong_imports(source, module) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "eval('1')",
        "exec(open('x').read())",
        "np.load(path, allow_pickle=True)",
    ],
)
def test_architecture_dangers_are_seen(source: str) -> None:
    assert len(dangers(source)) == 1


def test_architecture_every_module_can_be_imported() -> None:
    names = [
        module.name
        for module in pkgutil.walk_packages([str(PACKAGE)], "partwise.")
        if not module.name.endswith("__main__")
    ]
    assert "partwise.model_file.container" in names
    for name in names:
        importlib.import_module(name)


IMPORT = """
import gc, sys, time
start = time.perf_counter()
import partwise
seconds = time.perf_counter() - start
compiled = []
if "numba" in sys.modules:
    from numba.core.dispatcher import Dispatcher
    compiled = [
        str(thing.py_func.__qualname__)
        for thing in gc.get_objects()
        if isinstance(thing, Dispatcher)
        and thing.py_func.__module__.startswith("partwise")
        and thing.signatures
    ]
print(seconds, compiled)
"""


def test_architecture_import_is_fast_and_compiles_nothing() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", IMPORT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split(maxsplit=1)
        # The fastest of three: other processes may be at work on the machine.
        for _ in range(3)
    ]
    assert all(compiled.strip() == "[]" for _, compiled in outputs)
    assert min(float(seconds) for seconds, _ in outputs) < 1.0
