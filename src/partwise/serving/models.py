"""Models that are served: requests batched, files watched."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import time
from collections.abc import Callable, Sized
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from partwise import load
from partwise.errors import PartwiseError
from partwise.estimators.reporting import doubts_about
from partwise.serving.inputs import inputs_of

WATCHED_EVERY = 1.0
"""Seconds between two looks at a model's file."""
AT_ONCE = 0.003
"""Batches that take fewer seconds are answered without going to another thread."""

BEFORE = 50.0
"""What a batch takes before its first token, in tokens, or in their squares."""

Job = tuple[Callable[[Any, list[Any]], list[Any]], list[Any], "asyncio.Future[Any]"]


class Busy(Exception):
    """Raised when more requests wait than a server may keep."""


class ServedModel:
    """A model with its file; predictions of waiting requests are made together.

    Parameters
    ----------
    name, path : str
        What requests call it, and its file.
    max_batch : int
        How many inputs are predicted at a time.
    max_waiting : int
        How many requests may wait. Lines of streams take at most half of the places:
        no stream, however fast it is sent, has others refused.
    n_jobs : int
        How many threads share the inputs of a batch.
    """

    def __init__(
        self, name: str, path: str, max_batch: int, max_waiting: int, n_jobs: int = 1
    ):
        self.name, self.path, self.n_jobs = name, path, n_jobs
        self.model, self.about = self._load()
        self.max_batch, self.max_waiting = max_batch, max_waiting
        self.problem = ""
        self.reloads = 0
        self._stamp = self._look()
        self._waiting: list[Job] = []
        self._pace: dict[Any, float] = {}  # seconds for each piece of work
        # What else the machine does while a batch is answered does not make it long.
        self._clock = time.thread_time if n_jobs == 1 else time.perf_counter
        self._wake = asyncio.Event()
        self._lines = asyncio.Semaphore(max(1, max_waiting // 2))
        # One thread: kernels share a batch among `n_jobs` by themselves.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"partwise-{name}")

    def _load(self) -> tuple[Any, dict[str, str]]:
        """Return the model, and what is said about it: its kind, what it takes."""
        model = load(self.path).set_params(n_jobs=self.n_jobs)
        inputs = inputs_of(model)
        about = {
            "kind": type(model).__name__,
            "file": self.path,
            "input": inputs.words(model),
            "example": inputs.example(model),
            "note": "" if hasattr(model, "annotate") else doubts_about(model),
        }
        return model, about

    def _look(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_mtime_ns, found.st_size

    async def ask(
        self, answer: Callable[[Any, list[Any]], list[Any]], inputs: list[Any]
    ) -> list[Any]:
        """Return the answers to inputs, computed with those of other requests.

        `answer` takes a model and a list of inputs; requests with the same one share a
        batch.
        """
        if len(self._waiting) >= self.max_waiting:
            raise Busy
        return await self._answered(answer, inputs)

    async def ask_in_turn(
        self, answer: Callable[[Any, list[Any]], list[Any]], inputs: list[Any]
    ) -> list[Any]:
        """Return the answers to a line of a stream, which waits until there is room."""
        async with self._lines:
            return await self._answered(answer, inputs)

    async def _answered(
        self, answer: Callable[[Any, list[Any]], list[Any]], inputs: list[Any]
    ) -> list[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, inputs, future))
        if len(self._waiting) == 1 and not self._wake.is_set():
            # The first of those that come at the same time answers all of them, if
            # that is quick: nobody need be woken for it. `work` does the rest.
            try:
                await asyncio.sleep(0)
                self._answer_if_quick()
            finally:
                if self._waiting:
                    self._wake.set()
        found: list[Any] = await future
        return found

    async def work(self) -> None:
        """Answer requests until cancelled: all that wait, while the kernel runs."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            batch = self._next_batch()
            if not batch:
                self._wake.clear()
                continue
            if self._expected(batch) <= AT_ONCE:
                results = self._timed(batch)
            else:
                results = await loop.run_in_executor(self._thread, self._timed, batch)
            _give(batch, results)
            # Whoever wrote meanwhile is read now, and is the next batch.
            await asyncio.sleep(0)

    def _answer_if_quick(self) -> None:
        batch = self._next_batch()
        if batch and self._expected(batch) <= AT_ONCE:
            _give(batch, self._timed(batch))
        else:
            self._waiting[:0] = batch

    def _next_batch(self) -> list[Job]:
        """Take requests that ask the same, up to a number of inputs."""
        batch: list[Job] = []
        total = 0
        while self._waiting:
            answer, inputs, _ = self._waiting[0]
            full = batch and total + len(inputs) > self.max_batch
            if full or (batch and answer != batch[0][0]):
                break
            batch.append(self._waiting.pop(0))
            total += len(inputs)
        return batch

    def _expected(self, batch: list[Job]) -> float:
        """Return about how many seconds a batch takes; for ever if nobody knows."""
        return self._pace.get(batch[0][0], math.inf) * self._work(batch)

    def _work(self, batch: list[Job]) -> float:
        """Return how much there is to do: tokens, or their squares for parsers."""
        power = 2 if inputs_of(self.model).cubic else 1
        every = (x for _, inputs, _ in batch for x in inputs)
        sizes = (len(x) if isinstance(x, Sized) else 1 for x in every)
        return BEFORE + float(sum((1 + size) ** power for size in sizes))

    def _timed(self, batch: list[Job]) -> list[Any]:
        """Answer a batch, and remember how long inputs of its size take."""
        begin = self._clock()
        found = self._answer(batch)
        pace = (self._clock() - begin) / self._work(batch)
        # The slower of two that follow each other: a parser's sentences differ.
        self._pace[batch[0][0]] = max(pace, self._pace.get(batch[0][0], pace) / 2)
        return found

    def _answer(self, batch: list[Job]) -> list[Any]:
        model, answer = self.model, batch[0][0]
        try:
            found = iter(answer(model, [x for _, inputs, _ in batch for x in inputs]))
            return [[next(found) for _ in inputs] for _, inputs, _ in batch]
        except Exception as error:
            if len(batch) == 1:
                return [error]
            # One of them is to blame: each gets an answer of its own.
            return [self._answer([job])[0] for job in batch]

    async def watch(self) -> None:
        """Load the file again when it changes; keep the old model if that fails."""
        while True:
            await asyncio.sleep(WATCHED_EVERY)
            with contextlib.suppress(OSError):
                stamp = self._look()
                if stamp != self._stamp:
                    self._stamp = stamp
                    await asyncio.to_thread(self.reload)

    def reload(self) -> None:
        """Load the file; note what is wrong with it, if anything is."""
        try:
            self.model, self.about = self._load()
            self.problem, self.reloads = "", self.reloads + 1
        except (PartwiseError, ValueError, OSError, MemoryError) as error:
            self.problem = f"{time.strftime('%H:%M:%S')}: {error}"


def _give(batch: list[Job], results: list[Any]) -> None:
    """Give requests what was found for them."""
    for (_, _, future), result in zip(batch, results, strict=True):
        if future.done():  # the client is gone
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
