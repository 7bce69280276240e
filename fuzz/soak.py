"""Everything at once, for a long time: ``python -m fuzz.soak --minutes 60``.

Models are trained, killed, interrupted, resumed, saved, loaded and asked, by processes
and by threads, with too little disk and too little memory. Nothing may be lost, results
must be the same every time, and a process that works on must not grow.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from partwise import ModelFileError, SequenceTagger, load
from partwise.synthetic import make_corpus

PASSES = 15
MOST_GROWTH = 48 * 2**20
"""Of a process that has done everything before, in bytes."""
REFUSED = 3
"""The exit code of a process that said that there is not enough of something."""


class Soak:
    """The data, what training gives without any trouble, and what happened so far."""

    def __init__(self, folder: Path, seed: int = 0, n_sentences: int = 60):
        sentences = make_corpus(n_sentences, random_state=3).sentences
        self.X = [[{"word": w, "end": w[-2:]} for w in s.words] for s in sentences]
        self.y = [list(s.chunks) for s in sentences]
        self.folder, self.random = folder, random.Random(seed)
        self.counts: Counter[str] = Counter()
        begin = time.perf_counter()
        self.model = self.fit(folder / "first")
        self.seconds = time.perf_counter() - begin
        self.predicted = self.model.predict(self.X)
        self.small = self.fit(None, self.X[:20], self.y[:20])
        self.predicted_by_small = self.small.predict(self.X)

    def fit(self, checkpoint: Path | None, X: Any = None, y: Any = None) -> Any:
        """Train from the beginning, or from a checkpoint that is there."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            resume = checkpoint is not None
            model = SequenceTagger(
                tol=1e-9, max_iter=PASSES, checkpoint=checkpoint, resume=resume
            )
            return model.fit(self.X if X is None else X, self.y if y is None else y)

    def check(self, right: bool, what: str) -> None:
        """Take down that something was as it should be, or stop."""
        if not right:
            raise AssertionError(what)
        self.counts[what] += 1

    def in_child(self, work: Callable[[], None], hurt: Callable[[int], None]) -> int:
        """Do work in another process, and do something to it; return how it ended."""
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                work()
                os._exit(0)
            except (MemoryError, OSError, KeyboardInterrupt):
                os._exit(REFUSED)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                os._exit(1)
        hurt(child)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def somewhere(self, signals: list[int]) -> Callable[[int], None]:
        """Return what sends signals at random moments of a training run."""

        def hurt(child: int) -> None:
            for number in signals:
                time.sleep(self.random.random() * self.seconds)
                try:
                    os.kill(child, number)
                except ProcessLookupError:
                    return

        return hurt

    # --- what is tried ---

    def killed(self) -> None:
        """Kill a run several times; it ends where an unbroken one does."""
        path = self.folder / "killed"
        path.unlink(missing_ok=True)
        for _ in range(self.random.randint(1, 3)):
            ended = self.in_child(
                lambda: self.fit(path), self.somewhere([signal.SIGKILL])
            )
            self.check(ended in (0, -signal.SIGKILL), "a killed process ends")
        weights = self.fit(path).weights_
        same = np.array_equal(weights, self.model.weights_)
        self.check(same, "weights after kills are the same")
        left = list(self.folder.glob(".*.part"))
        self.check(not left, "no drafts stay")

    def interrupted(self) -> None:
        """Interrupt a run twice; if a pass has ended there is a model."""
        path = self.folder / "interrupted"
        path.unlink(missing_ok=True)

        def work() -> None:
            self.fit(None).save(path)

        ended = self.in_child(
            work, self.somewhere([signal.SIGINT, signal.SIGINT])
        )  # fmt: skip
        self.check(ended in (0, REFUSED), "an interrupted process ends")
        if path.exists():
            load(path).predict(self.X[:3])
            self.counts["interrupted models load"] += 1

    def without_disk(self) -> None:
        """Let files grow to a few kilobytes only: the old file stays whole."""
        path = self.folder / "full"
        self.model.save(path)
        before = path.read_bytes()

        def work() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            most = self.random.randint(1, len(before) - 1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            self.model.save(path)

        ended = self.in_child(work, lambda child: None)
        self.check(ended == REFUSED, "a full disk is an error")
        self.check(path.read_bytes() == before, "the old file stays whole")

    def without_memory(self) -> None:
        """Leave a few megabytes: an error, or a model, but no crash."""

        def work() -> None:
            used = int(Path("/proc/self/statm").read_text().split()[0])
            more = self.random.randint(1, 64) * 2**20
            most = used * os.sysconf("SC_PAGE_SIZE") + more
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            X = self.X * self.random.randint(1, 40)
            self.model.predict(X)

        ended = self.in_child(work, lambda child: None)
        self.check(ended in (0, REFUSED), "too little memory is an error")

    def damaged(self) -> None:
        """Cut a model file somewhere: it is refused."""
        path = self.folder / "damaged"
        self.model.save(path)
        data = path.read_bytes()
        path.write_bytes(data[: self.random.randrange(len(data))])
        try:
            load(path)
        except ModelFileError:
            self.check(True, "damaged files are refused")
        else:
            self.check(False, "damaged files are refused")

    def in_threads(self) -> None:
        """Predict in threads while another one fits the same model again."""
        shared, wrong = self.fit(None), []
        right = (self.predicted, self.predicted_by_small)

        def predict() -> None:
            for _ in range(3):
                if shared.predict(self.X) not in right:
                    wrong.append("predictions")

        def fit() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shared.fit(self.X[:20], self.y[:20])

        threads = [threading.Thread(target=predict) for _ in range(3)]
        threads.append(threading.Thread(target=fit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.check(not wrong, "predictions in threads are of one fit")

    def again(self) -> None:
        """Save, load and predict: the same bytes and the same answers."""
        one, two = self.folder / "one", self.folder / "two"
        self.model.save(one)
        loaded = load(one)
        loaded.save(two)
        self.check(one.read_bytes() == two.read_bytes(), "saved again, the same bytes")
        same = loaded.predict(self.X) == self.predicted
        self.check(same, "loaded, the same predictions")

    def scenarios(self) -> list[Callable[[], None]]:
        """Return all that is tried."""
        return [
            self.killed, self.interrupted, self.without_disk, self.without_memory,
            self.damaged, self.in_threads, self.again,
        ]  # fmt: skip


def resident() -> int:
    """Return the memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def soak(seconds: float, say: Callable[[str], None], seed: int = 0) -> Counter[str]:
    """Try everything in turn until the time is up; return what was found to be right.

    Every scenario is tried once, however little time there is.
    """
    with tempfile.TemporaryDirectory() as folder:
        state = Soak(Path(folder), seed)
        end = time.monotonic() + seconds
        rounds, steady, shown = 0, 0, time.monotonic()
        while True:
            for scenario in state.scenarios():
                if rounds and time.monotonic() > end:
                    return state.counts
                scenario()
            rounds += 1
            if rounds == 3:
                steady = resident()
            elif rounds > 3:
                flat = resident() - steady < MOST_GROWTH
                state.check(flat, "memory stays flat")
            if time.monotonic() - shown > 60.0:
                shown = time.monotonic()
                say(f"{rounds} rounds, {resident() / 2**20:.0f} MiB")


def main() -> None:
    """Read the command line, and soak."""
    parser = argparse.ArgumentParser(prog="fuzz.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for what, times in soak(60 * given.minutes, print, given.seed).items():
        print(f"{times:8,}  {what}")


if __name__ == "__main__":
    main()
