"""Build a wheel that carries machine code, so that nothing compiles on the first run.

    python tools/build_wheel.py [--out dist] [--loss NAME]... [WHAT]...

What there is to compile for is what ``partwise warm --help`` lists; by default it is
everything. The code is for any x86-64 processor of the last ten years.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is compiled has to be what is packaged, whatever is installed.
SOURCE = str(ROOT / "src")
sys.path.insert(0, SOURCE)

from partwise._jit.prebuilt import GENERIC, write_manifest  # noqa: E402

WARM = [sys.executable, "-c", "from partwise.cli import main; main()", "warm"]


def compile_kernels(folder: Path, options: list[str]) -> None:
    """Compile for a generic processor, into a folder."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "PYTHONPATH": SOURCE,
            "NUMBA_CACHE_DIR": cache,
            "NUMBA_CPU_NAME": GENERIC,
            "NUMBA_CPU_FEATURES": "",
        }
        subprocess.run([*WARM, *options], env=environment, check=True)
        for path in Path(cache).rglob("*.nbc"):
            shutil.copy(path, folder)
    write_manifest(folder)


def build(out: Path, options: list[str]) -> None:
    """Build the wheel."""
    with tempfile.TemporaryDirectory() as kernels:
        compile_kernels(Path(kernels), options)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        environment = os.environ | {"PARTWISE_KERNELS": kernels}
        subprocess.run(
            [*pip, "--wheel-dir", str(out), str(ROOT)], env=environment, check=True
        )


def main() -> None:
    """Read the command line, and build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", nargs="*", help="what to compile for")
    parser.add_argument("--loss", action="append", default=[], metavar="NAME")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    losses = [part for name in given.loss for part in ("--loss", name)]
    build(given.out, [*losses, *given.what])


if __name__ == "__main__":
    main()
