"""All that reaches the machine code of a function.

Numba compiles the functions that a function calls into it, and freezes the values of
the globals that they read. What a cache is keyed with must cover all of it, and should
cover no more: who edits one structure does not want to compile the others again.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

Body = Callable[..., Any]

# Their versions are in the key, and nobody edits them.
WELL_KNOWN = {"builtins", "math", "numba", "numpy", "typing"}


@functools.lru_cache(maxsize=4096)
def _code_digest(code: CodeType, doc: str | None) -> bytes:
    """Return a hash of what a function does; its name, place and text do not matter."""
    digest = hashlib.sha256()
    layout = (
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_flags, code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars,
    )  # fmt: skip
    digest.update(repr(layout).encode())
    digest.update(code.co_code)
    digest.update(code.co_exceptiontable)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            digest.update(_code_digest(const, None))
        elif doc is None or const != doc:
            shown = sorted(map(repr, const)) if isinstance(const, frozenset) else const
            digest.update(f"{type(const).__name__} {shown!r};".encode())
    return digest.digest()


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that a function may read."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def _in_order(options: Any) -> list[str]:
    """Show sets and dictionaries the same way in every process."""
    if isinstance(options, dict):
        return sorted(f"{key} {_in_order(value)}" for key, value in options.items())
    if isinstance(options, set | frozenset):
        return sorted(map(repr, options))
    return [repr(options)]


class Reach:
    """What reaches a function compiled for arguments with these classes in them.

    Attributes
    ----------
    digest : str
        A hash of it all.
    asked : set
        The questions that may be asked of a structure behind an address.
    """

    def __init__(self, body: Body, classes: Iterable[type] = (), sealed: bool = False):
        self.asked: set[Any] = set()
        self._sealed = sealed
        self._lines: set[str] = set()
        self._classes: set[type] = set()
        self._questions: set[Any] = set()
        self._seen: dict[int, Any] = {}  # by identity; the values keep it unique
        for cls in classes:
            self._add_class(cls)
        self._add_body(body)
        text = "\n".join(sorted(self._lines))
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def _add_body(self, body: Body) -> None:
        if id(body) in self._seen:
            return
        self._seen[id(body)] = body
        code = body.__code__
        self._lines.add(f"code {_code_digest(code, body.__doc__).hex()}")
        for default in body.__defaults__ or ():
            self._add_value("default", default, set())
        names = set(_names(code))
        for name in names & body.__globals__.keys():
            self._add_value(name, body.__globals__[name], names)
        for name, cell in zip(code.co_freevars, body.__closure__ or (), strict=True):
            self._add_value(name, cell.cell_contents, names)

    def _add_value(self, name: str, value: Any, names: set[str]) -> None:
        if hasattr(value, "bodies_for"):
            self._add_question(value)
        elif hasattr(value, "py_func"):
            options = getattr(value, "_fastmath", None) or getattr(
                value, "targetoptions", None
            )
            self._lines.add(f"options {name} {_in_order(options)}")
            self._add_body(value.py_func)
        elif isinstance(value, FunctionType):
            if value.__module__.partition(".")[0] not in WELL_KNOWN:
                self._add_body(value)
        elif isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in WELL_KNOWN:
                for attribute in names & vars(value).keys():
                    self._add_value(attribute, getattr(value, attribute), names)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, np.ndarray):
            own = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
            self._lines.add(f"array {name} {value.dtype} {value.shape} {own}")
        elif isinstance(value, tuple):
            for place, part in enumerate(value):
                self._add_value(f"{name}[{place}]", part, names)
        elif isinstance(value, bool | int | float | complex | str | bytes | np.generic):
            self._lines.add(f"constant {name} {type(value).__name__} {value!r}")

    def _add_class(self, cls: type) -> None:
        if cls in self._classes or not hasattr(cls, "_fields"):
            return
        self._classes.add(cls)
        self._lines.add(f"class {cls.__name__} {cls._fields}")
        for question in list(self._questions):
            self._add_answers(question, [cls])

    def _add_question(self, question: Any) -> None:
        if question in self._questions:
            return
        self._questions.add(question)
        if self._sealed and question.number is not None:
            # Machine code asks for the answer by its number in a table.
            self.asked.add(question)
            self._lines.add(f"question {question.__name__} {question.number}")
        self._add_answers(question, list(self._classes))

    def _add_answers(self, question: Any, classes: list[type]) -> None:
        if question not in self.asked:
            for body in question.bodies_for(classes):
                self._add_body(body)
