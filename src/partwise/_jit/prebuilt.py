"""Machine code that comes with an installation.

It is compiled for a generic processor, and is of use wherever the processor has all
that this one has, and Python and Numba are those it was compiled with. Code that was
compiled on this machine is preferred: it may use more of the processor.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

GENERIC = "x86-64-v3"
"""What Numba calls any processor of the last ten years, from Haswell and Zen on."""

FEATURES = (
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt",
    "sse3", "ssse3", "sse4.1", "sse4.2", "xsave",
)  # fmt: skip

FOLDER = Path(
    os.environ.get("PARTWISE_PREBUILT")
    or Path(__file__).resolve().parent.parent / "_prebuilt"
)
"""Where it is; the variable is for those who try it out before they package it."""
MANIFEST = "manifest.json"


class Prebuilt(NamedTuple):
    """What came with the installation."""

    folder: Path
    kernels: int
    problem: str
    """Why it cannot be used here; empty if it can."""


def versions() -> dict[str, str]:
    """Return the versions that machine code depends on."""
    import numba

    return {
        "python": sys.implementation.cache_tag or platform.python_version(),
        "numba": numba.__version__,
    }


def write_manifest(folder: Path) -> None:
    """Describe the machine code in a folder, compiled by this process's compiler."""
    kernels = sum(1 for _ in folder.glob("*.nbc"))
    described = {"cpu": GENERIC, "kernels": kernels, **versions()}
    (folder / MANIFEST).write_text(json.dumps(described, indent=2) + "\n")


@functools.cache
def find_prebuilt() -> Prebuilt | None:
    """Return what came with the installation, if anything did."""
    try:
        described = json.loads((FOLDER / MANIFEST).read_text())
        kernels = int(described["kernels"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Prebuilt(FOLDER, kernels, _problem_with(described))


def _problem_with(described: Any) -> str:
    """Say why machine code cannot be used here; nothing if it can."""
    for name, here in versions().items():
        there = described.get(name)
        if there != here:
            return f"it was compiled with {name} {there}, and here is {here}"
    return lacking()


def lacking() -> str:
    """Say what this processor lacks; nothing if it has all that the generic one has."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"it is for x86-64, and this processor is {platform.machine()}"
    from llvmlite import binding

    has: Any = binding.get_host_cpu_features()
    missing = [name for name in FEATURES if not has.get(name, False)]
    return f"this processor lacks {', '.join(missing)}" if missing else ""


def folder_in_use() -> Path | None:
    """Return the folder of machine code that can be used here."""
    found = find_prebuilt()
    return found.folder if found is not None and not found.problem else None


@functools.cache
def warn_if_useless() -> None:
    """Say once why something is compiled although code came with the installation."""
    found = find_prebuilt()
    if found is not None and found.problem:
        warnings.warn(
            f"the machine code that came with Partwise is not used: {found.problem}; "
            "compiling instead (partwise warm does it ahead)",
            stacklevel=2,
        )
