"""What estimators of chains answer: best labels, k best, probabilities, chunks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._notebooks import Shown, ShownSpans
from partwise.estimators.checks import check_k, check_possible
from partwise.estimators.hidden_states import HiddenStates
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.sequence.orders import stuck_at
from partwise.metrics.chunks import spans
from partwise.structures import decoding
from partwise.structures.chain import Chain, segment_probabilities
from partwise.structures.interface import FloatArray

Codes = LabelCodes | HiddenStates
"""What the codes of a chain mean: labels, or states behind them."""


class Ranked(NamedTuple):
    """One of the k best label sequences, with its score."""

    labels: list[Label]
    score: float


class Span(NamedTuple):
    """A chunk: tokens ``start:end``, its type, and its probability under the model."""

    start: int
    end: int
    label: str
    score: float

    def _repr_html_(self) -> str:
        return ShownSpans([self])._repr_html_()


def best_labels(
    chain: Chain, w: FloatArray, labels: Codes, n_jobs: int
) -> list[list[Label]]:
    """Return the labels of every sequence with the highest score."""
    return _sequences(_decode(chain, w, n_jobs), labels)


def best_ranked(
    chain: Chain, w: FloatArray, labels: Codes, k: int, n_jobs: int
) -> list[list[Ranked]]:
    """Return the `k` best label sequences, best first; fewer where there are fewer.

    Of state sequences with the same labels the best one counts.
    """
    check_k(k)
    ptr, codes, scores, found = decoding.decode_kbest(chain, w, k, n_jobs)
    check_possible(scores[:, 0], partial(stuck_at, chain))
    result = []
    for i, (a, b) in enumerate(pairwise(ptr.tolist())):
        best: dict[tuple[Label, ...], float] = {}
        for j in range(found[i]):
            read = tuple(labels.decode(codes[j, a:b].tolist()))
            best.setdefault(read, float(scores[i, j]))
        result.append([Ranked(list(read), score) for read, score in best.items()])
    return result


def label_probabilities(
    chain: Chain, w: FloatArray, n_labels: int, n_jobs: int
) -> list[NDArray[np.float64]]:
    """Return the probability of every label at every token, one row per token."""
    wanted = n_labels * np.diff(chain.ptr)
    ptr, mu, log_z = decoding.part_marginals(chain, w, wanted, n_jobs)
    check_possible(log_z, partial(stuck_at, chain))
    return [mu[a:b].reshape(-1, n_labels) for a, b in pairwise(ptr.tolist())]


def check_chunks(labels: Sequence[Label]) -> None:
    """Raise `ValueError` unless labels spell chunks."""
    prefixes = {str(label).partition("-")[0] for label in labels}
    if not prefixes <= set("BIOESMWLU"):
        raise ValueError(
            "the labels do not spell chunks (B-PER, I-PER, O and the like), so there "
            "are no spans; use predict"
        )


def best_spans(
    chain: Chain, w: FloatArray, labels: Codes, scheme: str | None, n_jobs: int
) -> list[list[Span]]:
    """Return the chunks of the best labels, with their probabilities."""
    check_chunks(labels.classes)
    best = _decode(chain, w, n_jobs)
    found = [
        (i, *span)
        for i, sequence in enumerate(_sequences(best, labels))
        for span in spans(sequence, scheme)
    ]
    owner = np.array([item[0] for item in found], np.int64)
    start = np.array([item[1] for item in found], np.int64)
    stop = np.array([item[2] for item in found], np.int64)
    groups = labels.label if isinstance(labels, HiddenStates) else None
    score = segment_probabilities(
        chain, w, owner, start, stop, best.codes, n_jobs, groups
    )
    result = Shown[list[Span]](ShownSpans() for _ in range(chain.ptr.size - 1))
    for (i, a, b, label), value in zip(found, score.tolist(), strict=True):
        result[i].append(Span(a, b, label, value))
    return result


def _decode(chain: Chain, w: FloatArray, n_jobs: int) -> decoding.Decoded:
    best = decoding.decode(chain, w, n_jobs)
    check_possible(best.scores, partial(stuck_at, chain))
    return best


def _sequences(best: decoding.Decoded, labels: Codes) -> list[list[Label]]:
    flat = labels.decode(best.codes.tolist())
    return [flat[a:b] for a, b in pairwise(best.ptr.tolist())]
