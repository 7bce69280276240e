"""Answers of a Bayesian network about rows: best values, probabilities, likelihoods.

Rows are codes: `MISSING` where there is no value, which includes what is to be
predicted, and `UNSEEN` for values that the network does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.bayesian_network.discrete_table import MISSING, UNSEEN, Name
from partwise.structures import bayesian_network as networks
from partwise.structures.bayesian_network import BayesianNetwork, Network
from partwise.structures.decoding import decode, part_marginals
from partwise.structures.graph.junction_tree import TooWideError
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.probabilities import draw

MOST_TOGETHER = 4096
"""The most values of targets together that are tried with other values summed out."""

AT_ONCE = 200_000
"""How many rows are looked at together, of those that stand for one another."""


def make_corpus(
    network: Network,
    names: Sequence[Name],
    codes: IntArray,
    hidden: NDArray[np.bool_],
    max_table: int,
    costs: Mapping[int, FloatArray] | None = None,
    rows: IntArray | None = None,
) -> BayesianNetwork:
    """Return rows as a structure; errors name variables, and number `rows`."""
    known = np.maximum(codes, UNSEEN)
    try:
        return networks.make_bayesian_network(
            network, known, hidden, costs=costs, max_table=max_table
        )
    except TooWideError as error:
        there = np.flatnonzero(hidden[error.example])
        widest = [names[there[v]] for v in error.vertices]
        row = error.example if rows is None else int(rows[error.example])
        remedy = "none is observed: observe some, predict fewer, or raise max_table"
        raise DataError(
            error.told("variables", widest, remedy), where=f"row {row}", example=row
        ) from None


@dataclass(frozen=True)
class NetworkAnswers:
    """A network with probabilities, to be asked about rows.

    Attributes
    ----------
    network : Network
        The variables.
    names : sequence
        What they are called.
    w : array
        Log-probabilities.
    n_jobs : int
        Threads.
    max_table : int
        The most numbers in the tables of one row.
    """

    network: Network
    names: Sequence[Name]
    w: FloatArray
    n_jobs: int
    max_table: int

    def _corpus(self, codes: IntArray, rows: IntArray | None = None) -> BayesianNetwork:
        """Return rows as a structure, with all that is missing hidden."""
        return make_corpus(
            self.network, self.names, codes, codes == MISSING, self.max_table, rows=rows
        )

    def _weights(self) -> FloatArray:
        return networks.with_unknown(self.w, self.network)

    def complete(self, codes: IntArray, rows: IntArray | None = None) -> IntArray:
        """Return the rows with the most probable values where some are missing.

        `rows` are their numbers, for error messages.
        """
        result = codes.copy()
        found = decode(self._corpus(codes, rows), self._weights(), self.n_jobs)
        result[codes == MISSING] = found.codes
        return result

    def best(
        self, codes: IntArray, targets: Sequence[int], *, sum_out: bool
    ) -> IntArray:
        """Return the most probable values of the targets together, one column each.

        Other values that are missing are summed out, or take their best.
        """
        others = codes == MISSING
        others[:, targets] = False
        summed = others.any(axis=1) & sum_out
        result = np.zeros((len(codes), len(targets)), np.int64)
        simple, others = np.flatnonzero(~summed), np.flatnonzero(summed)
        if simple.size:
            result[simple] = self.complete(codes[simple], simple)[:, targets]
        if others.size:
            result[others] = self._best_summed(codes[others], targets, others)
        return result

    def _best_summed(
        self, codes: IntArray, targets: Sequence[int], numbers: IntArray
    ) -> IntArray:
        """Try the values of all targets together, one after the other.

        Many values of a single target are not tried: its probabilities say as much.
        """
        sizes = [self.network.n_values[v] for v in targets]
        if prod(sizes) > MOST_TOGETHER and len(targets) == 1:
            (single,) = self.marginals(codes, targets, numbers)
            return np.asarray(single.argmax(axis=1)[:, None], np.int64)
        if prod(sizes) > MOST_TOGETHER:
            raise DataError(
                f"{len(targets)} variables have {prod(sizes):,} values together, too "
                "many to sum out missing values for each: predict fewer of them, or "
                "set missing='maximise'"
            )
        tried = np.array(list(product(*map(range, sizes))), np.int64)
        best = []
        step = max(AT_ONCE // len(tried), 1)
        for start in range(0, len(codes), step):
            rows = codes[start : start + step]
            copies = np.repeat(rows, len(tried), axis=0)
            copies[:, targets] = np.tile(tried, (len(rows), 1))
            of = np.repeat(numbers[start : start + step], len(tried))
            found = self.log_likelihood(copies, of).reshape(len(rows), len(tried))
            best.append(tried[np.argmax(found, axis=1)])
        return np.concatenate(best)

    def draw(
        self, codes: IntArray, n: int, random: np.random.Generator
    ) -> list[IntArray]:
        """Return the rows `n` times, with values drawn where some are missing."""
        result = [codes.copy() for _ in range(n)]
        drawn = draw(self._corpus(codes), self._weights(), n, random, self.n_jobs)
        for one, found in zip(result, drawn.codes, strict=True):
            one[codes == MISSING] = found
        return result

    def log_likelihood(
        self, codes: IntArray, rows: IntArray | None = None
    ) -> FloatArray:
        """Return ``ln P`` of what is there of every row."""
        corpus, none = self._corpus(codes, rows), np.zeros(len(codes), np.int64)
        return part_marginals(corpus, self._weights(), none, self.n_jobs)[2]

    def marginals(
        self, codes: IntArray, targets: Sequence[int], rows: IntArray | None = None
    ) -> list[NDArray[np.float64]]:
        """Return the probabilities of the values of every target, all else summed."""
        corpus = self._corpus(codes, rows)
        found = networks.variable_marginals(corpus, self._weights(), self.n_jobs)
        place = np.cumsum(codes == MISSING).reshape(codes.shape) - 1
        result = []
        for v in targets:
            values = np.arange(self.network.n_values[v])
            result.append(found.probabilities[found.at[place[:, v]][:, None] + values])
        return result
