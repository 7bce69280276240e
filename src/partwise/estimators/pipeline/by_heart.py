"""Tags that follow from what is known of a word by then, as read in a table.

In many treebanks the language's own parts of speech say what universal ones and
features say, in other words: in nearly all cases one follows from the other. A table
is then better than a tagger, whose tags may contradict the features, and it is learnt
and asked in no time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from partwise.estimators.pipeline.memory import Memory

Known = tuple[str, ...]
"""A form and its tags."""

ENOUGH = 0.98
"""The share of words whose tag must follow, learnt from half of the treebank."""


class ByHeart:
    """A table of tags by what is known of words: the form and some tags.

    Parameters
    ----------
    table : dict of str to str
        The tag by keys, of which a word has several: more and more of what is known of
        it is left out.

    Examples
    --------
    >>> words = [("dog", "NOUN", "Number=Sing"), ("dogs", "NOUN", "Number=Plur")]
    >>> known = ByHeart.learn(words, ["NN", "NNS"])
    >>> known.tags([[("cats", "NOUN", "Number=Plur")]])
    [['NNS']]
    """

    def __init__(self, table: dict[str, str]):
        self.table = table
        self._memory: Memory[Known, str] = Memory()

    @classmethod
    def learn(cls, words: Iterable[Known], tags: Iterable[str]) -> ByHeart:
        """Return the most common tags; where less says the same, it is enough."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        kinds: dict[Known, None] = {}
        for (word, tag), n in Counter(zip(words, tags, strict=True)).items():
            kinds[word] = None
            for key in _keys(word):
                counts[key][tag] += n
        best = {
            key: min(own, key=lambda x: (-own[x], x)) for key, own in counts.items()
        }
        table: dict[str, str] = {}
        for word in kinds:
            keys = _keys(word)
            for i, key in enumerate(keys):
                less = next((best[other] for other in keys[i + 1 :]), None)
                if best[key] != less:
                    table[key] = best[key]
        return cls(table)

    def tags(self, sentences: Iterable[Sequence[Known]]) -> list[list[str]]:
        """Return the tags of the words of sentences."""
        rows = list(sentences)
        found = self._memory.answers(chain.from_iterable(rows), self._find)
        return [[found[word] for word in row] for row in rows]

    def _find(self, words: list[Known]) -> list[str]:
        table = self.table
        return [
            next((table[key] for key in _keys(word) if key in table), "_")
            for word in words
        ]


def follows(words: Sequence[Known], tags: Sequence[str]) -> bool:
    """Say whether tags follow from what is known: learnt from half of all words."""
    known = ByHeart.learn(words[::2], tags[::2])
    [found] = known.tags([words[1::2]])
    right = sum(map(str.__eq__, found, tags[1::2]))
    return bool(found) and right >= ENOUGH * len(found)


def _keys(word: Known) -> list[str]:
    """Return what a word is looked up by: all that is known, then less and less."""
    form, *tags = word
    return [
        "\t".join([form.lower(), *tags]),
        *("\t".join(["", *tags[:n]]) for n in range(len(tags), -1, -1)),
    ]
