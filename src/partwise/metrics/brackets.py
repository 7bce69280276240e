"""How good predicted constituency trees are: labelled brackets, as EVALB counts them.

The conventions are those of EVALB with the parameters of Collins (1997):

- brackets count by label, first and last word; of equal ones each counts;
- the tags of words do not count, and neither does the root (``TOP``, ``ROOT``,
  ``S1``, or nameless); function tags are cut off (``NP-SBJ`` is ``NP``);
- empty elements and punctuation (tagged ``,`` ``:`` `````` ``''`` ``.``) are taken out
  of both trees first, and so are brackets that hold nothing else;
- ``ADVP`` and ``PRT`` are the same label;
- a sentence without a parse counts only in the number of such sentences.

What is punctuation is decided by the right trees. EVALB looks at both trees, and
leaves a sentence out as an error where that makes a difference.

A ratio of nothing to nothing is 0, without a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from partwise.constituents import (
    EMPTY_TAG,
    Bracket,
    Tree,
    spans,
    subtrees,
    without_function,
)
from partwise.errors import DataError
from partwise.metrics import scores as shared
from partwise.metrics.scores import Scores

__all__ = ["BracketGroup", "BracketScores", "bracket_scores"]

ROOTS = frozenset(("", "TOP", "ROOT", "S1"))
PUNCTUATION = frozenset((",", ":", "``", "''", "."))
EQUAL = {"PRT": "ADVP"}
CUTOFF = 40


@dataclass(frozen=True, slots=True)
class BracketGroup:
    """How good the trees of some sentences are.

    Parameters
    ----------
    precision, recall, f1 : float
        The share of predicted brackets that are right, of right ones that are
        predicted, and the harmonic mean of the two.
    exact_match : float
        The share of sentences in which both are 1.
    crossing : float
        How many predicted brackets of a sentence cross a right one, on average.
    no_crossing, two_or_less_crossing : float
        The share of sentences with no such bracket, and with at most two.
    tagging_accuracy : float
        The share of words with the right tag, punctuation left out.
    n_sentences, n_failed : int
        How many sentences there are, and how many of them have no parse; all else
        is about the others.
    n_words : int
        How many words have tags that count.
    n_gold, n_predicted, n_matched : int
        How many brackets there are, and how many of them both trees have.
    """

    precision: float
    recall: float
    f1: float
    exact_match: float
    crossing: float
    no_crossing: float
    two_or_less_crossing: float
    tagging_accuracy: float
    n_sentences: int
    n_failed: int
    n_words: int
    n_gold: int
    n_predicted: int
    n_matched: int


@dataclass(frozen=True, slots=True)
class BracketScores:
    """How good trees are: all of them, and those of short sentences.

    Parameters
    ----------
    overall : BracketGroup
        Of all sentences.
    short : BracketGroup
        Of sentences of at most `cutoff` words, punctuation included.
    cutoff : int
        What short is.
    per_label : dict of str to Scores
        Precision, recall and F1 of each label, in alphabetical order.

    See Also
    --------
    bracket_scores : Makes one.
    """

    overall: BracketGroup
    short: BracketGroup
    cutoff: int
    per_label: dict[str, Scores]

    @property
    def precision(self) -> float:
        """The share of predicted brackets that are right."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The share of right brackets that are predicted."""
        return self.overall.recall

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.overall.f1

    @property
    def exact_match(self) -> float:
        """The share of sentences whose brackets are all right."""
        return self.overall.exact_match

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers in dicts, ready for JSON."""
        return {
            **asdict(self.overall),
            "short": {"cutoff": self.cutoff, **asdict(self.short)},
            "per_label": {
                label: scores._asdict() for label, scores in self.per_label.items()
            },
        }


def bracket_scores(
    gold: Iterable[Tree],
    predicted: Iterable[Tree | None],
    *,
    cutoff: int = CUTOFF,
    places: Sequence[str] | None = None,
) -> BracketScores:
    """Compare predicted trees with the right ones, as EVALB does.

    Parameters
    ----------
    gold : iterable of Tree
        The right trees.
    predicted : iterable of Tree or None
        The predicted ones, of the same words; None where there is no parse.
    cutoff : int, default=40
        Sentences of at most this many words are also scored separately.
    places : sequence of str, optional
        Where each right tree comes from, for messages.

    Returns
    -------
    BracketScores
        Over all sentences, over short ones, and by label.

    Raises
    ------
    DataError
        If something is not a tree, or if the words of a sentence or the numbers of
        trees differ; the message says which.

    Examples
    --------
    >>> verb = Tree("VBP", ("bark",))
    >>> right = Tree("S", (Tree("NP", (Tree("NNS", ("Dogs",)),)), Tree("VP", (verb,))))
    >>> guess = Tree("S", (Tree("NP", (Tree("NNS", ("Dogs",)),)), verb))
    >>> scores = bracket_scores([right], [guess])
    >>> scores.precision, round(scores.recall, 3), scores.exact_match
    (1.0, 0.667, 0.0)
    """
    rights = _as_trees(gold, "gold")
    guesses = _as_trees(predicted, "predicted", or_none=True)
    for i, (right, guess) in enumerate(zip(rights, guesses, strict=False)):
        if guess is not None:
            _check_words(i, right, guess, places)
    if len(rights) != len(guesses):
        raise shared.unequal("tree", gold=len(rights), predicted=len(guesses))
    results = [_compare(r, g) for r, g in zip(rights, guesses, strict=True)]
    short = [result for result in results if result.length <= cutoff]
    return BracketScores(_group(results), _group(short), cutoff, _by_label(results))


class _Result(NamedTuple):
    """The result for one sentence."""

    length: int
    failed: bool
    gold: Counter[Bracket]
    predicted: Counter[Bracket]
    n_crossing: int
    n_words: int
    n_right_tags: int

    @property
    def matched(self) -> Counter[Bracket]:
        return self.gold & self.predicted


def _compare(right: Tree, guess: Tree | None) -> _Result:
    words = _words(right)
    if guess is None:
        return _Result(len(words), True, Counter(), Counter(), 0, 0, 0)
    counted = [word.label not in PUNCTUATION for word in words]
    gold, predicted = _brackets(right, counted), _brackets(guess, counted)
    ends = {(start, end) for _, start, end in gold}
    pairs = zip(words, _words(guess), counted, strict=True)
    tags = [one.label == other.label for one, other, counts in pairs if counts]
    return _Result(
        len(words),
        False,
        gold,
        predicted,
        sum(
            times
            for bracket, times in predicted.items()
            if any(_cross(bracket, start, end) for start, end in ends)
        ),
        len(tags),
        sum(tags),
    )


def _words(tree: Tree) -> list[Tree]:
    """Return the words that are not empty elements, with their tags."""
    return [node for node in subtrees(tree) if node.is_tag and node.label != EMPTY_TAG]


def _brackets(tree: Tree, counted: list[bool]) -> Counter[Bracket]:
    """Return the brackets that count, over the words that do."""
    # How many words that count there are before each word, empty elements included.
    before = [0]
    is_counted = iter(counted)
    for node in subtrees(tree):
        if node.is_tag:
            counts = node.label != EMPTY_TAG and next(is_counted)
            before.append(before[-1] + counts)
    found: Counter[Bracket] = Counter()
    for label, start, end in spans(tree):
        label = without_function(label)
        if label not in ROOTS and before[start] < before[end]:
            found[Bracket(EQUAL.get(label, label), before[start], before[end])] += 1
    return found


def _cross(bracket: Bracket, start: int, end: int) -> bool:
    return (
        bracket.start < start < bracket.end < end
        or start < bracket.start < end < bracket.end
    )


def _group(results: Sequence[_Result]) -> BracketGroup:
    parsed = [result for result in results if not result.failed]
    n_gold = sum(result.gold.total() for result in parsed)
    n_predicted = sum(result.predicted.total() for result in parsed)
    n_matched = sum(result.matched.total() for result in parsed)
    n_words = sum(result.n_words for result in parsed)

    of_all = shared.score(n_matched, n_predicted, n_gold)

    def share(sentences: Iterable[bool]) -> float:
        return shared.ratio(sum(sentences), len(parsed))

    return BracketGroup(
        precision=of_all.precision,
        recall=of_all.recall,
        f1=of_all.f1,
        exact_match=share(result.gold == result.predicted for result in parsed),
        crossing=shared.ratio(sum(result.n_crossing for result in parsed), len(parsed)),
        no_crossing=share(result.n_crossing == 0 for result in parsed),
        two_or_less_crossing=share(result.n_crossing <= 2 for result in parsed),
        tagging_accuracy=shared.ratio(sum(one.n_right_tags for one in parsed), n_words),
        n_sentences=len(results),
        n_failed=len(results) - len(parsed),
        n_words=n_words,
        n_gold=n_gold,
        n_predicted=n_predicted,
        n_matched=n_matched,
    )


def _by_label(results: Iterable[_Result]) -> dict[str, Scores]:
    gold, predicted, matched = counters = [Counter[str]() for _ in range(3)]
    for result in results:
        compared = result.gold, result.predicted, result.matched
        for counts, brackets in zip(counters, compared, strict=True):
            for bracket, times in brackets.items():
                counts[bracket.label] += times
    return shared.score_each(matched, predicted, gold)


def _as_trees(trees: Any, what: str, or_none: bool = False) -> list[Any]:
    """Return a list of trees, or say what else was given."""
    if isinstance(trees, Tree | str | bytes) or not isinstance(trees, Iterable):
        raise DataError(f"{what} must be a list of Tree, not {type(trees).__name__}")
    found = list(trees)
    for i, tree in enumerate(found):
        if not (isinstance(tree, Tree) or (or_none and tree is None)):
            raise DataError(
                f"{what}: number {i} is {tree!r}, not a Tree (read_brackets reads them)"
            )
    return found


def _check_words(
    i: int, right: Tree, guess: Tree, places: Sequence[str] | None
) -> None:
    """Refuse trees of different sentences."""
    a, b = ([node.word for node in _words(tree)] for tree in (right, guess))
    if a == b:
        return
    name = f"tree {i}" + (f" ({places[i]})" if places else "")
    raise DataError(shared.different_words(name, a, b))
