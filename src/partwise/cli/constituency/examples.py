"""Trees as parsers take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.constituency.files import TreesOnly


def labelled(model: Any, file: str, *, files: TreesOnly) -> tuple[Any, None]:
    """Read trees, which hold their sentences."""
    return [placed.tree for placed in files.read(file)], None
