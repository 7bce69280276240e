"""The shape of the package: imports go one way, and importing is cheap and safe."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import partwise
from import_graph import (
    Floor,
    find_cycles,
    imported_names,
    is_old_name,
    wrong_rooms,
)

PACKAGE = Path(partwise.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

# Each layer may import itself and those before it. Everything else in the package
# is a leaf: data, features, metrics and the like, which know no layer.
LAYERS = [
    *("_jit", "_deadline", "_screen", "_threads"),
    *("structures", "losses", "solvers", "estimators"),
    *("dask", "pycrfsuite", "sklearn_crfsuite", "testing", "serving", "cli"),
]
# What the lower layers may know of the leaves, and one leaf of the layers:
# solvers write checkpoints, features are encoded in compiled code.
LEAVES_FOR_ALL = {
    *("_collecting", "_interrupts", "_moved", "_notebooks", "_work", "errors"),
}
EXCEPTIONS = {
    ("solvers", "model_file"),
    ("features", "_jit"),
    ("features", "_threads"),
}
SEE_LEAVES = (
    *("estimators", "dask", "pycrfsuite", "sklearn_crfsuite", "serving", "cli"),
)
SEES_EVERYTHING = {"__init__", "__main__"}

# The floors with rooms, and the rooms that may import others, one by one.
FLOORS = [
    Floor("partwise.solvers", frozenset({("part_duals", "working_sets")})),
    Floor(
        "partwise.estimators",
        frozenset(
            {
                ("hidden_markov", "sequence"),
                ("segments", "sequence"),
                ("hidden_markov", "generative"),
                ("bayesian_network", "generative"),
            }
        ),
    ),
    Floor(
        "partwise.cli",
        frozenset({("hidden_markov", "sequence"), ("segments", "sequence")}),
    ),
    Floor(
        "partwise.structures",
        # A network is a graph with probabilities, a hidden Markov model a chain.
        frozenset(
            {
                ("bayesian_network", "graph"),
                ("hidden_markov", "chain"),
            }
        ),
        of_one_file=frozenset({"hidden_markov", "multiclass"}),
        in_core=frozenset({"rows"}),
    ),
]

FORBIDDEN_MODULES = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}


def may_import(importer: str, imported: str) -> bool:
    """Say whether one top-level part of the package may import another."""
    if importer in (SEES_EVERYTHING | {imported}) or (importer, imported) in EXCEPTIONS:
        return True
    if importer not in LAYERS:
        return imported not in LAYERS
    if imported not in LAYERS:
        return imported in LEAVES_FOR_ALL or importer in SEE_LEAVES
    return LAYERS.index(imported) <= LAYERS.index(importer)


def home_of(name: str) -> str:
    """Return where a name is that ``partwise`` itself exports."""
    folder, _, last = name.rpartition(".")
    return partwise._HOME.get(last, name) if folder == "partwise" else name


def wrong_imports(source: str, module: str, is_package: bool = False) -> list[str]:
    """List the imports that go the wrong way, use old names, or Numba past ``_jit``."""
    importer = [*module.split("."), "__init__"][1]
    wrong = []
    package = module if is_package else module.rpartition(".")[0]
    for name, _ in imported_names(source, package):
        root, *rest = home_of(name).split(".")
        # The package itself has names of all layers.
        imported = rest[0] if rest else LAYERS[-1]
        if root == "partwise" and (
            not may_import(importer, imported) or is_old_name(name)
        ):
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


def all_sources() -> dict[str, str]:
    """Return the sources of the package as `import_graph` wants them."""
    return {
        module_name(path) + "." * (path.name == "__init__.py"): path.read_text()
        for path in SOURCES
    }


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_architecture_imports_go_one_way(path: Path) -> None:
    is_package = path.name == "__init__.py"
    assert wrong_imports(path.read_text(), module_name(path), is_package) == []


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_architecture_rooms_import_their_core_and_themselves(floor: Floor) -> None:
    assert wrong_rooms(all_sources(), floor) == []


def test_architecture_has_no_import_cycles() -> None:
    assert find_cycles(all_sources()) == []


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_architecture_exceptions_are_still_needed(floor: Floor) -> None:
    strict = wrong_rooms(all_sources(), floor._replace(exceptions=frozenset()))
    for here, there in floor.exceptions:
        start, end = f"{floor.name}.{here}", f"imports {floor.name}.{there}"
        assert any(line.startswith(start) and end in line for line in strict)


# A small house: a core of two modules, and two rooms.
HOUSE = {
    "a.": "from a.floor.one.x import X",
    "a.floor.": "from a.floor.one.x import X\nfrom a.floor.two.z import Z",
    "a.floor.base": "import b\nREGISTRY = {'x': 'a.floor.one.x'}",
    "a.floor.loop": "from a.floor.base import Base",
    "a.floor.one.": "",
    "a.floor.one.x": "from a.floor.loop import run\nfrom .y import Y",
    "a.floor.one.y": "from a.floor import base",
    "a.floor.two.": "",
    "a.floor.two.z": "def f():\n    from a.floor.base import Base",
}
FLOOR = Floor("a.floor")


def test_architecture_rules_allow_a_tidy_house() -> None:
    assert wrong_rooms(HOUSE, FLOOR) == []
    assert find_cycles(HOUSE) == []


@pytest.mark.parametrize(
    ("module", "source", "cycle"),
    [
        ("base", "from a.floor.loop import run", "base loop"),
        ("base", "from a.floor import loop", "base loop"),
        ("base", "from . import loop", "base loop"),
        ("base", "def f():\n    import a.floor.loop", "base loop"),
        ("base", "def f():\n    from a.floor.one import y", "base one.y"),
        ("one.y", "from a.floor.one.x import X", "one.x one.y"),
        ("base", "from a.floor.one.x import X", "base loop one.x"),
        ("base", "def f():\n    from .one.x import X", "base loop one.x"),
        ("base", "if TYPE_CHECKING:\n    from .one.x import X", "base loop one.x"),
        ("base", "if TYPE_CHECKING:\n    from .loop import Loop", "base loop"),
        ("loop", "def f():\n    from a.floor import X", ". loop one.x"),
    ],
)
def test_architecture_planted_cycles_are_found(
    module: str, source: str, cycle: str
) -> None:
    (found,) = find_cycles(HOUSE | {f"a.floor.{module}": HOUSE_OF[module] + source})
    names = [f"a.floor.{name}".removesuffix("..") for name in cycle.split()]
    assert sorted(found) == sorted(names)


HOUSE_OF = {
    name.removeprefix("a.floor."): f"{source}\n" for name, source in HOUSE.items()
}


def test_architecture_every_knot_of_imports_is_found() -> None:
    planted = {
        "a.floor.two.z": "import a.floor.two.w",
        "a.floor.two.w": "import a.floor.two.z",
    }
    planted["a.floor.base"] = "import a.floor.loop"
    assert find_cycles(HOUSE | planted) == [
        ("a.floor.base", "a.floor.loop"),
        ("a.floor.two.w", "a.floor.two.z"),
    ]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("base", "from a.floor.two.z import Z"),
        ("base", "from a.floor import two"),
        ("base", "def f():\n    from .two import z"),
        ("two.z", "from a.floor.one.y import Y"),
        ("two.z", "def f():\n    import a.floor.one.x"),
        ("two.", "from a.floor.one import x"),
    ],
)
def test_architecture_planted_imports_of_rooms_are_found(
    module: str, source: str
) -> None:
    house = HOUSE | {f"a.floor.{module}": source}
    (wrong,) = wrong_rooms(house, FLOOR)
    assert wrong.startswith(f"a.floor.{module.rstrip('.')} imports a.floor.")


def test_architecture_exceptions_of_rooms_go_one_way() -> None:
    floor = FLOOR._replace(exceptions=frozenset({("two", "one")}))
    assert wrong_rooms(HOUSE | {"a.floor.two.z": "import a.floor.one.y"}, floor) == []
    house = HOUSE | {"a.floor.one.y": "import a.floor.two.z"}
    assert wrong_rooms(house, floor) == ["a.floor.one.y imports a.floor.two.z"]


def test_architecture_type_checker_may_look_into_rooms_without_closing_a_cycle() -> (
    None
):
    source = "if TYPE_CHECKING:\n    from a.floor.three.free import Free"
    house = HOUSE | {"a.floor.base": source, "a.floor.three.free": ""}
    assert wrong_rooms(house, FLOOR) == []
    assert find_cycles(house) == []
    assert find_cycles(house | {"a.floor.three.free": "import a.floor.loop"})


def test_architecture_rooms_may_be_files_and_folders_may_be_core() -> None:
    house = HOUSE | {"a.floor.base": "from a.floor.one import y"}
    core = FLOOR._replace(in_core=frozenset({"one"}))
    assert wrong_rooms(house, FLOOR) == ["a.floor.base imports a.floor.one.y"]
    assert wrong_rooms(house, core) == []
    house = HOUSE | {"a.floor.loop": "from a.floor import base"}
    alone = FLOOR._replace(of_one_file=frozenset({"base"}))
    assert "a.floor.loop imports a.floor.base" in wrong_rooms(house, alone)


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
        ("partwise.data.columns", "import partwise"),
        ("partwise.data.columns", "from partwise import SequenceTagger"),
        ("partwise.data.columns", "def f():\n    from .. import load"),
        ("partwise.losses.hinge", "import partwise"),
        ("partwise.losses.hinge", "from partwise import LBFGS"),
        ("partwise.estimators.tagger", "import partwise.estimators.constraints"),
        ("partwise.estimators.tagger", "from partwise.estimators import constraints"),
        ("partwise.estimators.tagger", "from .constraints import Constraints"),
        ("partwise.cli.app", "from partwise.chunks import spans"),
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
        ("partwise.data.columns", "from partwise import DataError"),
        ("partwise.cli.app", "import partwise\nfrom partwise import load"),
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
start = time.process_time()
import partwise
seconds = time.process_time() - start
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
        # The faster of two: the first may have to compile what it imports.
        for _ in range(2)
    ]
    assert all(compiled.strip() == "[]" for _, compiled in outputs)
    assert min(float(seconds) for seconds, _ in outputs) < 1.0
