"""What all scores share: ratios of counts, tables of them, sequences in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from partwise.errors import DataError

Labels: TypeAlias = Iterable[Sequence[Any]]


class Scores(NamedTuple):
    """Precision, recall, their harmonic mean, and how many there are to find."""

    precision: float
    recall: float
    f1: float
    support: int


def ratio(part: float, whole: float) -> float:
    """Return a share; 0/0 is 0."""
    return part / whole if whole else 0.0


def mean(values: list[float]) -> float:
    """Return the mean; 0 if there are no values."""
    return ratio(sum(values), len(values))


def score(right: int, predicted: int, gold: int) -> Scores:
    """Return the scores, from how many are right, were predicted and are to be found.

    Examples
    --------
    >>> score(1, 2, 1)
    Scores(precision=0.5, recall=1.0, f1=0.6666666666666666, support=1)
    """
    precision, recall = ratio(right, predicted), ratio(right, gold)
    # The harmonic mean of the two above.
    return Scores(precision, recall, ratio(2 * right, predicted + gold), gold)


def weighted_f1(scores: Iterable[Scores]) -> float:
    """Return the mean F1, each counting as often as there is something to find."""
    each = list(scores)
    parts = sum(one.f1 * one.support for one in each)
    return ratio(parts, sum(one.support for one in each))


def score_each(
    right: Counter[str], predicted: Counter[str], gold: Counter[str]
) -> dict[str, Scores]:
    """Return the scores of each name that was counted, in alphabetical order."""
    return {
        name: score(right[name], predicted[name], gold[name])
        for name in sorted(gold.keys() | predicted.keys())
    }


def pair_sequences(
    y_true: Labels, y_pred: Labels
) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    """Pair the sequences up after checking that their lengths agree."""
    gold, predicted = list(y_true), list(y_pred)
    for name, sequences in (("y_true", gold), ("y_pred", predicted)):
        for i, labels in enumerate(sequences):
            if isinstance(labels, str) or not hasattr(labels, "__len__"):
                raise TypeError(
                    f"{name}[{i}] must be a sequence of labels, not {labels!r} "
                    "(wrap a single sequence in a list)"
                )
            if len(labels) and isinstance(labels[0], Mapping | list):
                raise TypeError(
                    f"{name}[{i}] must be a sequence of labels, but holds features, "
                    f"such as {labels[0]!r} (give the right and the predicted labels)"
                )
    for i, (a, b) in enumerate(zip(gold, predicted, strict=False)):
        if len(a) != len(b):
            raise DataError(
                f"{len(a)} labels in y_true, but {len(b)} in y_pred (give one label "
                "for each token in both)",
                where=f"sequence {i}",
                example=i,
            )
    if len(gold) != len(predicted):
        raise unequal("sequence", y_true=len(gold), y_pred=len(predicted))
    return list(zip(gold, predicted, strict=True))


def unequal(what: str, **counts: int) -> DataError:
    """Return the error that two lists have different lengths.

    Examples
    --------
    >>> print(unequal("tree", gold=3, predicted=2))
    gold has 3 trees, but predicted has 2: tree 2 is the first without a partner
    """
    (one, n), (other, m) = counts.items()
    return DataError(
        f"{one} has {n} {what}s, but {other} has {m}: {what} {min(n, m)} is the first "
        "without a partner"
    )


def different_words(name: str, gold: Sequence[str], predicted: Sequence[str]) -> str:
    """Say where the words of two trees begin to differ.

    Examples
    --------
    >>> print(different_words("tree 1", ["a", "b"], ["a", "c"]))
    tree 1: word 2 is 'b' in gold, but 'c' in predicted (both must have the same \
words, sentence by sentence)
    """
    same = "(both must have the same words, sentence by sentence)"
    n, m = len(gold), len(predicted)
    if n != m:
        return f"{name} has {n} words in gold, but {m} in predicted {same}"
    word = next(k for k in range(n) if gold[k] != predicted[k])
    return (
        f"{name}: word {word + 1} is {gold[word]!r} in gold, but {predicted[word]!r} "
        f"in predicted {same}"
    )


def score_table(rows: Iterable[tuple[Any, Scores]]) -> str:
    """Show names with their scores."""
    cells = [["", *Scores._fields]]
    for name, scores in rows:
        ratios = (f"{value:.4f}" for value in scores[:3])
        cells.append([str(name), *ratios, str(scores.support)])
    return align(cells)


def align(rows: list[list[str]]) -> str:
    """Lay out cells: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in rows
    )
