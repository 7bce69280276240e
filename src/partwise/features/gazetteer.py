"""Gazetteers: which words of a sentence occur in a list of phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from partwise.data.files import Source
from partwise.data.gazetteer import problem_with_type, read_gazetteer


@dataclass(frozen=True, repr=False)
class Gazetteer:
    """Phrases of several types, found in sentences.

    Sentences are read from left to right; of the phrases that begin at a word the
    longest counts, and the next one begins after it. Each type is searched separately,
    so that what is found of one does not depend on the others.

    Parameters
    ----------
    phrases : dict of str to iterable of str
        The phrases of each type, words with blanks between them.
    ignore_case : bool, default=False
        Whether ``NEW YORK`` is found where the phrase is ``New York``.

    Examples
    --------
    >>> gazetteer = Gazetteer({"LOC": ["New York"], "ORG": ["New York Times"]})
    >>> gazetteer.tags(["The", "New", "York", "Times"])
    [[], ['B-LOC', 'B-ORG'], ['I-LOC', 'I-ORG'], ['I-ORG']]
    """

    phrases: Mapping[str, Iterable[str]]
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Bring phrases into the form in which they are looked up."""
        if not self.phrases:
            raise ValueError("a gazetteer needs at least one type with phrases")
        tidy = {}
        for type, phrases in self.phrases.items():
            problem = problem_with_type(type)
            if problem:
                raise ValueError(problem)
            if isinstance(phrases, str):
                raise TypeError(
                    f"the phrases of {type!r} must be a list, not one string"
                    f" (write [{phrases!r}])"
                )
            cased = (" ".join(phrase.split()) for phrase in phrases)
            found = frozenset(map(str.lower, cased) if self.ignore_case else cased)
            if not found or "" in found:
                raise ValueError(f"type {type!r} has no phrases, or an empty one")
            tidy[type] = found
        object.__setattr__(self, "phrases", tidy)

    @classmethod
    def read(
        cls, source: Source, *, type: str | None = None, ignore_case: bool = False
    ) -> Gazetteer:
        """Read a gazetteer file: ``TYPE<tab>phrase`` lines, or phrases alone.

        Parameters
        ----------
        source : path, "-" or file object
            The file, plain or gzip.
        type : str, optional
            The type of phrases that come without one; by default the name of the file.
        ignore_case : bool, default=False
            Whether phrases are found in any case.

        Examples
        --------
        >>> import io
        >>> Gazetteer.read(io.StringIO("Ada Lovelace"), type="PER")
        Gazetteer(PER: 1)
        """
        return cls(read_gazetteer(source, type=type), ignore_case)

    def __repr__(self) -> str:
        """Show how many phrases there are of each type."""
        sizes = ", ".join(f"{type}: {len(p)}" for type, p in self._sets.items())
        return f"Gazetteer({sizes}{', ignore_case=True' if self.ignore_case else ''})"

    @property
    def types(self) -> tuple[str, ...]:
        """All types."""
        return tuple(self._sets)

    @property
    def _sets(self) -> dict[str, frozenset[str]]:
        return self.phrases  # type: ignore[return-value]

    @cached_property
    def _longest(self) -> dict[str, dict[str, int]]:
        """By type and first word: how many words the longest phrase has."""
        longest: dict[str, dict[str, int]] = {}
        for type, phrases in self._sets.items():
            lengths = longest[type] = {}
            for phrase in phrases:
                first, n = phrase.partition(" ")[0], phrase.count(" ") + 1
                lengths[first] = max(n, lengths.get(first, 0))
        return longest

    def tags(self, words: Sequence[str]) -> list[list[str]]:
        """Return for each word of a sentence where it stands in a phrase.

        Parameters
        ----------
        words : sequence of str
            One sentence.

        Returns
        -------
        list of list of str
            ``B-TYPE`` for the first word of a phrase, ``I-TYPE`` for others; a word
            may have none, or those of several types. A feature dict takes such a list
            as it is: ``{"gazetteer": tags[t]}``.
        """
        words = list(words)
        ptr = np.array([0, len(words)])
        marks = {type: self.mark(type, words, ptr) for type in self.types}
        return [
            [f"{cells[t]}-{type}" for type, cells in marks.items() if cells[t]]
            for t in range(len(words))
        ]

    def mark(
        self, type: str, words: Sequence[str], ptr: NDArray[np.int64]
    ) -> list[str]:
        """Return ``"B"``, ``"I"`` or ``""`` for each word of a corpus.

        Parameters
        ----------
        type : str
            The type whose phrases are looked for.
        words : sequence of str
            The words of all sentences.
        ptr : array of int64
            Sentence `s` is the words ``ptr[s]`` to ``ptr[s + 1]``.

        Examples
        --------
        >>> import numpy as np
        >>> cities = Gazetteer({"city": ["New York", "York"]})
        >>> cities.mark("city", ["New", "York", "New", "York"], np.array([0, 3, 4]))
        ['B', 'I', '', 'B']
        """
        phrases, longest = self._sets[type], self._longest[type]
        if self.ignore_case:
            lower = {word: word.lower() for word in set(words)}
            words = [lower[word] for word in words]
        cells = [""] * len(words)
        starts = [t for t, word in enumerate(words) if word in longest]
        ends = ptr[np.searchsorted(ptr, starts, side="right")] if starts else ptr[:0]
        free = 0  # words before this one belong to a phrase already
        for start, end in zip(starts, ends.tolist(), strict=True):
            if start < free:
                continue
            limit = min(start + longest[words[start]], end)
            for stop in range(limit, start, -1):
                if " ".join(words[start:stop]) in phrases:
                    cells[start:stop] = ["B"] + ["I"] * (stop - start - 1)
                    free = stop
                    break
        return cells
