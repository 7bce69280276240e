"""Which tags a word may have: those it was seen with, or all that new words have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

RARE = 5
"""Words seen less often than this may have any tag that new words may have."""


@dataclass(frozen=True)
class Lexicon:
    """The tags of words.

    Attributes
    ----------
    words : dict of str to tuple of str
        The tags of the words that are known.
    open_tags : tuple of str
        Those of all other words; none if there may be no others.
    """

    words: dict[str, tuple[str, ...]]
    open_tags: tuple[str, ...]

    @property
    def all_tags(self) -> frozenset[str]:
        """The tags that some word may have."""
        return frozenset(self.open_tags).union(*self.words.values())

    @cached_property
    def n_words(self) -> Counter[str]:
        """How many of the words that are known may have each tag."""
        return Counter(tag for own in self.words.values() for tag in own)

    def tags(self, word: str) -> tuple[str, ...]:
        """Return the tags that a word may have.

        Examples
        --------
        >>> lexicon = learn_lexicon([("dogs", "NNS")] * 5 + [("bark", "VBP")])
        >>> lexicon.tags("dogs"), lexicon.tags("cats")
        (('NNS',), ('VBP',))
        """
        return self.words.get(word, self.open_tags)

    def beyond(self, before: Lexicon) -> Lexicon:
        """Return all tags that a word may have here or in an earlier lexicon.

        Words that one of the two does not know may have its tags of new words.

        Examples
        --------
        >>> one, other = Lexicon({"a": ("DT",)}, ("NN",)), Lexicon({}, ("FW",))
        >>> one.beyond(other)
        Lexicon(words={'a': ('DT', 'FW')}, open_tags=('FW', 'NN'))
        """
        both = (before, self)
        words = {
            word: tuple(sorted({tag for own in both for tag in own.tags(word)}))
            for word in {**before.words, **self.words}
        }
        open_tags = {tag for own in both for tag in own.open_tags}
        return Lexicon(words, tuple(sorted(open_tags)))


def learn_lexicon(tagged: Iterable[tuple[str, str]], rare: int = RARE) -> Lexicon:
    """Learn the tags of words.

    New words may have the tags of words that were seen just once, which are what new
    words are most like.

    Examples
    --------
    >>> learn_lexicon([("a", "DT"), ("a", "DT"), ("dog", "NN")], rare=2).words
    {'a': ('DT',)}
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in tagged:
        counts[word][tag] += 1
    once = {tag for own in counts.values() if own.total() == 1 for tag in own}
    if not once:
        once = {tag for own in counts.values() for tag in own}
    open_tags = tuple(sorted(once))
    words = {}
    for word, own in counts.items():
        possible = set(own) if own.total() >= rare else set(own) | once
        tags = tuple(sorted(possible))
        if tags != open_tags:
            words[word] = tags
    return Lexicon(words, open_tags)
