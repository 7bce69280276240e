"""What is imported late: nothing heavy before it is needed."""

import ast
import subprocess
import sys

import pytest

import partwise

HEAVY = ("highspy", "networkx", "numba", "pandas", "rich", "scipy.stats", "sklearn")
LIGHT = ("numpy", *HEAVY)

TRAIN = """
from partwise import SequenceTagger
X, y = [[["a"], ["b"]], [["b"]]], [["P", "Q"], ["Q"]]
tagger = SequenceTagger(verbose=1).fit(X, y)
tagger.predict(X)
tagger.save({path!r})
"""


def loaded_by(code: str, names: tuple[str, ...]) -> list[str]:
    show = (
        f"import json, sys; print(json.dumps([m for m in {names} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{show}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = ast.literal_eval(done.stdout.splitlines()[-1])
    return found


def test_import_partwise_loads_nothing_heavy() -> None:
    assert loaded_by("import partwise", LIGHT) == []


def test_import_of_any_public_name_loads_nothing_heavy() -> None:
    names = sorted(set(partwise.__all__) - {"__version__"})
    assert loaded_by(f"from partwise import {', '.join(names)}", HEAVY) == []


def test_training_and_predicting_loads_neither_scikit_learn_nor_rich(tmp_path) -> None:
    code = TRAIN.format(path=str(tmp_path / "x.partwise"))
    heavy = tuple(name for name in HEAVY if name != "numba")
    assert loaded_by(code, heavy) == []


RUN = """
import sys
from partwise.cli import main
sys.argv = ["partwise", *{arguments}]
import os
os._exit = lambda code: None  # this process has more to say
main()
"""


@pytest.mark.parametrize("arguments", [["--version"], ["doctor", "--help"]])
def test_program_answers_without_anything_heavy(arguments: list[str]) -> None:
    heavy = tuple(name for name in HEAVY if name != "rich")  # help is drawn with it
    assert loaded_by(RUN.format(arguments=arguments), heavy) == []
