"""No two classes or public functions of the solvers share a name."""

import ast
from collections import Counter
from pathlib import Path

import partwise.solvers


def test_solvers_have_one_meaning_a_name() -> None:
    names: Counter[str] = Counter()
    for path in Path(partwise.solvers.__path__[0]).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names[node.name] += not node.name.startswith("_")
    assert sorted(name for name, count in names.items() if count > 1) == []


def test_solvers_take_no_name_from_the_structures() -> None:
    from partwise import structures

    own = {
        node.name
        for path in Path(partwise.solvers.__path__[0]).rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    assert own & set(structures.__all__) == set()
