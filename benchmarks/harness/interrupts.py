"""Two interrupts of a training command, at random moments: the model is there.

``python -m benchmarks.harness.interrupts FOLDER COUNT`` prints how often a process
crashed, hung, or lost a model although a pass had ended. Machine code is loaded by the
processes that are interrupted, as in a program that has just been started.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

PATIENCE = 60.0


def _train(folder: Path, told: int) -> None:
    """Run the command in this process, and say when a pass has ended."""
    from partwise.cli import main
    from partwise.solvers import loop

    record = loop._record

    def record_and_tell(*args: object) -> None:
        record(*args)  # type: ignore[arg-type]
        os.write(told, b"p")

    loop._record = record_and_tell  # type: ignore[assignment]
    sys.argv = ["partwise", "train", "tag", str(folder / "train.txt"), "--quiet"]
    sys.argv += ["--model", str(folder / "model"), "--tol", "1e-9"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    main()


def _interrupt(folder: Path, rng: np.random.Generator, seconds: float) -> str:
    """Train, interrupt twice; return what came of it."""
    from partwise import load

    model = folder / "model"
    model.unlink(missing_ok=True)
    reading, told = os.pipe()
    os.set_blocking(reading, False)
    child = os.fork()
    if child == 0:
        try:
            _train(folder, told)
        finally:  # interrupted before the command began
            os._exit(130)
    os.close(told)
    time.sleep(seconds * rng.random())
    try:
        trained = bool(os.read(reading, 1 << 16))
    except BlockingIOError:
        trained = False
    os.kill(child, signal.SIGINT)
    time.sleep(0.3 * rng.random() ** 3)
    os.kill(child, signal.SIGINT)
    end = time.monotonic() + PATIENCE
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hung"
        time.sleep(0.005)
    os.close(reading)
    if os.WIFSIGNALED(status):
        return f"crashed by {signal.Signals(os.WTERMSIG(status)).name}"
    if model.exists():
        load(model)
        return "saved"
    return "lost" if trained else "nothing to save"


def main() -> None:
    """Make so many attempts; print the counts as JSON."""
    import partwise.cli.app  # noqa: F401

    folder, count, *seed = Path(sys.argv[1]), *map(int, sys.argv[2:])
    rng = np.random.default_rng(*seed)
    found = Counter(_interrupt(folder, rng, 4.0) for _ in range(count))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
