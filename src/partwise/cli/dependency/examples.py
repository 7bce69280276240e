"""Trees as parsers take them, for reports."""

from __future__ import annotations

from typing import Any

from partwise.cli.dependency.files import TreebankFiles


def labelled(model: Any, file: str, *, files: TreebankFiles) -> tuple[Any, None]:
    """Read sentences, which hold their trees."""
    return files.read(file), None
