"""Files on their way: written beside the one that they will replace.

A process that is killed leaves its draft behind; the next one that writes the same file
finds that nobody holds a lock on it any more, and removes it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: drafts have no locks, and stay until someone looks
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"


def begin(goal: Path) -> tuple[Path, IO[bytes]]:
    """Open a new draft of a file; it is locked as long as it is open."""
    draft = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}{ENDING}")
    # It gets its name when it has its lock: until then nobody takes it for an orphan.
    unlocked = draft.with_suffix(".new") if fcntl else draft
    stream = unlocked.open("xb")
    if fcntl:
        try:
            with contextlib.suppress(OSError):  # some network drives have no locks
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unlocked.rename(draft)
        except BaseException:
            stream.close()
            unlocked.unlink(missing_ok=True)
            raise
    return draft, stream


def remove_orphans(goal: Path) -> None:
    """Remove the drafts of a file that no process is writing any more.

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
        with contextlib.suppress(OSError):  # it is in use, or gone already
            with open(name, "rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name)
