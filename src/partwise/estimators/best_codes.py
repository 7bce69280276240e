"""The best outputs of a corpus, example by example."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from partwise.estimators.checks import check_k
from partwise.structures.decoding import Decoded, decode_kbest
from partwise.structures.interface import CodeArray, FloatArray, Structure


class Scored(NamedTuple):
    """One output of an example, in codes, with its score."""

    codes: CodeArray
    score: float


def split(found: Decoded) -> list[Scored]:
    """Return the output of every example on its own."""
    places = pairwise(found.ptr.tolist())
    return [
        Scored(found.codes[a:b], score)
        for (a, b), score in zip(places, found.scores.tolist(), strict=True)
    ]


def kbest(s: Structure, w: FloatArray, k: int, n_jobs: int) -> list[list[Scored]]:
    """Return the `k` best outputs of every example; fewer where there are fewer."""
    check_k(k)
    ptr, codes, scores, found = decode_kbest(s, w, k, n_jobs)
    return [
        [
            Scored(codes[j, ptr[i] : ptr[i + 1]], float(scores[i, j]))
            for j in range(found[i])
        ]
        for i in range(found.size)
    ]
