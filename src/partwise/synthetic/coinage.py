"""Invented words: syllables, endings and regular English inflection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partwise.synthetic.draws import Table, uniforms

_ONSETS = (
    "b c d f g h l m n p r s t v w br cr dr fl gr pl pr st tr sh ch th sp cl gl sl sk"
).split()
_NUCLEI = "a e i o u a e o ea oo".split()
_CODAS = "n r l t s m d n r l nd rt st nt ck".split()
_VOWELS = "aeiou"


def coin(
    count: int, seed: int, endings: Sequence[str] = ("",), syllables: int = 2
) -> list[str]:
    """Invent distinct words, always the same ones for the same arguments.

    Parameters
    ----------
    count : int
        How many words.
    seed : int
        Which words; unrelated to the seed of a corpus, so that all corpora speak
        one language.
    endings : sequence of str
        Each word ends in one of these.
    syllables : int
        The largest number of syllables before the ending.

    Examples
    --------
    >>> coin(3, seed=1, endings=["ment"]) == coin(3, seed=1, endings=["ment"])
    True
    """
    draw = uniforms(np.random.default_rng(seed))
    onsets, nuclei, codas, tails = (
        Table(items, [1.0] * len(items))
        for items in (_ONSETS, _NUCLEI, _CODAS, tuple(endings))
    )
    words: dict[str, None] = {}
    while len(words) < count:
        open_syllables = int(draw() * syllables)
        stem = "".join(
            onsets.pick(draw) + nuclei.pick(draw) for _ in range(open_syllables)
        )
        stem += onsets.pick(draw) + nuclei.pick(draw) + codas.pick(draw)
        words[stem + tails.pick(draw)] = None
    return list(words)


def capitalised(words: Sequence[str]) -> list[str]:
    """Return the words with a capital first letter.

    Examples
    --------
    >>> capitalised(["ashford"])
    ['Ashford']
    """
    return [word[0].upper() + word[1:] for word in words]


def add_s(stem: str) -> str:
    """Form a noun's plural or a verb's third person.

    Examples
    --------
    >>> [add_s(stem) for stem in ("cat", "box", "city", "day")]
    ['cats', 'boxes', 'cities', 'days']
    """
    if stem.endswith(("s", "x", "z", "ch", "sh")):
        return stem + "es"
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "ies"
    return stem + "s"


def add_ed(stem: str) -> str:
    """Form a regular verb's past.

    Examples
    --------
    >>> [add_ed(stem) for stem in ("open", "move", "carry", "plan")]
    ['opened', 'moved', 'carried', 'planned']
    """
    if stem.endswith("e"):
        return stem + "d"
    if stem.endswith("y") and stem[-2] not in _VOWELS:
        return stem[:-1] + "ied"
    return _doubled(stem) + "ed"


def add_ing(stem: str) -> str:
    """Form a verb's present participle.

    Examples
    --------
    >>> [add_ing(stem) for stem in ("open", "move", "see", "plan")]
    ['opening', 'moving', 'seeing', 'planning']
    """
    if stem.endswith("e") and not stem.endswith(("ee", "ye", "oe")):
        return stem[:-1] + "ing"
    return _doubled(stem) + "ing"


def add_ly(adjective: str) -> str:
    """Form an adverb.

    Examples
    --------
    >>> [add_ly(adjective) for adjective in ("quick", "happy", "comic", "able")]
    ['quickly', 'happily', 'comically', 'ably']
    """
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    if adjective.endswith("ic"):
        return adjective + "ally"
    if adjective.endswith("ble"):
        return adjective[:-1] + "y"
    return adjective + "ly"


def _doubled(stem: str) -> str:
    """Double the last letter of a short verb such as 'plan'."""
    short = sum(letter in _VOWELS for letter in stem) == 1 and len(stem) > 2
    if short and stem[-2] in _VOWELS and stem[-1] not in _VOWELS + "wxy":
        return stem + stem[-1]
    return stem
