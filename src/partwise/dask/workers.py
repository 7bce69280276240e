"""Shards on the workers of a cluster, and the passes over them.

Everything is a task of Dask's. What a worker held when it was lost, others make again
from the tasks that made it, and as every task depends on nothing but what it is given,
and sums are added in the order of the shards, to the same bits.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from queue import Empty, Queue
from typing import Any

import numpy as np
from distributed import Client, Future
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from partwise import __version__
from partwise._deadline import check_time
from partwise.dask.parts import Part
from partwise.errors import DataError, OutOfMemoryError, PartwiseError
from partwise.solvers.base import structure_fingerprint
from partwise.structures.interface import FloatArray
from partwise.structures.shards import (
    Done,
    Facts,
    Order,
    Team,
    add_sums,
    do,
    facts_of,
    tree_sum,
)
from partwise.structures.sharing import arranged

LOOK_AFTER = 0.5
"""Seconds between two looks at the clock while workers are busy."""


GONE = (
    "the cluster is gone, or has forgotten its tasks; connect to another one, and "
    "resume from the checkpoint, if there is one"
)


@contextmanager
def needing_a_cluster() -> Iterator[None]:
    """Say in our words that the connection to the scheduler is lost."""
    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise PartwiseError(GONE) from error


def versions() -> dict[str, str]:
    """Return the versions that decide what a worker computes."""
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "Partwise": __version__,
        "Numba": version("numba"),
        "NumPy": np.__version__,
    }


def check_versions(found: dict[str, dict[str, str]]) -> None:
    """Raise `PartwiseError` unless all workers have the versions of this process.

    Examples
    --------
    >>> check_versions({"tcp://a": versions() | {"Numba": "0.1"}})
    Traceback (most recent call last):
    ...
    partwise.errors.PartwiseError: the worker tcp://a has Numba 0.1, but this ...
    """
    own = versions()
    for worker, theirs in found.items():
        for name, wanted in own.items():
            if theirs.get(name) != wanted:
                raise PartwiseError(
                    f"the worker {worker} has {name} {theirs.get(name)}, but this "
                    f"process has {wanted}: install the same version on all machines"
                )


class Workers(Team):
    """The workers of a cluster, which keep encoded shards.

    Parameters
    ----------
    client : Client
        The connection to the cluster.
    shards : list of Part
        The encoded shards.

    Attributes
    ----------
    bytes_sent : int
        How much was handed out with all the passes so far, once for each of them:
        what one shard gets is not counted again when another worker asks for it.
    """

    def __init__(self, client: Client, shards: Sequence[Part]):
        self.client, self.shards = client, list(shards)
        self.bytes_sent = 0

    def run(
        self,
        order: Order,
        pieces: Sequence[Sequence[Any]],
        keep: Callable[[int, list[Any]], None],
    ) -> Iterator[float | list[FloatArray]]:
        """Run a job on all shards, each where it is; yield the fraction done."""
        submit = self.client.submit
        with warnings.catch_warnings():
            # Weights are large, and are meant to travel.
            warnings.filterwarnings("ignore", "Sending large graph")
            common = submit(_same, order, pure=False)
            done = [
                submit(_do, part.future, common, piece, pure=False)
                for part, piece in zip(self.shards, pieces, strict=True)
            ]
            parts = [submit(_sums, future, pure=False) for future in done if order.sums]
            total = tree_sum(parts, lambda a, b: submit(add_sums, a, b, pure=False))
            written = done
            if order.writes:
                written = [submit(_written, future, pure=False) for future in done]
        self.bytes_sent += _size(order) + sum(map(_size, pieces))
        number_of = {future.key: number for number, future in enumerate(written)}
        count = 0
        for future in _as_they_come(written, len(pieces)):
            if order.writes:
                keep(number_of[future.key], future.result())
            count += 1
            yield count / len(written)
        if total is not None:
            for future in _as_they_come([total], len(pieces)):
                yield future.result()


def _as_they_come(futures: list[Future], n_shards: int) -> Iterator[Future]:
    """Yield futures when they are done; look at the clock, and at errors, meanwhile."""
    done: Queue[Future] = Queue()
    for future in futures:
        future.add_done_callback(done.put)
    for _ in futures:
        future = None
        while future is None:
            check_time()
            with suppress(Empty):
                future = done.get(timeout=LOOK_AFTER)
        if future.status != "finished":
            _raise(future, n_shards)
        yield future


def _raise(future: Future, n_shards: int) -> None:
    """Say why a task has not been done."""
    if future.status != "error":
        raise PartwiseError(GONE)
    error = future.exception()
    if isinstance(error, KilledWorker):
        raise OutOfMemoryError(
            "workers died again and again at the same task, usually for lack of "
            f"memory: {error}; there are {n_shards} shards: make more and smaller "
            "ones, or give workers more memory"
        ) from error
    raise error


def gathered(futures: list[Future], names: Sequence[str]) -> list[Any]:
    """Return results in order; what is wrong with data is said with its name."""
    results = []
    for future, name in zip(futures, names, strict=True):
        error = future.exception()
        if isinstance(error, DataError):
            raise error if name in str(error) else error.located(name) from None
        if error is not None:
            raise error
        results.append(future.result())
    return results


class Held:
    """An encoded shard; where it arrives, its arrays lie as kernels want them."""

    def __init__(self, structure: Any, sample_weight: Any):
        self.structure, self.sample_weight = arranged(structure), sample_weight

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as what it was made of."""
        return Held, (self.structure, self.sample_weight)


def look_at(shard: Held) -> tuple[Facts, Any]:
    """Return the facts of a shard, and its sample weights."""
    mark = structure_fingerprint(shard.structure)
    return facts_of(shard.structure, mark), shard.sample_weight


def _do(shard: Held, order: Order, piece: Sequence[Any]) -> Done:
    return do(shard.structure, order, piece)


def _same(thing: Any) -> Any:
    return thing


def _written(done: Done) -> list[Any]:
    return done.written


def _sums(done: Done) -> list[FloatArray]:
    return done.sums


def _size(thing: Any) -> int:
    """Return about how many bytes the arrays in something take."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, tuple | list):
        return sum(map(_size, thing))
    return 0
