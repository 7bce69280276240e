"""Finding benchmarks by name: every file of the package is one."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Report

FOLDER = Path(__file__).parents[1]


def summaries() -> dict[str, str]:
    """Return the first line of each benchmark's docstring, without importing it."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem] = text.partition("\n")[0]
    return found


def load(name: str) -> Callable[[Bench], Report]:
    """Return the function that runs a benchmark."""
    run: Any = importlib.import_module(f"benchmarks.{name}").run
    return run  # type: ignore[no-any-return]
