"""Sequences of labels as walks: from state to state, with their probabilities.

A state is a label, or in models of higher order the last labels. Given it, what came
before says nothing about the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from partwise.estimators.checks import check_possible
from partwise.estimators.sequence.orders import stuck_at
from partwise.structures import decoding
from partwise.structures.chain import Chain, untied
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.ngrams import NGramChain, step_shares


class Walk(NamedTuple):
    """The walk through one sequence.

    Attributes
    ----------
    label : array
        The label of every state; -1 for the one before the first token.
    source, target : arrays
        The states that every step leads from and to.
    share : array of shape (n_tokens, n_steps)
        The probability of every step at every token.
    """

    label: CodeArray
    source: CodeArray
    target: CodeArray
    share: FloatArray

    def arrivals(self, flow: FloatArray) -> FloatArray:
        """Add up what flows along the steps, by the state where it arrives."""
        return np.asarray(np.bincount(self.target, flow, self.label.size), np.float64)


def walks(chain: Chain, w: FloatArray, n_labels: int, n_jobs: int) -> Iterator[Walk]:
    """Yield the walk through every sequence."""
    if isinstance(chain, NGramChain):
        grams = chain.grams
        for i, (log_z, share) in enumerate(step_shares(chain, w)):
            check_possible(np.append(np.zeros(i), log_z), partial(stuck_at, chain))
            yield Walk(grams.label, grams.source, grams.target, share)
        return
    label = np.arange(-1, n_labels, dtype=np.int32)
    source = np.repeat(np.arange(n_labels + 1, dtype=np.int32), n_labels)
    target = np.tile(np.arange(1, n_labels + 1, dtype=np.int32), n_labels + 1)
    for first, pairs in _shares(chain, w, n_labels, n_jobs):
        share = np.zeros((len(pairs) + len(first), source.size))
        share[:1, :n_labels] = first
        share[1:, n_labels:] = pairs.reshape(len(pairs), -1)
        yield Walk(label, source, target, share)


def transition_probabilities(
    chain: Chain, w: FloatArray, n_labels: int, n_jobs: int
) -> Iterator[FloatArray]:
    """Yield the probability of every pair of labels at neighbouring tokens."""
    if not isinstance(chain, NGramChain):
        yield from (pairs for _, pairs in _shares(chain, w, n_labels, n_jobs))
        return
    for label, source, target, share in walks(chain, w, n_labels, n_jobs):
        inner = np.flatnonzero(label[source] >= 0)
        pair = label[source[inner]] * n_labels + label[target[inner]]
        found = [np.bincount(pair, row[inner], n_labels**2) for row in share[1:]]
        yield np.reshape(found, (-1, n_labels, n_labels))


def _shares(
    chain: Chain, w: FloatArray, n_labels: int, n_jobs: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the probabilities of first labels, one row or none, and those of pairs."""
    square = n_labels * n_labels
    lengths = np.diff(chain.ptr)
    # Nodes come first, then transitions, here with parts of their own everywhere.
    wanted = n_labels * lengths + square * np.maximum(lengths - 1, 0)
    ptr, mu, log_z = decoding.part_marginals(untied(chain), w, wanted, n_jobs)
    check_possible(log_z, partial(stuck_at, chain))
    for (a, b), n in zip(pairwise(ptr.tolist()), lengths.tolist(), strict=True):
        nodes = mu[a : a + n_labels * n].reshape(-1, n_labels)
        yield nodes[:1], mu[a + n_labels * n : b].reshape(-1, n_labels, n_labels)
