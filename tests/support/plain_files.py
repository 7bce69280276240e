"""Finding the files of tests that do more in plain Python than where they are compiled.

They are found by what they mention: `PLAIN_PYTHON`, or a name of a shared module that
was made of it, such as `plain_only`. What is skipped in plain Python does not count.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE_OF_ALL = ("problems", "PLAIN_PYTHON")
"""The module and the name that say whether this is plain Python."""

Names = dict[str, set[str]]
"""Names that depend on it, by the module that defines them."""


def mentions(node: ast.AST, imported: Mapping[str, str], names: Names) -> bool:
    """Say whether some code mentions one of the names."""
    if _is_skip_in_plain(node):
        return False
    if isinstance(node, ast.Name) and node.id in imported:
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.attr in names.get(imported.get(f"{node.value.id}.", ""), ()):
            return True
    children = ast.iter_child_nodes(node)
    return any(mentions(child, imported, names) for child in children)


def _is_skip_in_plain(node: ast.AST) -> bool:
    """Say whether this is ``pytest.mark.skipif(PLAIN_PYTHON, ...)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    condition = node.args[0] if node.args else None
    return node.func.attr == "skipif" and (
        getattr(condition, "attr", getattr(condition, "id", "")) == SOURCE_OF_ALL[1]
    )


def _imported(tree: ast.Module, names: Names) -> dict[str, str]:
    """Return names of interest in a module; modules themselves end with a dot."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[f"{alias.asname or alias.name}."] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module in names:
            for alias in node.names:
                if alias.name in names[node.module]:
                    found[alias.asname or alias.name] = node.module
    return found


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def plain_names(shared: Mapping[str, str]) -> Names:
    """Return the names that shared modules, given by their sources, make of it."""
    module, name = SOURCE_OF_ALL
    names: Names = {module: {name}}
    trees = {name: ast.parse(source) for name, source in shared.items()}
    n_before = 0
    while n_before < (n_now := sum(map(len, names.values()))):
        n_before = n_now
        for module, tree in trees.items():
            known = _imported(tree, names) | dict.fromkeys(names.get(module, ()), "")
            for name, value in _assignments(tree):
                if mentions(value, known, names):
                    names.setdefault(module, set()).add(name)
    return names


def needs_plain(source: str, names: Names) -> bool:
    """Say whether a file of tests does something in plain Python only."""
    tree = ast.parse(source)
    imported = _imported(tree, names)
    body = [n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]
    return any(mentions(node, imported, names) for node in body)


def find_plain(tests: Path, support: Path) -> list[Path]:
    """Return the files of tests that must run in plain Python as well."""
    shared = {path.stem: path.read_text() for path in support.glob("*.py")}
    names = plain_names(shared)
    return sorted(
        path
        for path in tests.rglob("test_*.py")
        if needs_plain(path.read_text(), names)
    )
