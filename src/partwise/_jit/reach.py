"""All that reaches the machine code of a function.

Numba compiles the functions that a function calls into it, and freezes the values of
the globals that they read. What a cache is keyed with must cover all of it, and should
cover no more: who edits one structure does not want to compile the others again.
"""

from __future__ import annotations

import enum
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


def _by_name(thing: Any) -> tuple[str, str]:
    return thing.__module__, thing.__qualname__


class Reach:
    """What reaches a function compiled for arguments with these classes in them.

    It is written down line by line: what every function does, and what each of its
    names stands for. Functions are numbered as they are met, in an order that is the
    same in every process.

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
        self._lines: list[str] = []
        self._classes: list[type] = []
        self._questions: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._open: list[ModuleType] = []
        self._kept: list[Any] = []  # so that identities stay unique
        for cls in sorted(classes, key=_by_name):
            self._add_class(cls)
        self._add_body(body)
        text = "\n".join(self._lines)
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def _add_body(self, body: Body) -> str:
        """Write down a function; return what it is called."""
        if id(body) in self._numbers:
            return f"function {self._numbers[id(body)]}"
        number = self._numbers[id(body)] = len(self._numbers)
        self._kept.append(body)
        code = body.__code__
        lines = [f"{number} does {_code_digest(code, body.__doc__).hex()}"]
        names = set(_names(code))
        bound: list[tuple[str, Any]] = [
            (name, body.__globals__[name])
            for name in sorted(names & body.__globals__.keys())
        ]
        cells = zip(code.co_freevars, body.__closure__ or (), strict=True)
        bound += [(f"cell {name}", cell.cell_contents) for name, cell in cells]
        bound += [(f"default {k}", v) for k, v in enumerate(body.__defaults__ or ())]
        bound += sorted((body.__kwdefaults__ or {}).items())
        for name, value in bound:
            lines.append(f"{number} reads {name}: {self._show(value, names)}")
        self._lines += lines
        return f"function {number}"

    def _show(self, value: Any, names: set[str]) -> str:
        """Return a text that differs where machine code may."""
        if hasattr(value, "body_for"):
            return self._add_question(value)
        if hasattr(value, "py_func"):
            options = getattr(value, "_fastmath", None) or getattr(
                value, "targetoptions", None
            )
            return f"kernel {_in_order(options)} {self._add_body(value.py_func)}"
        if isinstance(value, FunctionType):
            if value.__module__.partition(".")[0] not in WELL_KNOWN:
                return self._add_body(value)
        elif isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in WELL_KNOWN:
                return self._show_module(value, names)
            return f"module {value.__name__}"
        elif isinstance(value, enum.EnumMeta):
            members: Any = value.__members__.items()
            return f"enum {[(name, member.value) for name, member in members]!r}"
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self._add_class(value)
        elif isinstance(value, np.ndarray):
            own = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
            return f"array {value.dtype} {value.shape} {own}"
        elif isinstance(value, tuple):
            kind = type(value)
            parts = [self._show(part, names) for part in value]
            return f"{kind.__qualname__} {getattr(kind, '_fields', '')} {parts}"
        return _described(value)

    def _show_module(self, module: ModuleType, names: set[str]) -> str:
        if module in self._open:  # modules that know each other
            return f"module {module.__name__}"
        self._open.append(module)
        found = sorted(names & vars(module).keys())
        shown = [(name, self._show(getattr(module, name), names)) for name in found]
        self._open.remove(module)
        return f"module with {shown}"

    def _add_class(self, cls: type) -> None:
        if cls in self._classes or not hasattr(cls, "_fields"):
            return
        self._classes.append(cls)
        self._lines.append(f"class {cls.__qualname__} {cls._fields}")
        for question in list(self._questions):
            self._add_answer(question, cls)

    def _add_question(self, question: Any) -> str:
        if question not in self._questions:
            self._questions.append(question)
            if self._sealed and question.number is not None:
                # Machine code asks for the answer by its number in a table.
                self.asked.add(question)
            for cls in list(self._classes):
                self._add_answer(question, cls)
        return f"question {question.__name__} {question.number}"

    def _add_answer(self, question: Any, cls: type) -> None:
        body = None if question in self.asked else question.body_for(cls)
        if body is not None:
            own = self._add_body(body)
            self._lines.append(f"{question.__name__} of {cls.__qualname__}: {own}")


def _described(value: Any) -> str:
    """Return a text for what is neither a function nor made of parts."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name} {value.value!r}"
    names = [getattr(value, name, None) for name in ("__module__", "__qualname__")]
    shown = repr(value)
    # An address says nothing, and is another in every process.
    text = "" if " at 0x" in shown else shown
    return f"{type(value).__qualname__} {names} {getattr(value, '__name__', '')} {text}"
