"""Numbering words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

BEGIN, END, UNKNOWN = 0, 1, 2
SPECIAL = ["<s>", "</s>", "<unk>"]
WIDTH = 1 << 20  # words have numbers below this, so that three fit in a key


class Vocabulary:
    """Words and their numbers.

    Words that look like the special ones are words like others.

    Examples
    --------
    >>> words = Vocabulary([["a", "man"], ["a", "dog"]])
    >>> words.number(["a", "cat"]).tolist()
    [3, 2]
    >>> words.words[3:]
    ['a', 'man', 'dog']
    """

    def __init__(self, sentences: Iterable[Sequence[str]] = ()) -> None:
        self.words = list(SPECIAL)
        self._number: dict[str, int] = {}
        for sentence in sentences:
            for word in sentence:
                self.add(word)

    def __len__(self) -> int:
        """Return how many words there are, special ones included."""
        return len(self.words)

    def add(self, word: str) -> int:
        """Return the number of a word, which is new if the word is."""
        number = self._number.get(word)
        if number is None:
            if len(self.words) >= WIDTH:
                raise ValueError(f"there is room for {WIDTH:,} different words")
            number = self._number[word] = len(self.words)
            self.words.append(word)
        return number

    def number(self, sentence: Sequence[str]) -> IntArray:
        """Return the numbers of the words, `UNKNOWN` for those never added."""
        return np.array([self._number.get(w, UNKNOWN) for w in sentence], np.int64)

    def number_all(self, sentence: Sequence[str]) -> IntArray:
        """Return the numbers of the words, adding those that are new."""
        return np.array([self.add(word) for word in sentence], np.int64)


def join(sentences: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return sentences one after the other, and where each begins."""
    ptr = np.cumsum([0, *(s.size for s in sentences)]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.int64), *sentences]), ptr
