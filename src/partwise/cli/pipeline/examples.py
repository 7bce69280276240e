"""Sentences with their trees, for reports about pipelines."""

from __future__ import annotations

from typing import Any

from partwise.cli.options import Encoding


def labelled(
    model: Any, file: str, *, encoding: Encoding = "utf-8"
) -> tuple[Any, None]:
    """Read a treebank, whose sentences hold their trees."""
    from partwise.data import read_trees

    return read_trees(file, "conllu", encoding=encoding), None
