"""Compiled code: never stale, cached where it may be, and the same as plain Python."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import drivers
import partwise
from partwise._jit import generic, generic_with_default, kernel, vector_kernel

PACKAGE = Path(partwise.__file__).parent

compiled_only = pytest.mark.skipif(
    not drivers.IS_COMPILED, reason="nothing is compiled in this process"
)


# --- generic functions --------------------------------------------------------------


class Square(NamedTuple):
    side: float


class Circle(NamedTuple):
    radius: float


class Cake(Circle):
    """A circle that answers one question differently."""


@generic
def area(shape):
    raise NotImplementedError("area is not implemented for this shape")


@generic_with_default
def corners(shape):
    return 0


@area.implement(Square)
def _(shape):
    return shape.side**2


@area.implement(Circle)
def _(shape):
    return 3.0 * shape.radius**2


@corners.implement(Square)
def _(shape):
    return 4


@area.implement(Cake)
def _(shape):
    return 0.0


@kernel
def describe(shape):
    return area(shape), corners(shape)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(Square(3.0), (9.0, 4)), (Circle(2.0), (12.0, 0)), (Cake(2.0), (0.0, 0))],
)
def test_generic_picks_the_body_by_class(shape, expected):
    assert (area(shape), corners(shape)) == expected
    assert describe(shape) == expected


def test_generic_subclass_inherits_what_it_does_not_answer():
    class Coin(Circle):
        pass

    assert area(Coin(2.0)) == 12.0
    assert area.provided_by(Coin)


def test_generic_knows_who_answers():
    assert area.provided_by(Square)
    assert not area.provided_by(int)
    assert corners.provided_by(int)


def test_generic_without_an_answer_says_so():
    with pytest.raises(NotImplementedError, match="not implemented for this shape"):
        area(3)


# --- kernels ------------------------------------------------------------------------


@vector_kernel
def vector_sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


def test_kernel_that_reorders_sums_keeps_nan_and_infinity():
    assert vector_sum(np.arange(100.0)) == 4950.0
    assert np.isnan(vector_sum(np.array([1.0, np.nan, 2.0])))
    assert vector_sum(np.array([1.0, np.inf, 2.0])) == np.inf


# --- the cache ----------------------------------------------------------------------

# A structure of the package and one of a user, whose answer is partly in a helper,
# asked through the same kernel.
SOLVER = """
from partwise._jit import kernel
from partwise.structures import interface as waist


@kernel
def ask_cost(s, i, y):
    return waist.cost(s, i, y)


@kernel
def ask_any(s: "Structure", i, y):
    return waist.cost(s, i, y)
"""

USER_STRUCTURE = """
from typing import NamedTuple

from helper import fee
from partwise.structures import interface as waist


class Toll(NamedTuple):
    price: float


@waist.cost.implement(Toll)
def _(s, i, y):
    return s.price + fee(10.0)
"""

USER_HELPER = """
from config import SCALE
from partwise._jit import kernel


@kernel
def fee(price):
    return price * SCALE
"""

USER_CONFIG = """
SCALE = 1.0
"""

PROGRAM = """
import json
import numpy as np
import partwise
from partwise._jit.cache import counts
from partwise.structures import make_dense_rows, make_multiclass
from solver import ask_any, ask_cost
from user_structure import Toll

y = np.zeros(1, np.int32)
s = make_multiclass(make_dense_rows([[1.0]]), [1], 2)
answers = [float(ask_cost(s, 0, y)), float(ask_cost(Toll(1.0), 0, y))]
assert answers == [float(ask_any(s, 0, y)), float(ask_any(Toll(1.0), 0, y))]
print(json.dumps([partwise.__file__, answers, counts["loaded"], counts["compiled"]]))
"""


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@compiled_only
@pytest.mark.slow
def test_jit_cache_is_never_stale(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "partwise")
    files = {
        "solver.py": SOLVER,
        "user_structure.py": USER_STRUCTURE,
        "helper.py": USER_HELPER,
        "config.py": USER_CONFIG,
        "program.py": PROGRAM,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        # Of a file edited twice in a second Python itself would keep the old one.
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run():
        command = [sys.executable, str(tmp_path / "program.py")]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        where, answers, loaded, compiled = json.loads(done.stdout)
        assert Path(where).is_relative_to(tmp_path)
        return answers, loaded, compiled

    # Two kernels, one of them for each structure, and the answer of each structure.
    assert run() == ([1.0, 11.0], 0, 5)
    assert run() == ([1.0, 11.0], 5, 0)

    package_structure = tmp_path / "partwise" / "structures" / "multiclass.py"
    old = "return s.costs[s.labels[i], y[0]]"
    edit(package_structure, old, old.replace("return", "return 7.0 *"))
    # Only what holds a copy of the code is compiled again.
    assert run() == ([7.0, 11.0], 3, 2)

    edit(tmp_path / "user_structure.py", "s.price +", "2.0 * s.price +")
    assert run() == ([7.0, 12.0], 3, 2)

    edit(tmp_path / "helper.py", "return price", "return 3.0 * price")
    assert run() == ([7.0, 32.0], 3, 2)

    # A constant two imports away, in a file without kernels.
    edit(tmp_path / "config.py", "SCALE = 1.0", "SCALE = 5.0")
    assert run() == ([7.0, 152.0], 3, 2)

    # Comments, texts and other functions reach no kernel.
    edit(tmp_path / "helper.py", "@kernel", "# a comment\n@kernel")
    assert run() == ([7.0, 152.0], 5, 0)


# Two answers with the same arguments, each compiled by a program of its own, and long
# enough to stay functions of their own.
TWO_ANSWERS = """
import math
from typing import NamedTuple

from partwise._jit import generic, kernel


class Box(NamedTuple):
    width: int
    height: int


@generic
def across(box):
    raise NotImplementedError


@generic
def up(box):
    raise NotImplementedError


@across.implement(Box)
def _(box):
    angle = 0.0
    LONG
    return box.width if angle < 1e9 else 0


@up.implement(Box)
def _(box):
    angle = 1.0
    LONG
    return box.height if angle < 1e9 else 0


@kernel
def ask_across(box):
    return across(box)


@kernel
def ask_up(box):
    return up(box)


""".replace("LONG", "angle += math.sin(angle + box.width) % 0.7; " * 60)

ASK_SOME = """
import sys

import boxes

for name in sys.argv[1:]:
    print(getattr(boxes, f"ask_{name}")(boxes.Box(3, 5)))
"""


@compiled_only
def test_jit_code_cached_by_several_programs_is_not_mixed_up(tmp_path):
    """Code of programs that compiled alike has the same numbers in its names."""
    program = tmp_path / "program.py"
    program.write_text(ASK_SOME)
    (tmp_path / "boxes.py").write_text(TWO_ANSWERS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*names):
        done = subprocess.run(
            [sys.executable, str(program), *names],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run("across") == ["3"]
    assert run("up") == ["5"]
    assert run("across", "up") == ["3", "5"]


SCRIPT = """
from __future__ import annotations
import json
from typing import NamedTuple
import numpy as np
from partwise._jit import kernel
from partwise._jit.cache import counts
from partwise.structures import interface as waist
from partwise.structures.interface import Structure


class Toll(NamedTuple):
    price: float


@waist.cost.implement(Toll)
def _(s, i, y):
    return s.price + FEE


@kernel
def ask(s: Structure, y):
    return waist.cost(s, 0, y)


FEE = 1.0
answer = ask(Toll(1.0), np.zeros(1, np.int32))
print(json.dumps([answer, dict(counts)]))
"""


@compiled_only
@pytest.mark.parametrize("from_stdin", [False, True])
def test_jit_structure_of_a_script_is_compiled_once(tmp_path, from_stdin):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)

    def run():
        text = path.read_text()
        done = subprocess.run(
            [sys.executable, "-" if from_stdin else str(path)],
            input=text if from_stdin else None,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert run() == [2.0, {"compiled": 2}]
    assert run() == [2.0, {"loaded": 2}]
    edit(path, "FEE = 1.0", "FEE = 5.0")
    assert run() == [6.0, {"compiled": 1, "loaded": 1}]


def load_kernel(folder):
    """Import a module with one kernel from a folder, and run it."""
    folder.mkdir(exist_ok=True)
    path = folder / "kernels.py"
    path.write_text(
        "from partwise._jit import kernel\n\n\n"
        "@kernel\ndef twice(x):\n    return 2 * x\n"
    )
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.twice(21) == 42
    return module.twice


def cached_in(folder):
    return sorted(path.suffix for path in folder.rglob("*.nb?"))


@pytest.fixture
def own_caches(monkeypatch, tmp_path):
    """Look for caches where a user's process would, with a home of its own."""
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user cache"))
    return tmp_path


def forbid(folder):
    """Make it impossible to write into a folder, for a superuser as well."""
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file, where a folder would have to be")


@compiled_only
def test_jit_cache_is_beside_the_source(own_caches):
    load_kernel(own_caches / "code")
    assert cached_in(own_caches / "code" / "__pycache__") == [".nbc"]
    assert cached_in(own_caches / "user cache") == []


@compiled_only
def test_jit_cache_is_the_users_where_the_source_is_read_only(own_caches):
    forbid(own_caches / "code" / "__pycache__")
    load_kernel(own_caches / "code")
    assert cached_in(own_caches / "user cache" / "partwise") == [".nbc"]


@compiled_only
def test_jit_cache_of_the_user_needs_no_home(own_caches, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    forbid(own_caches / "code" / "__pycache__")
    load_kernel(own_caches / "code")
    assert cached_in(own_caches / "user cache" / "partwise") == [".nbc"]


@compiled_only
def test_jit_works_where_nothing_can_be_written(own_caches):
    forbid(own_caches / "code" / "__pycache__")
    forbid(own_caches / "user cache")
    twice = load_kernel(own_caches / "code")
    assert twice.dispatcher._cache.cache_path is None
    assert cached_in(own_caches) == []


@compiled_only
def test_jit_survives_a_deleted_extension(own_caches):
    load_kernel(own_caches / "gone")
    shutil.rmtree(own_caches / "gone")
    assert load_kernel(own_caches / "code")(4) == 8
