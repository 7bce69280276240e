"""Phrases found in a corpus, all of them at once and wherever they begin.

A trie, as one sorted array: its nodes are numbered level by level, and a branch is the
number of its node and that of a token. So a corpus is searched by as many binary
searches as the longest phrase has tokens, and no phrase is ever spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.model_file.content import Content
from partwise.model_file.packing import pack_strings, prefixed, unpack_strings

Ints = NDArray[np.int64]


class Found(NamedTuple):
    """Where phrases occur: their first tokens, lengths and numbers."""

    start: Ints
    length: Ints
    phrase: Ints


class PhraseTable:
    """Numbered phrases, each a sequence of tokens.

    Parameters
    ----------
    phrases : iterable of sequences of str
        The phrases; no two are the same, and none is empty.

    Examples
    --------
    >>> table = PhraseTable([["New", "York"], ["York"]])
    >>> found = table.find(["in", "New", "York"], np.array([0, 3]))
    >>> list(zip(found.start.tolist(), found.length.tolist(), found.phrase.tolist()))
    [(2, 1, 1), (1, 2, 0)]
    """

    def __init__(self, phrases: Iterable[Sequence[str]]):
        listed = [tuple(phrase) for phrase in phrases]
        number: dict[str, int] = {}
        tokens = [
            number.setdefault(token, len(number) + 1)
            for token in chain.from_iterable(listed)
        ]
        ptr = np.concatenate([[0], np.cumsum([*map(len, listed)], dtype=np.int64)])
        self._build(number, np.array(tokens, np.int64), ptr)

    def _build(self, number: dict[str, int], tokens: Ints, ptr: Ints) -> None:
        """Make the nodes of the trie, level by level."""
        self._number, self._tokens, self._ptr = number, tokens, ptr
        lengths = np.diff(ptr)
        if lengths.size and lengths.min() < 1:
            raise ValueError("a phrase needs at least one token")
        node, keys = np.zeros(lengths.size, np.int64), [np.zeros(0, np.int64)]
        n_nodes = 0
        for depth in range(int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > depth)
            branch = self._branch(node[longer], tokens[ptr[longer] + depth])
            level = np.unique(branch)
            node[longer] = n_nodes + 1 + np.searchsorted(level, branch)
            n_nodes += level.size
            keys.append(level)
        self._keys = np.concatenate(keys)
        self._phrase = np.full(n_nodes + 1, -1, np.int64)
        self._phrase[node] = np.arange(lengths.size)
        if (self._phrase[node] != np.arange(lengths.size)).any():
            raise ValueError("a phrase occurs twice")

    def _branch(self, node: Ints, token: Ints) -> Ints:
        return node * (len(self._number) + 1) + token

    def __len__(self) -> int:
        """Return how many phrases there are."""
        return self._ptr.size - 1

    def phrases(self) -> list[tuple[str, ...]]:
        """Return all phrases, in order."""
        names = ["", *self._number]
        spelled = [names[token] for token in self._tokens.tolist()]
        ends = self._ptr.tolist()
        return [tuple(spelled[a:b]) for a, b in pairwise(ends)]

    def find(self, tokens: Sequence[str], ptr: Ints) -> Found:
        """Find all phrases in a corpus, those inside of others too.

        Parameters
        ----------
        tokens : sequence of str
            All tokens of the corpus.
        ptr : array of int64
            Sequence `i` is the tokens ``ptr[i]:ptr[i + 1]``; phrases stay inside.
        """
        number = self._number
        codes = np.array([number.get(token, 0) for token in tokens], np.int64)
        end = np.repeat(ptr[1:], np.diff(ptr))
        start = np.arange(codes.size) if self._keys.size else np.zeros(0, np.int64)
        node = np.zeros(start.size, np.int64)
        found: list[Found] = [Found(*np.zeros((3, 0), np.int64))]
        length = 0
        while start.size:
            inside = start + length < end[start]
            start, node = start[inside], node[inside]
            branch = self._branch(node, codes[start + length])
            place = np.minimum(np.searchsorted(self._keys, branch), self._keys.size - 1)
            goes_on = (self._keys[place] == branch) & (codes[start + length] > 0)
            start, node = start[goes_on], place[goes_on] + 1
            length += 1
            phrase = self._phrase[node]
            whole = phrase >= 0
            lengths = np.full(int(whole.sum()), length, np.int64)
            found.append(Found(start[whole], lengths, phrase[whole]))
        return Found(*map(np.concatenate, zip(*found, strict=True)))

    # Storing

    def to_tensors(self) -> dict[str, Any]:
        """Return the phrases, as arrays."""
        names = prefixed("tokens", pack_strings(self._number))
        return {**names, "ptr": self._ptr, "codes": self._tokens.astype(np.int32)}

    @classmethod
    def from_tensors(cls, content: Content) -> PhraseTable:
        """Rebuild a table from what `to_tensors` returned, trusting nothing."""
        names = _names(content.part("tokens").tensors, content.source)
        codes = content.tensor(
            "codes", dtype=np.int32, at_least=1, below=len(names) + 1
        )
        table = cls([])
        ptr = content.pointers("ptr", end=codes.size)
        number = {name: code for code, name in enumerate(names, 1)}
        try:
            table._build(number, codes.astype(np.int64), ptr)
        except ValueError as error:
            raise content.error(str(error)) from None
        return table


def _names(tensors: Mapping[str, Any], source: str) -> list[str]:
    return unpack_strings(tensors, source=source, unique=True)
