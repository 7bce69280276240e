"""Where tokens and sentences end: taggers over characters, and over tokens.

What stands between white space is cut into tokens by a tagger over its characters,
which knows what stands before and after it; the same piece of text is cut only once.
Where words have spaces inside, another tagger puts pieces together again. A tagger over
tokens finds the ends of sentences. A paragraph, which ends with a blank
line, ends a sentence as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import ClassVar, Self

import numpy as np

from partwise.data.columns import ColumnData
from partwise.data.surface import Written, paragraphs
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.characters import (
    Piece,
    characters,
    characters_before,
    kind_of,
    reads_new_columns,
)
from partwise.estimators.pipeline.inner_spaces import (
    FEWEST,
    GOES_ON,
    Cut,
    as_columns,
    join,
    pieces_of,
)
from partwise.estimators.pipeline.memory import Memory
from partwise.estimators.pipeline.steps import Make, NothingToLearn, Step, learnt
from partwise.estimators.pipeline.tables import Stored
from partwise.estimators.pipeline.untold_spaces import says_nothing, with_likely_spaces
from partwise.metrics.scores import ratio
from partwise.model_file import Content, pack_strings, prefixed
from partwise.model_file.packing import stored_strings

PIECE = re.compile(r"\S+")
INSIDE, END = "I", "E"
WINDOW = 12
"""How many sentences are a sequence when taggers over tokens are trained."""
FEW = 0.01
"""The share of words of letters that may be cut in a language with spaces."""
MOST_TOKENS = 400
"""Longer sentences are cut: no sentence is so long, but text without full stops is."""


class BoundaryStep(Step):
    """Find the ends of tokens and of sentences."""

    name = "tokens"
    classes: ClassVar = dict.fromkeys(
        ("tokens", "spaces", "sentences"), "SequenceTagger"
    )
    needed = ("sentences",)

    def __init__(self) -> None:
        super().__init__()
        self.cut_words: frozenset[str] | None = None
        """The words of nothing but letters that are cut, if these are few."""
        self._memory: Memory[Piece, tuple[int, ...]] = Memory()

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn from the text behind sentences."""
        written = paragraphs(sentences)
        if says_nothing(written):
            self.note = (
                "the treebank does not say where tokens touch (by SpaceAfter=No, or by "
                "comments # text), so full stops and the like are taken to stand at "
                "the word before them; a treebank that says so is better"
            )
            written = with_likely_spaces(written)
        self._fit_tokens(written, make)
        self._fit_spaces(written, make)
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
        self.cut_words = _few_cut_words(counts)
        X = [characters(piece) for piece, _ in counts]
        y = [
            [END if i + 1 in cuts else INSIDE for i in range(len(piece[0]))]
            for piece, cuts in counts
        ]
        weight = [min(n, 5) ** 0.5 for n in counts.values()]
        self.models["tokens"] = learnt(make("tokens", 0.6), X, y, weight)

    def _fit_spaces(self, written: list[list[Written]], make: Make) -> None:
        both = [pieces_of(part) for part in _windows(written)]
        if sum(labels.count(GOES_ON) for _, labels in both) >= FEWEST:
            X = as_columns([pieces for pieces, _ in both])
            y = [labels for _, labels in both]
            self.models["spaces"] = learnt(make("spaces", 0.6), X, y)

    def _fit_sentences(self, written: list[list[Written]], make: Make) -> None:
        X, y = [], []
        for part in _windows(written):
            tokens = [
                (token.form, gap)
                for one in part
                for token, gap in zip(one.tokens, one.gaps, strict=True)
            ]
            X.append(tokens)
            y.append(
                [
                    END if i + 1 == len(one.tokens) else INSIDE
                    for one in part
                    for i in range(len(one.tokens))
                ]
            )
        if len({label for labels in y for label in labels}) < 2:
            raise NothingToLearn("all sentences are one word")
        self.models["sentences"] = learnt(make("sentences"), _token_columns(X), y)

    def score(
        self, gold: Sequence[Sentence], dev: Sequence[Sentence]
    ) -> tuple[float, list[Sentence]]:
        """Return the mean F1 of tokens and sentences in the text of `gold`."""
        right, found = [], []
        for paragraph in paragraphs(gold):
            right.append(_spans_of(paragraph))
            text, _ = _text_and_ends(paragraph)
            found.append(
                [[(one.start, one.end) for one in s] for s in self.cut([text])[0]]
            )
        scores = [
            _f1(right, found, list),
            _f1(right, found, lambda s: [(s[0][0], s[-1][1])]),
        ]
        return sum(scores) / len(scores), list(dev)

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
        cuts = self._memory.answers(chain.from_iterable(pieces), self._cuts)
        tokens: list[list[Cut]] = []
        for text, spans, found in zip(texts, matches, pieces, strict=True):
            own: list[Cut] = []
            for span, piece in zip(spans, found, strict=True):
                begin, end = span.span()
                places = (begin, *(begin + n for n in cuts[piece]), end)
                own += [Cut(text[a:b], a, b) for a, b in pairwise(places)]
            tokens.append(own)
        if "spaces" in self.models:
            tokens = join(self.models["spaces"], texts, tokens)
        return tokens

    def _cuts(self, pieces: list[Piece]) -> Iterable[tuple[int, ...]]:
        """Return where pieces are cut."""
        found: dict[Piece, tuple[int, ...]] = dict.fromkeys(pieces, ())
        long = [one for one in pieces if self._may_be_cut(one[0])]
        if long:
            tagger = self.models["tokens"]
            view = characters if reads_new_columns(tagger) else characters_before
            labels = tagger.predict([view(one) for one in long])
            for piece, own in zip(long, labels, strict=True):
                found[piece] = tuple(
                    i for i, label in enumerate(own[:-1], 1) if label == END
                )
        return found.values()

    def _may_be_cut(self, word: str) -> bool:
        """Say whether the tagger must be asked: most words are nothing but letters."""
        if "tokens" not in self.models or len(word) < 2:
            return False
        if self.cut_words is None or not word.isalpha():
            return True
        return word.lower() in self.cut_words

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = super().store(dtype)
        if self.cut_words is not None:
            words = pack_strings(sorted(self.cut_words))
            tensors |= prefixed("cut_words", words)
        return tensors, settings | {"has_cut_words": self.cut_words is not None}

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = super().from_content(content)
        # The first files do not say: their taggers are asked about every word.
        if content.settings.get("has_cut_words") is True:
            step.cut_words = frozenset(stored_strings(content, "cut_words"))
        return step

    def _ends(self, texts: Sequence[str], tokens: list[list[Cut]]) -> list[list[str]]:
        X = [
            [
                (one.form, text[one.end : after.start])
                for one, after in pairwise([*own, Cut("", len(text), len(text))])
            ]
            for text, own in zip(texts, tokens, strict=True)
        ]
        found: list[list[str]] = self.models["sentences"].predict(_token_columns(X))
        return found

    @staticmethod
    def _sentences_of(tokens: list[Cut], labels: list[str]) -> list[list[Cut]]:
        ends = [i for i, label in enumerate(labels, 1) if label == END]
        if tokens and ends[-1:] != [len(tokens)]:
            ends.append(len(tokens))
        return [
            tokens[at : min(at + MOST_TOKENS, end)]
            for begin, end in pairwise([0, *ends])
            for at in range(begin, end, MOST_TOKENS)
        ]


def _windows(written: list[list[Written]]) -> Iterator[list[Written]]:
    """Yield sentences that stand next to each other, as taggers are to see them."""
    for paragraph in written:
        for at in range(0, len(paragraph), WINDOW):
            yield paragraph[at : at + WINDOW]


def _few_cut_words(
    counts: Counter[tuple[Piece, tuple[int, ...]]],
) -> frozenset[str] | None:
    """Return the words of letters that are cut; None if that is nothing special.

    With spaces between words, few are (cannot); the tagger need not be asked about
    all others.
    """
    total = sum(n for (piece, _), n in counts.items() if piece[0].isalpha())
    cut = {key: n for key, n in counts.items() if key[0][0].isalpha() and key[1]}
    if sum(cut.values()) > FEW * total:
        return None
    return frozenset(piece[0].lower() for piece, _ in cut)


Spans = list[tuple[int, int]]


def _spans_of(paragraph: list[Written]) -> list[Spans]:
    """Return where the tokens of every sentence of a paragraph are."""
    found: list[Spans] = []
    at = 0
    for one in paragraph:
        found.append([])
        for token, gap in zip(one.tokens, one.gaps, strict=True):
            found[-1].append((at, at + len(token.form)))
            at += len(token.form) + len(gap)
    return found


def _f1(
    right: list[list[Spans]],
    found: list[list[Spans]],
    spans: Callable[[Spans], Spans],
) -> float:
    """Return the F1 of what sentences consist of, or of sentences themselves."""
    sets = [
        {
            (i, span)
            for i, sentences in enumerate(side)
            for sentence in sentences
            for span in spans(sentence)
        }
        for side in (right, found)
    ]
    return ratio(2 * len(sets[0] & sets[1]), len(sets[0]) + len(sets[1]))


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
    kinds = ["", *(kind_of(word[0]) for word in words), ""]
    ends = ["", *(kind_of(word[-1]) for word in words)]
    return [(word, ends[i], kinds[i + 2]) for i, word in enumerate(words)]


def _token_columns(texts: Sequence[Sequence[tuple[str, str]]]) -> ColumnData:
    """Return tokens, and what the tagger for the ends of sentences sees of each."""
    forms = [form for text in texts for form, _ in text]
    gaps = ["_" if gap else "-" for text in texts for _, gap in text]
    marks = {form: _mark(form) for form in set(forms)}
    columns = [forms, gaps, [marks[form] for form in forms]]
    return ColumnData(columns, np.cumsum([0, *map(len, texts)]))


def _mark(form: str) -> str:
    """Return the kind of a token and its last letter; marks are their own kind."""
    if not form[0].isalnum() or len(form) == 1:
        return form
    return kind_of(form[0]) + form[-1:]


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
