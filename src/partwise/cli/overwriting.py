"""Files that a command must not overwrite: the ones it reads."""

from __future__ import annotations

import os
from collections.abc import Mapping

from partwise.errors import DataError


def refuse_overwriting(
    targets: Mapping[str, str | None], sources: Mapping[str, str | None]
) -> None:
    """Raise `DataError` if a file to write is one that is read, or another target.

    Examples
    --------
    >>> refuse_overwriting({"--model": "a"}, {"TRAIN": "a"})
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: --model and TRAIN are the same file, a; choose another
    """
    named = [(n, p) for n, p in targets.items() if p not in (None, "-")]
    others = [(n, p) for n, p in sources.items() if p not in (None, "-")]
    for i, (name, path) in enumerate(named):
        for other, other_path in [*others, *named[:i]]:
            if _same(str(path), str(other_path)):
                raise DataError(
                    f"{name} and {other} are the same file, {path}; choose another"
                )


def _same(path: str, other: str) -> bool:
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
