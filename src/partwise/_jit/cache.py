"""Machine code on disk, one file for every kernel and type of arguments.

A file is named by a hash of all that the machine code depends on, so that it is never
stale: other code, other constants or another compiler look for another file. A file
that is damaged, half written or of no use is compiled anew and replaced.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba import types
from numba.core import caching, compiler, serialize
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from partwise._jit.clock import preparing
from partwise._jit.modes import is_checked
from partwise._jit.prebuilt import GENERIC, folder_in_use, versions, warn_if_useless
from partwise._jit.reach import Reach
from partwise._jit.sealed import Sealed

MAGIC = b"partwise machine code 1\n"
KEPT = 8
"""So many versions of a kernel stay on disk, the newest."""


def _user_folder() -> Path | None:
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home
        return None
    return base / "partwise"


def cache_folders(source: Path | None) -> list[Path]:
    """List where the machine code of a source file may live, the best place first."""
    where = hashlib.sha256(str(source and source.parent).encode()).hexdigest()[:12]
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / f"partwise-{where}"]
    beside = [source.parent / "__pycache__"] if source is not None else []
    user = _user_folder()
    return beside + ([user / where] if user is not None else [])


def root_folders() -> list[Path]:
    """List the folders below which machine code of this package may be."""
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR)]
    package = Path(__file__).resolve().parent.parent
    user = _user_folder()
    return [package, *([user] if user is not None and user.exists() else [])]


def processor_name() -> str:
    """Return what the compiler calls this processor."""
    return str(binding.get_host_cpu_name())


def is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def _folder_of(source: Path | None, settings: tuple[Any, ...]) -> Path | None:
    return next(filter(is_writable, cache_folders(source)), None)


def folder_of(source: Path | None) -> Path | None:
    """Return where the machine code of a source file lives; None if nowhere."""
    surroundings = numba.config.CACHE_DIR, os.environ.get("XDG_CACHE_HOME")
    return _folder_of(source, surroundings)


def source_of(thing: Any) -> Path | None:
    """Return the file that a function or class is defined in, if there is one."""
    code = getattr(thing, "__code__", None)
    module = sys.modules.get(getattr(thing, "__module__", ""), None)
    name = code.co_filename if code is not None else getattr(module, "__file__", None)
    if name is None or not os.path.exists(name):
        return None
    return Path(name).resolve()


@functools.cache
def _compiler_key() -> tuple[Any, ...]:
    """Return what machine code depends on beside its source and the processor."""
    config = numba.config
    return (
        *versions().items(), config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE,
        config.BOUNDSCHECK or is_checked(),
    )  # fmt: skip


@functools.cache
def _processor() -> Any:
    """Return the processor that is compiled for: a named one, or exactly this one."""
    config = numba.config
    if config.CPU_NAME and config.CPU_FEATURES == "":
        return config.CPU_NAME
    return cpu_target.target_context.codegen().magic_tuple(), config.ENABLE_AVX


def _split(content: bytes, *sizes: int) -> list[bytes]:
    """Cut pieces of these sizes off a text; the rest is the last one."""
    pieces = []
    for size in sizes:
        pieces.append(content[:size])
        content = content[size:]
    return [*pieces, content]


counts = Counter[str]()
"""How much machine code was loaded and compiled by this process."""


native_only = False
"""Whether to compile for this processor what came with the installation, too."""


class Store:
    """The machine code of one function, for all types of arguments.

    A `kind` says what the arguments are, a `digest` covers all that reaches the code.
    """

    def __init__(self, source: Path | None, name: str):
        self.folder = folder_of(source)
        self.name = "".join(c if c.isalnum() or c in "_-." else "-" for c in name)

    def _file(self, kind: str, digest: str, processor: Any) -> str:
        own = hashlib.sha256(kind.encode()).hexdigest()[:10]
        parts = repr((_compiler_key(), processor, kind, digest))
        key = hashlib.sha256(parts.encode()).hexdigest()
        return f"{self.name}-{own}-{key[:24]}.nbc"

    def _own(self, kind: str, digest: str) -> Path | None:
        if self.folder is None:
            return None
        return self.folder / self._file(kind, digest, _processor())

    def _places(self, kind: str, digest: str) -> list[Path]:
        """Return where to look, the best place first."""
        own = self._own(kind, digest)
        came = None if native_only else folder_in_use()
        with_it = None if came is None else came / self._file(kind, digest, GENERIC)
        return [path for path in (own, with_it) if path is not None]

    def has(self, kind: str, digest: str) -> bool:
        """Say whether there seems to be machine code."""
        return any(path.exists() for path in self._places(kind, digest))

    def load(self, kind: str, digest: str) -> Any:
        """Return the result of compiling, from disk; None if it is not there."""
        for path in self._places(kind, digest):
            found = _read(path)
            if found is not None:
                counts["loaded"] += 1
                return found
        return None

    def save(self, kind: str, digest: str, result: Any) -> None:
        """Write the result of compiling to a file, in one step; it may fail."""
        counts["compiled"] += 1
        warn_if_useless()
        path = self._own(kind, digest)
        if path is None or result.lifted or result.library.has_dynamic_globals:
            return
        with contextlib.suppress(OSError):
            data = serialize.dumps(result._reduce())
            temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.tmp")
            try:
                temporary.write_bytes(MAGIC + hashlib.sha256(data).digest() + data)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
            _tidy(path)


def _read(path: Path) -> Any:
    """Return the result of compiling that a file holds; None if it has none."""
    try:
        head, check, data = _split(path.read_bytes(), len(MAGIC), 32)
        if head != MAGIC or hashlib.sha256(data).digest() != check:
            return None
        context = cpu_target.target_context
        # All that machine code needs. To prepare Numba for compiling takes a while.
        rtsys.initialize(context)
        return compiler.CompileResult._rebuild(context, *serialize.loads(data))
    except Exception:  # whatever is wrong with it, it can be compiled again
        return None


def _tidy(path: Path) -> None:
    """Forget all but the newest versions of a kernel."""
    stem = path.name.rpartition("-")[0]
    with_times = []
    for other in path.parent.glob(f"{stem}-*.nbc"):
        with contextlib.suppress(OSError):  # another process tidies, too
            with_times.append((other.stat().st_mtime, other))
    for _, old in sorted(with_times)[:-KEPT]:
        old.unlink(missing_ok=True)


def classes_in(kinds: Iterable[Any]) -> set[type]:
    """Return the classes of named tuples in Numba types."""
    found: set[type] = set()
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            found.add(kind.instance_class)
        if isinstance(kind, types.BaseTuple):
            found |= classes_in(kind)
    return found


class KernelCache(caching._Cache):  # type: ignore[misc]
    """The cache of a kernel, as Numba's dispatchers want it."""

    def __init__(self, body: Callable[..., Any], fastmath: Iterable[str] = ()):
        self._body = body
        self._fastmath = sorted(fastmath)
        self._store = Store(source_of(body), body.__qualname__)

    @property
    def cache_path(self) -> str | None:
        folder = self._store.folder
        return None if folder is None else str(folder)

    def _key(self, sig: Any) -> tuple[str, str]:
        kinds = sig.args if hasattr(sig, "args") else sig
        classes = classes_in(kinds)
        reach = Reach(self._body, classes, sealed=Sealed in classes)
        return f"{kinds} {self._fastmath}", reach.digest

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with preparing():
            return self._store.load(*self._key(sig))

    def save_overload(self, sig: Any, data: Any) -> None:
        with preparing():
            self._store.save(*self._key(sig), data)

    def enable(self) -> None:
        pass

    def disable(self) -> None:
        pass

    def flush(self) -> None:
        pass
