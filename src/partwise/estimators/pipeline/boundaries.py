"""Where tokens and sentences end: taggers over characters, and over tokens.

What stands between white space is cut into tokens by a tagger over its characters,
which knows what stands before and after it; the same piece of text is cut only once. A
tagger over tokens finds the ends of sentences. A paragraph, which ends with a blank
line, ends a sentence as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

from partwise.data.surface import Written, paragraphs
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.steps import Make, NothingToLearn, Step

PIECE = re.compile(r"\S+")
INSIDE, END = "I", "E"
WINDOW = 12
"""How many sentences are a sequence when the tagger for their ends is trained."""
MOST_PIECES = 200_000
"""How many pieces are remembered when text is cut."""

Piece = tuple[str, str, str]
"""What stands between white space, and the kinds of text before and after it."""


class Cut(NamedTuple):
    """A token of a text: its form, and where it is."""

    form: str
    start: int
    end: int


class BoundaryStep(Step):
    """Find the ends of tokens and of sentences."""

    name = "tokens"
    classes: ClassVar = dict.fromkeys(("tokens", "sentences"), "SequenceTagger")
    needed = ("sentences",)

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Piece, tuple[int, ...]] = {}

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn from the text behind sentences."""
        written = paragraphs(sentences)
        self._fit_tokens(written, make)
        self._fit_sentences(written, make)
        return self

    def _fit_tokens(self, written: list[list[Written]], make: Make) -> None:
        counts: Counter[tuple[Piece, tuple[int, ...]]] = Counter()
        for paragraph in written:
            text, ends = _text_and_ends(paragraph)
            pieces = list(PIECE.finditer(text))
            for piece, found in zip(pieces, _pieces(text, pieces), strict=True):
                begin, end = piece.span()
                inner = (n for n in range(begin + 1, end) if n in ends)
                counts[found, tuple(n - begin for n in inner)] += 1
        if not any(cuts for _, cuts in counts):
            return  # tokens are what stands between white space
        X = [_characters(piece) for piece, _ in counts]
        y = [
            [END if i + 1 in cuts else INSIDE for i in range(len(piece[0]))]
            for piece, cuts in counts
        ]
        weight = [min(n, 5) ** 0.5 for n in counts.values()]
        self.models["tokens"] = make("tokens").fit(X, y, weight)

    def _fit_sentences(self, written: list[list[Written]], make: Make) -> None:
        X, y = [], []
        for paragraph in written:
            for at in range(0, len(paragraph), WINDOW):
                part = paragraph[at : at + WINDOW]
                tokens = [
                    (token.form, gap)
                    for one in part
                    for token, gap in zip(one.tokens, one.gaps, strict=True)
                ]
                X.append(_sentence_rows(tokens))
                y.append(
                    [
                        END if i + 1 == len(one.tokens) else INSIDE
                        for one in part
                        for i in range(len(one.tokens))
                    ]
                )
        if len({label for labels in y for label in labels}) < 2:
            raise NothingToLearn("all sentences are one word")
        self.models["sentences"] = make("sentences").fit(X, y)

    def cut(self, texts: Sequence[str]) -> list[list[list[Cut]]]:
        """Return the sentences of paragraphs, as lists of tokens."""
        tokens = self._tokens(texts)
        return [
            self._sentences_of(found, labels)
            for found, labels in zip(tokens, self._ends(texts, tokens), strict=True)
        ]

    def _tokens(self, texts: Sequence[str]) -> list[list[Cut]]:
        matches = [list(PIECE.finditer(text)) for text in texts]
        pieces = [_pieces(*both) for both in zip(texts, matches, strict=True)]
        self._learn_cuts({one for found in pieces for one in found})
        tokens: list[list[Cut]] = []
        for text, spans, found in zip(texts, matches, pieces, strict=True):
            own: list[Cut] = []
            for span, piece in zip(spans, found, strict=True):
                begin, end = span.span()
                places = (begin, *(begin + n for n in self._known[piece]), end)
                own += [Cut(text[a:b], a, b) for a, b in pairwise(places)]
            tokens.append(own)
        return tokens

    def _learn_cuts(self, pieces: Iterable[Piece]) -> None:
        """Cut the pieces that have not been met before."""
        if len(self._known) > MOST_PIECES:
            self._known = {}
        new = [one for one in pieces if one not in self._known]
        long = [one for one in new if len(one[0]) > 1 and "tokens" in self.models]
        self._known.update(dict.fromkeys(new, ()))
        if long:
            labels = self.models["tokens"].predict([_characters(one) for one in long])
            for piece, found in zip(long, labels, strict=True):
                self._known[piece] = tuple(
                    i for i, label in enumerate(found[:-1], 1) if label == END
                )

    def _ends(self, texts: Sequence[str], tokens: list[list[Cut]]) -> list[list[str]]:
        X = [
            _sentence_rows(
                [
                    (one.form, text[one.end : after.start])
                    for one, after in pairwise([*own, Cut("", len(text), len(text))])
                ]
            )
            for text, own in zip(texts, tokens, strict=True)
        ]
        found: list[list[str]] = self.models["sentences"].predict(X)
        return found

    @staticmethod
    def _sentences_of(tokens: list[Cut], labels: list[str]) -> list[list[Cut]]:
        ends = [i for i, label in enumerate(labels, 1) if label == END]
        if tokens and ends[-1:] != [len(tokens)]:
            ends.append(len(tokens))
        return [tokens[a:b] for a, b in pairwise([0, *ends])]


def _text_and_ends(paragraph: list[Written]) -> tuple[str, set[int]]:
    """Return the text of a paragraph, and where its tokens end and begin."""
    text: list[str] = []
    ends: set[int] = set()
    at = 0
    for one in paragraph:
        for token, gap in zip(one.tokens, one.gaps, strict=True):
            ends.update((at, at + len(token.form)))
            at += len(token.form) + len(gap)
            text += [token.form, gap]
    return "".join(text), ends


def _pieces(text: str, spans: Sequence[re.Match[str]]) -> list[Piece]:
    """Return what stands between white space, with the kinds of its neighbours."""
    words = [span.group() for span in spans]
    kinds = ["", *(_kind(word[0]) for word in words), ""]
    ends = ["", *(_kind(word[-1]) for word in words)]
    return [(word, ends[i], kinds[i + 2]) for i, word in enumerate(words)]


def _kind(character: str) -> str:
    if character.isupper():
        return "A"
    if character.isalpha():
        return "a"
    return "0" if character.isdigit() else character


def _characters(piece: Piece) -> list[tuple[str, ...]]:
    """Return the characters of a piece, and what the tagger sees of each."""
    word, before, after = piece
    kinds = "".join(map(_kind, word))
    n = len(word)
    low = word.lower()
    return [
        (
            character,
            kinds[i],
            # The rest of the piece, and what comes before: endings such as n't.
            low[i + 1 : i + 7] + ("$" + after if n - i <= 7 else ""),
            ("^" + before if i < 6 else "") + low[max(i - 5, 0) : i + 1],
            str(min(i, 3)) + kinds[max(i - 3, 0) : i + 4] + str(min(n - i, 4)) + after,
            f"{low}@{i}" if n <= 15 else "_",
        )
        for i, character in enumerate(word)
    ]


TOKEN_TEMPLATE = "\n".join(
    [
        *(f"U1{i + 3}:%x[{i},0]" for i in range(-3, 4)),
        *(f"U2{i + 3}:%x[{i},0]/%x[{i + 1},0]" for i in range(-3, 3)),
        *(f"U3{i + 2}:%x[{i},1]/%x[{i + 1},1]/%x[{i + 2},1]" for i in range(-2, 1)),
        "U40:%x[-1,0]/%x[0,0]/%x[1,0]",
        "U41:%x[0,0]/%x[1,0]/%x[2,0]",
        "U42:%x[-1,1]/%x[0,1]/%x[1,1]/%x[2,1]",
        *(f"U5{n}:%x[0,2.prefix{n}]" for n in range(1, 8)),
        "U58:%x[0,2]",
        *(f"U6{n}:%x[0,3.suffix{n}]" for n in range(1, 7)),
        "U68:%x[0,3]",
        "U70:%x[0,4]",
        "U71:%x[0,5]",
        "B",
    ]
)
"""What the tagger over characters sees."""


def _sentence_rows(tokens: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return tokens, and what the tagger for the ends of sentences sees of each."""
    rows: list[tuple[str, ...]] = []
    for form, gap in tokens:
        mark = form if not form[0].isalnum() or len(form) == 1 else ""
        rows.append((form, "_" if gap else "-", mark or _kind(form[0]) + form[-1:]))
    return rows


SENTENCE_TEMPLATE = "\n".join(
    [
        *(f"U1{i + 2}:%x[{i},0]" for i in range(-2, 4)),
        *(f"U2{i + 2}:%x[{i},0.short_shape]" for i in range(-2, 3)),
        "U30:%x[0,0]/%x[0,1]/%x[1,0.kind]",
        "U31:%x[0,0]/%x[1,0]",
        "U32:%x[-1,0]/%x[0,0]",
        "U33:%x[0,0]/%x[0,1]/%x[1,0.short_shape]/%x[2,0.kind]",
        "U34:%x[-1,0.short_shape]/%x[0,0]/%x[1,0.short_shape]",
        "U35:%x[-1,0.lower]/%x[0,0]/%x[1,0.kind]",
        "U36:%x[0,2]/%x[0,1]/%x[1,2]",
        "U37:%x[-1,2]/%x[0,2]/%x[1,2]/%x[2,2]",
        "U38:%x[0,2]/%x[1,0.lower]",
        "U39:%x[-1,1]/%x[0,1]/%x[0,2]",
        "B",
    ]
)
"""What the tagger for the ends of sentences sees."""
