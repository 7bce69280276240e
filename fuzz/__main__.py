"""Run the fuzzers: ``python -m fuzz [NAME...] --minutes 10``."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests" / "support"
KEPT = ROOT / "tests" / "data" / "fuzz"
WORK = ROOT / "build" / "fuzz"
INPUT_SECONDS, MEGABYTES = 20, 2048
"""An input that takes longer, or needs more, is a finding."""

sys.path.insert(0, str(SUPPORT))


def main() -> int:
    """Share the time among the targets; return how many of them found something."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    from fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], metavar="NAME")
    parser.add_argument("--minutes", type=float, default=10.0, help="in all")
    given = parser.parse_args()
    names = given.names or list(TARGETS)
    seconds = max(int(60 * given.minutes / len(names)), 1)
    found = 0
    print(f"{'target':<22}{'seconds':>8}{'inputs':>10}{'coverage':>10}  found")
    for name in names:
        for at, seed in enumerate(TARGETS[name].seeds()):
            _keep(WORK / name / "corpus", f"seed{at}", seed)
        found += _fuzz(name, seconds)
    print(f"{found} findings" + (f"; see {KEPT}" if found else ""))
    return min(found, 1)


def _fuzz(name: str, seconds: int) -> int:
    """Fuzz one target in a process of its own; return how much it found."""
    folder = WORK / name
    (folder / "found").mkdir(parents=True, exist_ok=True)
    known = [str(KEPT / name)] if (KEPT / name).is_dir() else []
    command = [
        sys.executable, "-m", "fuzz.drive", name,
        f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}",
        f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={folder / 'found'}/",
        "-print_final_stats=1", str(folder / "corpus"), *known,
    ]  # fmt: skip
    path = os.pathsep.join(
        [str(ROOT / "src"), str(SUPPORT), os.environ.get("PYTHONPATH", "")]
    )
    begin = time.monotonic()
    ended = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path},
        capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    spent = time.monotonic() - begin
    (folder / "log").write_text(ended.stdout + ended.stderr)
    inputs = re.findall(r"stat::number_of_executed_units: *(\d+)", ended.stderr)
    coverage = re.findall(r"cov: (\d+)", ended.stderr)
    new = sorted((folder / "found").iterdir())
    for path_found in new:
        content = path_found.read_bytes()
        _keep(KEPT / name, hashlib.sha256(content).hexdigest()[:12], content)
        path_found.unlink()
    shown = inputs[-1] if inputs else "?", coverage[-1] if coverage else "?"
    print(
        f"{name:<22}{spent:>8.0f}{shown[0]:>10}{shown[1]:>10}  {len(new)}", flush=True
    )
    if new or ended.returncode:
        print("\n".join((ended.stdout + ended.stderr).splitlines()[-25:]), flush=True)
    return len(new) or int(ended.returncode != 0)


def _keep(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
