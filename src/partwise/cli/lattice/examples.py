"""Lattices as rankers take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.options import Encoding
from partwise.errors import DataError


def labelled(
    model: Any, file: str, *, encoding: Encoding = "utf-8"
) -> tuple[Any, None]:
    """Read lattices, which hold their good paths."""
    from partwise.data import read_lattices

    lattices = list(read_lattices(file, encoding=encoding))
    if not lattices:
        raise DataError(
            f"{file}: holds no lattices (expected one JSON object per line)"
        )
    return lattices, None
