"""Compiled kernels and generic functions; the only file that imports Numba.

Two decorators carry the whole package. ``kernel`` compiles a function with a
disk cache that is stamped with *all* the compiled source of the package, because
a solver's machine code holds a copy of the structure it was compiled for.
``generic`` makes a function that picks its implementation by the class of its
first argument, in plain Python and inside kernels alike: solvers are written
once and run on every structure.

With ``NUMBA_DISABLE_JIT=1`` the same bodies run as ordinary Python.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numba
from numba import types
from numba.core import caching
from numba.extending import overload

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parent

# Reassociation lets sums be vectorised. NaN and infinity keep their meaning:
# the full ``fastmath=True`` would delete every check for them.
SAFE_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}

# Machine code may hold a copy of anything from these folders, constants included.
COMPILED_FOLDERS = ("structures", "losses", "solvers")

# Python never calls the compiled bodies of generic functions: it has their source.
_UNWRAPPED = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_extension_files: set[str] = set()
_extended_classes: set[type] = set()


@functools.cache
def package_stamp() -> str:
    """Return a hash of every source file of the package that reaches a kernel.

    Examples
    --------
    >>> len(package_stamp())
    64
    """
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name, source = path.relative_to(PACKAGE), path.read_bytes()
        if name.parts[0] in COMPILED_FOLDERS or b"_jit" in source:
            digest.update(str(name).encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


@functools.lru_cache(maxsize=256)
def _file_stamp(path: str, modified_ns: int, size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _is_extension(body: Callable[..., Any]) -> bool:
    """Say whether code is not of the package."""
    return PACKAGE not in Path(body.__code__.co_filename).resolve().parents


def _note_extension(body: Callable[..., Any], cls: type | None = None) -> None:
    """Remember compiled code that is not of the package, and what class it serves."""
    file = Path(body.__code__.co_filename)
    if file.exists() and _is_extension(body):
        _extension_files.add(str(file.resolve()))
        if cls is not None:
            _extended_classes.add(cls)


def _is_extended(kind: Any) -> bool:
    """Say whether code for a type may be that of an extension."""
    if isinstance(kind, types.Dispatcher):
        return _is_extension(kind.dispatcher.py_func)
    if isinstance(kind, types.BaseNamedTuple) and not _extended_classes.isdisjoint(
        kind.instance_class.__mro__
    ):
        return True
    return isinstance(kind, types.BaseTuple) and any(map(_is_extended, kind))


def _extension_stamp(body: Callable[..., Any], sig: Any) -> tuple[str, ...]:
    """Hash the files outside the package whose code may reach a kernel.

    What only the package knows is the same for every program, whatever others define.
    """
    # The package may make its own classes anywhere, so that no signature shows them.
    own_class = any(
        cls.__module__.partition(".")[0] == __package__ for cls in _extended_classes
    )
    if not (own_class or _is_extension(body) or any(map(_is_extended, sig))):
        return ()
    stamps = []
    for path in sorted(_extension_files):
        try:
            status = os.stat(path)
            stamps.append(_file_stamp(path, status.st_mtime_ns, status.st_size))
        except OSError:  # deleted while the program runs, which works on
            stamps.append(path)
    return tuple(stamps)


def _cache_folders(source: Path) -> list[Path]:
    """List where compiled code may live, in order of preference."""
    where = hashlib.sha256(str(source.parent).encode()).hexdigest()[:12]
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / f"partwise-{where}"]
    if sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    elif sys.platform == "darwin":
        user = Path.home() / "Library" / "Caches"
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [source.parent / "__pycache__", user / "partwise" / where]


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Keeps compiled code beside its source, or in the user's cache folder."""

    def __init__(self, py_func: Callable[..., Any], py_file: str, folder: Path):
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno
        self._folder = folder

    @classmethod
    def from_function(
        cls, py_func: Callable[..., Any], py_file: str
    ) -> _Locator | None:
        source = Path(py_file)
        if not source.exists():  # a notebook cell or a string: compile every time
            return None
        folder = next(filter(_is_writable, _cache_folders(source)), None)
        return None if folder is None else cls(py_func, py_file, folder)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> tuple[str, str]:
        status = os.stat(self._py_file)
        own = _file_stamp(self._py_file, status.st_mtime_ns, status.st_size)
        return package_stamp(), own

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]
    """An index of compiled code that may speak of classes unknown to this program."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """A function cache with an index a signature, that knows users' structures.

    To read an index is to import the classes in its signatures. One index a function
    would let a structure that a user tried once break every program that cannot
    import it, and two programs that compile at once could take the same file for
    different code. The keys also hold the source of users' structures.
    """

    _impl_class = _CacheImpl

    def __init__(self, body: Callable[..., Any]):
        super().__init__(body)
        # Of the source as it is now: a file may change while its code runs.
        self._stamp = self._impl.locator.get_source_stamp()
        self._body = body

    def _turn_to(self, sig: Any) -> None:
        key = str((sig, _extension_stamp(self._body, sig)))
        own = hashlib.sha256(key.encode()).hexdigest()[:12]
        base = f"{self._impl.filename_base}-{own}"
        self._cache_file = _Index(self._cache_path, base, self._stamp)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        self._turn_to(sig)
        return super()._load_overload(sig, target_context)

    def _save_overload(self, sig: Any, data: Any) -> None:
        self._turn_to(sig)
        super()._save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        own = _extension_stamp(self._body, sig)
        return (*super()._index_key(sig, codegen), own)


def _make_kernel(body: Callable[..., Any], fastmath: set[str] | bool) -> Any:
    dispatcher = numba.njit(nogil=True, fastmath=fastmath)(body)
    if numba.config.DISABLE_JIT:
        return body
    _note_extension(body)
    try:
        dispatcher._cache = _Cache(body)
    except (RuntimeError, OSError):
        # Nowhere to write: every process compiles for itself, and works.
        pass
    return dispatcher


def kernel(body: Function) -> Function:
    """Compile a function to machine code that releases the GIL and is cached.

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.0]))
    3.0
    """
    return _make_kernel(body, False)  # type: ignore[no-any-return]


def fused_kernel(body: Function) -> Function:
    """Compile like `kernel`, with multiplications fused into additions.

    Nothing is reordered, so that tricks with rounding keep working.
    """
    return _make_kernel(body, {"contract"})  # type: ignore[no-any-return]


def vector_kernel(body: Function) -> Function:
    """Compile like `kernel`, with sums reordered so that they vectorise."""
    return _make_kernel(body, SAFE_MATH)  # type: ignore[no-any-return]


class Generic(Protocol):
    """A function that dispatches on the class of its first argument."""

    __name__: str

    def __call__(self, *args: Any) -> Any:
        """Call the implementation for the class of the first argument."""

    def implement(self, cls: type) -> Callable[[Function], Function]:
        """Register the implementation for the class `cls` and its subclasses."""

    def provided_by(self, cls: type) -> bool:
        """Say whether `cls` answers this function, itself or by a default."""

    def changed_by(self, cls: type) -> bool:
        """Say whether `cls` has an answer of its own, in the place of a default."""


def generic(stub: Callable[..., Any]) -> Generic:
    """Make a function that picks its implementation by its first argument.

    Called from Python it looks the class up; inside a kernel the choice is made
    while compiling and costs nothing at run time. A stub that only raises means
    that every class has to implement the function itself; `generic_with_default`
    takes a body that serves the classes that do not.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @generic
    ... def area(shape):
    ...     raise NotImplementedError("area is not implemented for this shape")
    >>> @area.implement(Square)
    ... def _square_area(shape):
    ...     return shape.side**2
    >>> area(Square(3.0))
    9.0
    >>> area.provided_by(Square), area.provided_by(int)
    (True, False)
    """
    return _make_generic(stub, None)


def generic_with_default(body: Callable[..., Any]) -> Generic:
    """Make a `generic` function whose own body serves where no other does."""
    return _make_generic(body, body)


def _make_generic(
    stub: Callable[..., Any], default: Callable[..., Any] | None
) -> Generic:
    table: dict[type, Callable[..., Any]] = {}
    python: Any = functools.singledispatch(stub)

    def implement(cls: type) -> Callable[[Function], Function]:
        def register(body: Function) -> Function:
            # Machine code is linked by names. Bodies are often called "_", and of two
            # alike that different programs compiled and cached, one would serve for
            # both; so they are called by what they answer.
            body.__name__ = f"{stub.__name__}_of_{cls.__name__}"
            body.__qualname__ = body.__name__
            python.register(cls)(body)
            table[cls] = body
            _note_extension(body, cls)
            return body

        return register

    def body_for(cls: type) -> Callable[..., Any] | None:
        return next((table[c] for c in cls.__mro__ if c in table), default)

    @overload(python, strict=False, jit_options=_UNWRAPPED)  # type: ignore[untyped-decorator]
    def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
        if isinstance(first, types.BaseNamedTuple):
            return body_for(first.instance_class)
        return None

    python.implement = implement
    python.provided_by = lambda cls: body_for(cls) is not None
    python.changed_by = lambda cls: body_for(cls) is not default
    return python  # type: ignore[no-any-return]
