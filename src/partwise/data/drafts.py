"""Files and folders on their way: written beside the one that they will replace.

A process that is killed leaves its draft behind; the next one that writes the same file
finds that nobody holds a lock on it any more, and removes it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: drafts have no locks, and stay until someone looks
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"


def begin(goal: Path) -> tuple[Path, IO[bytes]]:
    """Open a new draft of a file; it is locked as long as it is open."""
    draft, unlocked = _names(goal)
    stream = unlocked.open("xb")
    try:
        _lock(stream.fileno())
        unlocked.rename(draft)
    except BaseException:
        stream.close()
        unlocked.unlink(missing_ok=True)
        raise
    return draft, stream


@contextlib.contextmanager
def begun_folder(goal: Path) -> Iterator[Path]:
    """Make a new draft of a folder; it is locked, and gone at the end if still there.

    Examples
    --------
    >>> import tempfile
    >>> goal = Path(tempfile.mkdtemp()) / "corpus"
    >>> with begun_folder(goal) as draft:
    ...     _ = draft.rename(goal)
    >>> list(goal.parent.iterdir()) == [goal]
    True
    """
    draft, unlocked = _names(goal)
    unlocked.mkdir()
    number = None
    try:
        if fcntl:
            number = os.open(unlocked, os.O_RDONLY)
            _lock(number)
        unlocked.rename(draft)
        yield draft
    finally:
        for path in (unlocked, draft):
            shutil.rmtree(path, ignore_errors=True)
        if number is not None:
            os.close(number)


def _names(goal: Path) -> tuple[Path, Path]:
    """Return what a new draft is called, and what until it has its lock.

    Until then nobody takes it for an orphan.
    """
    draft = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}{ENDING}")
    return draft, draft.with_suffix(".new") if fcntl else draft


def _lock(number: int) -> None:
    if fcntl:
        with contextlib.suppress(OSError):  # some network drives have no locks
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_orphans(goal: Path) -> None:
    """Remove the drafts of a file or folder that no process is writing any more.

    Examples
    --------
    >>> import tempfile
    >>> goal = Path(tempfile.mkdtemp()) / "model"
    >>> draft, stream = begin(goal)
    >>> remove_orphans(goal)
    >>> draft.exists()
    True
    >>> stream.close()
    >>> remove_orphans(goal)
    >>> draft.exists()
    False
    """
    if not fcntl:
        return
    pattern = str(goal.with_name(f".{glob.escape(goal.name)}.*{ENDING}"))
    for name in glob.glob(pattern):
        with contextlib.suppress(OSError):  # it is in use, gone already, or no draft
            number = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_folder = stat.S_ISDIR(os.fstat(number).st_mode)
                (shutil.rmtree if is_folder else os.unlink)(name)
            finally:
                os.close(number)
