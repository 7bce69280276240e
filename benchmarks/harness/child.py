"""Jobs in a process of their own, so that their peak memory is theirs alone."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness.bench import ROOT

MIB = 1 << 20


def run_in_child(module: str, function: str, *arguments: Any) -> dict[str, Any]:
    """Call ``module.function(*arguments)`` in a new process.

    Arguments and result travel as JSON; the result is a dict, to which ``peak_mib``,
    the most memory that the process ever held, is added.
    """
    command = [sys.executable, "-m", "benchmarks.harness.child", module, function]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [*command, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    if done.returncode:
        raise RuntimeError(f"{module}.{function} failed in its own process (see above)")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def peak_mib() -> float:
    """Return the most memory this process ever held.

    Linux keeps two such numbers. ``ru_maxrss`` survives exec, so that a child starts
    with the peak of its parent; ``VmHWM`` does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024 / MIB
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


if __name__ == "__main__":
    job = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
    answer = job(*json.loads(sys.argv[3]))
    print(json.dumps({**answer, "peak_mib": peak_mib()}))
