"""A corpus in shards, which lie elsewhere: in other processes, or in files.

Of such a corpus only facts are here: how many examples and parts there are, and one
small shard that answers what all have in common. Passes over it are made by a `Team`,
which runs a job on every shard wherever that is. Sums are added up as a tree over the
shards in their order: the number of shards decides the bits, not who did them, or when.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import FloatArray, IntArray, Structure
from partwise.structures.parallel import Crew, Job, Threads, make_crew
from partwise.structures.sharing import (
    Slot,
    Sum,
    collect,
    marked,
    piece_for,
    replaced,
    unfolded,
    with_slots,
)

Item = TypeVar("Item")


class Facts(NamedTuple):
    """What one has to know of a shard without having it."""

    n_parts: IntArray
    output_sizes: IntArray
    fingerprint: str


class Order(NamedTuple):
    """What all shards are to do: the job, and what is the same for all of them."""

    job: Job
    k: int
    common: Any

    @property
    def slots(self) -> list[Slot]:
        """What every shard has its own piece of."""
        return [slot for slot in marked(self.common) if isinstance(slot, Slot)]

    @property
    def writes(self) -> bool:
        """Whether something is written for every example."""
        return any(slot.is_written for slot in self.slots)

    @property
    def sums(self) -> bool:
        """Whether something is added up."""
        return any(slot.is_sum for slot in self.slots)


class Done(NamedTuple):
    """What a job wrote for the examples of a shard, and what it added up."""

    written: list[Any]
    sums: list[FloatArray]


def facts_of(s: Structure, fingerprint: str) -> Facts:
    """Return the facts of a shard, one that is here."""
    sizes = np.diff(output_pointers(s)).astype(np.int64)
    n_parts = [int(waist.n_parts(s, i)) for i in range(sizes.size)]
    return Facts(np.array(n_parts, np.int64), sizes, fingerprint)


def do(s: Structure, order: Order, piece: Sequence[Any]) -> Done:
    """Do a job on all of a shard, in one thread; return what came of it."""
    own = [unfolded(part) for part in piece]
    things = replaced(order.common, lambda slot: own[slot.number])  # type: ignore[attr-defined]
    Threads(s, k=order.k).run(order.job, *things)
    return Done(
        [own[slot.number] for slot in order.slots if slot.is_written],
        [own[slot.number] for slot in order.slots if slot.is_sum],
    )


def add_sums(left: list[FloatArray], right: list[FloatArray]) -> list[FloatArray]:
    """Return the sums of two runs of shards that follow each other."""
    return [a + b for a, b in zip(left, right, strict=True)]


def tree_sum(items: Iterable[Item], add: Callable[[Item, Item], Item]) -> Item | None:
    """Add items up as a tree, in their order; None if there are none.

    Its form depends on how many there are, and on nothing else. Few sums are alive at a
    time: no more than the tree is high.

    Examples
    --------
    >>> tree_sum(["a", "b", "c", "d", "e"], lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    runs: list[tuple[int, Item]] = []
    for item in items:
        size = 1
        while runs and runs[-1][0] == size:
            item = add(runs.pop()[1], item)
            size *= 2
        runs.append((size, item))
    while len(runs) > 1:
        (_, last), (size, before) = runs.pop(), runs.pop()
        runs.append((size, add(before, last)))
    return runs[0][1] if runs else None


class Team(ABC):
    """Those who have the shards of a corpus, and can run a job on each."""

    @abstractmethod
    def run(
        self,
        order: Order,
        pieces: Sequence[Sequence[Any]],
        keep: Callable[[int, list[Any]], None],
    ) -> Iterator[float | list[FloatArray]]:
        """Run a job on all shards, each with its piece; yield the fraction done.

        Call `keep` with the number of every shard and what was written for it, in any
        order. What is yielded last is the list of sums, if there are any.
        """


@dataclass(frozen=True)
class Shards:
    """A corpus in shards: facts, and the team that has them.

    Parameters
    ----------
    pattern : Structure
        A shard, which answers questions that are not about an example.
    facts : sequence of Facts
        Those of all shards, in order.
    team : Team
        Who makes passes over them.
    """

    pattern: Structure
    facts: tuple[Facts, ...]
    team: Team

    @property
    def bounds(self) -> IntArray:
        """Where the examples of each shard begin, and the end of the last."""
        sizes = [facts.n_parts.size for facts in self.facts]
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])

    @property
    def fingerprint(self) -> str:
        """A hash of the data, and of how it is cut."""
        digest = hashlib.blake2b(digest_size=16)
        for facts in self.facts:
            digest.update(facts.fingerprint.encode())
        return digest.hexdigest()

    def of_all(self, name: str) -> IntArray:
        """Return a fact about every example."""
        found: IntArray = np.concatenate([getattr(facts, name) for facts in self.facts])
        return found


class TeamCrew(Crew):
    """The crew of a corpus in shards."""

    def __init__(self, shards: Shards, k: int):
        self.shards, self.k = shards, k
        self.size = len(shards.facts)

    def visit(self, job: Job, *things: Any) -> Iterator[float]:
        """Do `job` on all shards; yield the fraction done every moment or so."""
        ranges = list(pairwise(self.shards.bounds.tolist()))
        totals = [thing.total for thing in marked(things) if isinstance(thing, Sum)]
        order = Order(job, self.k, with_slots(things))
        pieces = [piece_for(things, start, stop) for start, stop in ranges]

        def keep(number: int, written: list[Any]) -> None:
            collect(things, *ranges[number], written)

        for news in self.shards.team.run(order, pieces, keep):
            if isinstance(news, float):
                yield news
                continue
            for total, summed in zip(totals, news, strict=True):
                total[...] = summed


waist.n_examples.implement(Shards)(lambda s: int(s.bounds[-1]))
waist.n_weights.implement(Shards)(lambda s: waist.n_weights(s.pattern))
waist.max_features.implement(Shards)(lambda s: waist.max_features(s.pattern))
waist.distribution_of.implement(Shards)(lambda s: waist.distribution_of(s.pattern))
waist.innermost.implement(Shards)(lambda s: waist.innermost(s.pattern))


@waist.n_parts.implement(Shards)
def _(s: Shards, i: int) -> int:
    return int(s.of_all("n_parts")[i])


@waist.output_size.implement(Shards)
def _(s: Shards, i: int) -> int:
    return int(s.of_all("output_sizes")[i])


@output_pointers.implement(Shards)
def _(s: Shards) -> IntArray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(s.of_all("output_sizes"))])


@make_crew.implement(Shards)
def _(
    s: Shards,
    n_jobs: int = 1,
    used: FloatArray | None = None,
    k: int = 1,
    n_sums: int = 0,
) -> TeamCrew:
    return TeamCrew(s, k)
