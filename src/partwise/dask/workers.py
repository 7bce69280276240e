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
from itertools import count
from queue import Empty, Queue
from typing import Any

import numpy as np
from distributed import Client, Future, get_client
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

LOOKS_BEFORE_ASKING = 10
"""After so many looks without news, the scheduler is asked whether anybody works."""

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


def connected(client: Client | None) -> Client:
    """Return a client that is connected, by default the one made last."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise PartwiseError(
                "there is no client: connect to a cluster first, with "
                "distributed.Client(ADDRESS)"
            ) from None
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, not {type(client).__name__} (data "
            "is one argument, such as (X, y))"
        )
    if client.status in ("closing", "closed"):
        raise PartwiseError("the client is closed: connect to the cluster again")
    return client


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
        n_done = 0
        for future in _as_they_come(written, self.client):
            if order.writes:
                keep(number_of[future.key], future.result())
            n_done += 1
            yield n_done / len(written)
        if total is not None:
            yield result_of(total, self.client)


def _as_they_come(futures: list[Future], client: Client) -> Iterator[Future]:
    """Yield futures when they are done; raise what has gone wrong with one."""
    done: Queue[Future] = Queue()
    for future in futures:
        future.add_done_callback(done.put)
    for _ in futures:
        future = _next(done, client)
        if future.status != "finished":
            _raise(future)
        yield future


def _next(done: Queue[Future], client: Client) -> Future:
    """Wait for a future; look at the clock meanwhile, and whether anybody works."""
    for look in count(1):
        check_time()
        with suppress(Empty):
            return done.get(timeout=LOOK_AFTER)
        if look % LOOKS_BEFORE_ASKING == 0 and not _has_workers(client):
            warnings.warn(
                "the cluster has no workers any more: waiting for new ones (dask "
                "worker ADDRESS)",
                RuntimeWarning,
                stacklevel=2,
            )
    raise AssertionError


def _has_workers(client: Client) -> bool:
    """Say whether anybody works; as long as the scheduler is silent, who knows."""
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=LOOK_AFTER))
    except OSError:
        return True


def _raise(future: Future) -> None:
    """Say why a task has not been done."""
    if future.status != "error":
        raise PartwiseError(GONE)
    error = future.exception()
    if isinstance(error, KilledWorker):
        raise OutOfMemoryError(
            "workers died again and again at the same task, usually for lack of "
            f"memory: {error}; make more and smaller shards, or give workers more "
            "memory"
        ) from error
    future.result()  # raises it, with the lines of the worker that have led to it


def result_of(future: Future, client: Client) -> Any:
    """Return the result of a task, or say why there is none."""
    return next(_as_they_come([future], client)).result()


def gathered(futures: list[Future], names: Sequence[str], client: Client) -> list[Any]:
    """Return results in order; what goes wrong is said with the name of the shard."""
    results = []
    for future, name in zip(futures, names, strict=True):
        try:
            results.append(result_of(future, client))
        except DataError as error:
            raise error if name in str(error) else error.located(name) from None
        except Exception as error:
            error.add_note(f"This happened to {name}.")
            raise
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
