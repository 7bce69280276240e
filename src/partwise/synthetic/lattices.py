"""Lattices as a recogniser makes them: what might have been said."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np

from partwise.data.lattice import LatticeEdge, LatticeInput
from partwise.synthetic.corpus import make_corpus
from partwise.synthetic.draws import Seed, Uniform, positive, probability, uniforms

# How often two words are also heard as one piece.
PHRASES = 0.3
WORDS_OF_SEED = 7

Word = tuple[str, str]
"""A word and its tag."""


@cache
def _lexicon() -> list[Word]:
    """Return words that may be mistaken for others: those next to them."""
    sentences = make_corpus(200, random_state=WORDS_OF_SEED).sentences
    known = {pair for s in sentences for pair in zip(s.words, s.tags, strict=True)}
    return sorted(pair for pair in known if pair[0].isalpha())


def _mistaken_for(word: Word, n_more: int) -> list[Word]:
    """Return words to mistake a word for, always the same, of other parts of speech."""
    lexicon, found = _lexicon(), [word]
    at = bisect(lexicon, word)
    while len(found) <= n_more:
        other = lexicon[at % len(lexicon)]
        if other[1] != word[1] and other[0] not in [name for name, _ in found]:
            found.append(other)
        at += 1
    return found


def make_lattices(
    n_lattices: int,
    random_state: Seed = 0,
    noise: float = 0.3,
    max_words: int = 8,
    n_alternatives: int = 2,
) -> list[LatticeInput]:
    """Generate word lattices with their right paths.

    A sentence was heard, but not well: at every place there are the right word and some
    that it is mistaken for, each with a number that says how well it fits the sound.
    Sometimes two words are also offered as one piece, so that different paths yield
    the same words. Nodes know the last word, so that edges have features of two tags
    in a row. The language does not depend on the seed.

    Parameters
    ----------
    n_lattices : int
        How many, at least 1.
    random_state : int, numpy.random.Generator or None
        The seed. None gives other lattices each time.
    noise : float
        The probability that a wrong word fits the sound better than the right one.
    max_words : int
        Sentences are cut after this many words.
    n_alternatives : int
        How many wrong words there are for every right one.

    Returns
    -------
    list of LatticeInput
        Each with its right path in `good`.

    Examples
    --------
    >>> lattice = make_lattices(3)[0]
    >>> lattice.words_of(lattice.good[0])[:3]
    ('Her', 'skoot', 'very')
    """
    n_lattices = positive("n_lattices", n_lattices)
    noise = probability("noise", noise)
    max_words = positive("max_words", max_words)
    n_alternatives = positive("n_alternatives", n_alternatives)
    text_rng, sound_rng = np.random.default_rng(random_state).spawn(2)
    draw = uniforms(sound_rng)
    made = []
    for number, sentence in enumerate(make_corpus(n_lattices, text_rng).sentences):
        words = list(zip(sentence.words, sentence.tags, strict=True))[:max_words]
        made.append(_lattice(words, noise, n_alternatives, draw, f"g{number + 1}"))
    return made


def _lattice(
    words: Sequence[Word], noise: float, n_more: int, draw: Uniform, name: str
) -> LatticeInput:
    heard = [_mistaken_for(word, n_more) for word in words]
    sounds = [_sounds(own, noise, draw) for own in heard]
    # Nothing but features may tell which is the right word.
    heard = [sorted(own) for own in heard]
    edges: list[LatticeEdge] = []
    right: list[int] = []
    for t in range(len(words)):
        before = [("", "")] if t == 0 else heard[t - 1]
        for first, own in product(before, heard[t]):
            if first in (("", ""), words[t - 1]) and own == words[t]:
                right.append(len(edges))
            edges.append(_edge(t, len(words), first, [own], sounds))
        if t + 2 <= len(words) and draw() < PHRASES:
            pair = [heard[t + j][int(draw() * len(heard[t + j]))] for j in range(2)]
            if draw() < 0.5:
                pair = list(words[t : t + 2])
            edges.extend(_edge(t, len(words), first, pair, sounds) for first in before)
    return LatticeInput(edges, "0", str(len(words)), None, [right], name)


def _sounds(heard: Sequence[Word], noise: float, draw: Uniform) -> dict[str, float]:
    """Return how well each word fits; the first is the right one."""
    fits = [1.0 + draw(), *(draw() for _ in heard[1:])]
    if draw() < noise:
        wrong = 1 + int(draw() * (len(heard) - 1))
        fits[0], fits[wrong] = fits[wrong], fits[0]
    pairs = zip(heard, fits, strict=True)
    return {word: round(fit, 2) for (word, _), fit in pairs}


def _edge(
    t: int,
    n_words: int,
    before: Word,
    own: Sequence[Word],
    sounds: Sequence[dict[str, float]],
) -> LatticeEdge:
    source = "0" if t == 0 else f"{t} {before[0]}"
    end = t + len(own)
    target = str(n_words) if end == n_words else f"{end} {own[-1][0]}"
    sound = sum(sounds[t + j][word] for j, (word, _) in enumerate(own))
    features: dict[str, object] = {"sound": round(sound, 2)}
    if len(own) > 1:
        features["phrase"] = True
    features["tags"] = list(_pairs(before, own))
    features["word"] = [word for word, _ in own]
    return LatticeEdge(source, target, features, tuple(word for word, _ in own))


def _pairs(before: Word, own: Sequence[Word]) -> Iterator[str]:
    last = before[1]
    for _, tag in own:
        yield f"{last} {tag}".strip()
        last = tag
