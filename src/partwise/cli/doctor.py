"""``partwise doctor``: what this installation has, and where its machine code is."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from partwise.cli.options import AsJson

PACKAGES = (
    "partwise", "numba", "llvmlite", "numpy", "scipy", "scikit-learn", "highspy",
)  # fmt: skip


def doctor(json: AsJson = False) -> None:
    """Say what this installation has: versions, processor, and machine code on disk."""
    from partwise.cli.output import print_json, print_pairs

    found = examine()
    if json:
        print_json(found)
        return
    print_pairs("versions", found["versions"].items())
    print_pairs("machine", found["machine"].items())
    for place in found["caches"]:
        state = "can be written" if place["writable"] else "cannot be written"
        print_pairs(
            "machine code compiled here",
            [
                ("folder", place["folder"]),
                ("state", state),
                ("kernels", place["kernels"]),
                ("size", f"{place['bytes'] / 2**20:.1f} MiB"),
            ],
        )
    came = found["prebuilt"]
    print_pairs(
        "machine code that came with the installation",
        [("kernels", "none; partwise warm compiles ahead")]
        if came is None
        else [
            ("kernels", came["kernels"]),
            ("used", f"no: {came['problem']}" if came["problem"] else "yes"),
        ],
    )


def examine() -> dict[str, Any]:
    """Return everything, by name."""
    from partwise._jit import cache, prebuilt
    from partwise._jit.modes import is_plain_python
    from partwise._threads import count_jobs

    came = prebuilt.find_prebuilt()
    apart = None if came is None else came.folder
    lacks = prebuilt.lacking()
    return {
        "versions": {"Python": platform.python_version()}
        | {name: _version(name) for name in PACKAGES},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": cache.processor_name(),
            prebuilt.GENERIC: lacks or "yes",
            "cores": count_jobs(-1),
            "compiles": not is_plain_python(),
        },
        "caches": [_look_into(folder, apart) for folder in cache.root_folders()],
        "prebuilt": None
        if came is None
        else {
            "folder": str(came.folder),
            "kernels": came.kernels,
            "problem": came.problem,
        },
    }


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _look_into(folder: Path, apart: Path | None) -> dict[str, Any]:
    """Return what was compiled into a folder; `apart` may be inside, and came along."""
    from partwise._jit.cache import is_writable

    sizes = []
    for path in folder.rglob("*.nbc"):
        try:
            if path.parent != apart:
                sizes.append(path.stat().st_size)
        except OSError:  # another process tidies
            continue
    nearest = next((p for p in (folder, *folder.parents) if p.exists()), folder)
    return {
        "folder": str(folder),
        "writable": nearest.is_dir() and is_writable(nearest),
        "kernels": len(sizes),
        "bytes": sum(sizes),
    }
