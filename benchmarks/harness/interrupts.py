"""Two interrupts of a training command, at random moments: the model is there.

``python -m benchmarks.harness.interrupts FOLDER COUNT`` prints how often a process
crashed, hung, or lost a model although a pass had ended. Of every ten processes one
loads machine code itself, as a program does that has just been started, while it is
interrupted; the others are copies of a process that has it, so that all of their time
is training and saving.
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
FRESH_SHARE = 0.1
FRESH_SECONDS = 4.0
"""How long a process takes that has to load machine code, about."""
KINDS = ("tag", "tag --vectors {folder}/vectors.txt", "segments", "tag --states 2")
"""What is trained, in turn."""


def _arguments(folder: Path, number: int) -> list[str]:
    kind = KINDS[number % len(KINDS)].format(folder=folder).split()
    options = ["--quiet", "--model", str(folder / "model"), "--tol", "1e-9"]
    options += ["--max-iter", "40"]
    return ["train", kind[0], str(folder / "train.txt"), *kind[1:], *options]


def _train(arguments: list[str], told: int) -> None:
    """Run the command in this process, and say when a pass has ended."""
    from partwise.cli import main
    from partwise.solvers import loop

    record = loop._record

    def record_and_tell(*args: object) -> None:
        record(*args)  # type: ignore[arg-type]
        os.write(told, b"p")

    loop._record = record_and_tell  # type: ignore[assignment]
    sys.argv = ["partwise", *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    main()


def _start(arguments: list[str], told: int) -> int:
    """Return the number of a process that trains."""
    child = os.fork()
    if child == 0:
        try:
            _train(arguments, told)
        finally:  # interrupted before the command began
            os._exit(130)
    os.close(told)
    return child


def _interrupt(
    folder: Path, arguments: list[str], rng: np.random.Generator, seconds: float
) -> str:
    """Train, interrupt twice; return what came of it."""
    from partwise import load

    model = folder / "model"
    model.unlink(missing_ok=True)
    reading, told = os.pipe()
    os.set_blocking(reading, False)
    child = _start(arguments, told)
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


def _load_code(folder: Path) -> list[float]:
    """Train each kind once in this process; return how long it takes then."""
    from typer.testing import CliRunner

    from partwise.cli.app import app

    seconds = []
    for number in range(2 * len(KINDS)):
        begin = time.monotonic()
        CliRunner().invoke(app, _arguments(folder, number))
        seconds.append(time.monotonic() - begin)
    return seconds[len(KINDS) :]


def main() -> None:
    """Make so many attempts; print the counts as JSON."""
    import partwise.cli.app  # noqa: F401

    folder, count, *seed = Path(sys.argv[1]), *map(int, sys.argv[2:])
    words = {
        w for w in (folder / "train.txt").read_text("utf-8").split() if w.islower()
    }
    table = "".join(f"{word} {len(word)} {word.count('e')}\n" for word in sorted(words))
    (folder / "vectors.txt").write_text(table, "utf-8")
    rng = np.random.default_rng(*seed)
    found: Counter[str] = Counter()
    fresh = max(int(FRESH_SHARE * count), 1)
    for number in range(count):
        if number == fresh:
            seconds = _load_code(folder)
        most = FRESH_SECONDS if number < fresh else 1.1 * seconds[number % len(KINDS)]
        found[_interrupt(folder, _arguments(folder, number), rng, most)] += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main()
