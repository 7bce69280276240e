"""The search for the wrong output whose margin is missed most, for every example.

Lines 5 and 6 of Algorithm 1 of paper 002, on any structure with k-best outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures.decoding import output_pointers
from partwise.structures.interface import CodeArray, FloatArray, IntArray, Structure
from partwise.structures.parallel import Crew, Worker, make_crew
from partwise.structures.scratch import Scratch, score_of
from partwise.structures.sharing import borders, changed
from partwise.structures.vectors import copy

MOST_OUTPUTS = 256
"""How many best outputs are examined for the largest violation of LP (7)."""

UNFINISHED = -1.0
"""Instead of a slack: more outputs are needed to tell."""


CODES, PARTS, FEATURES = 0, 1, 2
"""Ways to measure how far apart two outputs are."""


class Rules(NamedTuple):
    """Which margin is required, and between which outputs.

    Attributes
    ----------
    unit : bool
        A margin of one for every wrong output; False: of its cost.
    closest : bool
        Compare with the closest good output, LP (7); False: with the one that scores
        worst, LP (8).
    distance : int
        What close means: `CODES`, `PARTS` or `FEATURES`.
    """

    unit: bool
    closest: bool
    distance: int


class Candidates(NamedTuple):
    """Room for the best outputs of an example, and to compare good ones."""

    ys: NDArray[np.int32]
    scores: FloatArray
    y_good: CodeArray
    ids: IntArray
    counts: FloatArray


class Violations(NamedTuple):
    """What was found for every example.

    Attributes
    ----------
    slack : array
        The loss: the largest violation, zero if there is none. An upper bound where
        a largest one could not be told among `MOST_OUTPUTS`.
    amount : array
        The violation of the wrong output that was found; minus infinity if there is
        none.
    codes : array
        The wrong outputs, one after the other from ``start[i]`` on.
    start : array
        Where the output of an example starts, and last where the last one ends.
    good : array
        The number of the good output that it is compared with.
    """

    slack: FloatArray
    amount: FloatArray
    codes: CodeArray
    start: IntArray
    good: IntArray


def make_candidates(s: Structure, k: int) -> Candidates:
    """Make room for `k` best outputs."""
    most_parts, most_codes = waist.largest_sizes(s)
    room = most_parts + 2 * most_codes
    return Candidates(
        np.zeros((k, most_codes), np.int32),
        np.zeros(k),
        np.zeros(most_codes, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room),
    )


def make_violations(s: Structure) -> Violations:
    """Make room for a wrong output of every example."""
    count = int(waist.n_examples(s))
    start = output_pointers(s)
    return Violations(
        np.zeros(count),
        np.full(count, -np.inf),
        np.zeros(int(start[-1]), np.int32),
        start,
        np.zeros(count, np.int64),
    )


@kernel
def _distance(
    s: Structure,
    i: int,
    y: CodeArray,
    kind: int,
    room: Candidates,
    scratch: Scratch,
    diff: waist.Diff,
    ws: Any,
) -> float:
    """Return the distance of `y` from the good output in ``room.y_good``."""
    total = 0.0
    if kind == CODES:
        for c in range(waist.output_size(s, i)):
            total += y[c] != room.y_good[c]
    elif kind == PARTS:
        # Twice the parts of one that the other does not have, by a table of counts.
        found = waist.parts_of(s, i, y, scratch.ids, scratch.counts)
        found_good = waist.parts_of(s, i, room.y_good, room.ids, room.counts)
        for p in range(found):
            scratch.mu[scratch.ids[p]] = 0.0
        for p in range(found_good):
            scratch.mu[room.ids[p]] = 0.0
        for p in range(found):
            scratch.mu[scratch.ids[p]] += scratch.counts[p]
        for p in range(found_good):
            scratch.mu[room.ids[p]] -= room.counts[p]
        for p in range(found):
            total += abs(scratch.mu[scratch.ids[p]])
            scratch.mu[scratch.ids[p]] = 0.0
        for p in range(found_good):
            total += abs(scratch.mu[room.ids[p]])
            scratch.mu[room.ids[p]] = 0.0
    else:
        total = waist.diff_sqnorm(s, i, y, room.y_good, diff, ws)
    return total


@kernel
def _good_score(
    s: Structure,
    i: int,
    y: CodeArray,
    rules: Rules,
    room: Candidates,
    scratch: Scratch,
    diff: waist.Diff,
    ws: Any,
) -> tuple[int, float]:
    """Return the good output to compare `y` with, and its score (line 6)."""
    best, chosen, score = np.inf, 0, 0.0
    count = waist.n_good(s, i)
    for j in range(count):
        waist.good_at(s, i, j, room.y_good)
        own = score_of(s, i, room.y_good, scratch.theta, scratch)
        key, nearly = own, 0.0
        if rules.closest and count > 1:
            key = _distance(s, i, y, rules.distance, room, scratch, diff, ws)
            nearly = 1e-9 * key  # the first of equals, whatever rounding says
        if key + nearly < best:
            best, chosen, score = key, j, own
    return chosen, score


@kernel
def _lowest_good(s: Structure, i: int, room: Candidates, scratch: Scratch) -> float:
    lowest = np.inf
    for j in range(waist.n_good(s, i)):
        waist.good_at(s, i, j, room.y_good)
        lowest = min(lowest, score_of(s, i, room.y_good, scratch.theta, scratch))
    return lowest


@kernel
def _find_violation(
    s: Structure,
    i: int,
    rules: Rules,
    augmented: FloatArray,
    found: Violations,
    room: Candidates,
    scratch: Scratch,
    diff: waist.Diff,
    ws: Any,
) -> float:
    """Find the most violated wrong output (Algorithm 1, lines 5 and 6).

    Best outputs are asked for, twice as many every time, until one is wrong; if good
    outputs are compared by distance, until none further down the list can be violated
    more. Return the slack, or `UNFINISHED` where the room is too small for that.
    """
    most = room.scores.size
    n_codes = waist.output_size(s, i)
    several = waist.n_good(s, i) > 1
    margin = 1.0 if rules.unit else 0.0  # costs are in the scores
    lowest = _lowest_good(s, i, room, scratch)
    k = 1  # often enough, and faster
    while True:
        k = min(k, most)
        count = waist.kbest(s, i, augmented, k, room.ys, room.scores, ws)
        amount, first = -np.inf, -1
        for j in range(count):
            y = room.ys[j]
            if first >= 0 and not (rules.closest and several):
                break
            # No output from here on is violated more.
            if margin + room.scores[j] - lowest <= amount:
                return max(amount, 0.0)
            if waist.is_good(s, i, y, room.y_good):
                continue
            chosen, score = _good_score(s, i, y, rules, room, scratch, diff, ws)
            violation = margin + room.scores[j] - score
            if violation > amount:
                amount, first = violation, j
                found.amount[i] = amount
                found.good[i] = chosen
                at = found.start[i]
                copy(y[:n_codes], found.codes[at : at + n_codes])
        if count < k or (first >= 0 and not (rules.closest and several)):
            return max(amount, 0.0)
        if k >= MOST_OUTPUTS and first >= 0:
            return max(amount, margin + room.scores[count - 1] - lowest, 0.0)
        if k == most:
            return UNFINISHED
        k *= 2


@kernel
def find_violations(
    s: Structure,
    w: FloatArray,
    rules: Rules,
    start: int,
    stop: int,
    augmented: FloatArray,
    found: Violations,
    room: Candidates,
    scratch: Scratch,
    diff: waist.Diff,
    ws: Any,
) -> None:
    """Search the examples whose slack is unfinished; some may remain so."""
    for i in range(start, stop):
        if found.slack[i] >= 0.0:
            continue
        waist.visit(s, i, ws)
        waist.part_scores(s, i, w, scratch.theta, ws)
        n = waist.n_parts(s, i)
        copy(scratch.theta[:n], augmented)
        if not rules.unit:
            waist.add_costs(s, i, augmented)
        found.amount[i] = -np.inf
        found.slack[i] = _find_violation(
            s, i, rules, augmented, found, room, scratch, diff, ws
        )


class Search:
    """Looks for the most violated wrong output of every example, again and again.

    Parameters
    ----------
    s : structure
        A corpus that answers `kbest`.
    rules : Rules
        Which margin is required.
    n_jobs : int
        How many threads search.
    used : array, optional
        Examples where this is zero are skipped.

    Examples
    --------
    >>> from partwise.structures import make_dense_rows, make_multiclass
    >>> s = make_multiclass(make_dense_rows([[1.0]]), [0], 3)
    >>> search = Search(s, Rules(unit=True, closest=False, distance=CODES))
    >>> for done in search.run(np.array([0.0, 0.0, 2.0])):
    ...     pass
    >>> search.found.slack.tolist(), search.found.codes.tolist()
    ([3.0], [2])
    """

    def __init__(
        self,
        s: Structure,
        rules: Rules,
        n_jobs: int = 1,
        used: FloatArray | None = None,
    ):
        self.s, self.rules, self.n_jobs, self.used = s, rules, n_jobs, used
        self.found = make_violations(s)
        self._make_room(2)

    def _make_room(self, k: int) -> None:
        """Make room for `k` best outputs."""
        self.k = k
        self.crew: Crew = make_crew(self.s, self.n_jobs, self.used, k)

    def run(self, w: FloatArray) -> Iterator[float]:
        """Look at the weights `w`; yield the fraction done every moment or so."""
        slack = self.found.slack
        slack[:] = UNFINISHED if self.used is None else np.where(self.used, -1.0, 0.0)
        found = self.found
        shared = Violations(
            changed(slack), changed(found.amount), changed(found.codes, found.start),
            borders(found.start), changed(found.good),
        )  # fmt: skip
        yield from self.crew.visit(_look, w, self.rules, self.k, shared)
        while (slack < 0.0).any():
            self._make_room(2 * self.k)
            yield from self.crew.visit(_look, w, self.rules, self.k, shared)


def _look(
    s: Structure,
    start: int,
    stop: int,
    worker: Worker,
    w: FloatArray,
    rules: Rules,
    k: int,
    found: Violations,
) -> None:
    augmented, room, diff = make_tools(s, k)
    own = worker.scratch, diff, worker.ws
    find_violations(s, w, rules, start, stop, augmented, found, room, *own)


def make_tools(s: Structure, k: int) -> tuple[FloatArray, Candidates, waist.Diff]:
    """Make the arrays that a search for violations among `k` best outputs needs."""
    most_parts = waist.largest_sizes(s)[0]
    return np.zeros(most_parts), make_candidates(s, k), waist.make_diff(s)
