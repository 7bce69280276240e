"""How good predicted dependency trees are: attachment scores.

UAS is the share of words with the right head, LAS of those with the right head and
label. A ratio of nothing to nothing is 0, without a warning.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.metrics.scores import Scores, different_words, ratio, score_each, unequal

__all__ = ["ArcScores", "AttachmentScores", "attachment_scores", "is_punctuation"]

UNIVERSAL_TAGS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB "
    "X".split()
)
# From which number on each group counts.
_LENGTHS = {1: "1-10", 11: "11-20", 21: "21-40", 41: "41+"}
_DISTANCES = {0: "root", 1: "1", 2: "2", 3: "3-6", 7: "7+"}


class ArcScores(NamedTuple):
    """UAS and LAS of some words, and how many words there are.

    Examples
    --------
    >>> ArcScores(uas=0.9, las=None, n_words=10)
    ArcScores(uas=0.9, las=None, n_words=10)
    """

    uas: float
    las: float | None
    n_words: int


@dataclass(frozen=True, slots=True)
class AttachmentScores:
    """How many words have the right head, and the right label.

    Parameters
    ----------
    uas : float
        The share of words with the right head.
    las : float or None
        The share of words with the right head and the right label; None if either
        side has no labels.
    n_words, n_sentences : int
        How many words count, and how many sentences have such words.
    complete, complete_labelled : float or None
        The share of sentences in which every word that counts has the right head,
        and of those in which it has the right label, too.
    by_length : dict of str to ArcScores
        By the number of words of the sentence, all words counted.
    by_distance : dict of str to ArcScores
        By the distance of a word from its right head.
    per_label : dict of str to Scores
        Precision, recall and F1 of each label, in alphabetical order: a word counts
        as found if its head and label are both right. Empty without labels.

    See Also
    --------
    attachment_scores : Makes one.
    """

    uas: float
    las: float | None
    n_words: int
    n_sentences: int
    complete: float
    complete_labelled: float | None
    by_length: dict[str, ArcScores]
    by_distance: dict[str, ArcScores]
    per_label: dict[str, Scores]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        plain = asdict(self)
        for name in ("by_length", "by_distance", "per_label"):
            groups = getattr(self, name)
            plain[name] = {key: scores._asdict() for key, scores in groups.items()}
        return plain


def attachment_scores(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    *,
    punctuation: bool = True,
    subtypes: bool = True,
) -> AttachmentScores:
    """Compare predicted trees with the right ones.

    Parameters
    ----------
    gold, predicted : iterables of Sentence
        The right trees and the predicted ones, of the same words.
    punctuation : bool, default=True
        Whether punctuation counts; see `is_punctuation`. What is punctuation is
        decided by the right sentences.
    subtypes : bool, default=True
        Whether labels must agree in what follows a colon, as in ``acl:relcl``. The
        CoNLL 2018 shared task compares ``acl`` only.

    Returns
    -------
    AttachmentScores
        Over all words, by length, by distance and by label.

    Raises
    ------
    DataError
        If the words differ, or a sentence has no heads; the message says which.

    Examples
    --------
    >>> right = Sentence.from_columns(
    ...     forms=["Dogs", "bark", "."],
    ...     upos=["NOUN", "VERB", "PUNCT"],
    ...     heads=[2, 0, 2],
    ...     labels=["nsubj", "root", "punct"],
    ... )
    >>> guess = right.with_tree([2, 0, 1], ["obj", "root", "punct"])
    >>> scores = attachment_scores([right], [guess], punctuation=False)
    >>> scores.uas, scores.las, scores.n_words
    (1.0, 0.5, 2)
    >>> scores.per_label["nsubj"]
    Scores(precision=0.0, recall=0.0, f1=0.0, support=1)
    """
    pairs = _paired(gold, predicted)
    labelled = all(any(pair[side].labels for pair in pairs) for side in (0, 1))
    words = [
        word
        for i, pair in enumerate(pairs)
        for word in _words(i, *pair, punctuation, subtypes)
    ]
    sentences = {word.sentence for word in words}
    broken = {word.sentence for word in words if not word.attached}
    mislabelled = {word.sentence for word in words if not word.found}
    overall = _arc_scores(words, labelled)
    return AttachmentScores(
        **overall._asdict(),
        n_sentences=len(sentences),
        complete=ratio(len(sentences - broken), len(sentences)),
        complete_labelled=(
            ratio(len(sentences - mislabelled), len(sentences)) if labelled else None
        ),
        by_length=_grouped(words, "length", _LENGTHS.values(), labelled),
        by_distance=_grouped(words, "distance", _DISTANCES.values(), labelled),
        per_label=_label_scores(words) if labelled else {},
    )


def is_punctuation(form: str, upos: str = NOT_GIVEN) -> bool:
    """Say whether a word is punctuation.

    A universal part of speech decides: only ``PUNCT`` is punctuation. Without one, or
    with a tag of another set, a word is punctuation if all its characters are, either
    by Unicode, as in the CoNLL-X evaluation, or as backquotes, which open quotations
    in the Penn Treebank.

    Parameters
    ----------
    form : str
        The word.
    upos : str, default="_"
        Its part of speech.

    Returns
    -------
    bool
        Whether scores without punctuation leave it out.

    Examples
    --------
    >>> is_punctuation("--"), is_punctuation("$"), is_punctuation("``", "``")
    (True, False, True)
    >>> is_punctuation(":", "SYM"), is_punctuation("(a", "PUNCT")
    (False, True)
    """
    if upos in UNIVERSAL_TAGS:
        return upos == "PUNCT"
    return bool(form) and all(
        mark == "`" or unicodedata.category(mark).startswith("P") for mark in form
    )


def _paired(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> list[tuple[Sentence, Sentence]]:
    """Pair the sentences up after checking that they have trees of the same words."""
    rights, guesses = list(gold), list(predicted)
    for i, (right, guess) in enumerate(zip(rights, guesses, strict=False)):
        if right.forms != guess.forms:
            named = _named(i, right)
            problem = different_words(named, right.forms, guess.forms)
            raise DataError(problem)
        for name, sentence in (("gold", right), ("predicted", guess)):
            if sentence.heads is None:
                raise DataError(
                    f"{_named(i, sentence)} has no heads in {name} (only trees can be "
                    "compared; predict them first)"
                )
    if len(rights) != len(guesses):
        raise unequal("sentence", gold=len(rights), predicted=len(guesses))
    return list(zip(rights, guesses, strict=True))


def _named(i: int, sentence: Sentence) -> str:
    return f"sentence {i}" + (f" ({sentence.place})" if sentence.place else "")


class _Word(NamedTuple):
    """The result for one word that counts."""

    sentence: int
    length: str
    distance: str
    attached: bool
    label: str
    predicted_label: str

    @property
    def found(self) -> bool:
        return self.attached and self.label == self.predicted_label


def _words(
    i: int, right: Sentence, guess: Sentence, punctuation: bool, subtypes: bool
) -> Iterator[_Word]:
    """Compare the words of a sentence that count."""
    n = len(right)
    if not n:
        return
    length = _bin(n, _LENGTHS)
    columns = zip(
        right.forms,
        right.upos,
        right.heads or (),
        guess.heads or (),
        right.labels or (NOT_GIVEN,) * n,
        guess.labels or (NOT_GIVEN,) * n,
        strict=True,
    )
    for word, (form, tag, head, guessed, label, other) in enumerate(columns, 1):
        if punctuation or not is_punctuation(form, tag):
            distance = _bin(abs(word - head) if head else 0, _DISTANCES)
            if not subtypes:
                label, other = label.partition(":")[0], other.partition(":")[0]
            yield _Word(i, length, distance, head == guessed, label, other)


def _bin(number: int, bins: Mapping[int, str]) -> str:
    return bins[max(bound for bound in bins if bound <= number)]


def _arc_scores(words: Sequence[_Word], labelled: bool) -> ArcScores:
    return ArcScores(
        ratio(sum(word.attached for word in words), len(words)),
        ratio(sum(word.found for word in words), len(words)) if labelled else None,
        len(words),
    )


def _grouped(
    words: Iterable[_Word], key: str, bins: Iterable[str], labelled: bool
) -> dict[str, ArcScores]:
    """Score the words of each bin that has any."""
    groups: dict[str, list[_Word]] = {name: [] for name in bins}
    for word in words:
        groups[getattr(word, key)].append(word)
    return {
        name: _arc_scores(group, labelled) for name, group in groups.items() if group
    }


def _label_scores(words: Sequence[_Word]) -> dict[str, Scores]:
    return score_each(
        Counter(word.label for word in words if word.found),
        Counter(word.predicted_label for word in words),
        Counter(word.label for word in words),
    )
