"""One sequence at a time, as a program that answers requests has them.

To tag a short sequence takes a hundredth of a millisecond; to make a corpus of it, with
checks and scratch arrays, takes ten times as long. A slate is a corpus of one sequence
that is made once: features are written into its arrays, and labels read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise.estimators.sequence.inputs import Tokens
from partwise.structures.chain import Chain
from partwise.structures.decoding import Decoder
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.rows import SparseRows, no_rows

MakeChain = Callable[[Tokens], Chain]

MOST_KEPT = 16
"""Slates that are kept for later: no more threads than this are quick at once."""


class _Slate:
    """Room for a sequence, twice as long as the first."""

    def __init__(self, make: MakeChain, w: FloatArray, first: Tokens):
        nodes = first.nodes
        n_tokens, n_features = 2 * nodes.ptr.size, 2 * nodes.idx.size + 16
        self.ptr = np.array([0, n_tokens], np.int64)
        self.rows = SparseRows(
            np.zeros(n_tokens + 1, np.int64),
            np.zeros(n_features, np.int32),
            np.zeros(n_features if nodes.val.size else 0),
            nodes.n_columns,
        )
        empty = Tokens(self.ptr, self.rows, no_rows())
        self.w = w
        self._decoder = Decoder(make(empty), w)

    def has_room(self, tokens: Tokens, w: FloatArray) -> bool:
        """Say whether this is a slate for these tokens and weights."""
        nodes, own = tokens.nodes, self.rows
        return (
            w is self.w
            and nodes.ptr.size <= own.ptr.size
            and nodes.idx.size <= own.idx.size
            and (nodes.val.size > 0) == (own.val.size > 0)
        )

    def best(self, tokens: Tokens) -> tuple[CodeArray, FloatArray]:
        """Return the best labels and their score."""
        nodes, own, length = tokens.nodes, self.rows, tokens.nodes.ptr.size - 1
        self.ptr[1] = length
        own.ptr[: length + 1] = nodes.ptr
        own.idx[: nodes.idx.size] = nodes.idx
        own.val[: nodes.val.size] = nodes.val
        found = self._decoder.decode()
        return found.codes[:length], found.scores


class Slates:
    """The slates of a model that no thread is using."""

    def __init__(self) -> None:
        self._free: list[_Slate] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the slates out of copies and pickles: they are quickly made again."""
        return Slates, ()

    @staticmethod
    def suit(tokens: Tokens) -> bool:
        """Say whether tokens are one sequence, with features that are only names."""
        return (
            tokens.ptr.size == 2
            and isinstance(tokens.nodes, SparseRows)
            and tokens.edges.n_columns == 0
            and tokens.vectors is None
        )

    def best(
        self, make: MakeChain, w: FloatArray, tokens: Tokens
    ) -> tuple[list[int], FloatArray]:
        """Return the codes of the best labels of a sequence, and their score.

        Parameters
        ----------
        make : callable
            Makes a corpus of tokens, with everything the model knows.
        w : array
            The weights.
        tokens : Tokens
            What `suit` has accepted.
        """
        try:
            slate = self._free.pop()  # safe while other threads do the same
            if not slate.has_room(tokens, w):
                slate = _Slate(make, w, tokens)
        except IndexError:
            slate = _Slate(make, w, tokens)
        codes, score = slate.best(tokens)
        answer = codes.tolist(), score.copy()
        if len(self._free) < MOST_KEPT:
            self._free.append(slate)
        return answer
