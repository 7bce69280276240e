"""What features of dependency arcs see of a word: 31-bit codes of its columns.

Codes are hashes of text, so that there is no vocabulary to learn or to save: a word
that training never saw has codes like any other, whose weights are zero. They are
computed for the distinct values of a column, and combined with those of the neighbours
for the whole corpus at once.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from partwise.features.cell_numbers import Numbers
from partwise.features.mixing import mixed

Codes = NDArray[np.uint64]

LEAST_BITS = np.uint64(0x7FFFFFFF)
ROOT, BEFORE, AFTER = "\0root", "\0before", "\0after"
NOT_GIVEN = "_"

ATTRIBUTES = ("Case", "Gender", "Number", "Person")
"""What may agree between two words with morphology."""

COLUMNS = ("form", "lemma", "upos", "xpos", "feats")
"""What a sentence may say of its words."""

MARKERS = frozenset({"ADP", "SCONJ", "CCONJ", "PART", "IN", "TO", "CC", "RP"})
"""Tags of the small words that say what a phrase is to the rest of the sentence."""
ENDS = frozenset(
    {"VERB", "PUNCT", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", ",", ".", ":"}
)
"""Tags of words that no such phrase reaches across."""
REACH = 5

# What is known of a word. Letters: w the form, l the lemma, u and x the coarse and the
# fine part of speech, m the morphology, c the case, s the suffix, k the lemma of the
# small word that its phrase begins with (a preposition, say); -1 and +1 are neighbours.
# A name lists them, with blanks between those of more than one letter.
_NAMES = (
    "any", "w", "l", "u", "x", "s", "m", "wx", "lu", "um", "uxm", "x-1 x", "x x+1",
    "x-1 x x+1", "x-2 x-1 x", "x x+1 x+2", "w-1 x", "x w+1", "k", "k u", "u c",
    "k u c",
)  # fmt: skip
CODES: dict[str, tuple[str, ...]] = {
    name: tuple(name.split() if " " in name else name) for name in _NAMES
} | {"any": ()}

# Pairs of a code of the head and one of the modifier, after McDonald, Crammer and
# Pereira (2005), with lemmas, morphology and suffixes added.
ARC_TEMPLATES: tuple[tuple[str, str], ...] = (
    ("wx", "any"), ("w", "any"), ("x", "any"), ("lu", "any"),
    ("any", "wx"), ("any", "w"), ("any", "x"), ("any", "lu"),
    ("wx", "wx"), ("x", "wx"), ("wx", "x"), ("w", "w"), ("x", "x"), ("w", "x"),
    ("x", "w"), ("u", "u"), ("l", "l"), ("l", "u"), ("u", "l"), ("lu", "um"),
    ("um", "lu"),
    ("um", "um"), ("um", "u"), ("u", "um"), ("m", "m"), ("s", "x"), ("x", "s"),
    ("s", "s"),
    ("x x+1", "x-1 x"), ("x-1 x", "x-1 x"), ("x x+1", "x x+1"), ("x-1 x", "x x+1"),
    ("x x+1", "x"), ("x-1 x", "x"), ("x", "x-1 x"), ("x", "x x+1"),
    ("x-1 x x+1", "x-1 x x+1"), ("x-1 x x+1", "any"), ("any", "x-1 x x+1"),
    ("u", "x-1 x x+1"), ("x-1 x x+1", "u"), ("u", "w-1 x"), ("u", "x w+1"),
    ("l", "u c"), ("u", "k u c"), ("lu", "k u c"),
)  # fmt: skip
BETWEEN_TEMPLATE = ("u", "u")
AGREEMENT_TEMPLATE = ("u", "u")

# Codes of three words, for parsers of second order, after McDonald and Pereira (2006),
# Carreras (2007) and Koo and Collins (2010): a head, the inner sibling and the word;
# the head of the head, the head and the word.
SIBLING_TEMPLATES: tuple[tuple[str, str, str], ...] = (
    ("x", "x", "x"), ("u", "u", "u"), ("any", "x", "x"), ("any", "u", "u"),
    ("any", "l", "l"), ("any", "l", "x"), ("any", "x", "l"),
    ("l", "x", "x"), ("x", "l", "x"), ("x", "x", "l"),
    ("l", "l", "x"), ("x", "l", "l"), ("l", "x", "l"),
    ("um", "um", "um"), ("any", "um", "um"),
)  # fmt: skip
GRANDPARENT_TEMPLATES: tuple[tuple[str, str, str], ...] = (
    ("x", "x", "x"), ("u", "u", "u"), ("x", "any", "x"), ("u", "any", "u"),
    ("l", "any", "l"), ("l", "any", "x"), ("x", "any", "l"),
    ("l", "x", "x"), ("x", "l", "x"), ("x", "x", "l"),
    ("l", "l", "x"), ("x", "l", "l"), ("l", "x", "l"),
    ("um", "um", "um"), ("um", "any", "um"),
)  # fmt: skip

LABEL_CLASS = "uxm"
"""Words that are alike to the label of an arc, besides what they say alone."""
MODIFIER_TEMPLATES = (
    "any", "w", "l", "u", "x", "m", "lu", "um", "s", "u c", "k", "k u", "k u c",
    "x-1 x", "x x+1", "x-1 x x+1", "x-2 x-1 x", "x x+1 x+2", "w-1 x", "x w+1",
)  # fmt: skip
HEAD_TEMPLATES = ("w", "l", "u", "x", "lu", "um", "s", "x-1 x", "x x+1")
PAIR_TEMPLATES = (("u", "u"), ("x", "x"), ("um", "um"), ("u", "um"), ("um", "u"))


class SentenceWords(Protocol):
    """What features look at in a sentence."""

    @property
    def forms(self) -> Sequence[str]:
        """The words."""

    @property
    def lemmas(self) -> Sequence[str]:
        """Their dictionary forms."""

    @property
    def upos(self) -> Sequence[str]:
        """Their coarse parts of speech."""

    @property
    def xpos(self) -> Sequence[str]:
        """Their fine parts of speech."""

    @property
    def feats(self) -> Sequence[str]:
        """Their morphology."""


class WordCodes(NamedTuple):
    """Codes of a corpus: a row for the root of every sentence and for every word.

    Attributes
    ----------
    codes : matrix of int32
        A column for every entry of `CODES`, in order.
    tags : array of int32
        The coarse part of speech, as a small number.
    attributes : matrix of int32
        A column for every one of `ATTRIBUTES`; zero where a word has none.
    lengths : array of int64
        The number of words of every sentence.
    """

    codes: NDArray[np.int32]
    tags: NDArray[np.int32]
    attributes: NDArray[np.int32]
    lengths: NDArray[np.int64]


def code_index(name: str) -> int:
    """Return the column of a code.

    Examples
    --------
    >>> code_index("w")
    1
    """
    return list(CODES).index(name)


def hash_text(text: str) -> int:
    """Return the 31-bit code of a text, the same in every program.

    Examples
    --------
    >>> hash_text("Paris")
    1475208422
    """
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & 0x7FFFFFFF


def _with_roots(
    sentences: Sequence[SentenceWords], column: Callable[[SentenceWords], Sequence[str]]
) -> Iterator[str]:
    """Yield the values of a column; of every sentence the root comes first."""
    for sentence in sentences:
        yield ROOT
        yield from column(sentence)


class _Hashes(dict[str, int]):
    """Codes of texts, computed once for each."""

    def __missing__(self, text: str) -> int:
        code = self[text] = hash_text(text)
        return code


def _hashed(
    sentences: Sequence[SentenceWords], column: Callable[[SentenceWords], Sequence[str]]
) -> tuple[Codes, Codes]:
    """Return the codes of one column, and those of the words that have no value."""
    known = _Hashes()
    cells = _with_roots(sentences, column)
    codes = np.fromiter(map(known.__getitem__, cells), np.int64)
    missing = known.get(NOT_GIVEN, -1)
    return codes.astype(np.uint64), codes == missing


def _shifted(codes: Codes, offset: int, lengths: NDArray[np.int64]) -> Codes:
    """Return the codes of the words this many places before or after."""
    roots = np.cumsum(lengths + 1) - (lengths + 1)
    outside, edge = (BEFORE, roots) if offset < 0 else (AFTER, roots + lengths)
    for _ in range(abs(offset)):
        codes = np.roll(codes, -np.sign(offset))
        codes[edge] = hash_text(outside)
    return codes


def phrase_markers(words: SentenceWords) -> list[str]:
    """Return the lemma of the small word before each word that its phrase begins with.

    Examples
    --------
    >>> from partwise.data import Sentence
    >>> words = Sentence.from_columns(
    ...     forms=["Cats", "sleep", "in", "the", "sun"],
    ...     upos=["NOUN", "VERB", "ADP", "DET", "NOUN"],
    ... )
    >>> phrase_markers(words)
    ['_', '_', '_', 'in', 'in']
    """
    found, marker, since = [], NOT_GIVEN, 0
    columns = zip(words.forms, words.lemmas, words.upos, words.xpos, strict=True)
    for form, lemma, coarse, fine in columns:
        since += 1
        found.append(marker if since <= REACH else NOT_GIVEN)
        if coarse in MARKERS or fine in MARKERS:
            marker, since = form.lower() if lemma == NOT_GIVEN else lemma, 0
        elif coarse in ENDS or fine in ENDS:
            marker = NOT_GIVEN
    return found


def case_of(feats: str) -> str:
    """Return the case that a word's morphology names.

    Examples
    --------
    >>> case_of("Case=Dat|Number=Sing"), case_of("Number=Sing")
    ('Dat', '_')
    """
    return _given(feats).get("Case", NOT_GIVEN)


def _given(feats: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in feats.split("|") if "=" in pair)


def encode_words(sentences: Sequence[SentenceWords], suffix: int = 3) -> WordCodes:
    """Compute the codes of all words of a corpus.

    A fine part of speech that is not given is the coarse one, and the other way round;
    a lemma that is not given is the form in lower case.

    Parameters
    ----------
    sentences : sequence of Sentence
        Anything with `forms`, `lemmas`, `upos`, `xpos` and `feats`.
    suffix : int
        How many letters the suffix has.

    Examples
    --------
    >>> from partwise.data import Sentence
    >>> words = Sentence.from_columns(forms=["Dogs", "bark"], upos=["NOUN", "VERB"])
    >>> encoded = encode_words([words])
    >>> encoded.codes.shape == (3, len(CODES)), encoded.lengths.tolist()
    (True, [2])
    """
    lengths = np.array([len(s.forms) for s in sentences], np.int64)
    lower = {w: w.lower() for w in {w for s in sentences for w in s.forms}}
    basic: dict[str, Codes] = {}
    basic["w"], _ = _hashed(sentences, lambda s: s.forms)
    basic["s"], _ = _hashed(sentences, lambda s: [lower[w][-suffix:] for w in s.forms])
    small, _ = _hashed(sentences, lambda s: [lower[w] for w in s.forms])
    lemma, no_lemma = _hashed(sentences, lambda s: s.lemmas)
    upos, no_upos = _hashed(sentences, lambda s: s.upos)
    xpos, no_xpos = _hashed(sentences, lambda s: s.xpos)
    basic["l"] = np.where(no_lemma, small, lemma)
    basic["u"] = np.where(no_upos, xpos, upos)
    basic["x"] = np.where(no_xpos, upos, xpos)
    basic["m"], _ = _hashed(sentences, lambda s: s.feats)
    cases = {x: case_of(x) for x in {x for s in sentences for x in s.feats}}
    basic["c"], _ = _hashed(sentences, lambda s: [cases[feats] for feats in s.feats])
    basic["k"], _ = _hashed(sentences, phrase_markers)
    for name in {name for names in CODES.values() for name in names if name[1:]}:
        basic[name] = _shifted(basic[name[0]], int(name[1:]), lengths)
    columns = []
    for number, names in enumerate(CODES.values()):
        total = np.full(basic["w"].size, number + 1, np.uint64)
        for name in names:
            total = mixed(total * np.uint64(0x9E3779B97F4A7C15) + basic[name])
        columns.append((total & LEAST_BITS).astype(np.int32))
    return WordCodes(
        np.ascontiguousarray(np.stack(columns, axis=1)),
        (mixed(basic["u"]) & np.uint64(0x7FFF)).astype(np.int32),
        _attributes(sentences),
        lengths,
    )


def _attributes(sentences: Sequence[SentenceWords]) -> NDArray[np.int32]:
    known = Numbers()
    cells = _with_roots(sentences, lambda s: s.feats)
    numbers = np.fromiter(map(known.__getitem__, cells), np.int64)
    rows = [
        [hash_text(given[name]) | 1 if name in given else 0 for name in ATTRIBUTES]
        for given in map(_given, known)
    ]
    return np.array(rows, np.int32).reshape(-1, len(ATTRIBUTES))[numbers]
