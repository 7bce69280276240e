"""The metrics of the CoNLL 2018 shared task: from raw text to trees.

Zeman et al. (2018), "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to
Universal Dependencies", section 5. Tokens and sentences are right if they cover the
same characters; white space does not count. Words are aligned by their characters, and
inside of multiword tokens by their forms (the longest common subsequence). Everything
else is compared between aligned words, and counted as precision, recall and F1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from partwise.data.surface import surface_tokens
from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.metrics.scores import ratio

__all__ = ["CONLL18_METRICS", "F1", "Conll18Scores", "conll18_scores"]

CONLL18_METRICS = (
    *("tokens", "sentences", "words"),
    *("upos", "xpos", "ufeats", "alltags", "lemmas"),
    *("uas", "las", "clas", "mlas", "blex"),
)
"""The names of the metrics, in the order of the shared task."""

UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite "
    "Degree VerbForm Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)
CONTENT_RELATIONS = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod "
    "discourse nmod appos nummod acl amod conj fixed flat compound list parataxis "
    "orphan goeswith reparandum root dep".split()
)
FUNCTIONAL_RELATIONS = frozenset("aux cop mark det clf case cc".split())


class F1(NamedTuple):
    """How many units there are, on both sides, and how many are right.

    Examples
    --------
    >>> score = F1(right=3, gold=4, system=5, aligned=4)
    >>> round(score.f1, 4), score.precision, score.recall, score.aligned_accuracy
    (0.6667, 0.6, 0.75, 0.75)
    """

    right: int
    gold: int
    system: int
    aligned: int | None = None

    @property
    def precision(self) -> float:
        """The share of predicted units that are right."""
        return ratio(self.right, self.system)

    @property
    def recall(self) -> float:
        """The share of right units that were predicted."""
        return ratio(self.right, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return ratio(2 * self.right, self.gold + self.system)

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of aligned words that are right; None for tokens and sentences."""
        return None if self.aligned is None else ratio(self.right, self.aligned)

    def to_dict(self) -> dict[str, float | None]:
        """Return shares as plain numbers."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "aligned_accuracy": self.aligned_accuracy,
        }


@dataclass(frozen=True)
class Conll18Scores:
    """All metrics, by name; see `conll18_scores`."""

    by_name: Mapping[str, F1]

    def __getitem__(self, name: str) -> F1:
        """Return one of `CONLL18_METRICS`."""
        return self.by_name[name]

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return shares as plain numbers."""
        return {name: score.to_dict() for name, score in self.by_name.items()}


class _Span(NamedTuple):
    start: int
    end: int


@dataclass(eq=False)
class _Word:
    """A word, the characters it covers, and its place in the tree."""

    span: _Span
    in_multiword: bool
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    relation: str
    head: _Word | None = None
    functional: list[_Word] = field(default_factory=list)

    @property
    def is_content(self) -> bool:
        return self.relation in CONTENT_RELATIONS


@dataclass
class _Text:
    """What an annotated text consists of."""

    characters: str
    tokens: list[_Span]
    sentences: list[_Span]
    words: list[_Word]


def conll18_scores(
    gold: Iterable[Sentence], system: Iterable[Sentence]
) -> Conll18Scores:
    """Compare an annotated text with the right annotation of the same text.

    Tokens, words and sentences may be different on the two sides; the characters, but
    for white space, must be the same.

    Parameters
    ----------
    gold, system : iterables of Sentence
        What is right, and what was predicted, as read from CoNLL-U.

    Returns
    -------
    Conll18Scores
        ``scores["las"].f1`` and so on, for `CONLL18_METRICS`.

    Raises
    ------
    DataError
        If the two texts have different characters.

    Examples
    --------
    >>> from partwise.data import Sentence
    >>> columns = {"heads": [2, 0], "labels": ["nsubj", "root"]}
    >>> gold = [Sentence.from_columns(forms=["Dogs", "bark"], **columns)]
    >>> columns["heads"] = [0, 1]
    >>> system = [Sentence.from_columns(forms=["Dogs", "bark"], **columns)]
    >>> scores = conll18_scores(gold, system)
    >>> scores["words"].f1, scores["uas"].f1
    (1.0, 0.0)
    """
    right, found = _read(gold), _read(system)
    _check_same_characters(right.characters, found.characters)
    pairs = _align(right.words, found.words)
    partner = {id(other): word for word, other in pairs}

    def score(
        of_gold: Callable[[_Word], Any],
        of_system: Callable[[_Word, _Word], Any],
        counts: Callable[[_Word], bool] = lambda word: True,
    ) -> F1:
        kept = [pair for pair in pairs if counts(pair[0])]
        return F1(
            sum(of_gold(word) == of_system(other, word) for word, other in kept),
            sum(map(counts, right.words)),
            sum(map(counts, found.words)),
            len(kept),
        )

    def same(key: Callable[[_Word], Any]) -> F1:
        return score(key, lambda other, word: key(other))

    def aligned(word: _Word | None) -> object:
        """Return the right word that a predicted one stands for."""
        return None if word is None else partner.get(id(word), _NOT_ALIGNED)

    def lemma(other: _Word, word: _Word) -> str:
        return NOT_GIVEN if word.lemma == NOT_GIVEN else other.lemma

    def arc(word: _Word) -> tuple[object, ...]:
        return word.head, word.relation

    def found_arc(other: _Word, _: _Word) -> tuple[object, ...]:
        return aligned(other.head), other.relation

    def tagged(word: _Word) -> tuple[str, ...]:
        return word.relation, word.upos, word.feats

    def content(word: _Word) -> bool:
        return word.is_content

    return Conll18Scores(
        {
            "tokens": _spans(right.tokens, found.tokens),
            "sentences": _spans(right.sentences, found.sentences),
            "words": score(lambda word: 0, lambda other, word: 0),
            "upos": same(lambda word: word.upos),
            "xpos": same(lambda word: word.xpos),
            "ufeats": same(lambda word: word.feats),
            "alltags": same(lambda word: (word.upos, word.xpos, word.feats)),
            "lemmas": score(lambda word: word.lemma, lemma),
            "uas": score(lambda word: word.head, lambda other, _: aligned(other.head)),
            "las": score(arc, found_arc),
            "clas": score(arc, found_arc, content),
            "mlas": score(
                lambda word: (
                    word.head,
                    tagged(word),
                    [(child, tagged(child)) for child in word.functional],
                ),
                lambda other, _: (
                    aligned(other.head),
                    tagged(other),
                    [(aligned(child), tagged(child)) for child in other.functional],
                ),
                content,
            ),
            "blex": score(
                lambda word: (arc(word), word.lemma),
                lambda other, word: (found_arc(other, word), lemma(other, word)),
                content,
            ),
        }
    )


_NOT_ALIGNED = object()


def _read(sentences: Iterable[Sentence]) -> _Text:
    """Lay out sentences as characters, and spans of them."""
    pieces: list[str] = []
    text = _Text("", [], [], [])
    at = 0
    for sentence in sentences:
        begin = at
        words: list[_Word] = []
        for token in surface_tokens(sentence):
            form = "".join(token.form.split())
            span = _Span(at, at + len(form))
            at = span.end
            pieces.append(form)
            text.tokens.append(span)
            numbers = range(token.first, token.last + 1)
            words += [_word(sentence, n, span, token.is_multiword) for n in numbers]
        if at > begin:
            text.sentences.append(_Span(begin, at))
        _link(words, sentence.heads or (0,) * len(words))
        text.words += words
    text.characters = "".join(pieces)
    return text


def _word(sentence: Sentence, number: int, span: _Span, in_multiword: bool) -> _Word:
    i = number - 1
    features = sentence.feats[i].split("|")
    universal = [one for one in features if one.partition("=")[0] in UNIVERSAL_FEATURES]
    relation = NOT_GIVEN if sentence.labels is None else sentence.labels[i]
    return _Word(
        span,
        in_multiword,
        sentence.forms[i].lower(),
        sentence.lemmas[i],
        sentence.upos[i],
        sentence.xpos[i],
        "|".join(sorted(universal)),
        relation.partition(":")[0],
    )


def _link(words: Sequence[_Word], heads: Sequence[int]) -> None:
    for word, head in zip(words, heads, strict=True):
        if head:
            word.head = words[head - 1]
            if word.relation in FUNCTIONAL_RELATIONS:
                words[head - 1].functional.append(word)


def _check_same_characters(gold: str, system: str) -> None:
    if gold == system:
        return
    both = zip(gold, system, strict=False)
    shorter = min(len(gold), len(system))
    at = next((i for i, (a, b) in enumerate(both) if a != b), shorter)
    raise DataError(
        f"the two texts have different characters, from character {at} on (without "
        f"white space): {gold[at : at + 20]!r} is right, {system[at : at + 20]!r} was "
        "predicted (compare annotations of the same text)"
    )


def _spans(gold: Sequence[_Span], system: Sequence[_Span]) -> F1:
    # Spans of the same side do not overlap, so that equal ones are one and the same.
    return F1(len(set(gold) & set(system)), len(gold), len(system))


def _align(gold: list[_Word], system: list[_Word]) -> list[tuple[_Word, _Word]]:
    """Pair words that are the same: by characters, or inside multiword tokens."""
    pairs: list[tuple[_Word, _Word]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        one, other = gold[g], system[s]
        if one.in_multiword or other.in_multiword:
            first_g, first_s, g, s = _multiword_region(gold, system, g, s)
            pairs += _common_words(gold[first_g:g], system[first_s:s])
        elif one.span == other.span:
            pairs.append((one, other))
            g, s = g + 1, s + 1
        elif one.span.start <= other.span.start:
            g += 1
        else:
            s += 1
    return pairs


def _multiword_region(
    gold: list[_Word], system: list[_Word], g: int, s: int
) -> tuple[int, int, int, int]:
    """Return where the words around overlapping multiword tokens begin and end."""
    one, other = gold[g], system[s]
    if one.in_multiword:
        end = one.span.end
        if not other.in_multiword and other.span.start < one.span.start:
            s += 1
    else:
        end = other.span.end
        if not one.in_multiword and one.span.start < other.span.start:
            g += 1
    first_g, first_s = g, s
    while not (_is_beyond(gold, g, end) and _is_beyond(system, s, end)):
        gold_is_next = g < len(gold) and (
            s >= len(system) or gold[g].span.start <= system[s].span.start
        )
        word = gold[g] if gold_is_next else system[s]
        if word.in_multiword:
            end = max(end, word.span.end)
        g, s = g + gold_is_next, s + (not gold_is_next)
    return first_g, first_s, g, s


def _is_beyond(words: list[_Word], i: int, end: int) -> bool:
    if i >= len(words):
        return True
    span = words[i].span
    return span.start >= end if words[i].in_multiword else span.end > end


def _common_words(
    gold: list[_Word], system: list[_Word]
) -> Iterator[tuple[_Word, _Word]]:
    """Pair the words of a longest common subsequence of forms."""
    n, m = len(gold), len(system)
    longest = [[0] * (m + 1) for _ in range(n + 1)]
    for g in reversed(range(n)):
        for s in reversed(range(m)):
            diagonal = (gold[g].form == system[s].form) * (1 + longest[g + 1][s + 1])
            longest[g][s] = max(diagonal, longest[g + 1][s], longest[g][s + 1])
    g = s = 0
    while g < n and s < m:
        if gold[g].form == system[s].form:
            yield gold[g], system[s]
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
