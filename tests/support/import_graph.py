"""The rules for imports within the package: rooms, cores and no cycles.

All of them take sources by the names of their modules, so that they can be tried on
planted ones. The name of a package stands for its ``__init__``.
"""

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from partwise._moved import MOVED

Sources = Mapping[str, str]
"""The source of every module, by its name; names of packages end with a dot."""


class Import(NamedTuple):
    """One module imports another one, or a name of it."""

    importer: str
    imported: str
    for_types: bool
    """Whether only the type checker sees it."""


@functools.cache
def imported_names(source: str, package: str) -> tuple[tuple[str, bool], ...]:
    """Return the full names of what is imported, inside functions too.

    ``from a import b`` gives ``a.b``, since ``b`` may be a module. `package` is what
    dots refer to. With each name comes whether only the type checker sees it.
    """
    return tuple(_imported_names(ast.parse(source), package))


def _imported_names(tree: ast.Module, package: str) -> Iterator[tuple[str, bool]]:
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            for alias in node.names:
                yield f"{base}.{alias.name}", id(node) in for_types


def is_old_name(name: str) -> bool:
    """Say whether a name is that of a module that has moved, or of something in one."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in MOVED for n in range(1, len(parts) + 1))


def find_imports(sources: Sources) -> list[Import]:
    """Return who imports whom, of the modules that are given."""
    modules = {name.rstrip(".") for name in sources}
    found = {}
    for name, source in sources.items():
        module = name.rstrip(".")
        package = module if name.endswith(".") else module.rpartition(".")[0]
        for imported, for_types in imported_names(source, package):
            target = imported
            if target not in modules:
                target = target.rpartition(".")[0]  # a name of a module
            if target in modules and target != module:
                one = Import(module, target, for_types)
                found[one] = None
    return list(found)


def find_cycles(sources: Sources) -> list[tuple[str, ...]]:
    """Return a shortest cycle of every knot of modules that import one another.

    Imports for the type checker count like all others: whoever needs them to read a
    file has to read both.
    """
    targets: dict[str, set[str]] = {name.rstrip("."): set() for name in sources}
    for importer, imported, _ in find_imports(sources):
        targets[importer].add(imported)
    knots = [knot for knot in _knots(targets) if len(knot) > 1]
    return sorted(_shortest_cycle(knot, targets) for knot in knots)


def _knots(targets: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(targets):
        _finish(start, targets, seen, order)
    sources: dict[str, set[str]] = {name: set() for name in targets}
    for name, others in targets.items():
        for other in others:
            sources[other].add(name)
    seen, knots = set(), []
    for start in reversed(order):
        knot: list[str] = []
        _finish(start, sources, seen, knot)
        knots.append(set(knot))
    return knots


def _finish(
    start: str, targets: Mapping[str, set[str]], seen: set[str], order: list[str]
) -> None:
    """Append what can be reached, and was not seen yet, each after what it reaches."""
    if start in seen:
        return
    seen.add(start)
    stack = [(start, iter(sorted(targets[start])))]
    while stack:
        name, rest = stack[-1]
        for other in rest:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(sorted(targets[other]))))
                break
        else:
            order.append(name)
            stack.pop()


def _shortest_cycle(knot: set[str], targets: Mapping[str, set[str]]) -> tuple[str, ...]:
    best: tuple[str, ...] = ()
    for start in sorted(knot):
        paths, seen = [(start,)], {start}
        while paths and not (best and len(paths[0]) >= len(best)):
            path = paths.pop(0)
            if start in targets[path[-1]]:
                best = path
                break
            for other in sorted(targets[path[-1]] & knot - seen):
                seen.add(other)
                paths.append((*path, other))
    return best


class Floor(NamedTuple):
    """A folder of the package with rooms, and what is known of them.

    Folders in it are rooms, the modules beside them its core, but for two kinds: a
    room may be of one file, and a folder may be part of the core.
    """

    name: str
    exceptions: frozenset[tuple[str, str]] = frozenset()
    """Rooms that may import other ones, as pairs."""
    of_one_file: frozenset[str] = frozenset()
    in_core: frozenset[str] = frozenset()

    def room(self, module: str, rooms: Iterable[str]) -> str | None:
        """Return the room of a module, "" for the core, None if it is elsewhere."""
        if f"{module}.".startswith(f"{self.name}."):
            first = module.removeprefix(self.name).lstrip(".").partition(".")[0]
            return first if first in rooms else ""
        return None


def wrong_rooms(sources: Sources, floor: Floor) -> list[str]:
    """Return the imports on a floor that rooms do not allow.

    A room imports the core of its floor and itself; the core imports no room. The
    ``__init__`` of the floor may, to export public names; and so may imports for the
    type checker, as long as they close no cycle (`find_cycles`).
    """
    start = f"{floor.name}."
    below = [name.removeprefix(start) for name in sources if name.startswith(start)]
    rooms = {name.partition(".")[0] for name in below if "." in name}
    rooms = (rooms | floor.of_one_file) - floor.in_core
    wrong = []
    for importer, imported, for_types in find_imports(sources):
        here, there = floor.room(importer, rooms), floor.room(imported, rooms)
        if here is None or not there or here == there or for_types:
            continue
        if importer != floor.name and (here, there) not in floor.exceptions:
            wrong.append(f"{importer} imports {imported}")
    return sorted(wrong)
