"""What features of constituency parsing see of words, spans and splits.

Everything known of a word is a code, a hash of text, so that there is no
vocabulary to learn or to save: words that training never saw have codes like any other.
A template combines the codes of a few places, and its hash is the column of a feature.
All words, spans or splits of a corpus are done at once.

Spans are half-open, of at least two words, by start and then end; their splits follow
the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.arc_codes import hash_text
from partwise.features.csr import AttributeRows
from partwise.features.mixing import mixed

Codes = NDArray[np.uint64]
Places = NDArray[np.int64]

OUTSIDE = 2
"""Words that are made up before and after every sentence."""

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 11, 16, 21, 31)
"""Where the classes of lengths begin."""
LONGEST_SHAPE = 10
"""Longer spans have no shape of their own."""

# Templates name codes at places. w is the word in lower case, f the word as it is
# written, a, b, c and d its last one to four letters, p its first three, h its shape,
# and t what stands for a part of speech: the tag if it is given, or else what can be
# told from the word. Places of words are relative to the word.
WORD_TEMPLATES: tuple[tuple[str, ...], ...] = (
    (), ("w0",), ("f0",), ("a0",), ("b0",), ("c0",), ("d0",), ("p0",), ("h0",),
    ("t0",), ("h0", "c0"), ("w-1",), ("w+1",), ("t-1",), ("t+1",), ("t-2", "t-1"),
    ("t+1", "t+2"), ("t-1", "t+1"), ("t-1", "t0"), ("t0", "t+1"), ("w-1", "t0"),
    ("t0", "w+1"), ("w0", "t-1"), ("w0", "t+1"), ("t-1", "t0", "t+1"), ("c-1",),
    ("c+1",), ("first",),
)  # fmt: skip

# Places of spans: s the first word, e the last, o the one before, q the one after,
# and r and z the second and the last but one; "length" is its class, "shape" the shapes
# of all its words, "whole" whether it is the sentence.
SPAN_TEMPLATES: tuple[tuple[str, ...], ...] = (
    (), ("length",), ("shape",), ("whole",), ("to start", "to end"),
    ("ws",), ("we",), ("wo",), ("wq",), ("ts",), ("te",), ("to",), ("tq",),
    ("ws", "length"), ("we", "length"), ("ts", "length"), ("te", "length"),
    ("to", "ts"), ("te", "tq"), ("ts", "te"), ("to", "tq"), ("ws", "we"),
    ("wo", "tq"), ("to", "wq"), ("ts", "te", "length"), ("to", "ts", "te", "tq"),
    ("ts", "tr"), ("tz", "te"), ("ws", "tr"), ("wo", "ts"), ("we", "tq"),
    ("to", "ts", "tr"), ("tz", "te", "tq"),
)  # fmt: skip

# Places of splits: those of the span, and i and j the words before and after the split;
# "left" and "right" are the classes of the lengths of the two parts.
SPLIT_TEMPLATES: tuple[tuple[str, ...], ...] = (
    ("left", "right"), ("wi", "wj"), ("ti", "tj"), ("wi",), ("wj",),
    ("ts", "ti", "tj", "te"), ("tj", "right"),
)  # fmt: skip


class TokenCodes(NamedTuple):
    """Codes of all words, with `OUTSIDE` more on both sides of every sentence.

    Attributes
    ----------
    of : dict of str to array
        By the letters of the templates.
    first : array of int64
        Where the first word of every sentence is.
    lengths : array of int64
        The number of words of every sentence.
    """

    of: dict[str, Codes]
    first: Places
    lengths: Places


def word_shape(word: str) -> str:
    """Return the shape of a word: kinds of characters, repeated ones once.

    Examples
    --------
    >>> word_shape("Mid-1990s"), word_shape("bark"), word_shape("U.S.")
    ('Xx-9x', 'x', 'X.X.')
    """
    kinds = "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c
        for c in word
    )
    return re.sub(r"(.)\1+", r"\1", kinds, flags=re.DOTALL)


def word_class(word: str) -> str:
    """Return what a word's form says about its part of speech.

    Short words stand for themselves: most of them are function words.

    Examples
    --------
    >>> word_class("the"), word_class("raising"), word_class("1,200")
    ('the', 'x-ing', '9,9')
    """
    if len(word) <= 3 or not any(map(str.isalpha, word)):
        return word_shape(word) if any(map(str.isdigit, word)) else word.lower()
    return f"{word_shape(word)}-{word[-3:].lower()}"


_VIEWS: dict[str, Callable[[str], str]] = {
    "w": str.lower,
    "f": str,
    "a": lambda word: word[-1:].lower(),
    "b": lambda word: word[-2:].lower(),
    "c": lambda word: word[-3:].lower(),
    "d": lambda word: word[-4:].lower(),
    "p": lambda word: word[:3].lower(),
    "h": word_shape,
    "t": word_class,
}


def encode_tokens(
    sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]] | None = None
) -> TokenCodes:
    """Compute the codes of all words.

    Parameters
    ----------
    sentences : sequence of sequences of str
        Words.
    tags : sequence of sequences of str, optional
        Their parts of speech, if they are given.

    Examples
    --------
    >>> codes = encode_tokens([["Dogs", "bark"]])
    >>> codes.first.tolist(), codes.of["w"].size
    ([2], 6)
    """
    lengths = np.array([len(words) for words in sentences], np.int64)
    first = np.cumsum(lengths + 2 * OUTSIDE) - lengths - OUTSIDE
    of = {letter: _padded(sentences, view) for letter, view in _VIEWS.items()}
    if tags is not None:
        of["t"] = _padded(tags, str)
    return TokenCodes(of, first, lengths)


def _padded(sentences: Sequence[Sequence[str]], view: Callable[[str], str]) -> Codes:
    known: dict[str, int] = {}
    before = [hash_text(f"\0before {j}") for j in range(OUTSIDE)]
    after = [hash_text(f"\0after {j}") for j in range(OUTSIDE)]
    result: list[int] = []
    for words in sentences:
        result += before
        for word in words:
            code = known.get(word)
            if code is None:
                code = known[word] = hash_text(view(word))
            result.append(code)
        result += after
    return np.array(result, np.uint64)


def word_rows(codes: TokenCodes, bits: int) -> AttributeRows:
    """Return the features of every word: ``2^bits`` columns.

    Examples
    --------
    >>> word_rows(encode_tokens([["Dogs", "bark"]]), 8).ptr.tolist()
    [0, 28, 56]
    """
    at = _ranges(codes.first, codes.lengths)
    number = at - np.repeat(codes.first, codes.lengths)

    def find(name: str) -> Codes:
        if name == "first":
            found: Codes = (number == 0).astype(np.uint64)
        else:
            found = codes.of[name[0]][at + int(name[1:])]
        return found

    return _rows(WORD_TEMPLATES, find, at.size, bits, seed=1)


def span_rows(codes: TokenCodes, bits: int) -> AttributeRows:
    """Return the features of every span of two words or more: ``2^bits`` columns.

    Examples
    --------
    >>> rows = span_rows(encode_tokens([["Dogs", "bark", "."]]), 8)
    >>> len(rows.ptr) - 1
    3
    """
    sentence, start, end = _spans(codes.lengths)
    first = codes.first[sentence]
    numbers = {
        "length": length_class(end - start),
        "to start": np.minimum(start, 3),
        "to end": np.minimum(codes.lengths[sentence] - end, 3),
        "whole": end - start == codes.lengths[sentence],
        "shape": _shapes(codes, first + start, first + end),
    }
    find = _finder(codes, first + start, first + end, numbers)
    return _rows(SPAN_TEMPLATES, find, start.size, bits, seed=2)


def split_rows(codes: TokenCodes, bits: int) -> AttributeRows:
    """Return the features of every split of a span: ``2^bits`` columns.

    Examples
    --------
    >>> rows = split_rows(encode_tokens([["Dogs", "bark", "."]]), 8)
    >>> len(rows.ptr) - 1
    4
    """
    sentence, start, end = _spans(codes.lengths)
    n_splits = end - start - 1
    first = np.repeat(codes.first[sentence], n_splits)
    split = _ranges(start + 1, n_splits)
    start, end = np.repeat(start, n_splits), np.repeat(end, n_splits)
    numbers = {"left": length_class(split - start), "right": length_class(end - split)}
    find = _finder(codes, first + start, first + end, numbers, first + split)
    return _rows(SPLIT_TEMPLATES, find, split.size, bits, seed=3)


def length_class(lengths: Places) -> Places:
    """Return the classes of lengths, from zero.

    Examples
    --------
    >>> length_class(np.array([1, 2, 7, 100])).tolist()
    [0, 1, 5, 10]
    """
    return np.searchsorted(LENGTHS, lengths, side="right") - 1


def _ranges(starts: Places, sizes: Places) -> Places:
    """Return ``starts[i], starts[i] + 1, ...``, `sizes` of them, for every `i`."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(
        starts - ends + sizes, sizes
    )


def _spans(lengths: Places) -> tuple[Places, Places, Places]:
    """Return sentence, start and end of all spans of two words or more."""
    sentence = np.repeat(np.arange(lengths.size), np.maximum(lengths - 1, 0))
    start = _ranges(np.zeros_like(lengths), np.maximum(lengths - 1, 0))
    n_ends = lengths[sentence] - start - 1
    end = _ranges(start + 2, n_ends)
    return np.repeat(sentence, n_ends), np.repeat(start, n_ends), end


def _finder(
    codes: TokenCodes,
    start: Places,
    end: Places,
    numbers: Mapping[str, NDArray[Any]],
    split: Places | None = None,
) -> Callable[[str], Codes]:
    """Return a function that finds what a template names."""
    places = {"o": start - 1, "s": start, "r": start + 1}
    places |= {"z": end - 2, "e": end - 1, "q": end}
    if split is not None:
        places |= {"i": split - 1, "j": split}

    def find(name: str) -> Codes:
        if name in numbers:
            found: Codes = numbers[name].astype(np.uint64)
        else:
            found = codes.of[name[0]][places[name[1]]]
        return found

    return find


def _shapes(codes: TokenCodes, start: Places, end: Places) -> Codes:
    """Return a code of the sequence of shapes in a span, if it is not too long.

    The code of a sequence is a polynomial in an odd number, so that what comes before
    the span can be taken away from a running sum.
    """
    shapes = codes.of["h"]
    factor, inverse = np.uint64(0x5851F42D4C957F2D), np.uint64(0xC097EF87329E28A5)
    powers = np.ones(shapes.size + 1, np.uint64)
    inverses = np.ones(shapes.size + 1, np.uint64)
    powers[1:], inverses[1:] = factor, inverse
    np.cumprod(powers, out=powers)
    np.cumprod(inverses, out=inverses)
    sums = np.zeros(shapes.size + 1, np.uint64)
    np.cumsum(mixed(shapes) * powers[:-1], out=sums[1:])
    found = (sums[end] - sums[start]) * inverses[start]
    return np.where(end - start <= LONGEST_SHAPE, found, np.uint64(0))


def _rows(
    templates: Sequence[tuple[str, ...]],
    find: Callable[[str], Codes],
    n_rows: int,
    bits: int,
    seed: int,
) -> AttributeRows:
    """Hash what the templates find to columns, a feature for each template."""
    columns = np.empty((n_rows, len(templates)), np.int32)
    for number, names in enumerate(templates):
        total = np.full(n_rows, 64 * seed + number, np.uint64)
        for name in names:
            total = mixed(total * np.uint64(0x9E3779B97F4A7C15) + find(name))
        columns[:, number] = mixed(total) & np.uint64((1 << bits) - 1)
    ptr = np.arange(n_rows + 1, dtype=np.int64) * len(templates)
    return AttributeRows(ptr, columns.ravel(), np.empty(0), 1 << bits)
