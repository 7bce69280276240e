"""What many views come to: scores with intervals, confusions, calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise.metrics.calibration import calibration_error
from partwise.metrics.labels import ConfusionTable, confusion_table
from partwise.pages.view import View

ROUNDS = 1000
"""How often examples are drawn anew for an interval."""
IN_A_BLOCK = 100
COVERED = (2.5, 97.5)
"""The percentiles that an interval ends at: it covers 95%."""
BINS = 10

Counts: TypeAlias = NDArray[np.float64]


class Estimate(NamedTuple):
    """A score, and where 95% of the scores of resampled examples lie."""

    value: float
    low: float
    high: float


class LabelRow(NamedTuple):
    """Precision, recall and F1 of a label, and how often it is right."""

    label: str
    precision: Estimate
    recall: Estimate
    f1: Estimate
    support: int


class Bin(NamedTuple):
    """Decisions of similar probability: its mean, the share that is right, how many."""

    probability: float
    right: float
    size: int


class Calibration(NamedTuple):
    """How far probabilities can be trusted.

    `error` is the expected calibration error: the mean distance between probability
    and share of right decisions, over bins of equal width.
    """

    bins: list[Bin]
    error: float


def score_labels(views: Sequence[View], seed: int = 0) -> list[LabelRow]:
    """Score each label, with intervals by bootstrap over examples.

    Examples
    --------
    >>> from partwise.pages import view_tags
    >>> views = [view_tags(["a"], ["X"], ["X"]), view_tags(["b"], ["Y"], ["X"])]
    >>> [(row.label, row.f1.value, row.support) for row in score_labels(views)]
    [('X', 0.6666666666666666, 2), ('Y', 0.0, 0)]
    """
    labels = sorted({i[0] for v in views for i in (*v.gold_items, *v.found_items)})
    number = {label: j for j, label in enumerate(labels)}
    right, gold, found = (np.zeros((len(views), len(labels))) for _ in range(3))
    for row, view in enumerate(views):
        expected, guessed = Counter(view.gold_items), Counter(view.found_items)
        for counts, items in (
            (right, expected & guessed),
            (gold, expected),
            (found, guessed),
        ):
            for item, count in items.items():
                counts[row, number[item[0]]] += count
    scores = _f1_table(*(c.sum(axis=0) for c in (right, gold, found)))
    drawn = np.stack(
        [_f1_table(*sums) for sums in _resampled([right, gold, found], seed)]
    )
    low, high = np.percentile(drawn, COVERED, axis=0)
    return [
        LabelRow(
            str(label),
            *_estimates(scores[:, j], low[:, j], high[:, j]),
            int(gold[:, j].sum()),
        )
        for j, label in enumerate(labels)
    ]


def score_all(views: Sequence[View], seed: int = 0) -> dict[str, Estimate]:
    """Return the scores of all examples together, by name, with intervals.

    Examples
    --------
    >>> from partwise.pages import view_tags
    >>> scores = score_all([view_tags(["a", "b"], ["X", "Y"], ["X", "X"])])
    >>> {name: score.value for name, score in scores.items()}
    {'token accuracy': 0.5, 'all right': 0.0}
    """
    if not views:
        return {}
    rates: dict[str, Counts] = {}
    for name in dict.fromkeys(name for view in views for name in view.rates):
        rates[name] = np.array([v.rates.get(name, (0, 0)) for v in views], float)
    if views[0].counted:
        rates[views[0].counted] = np.array([_f1_counts(v) for v in views], float)
    perfect = [(float(view.mistakes == 0), 1.0) for view in views]
    rates["all right"] = np.array(perfect)
    result = {}
    for name, counts in rates.items():
        drawn = [_ratio(*sums[0]) for sums in _resampled([counts], seed)]
        low, high = np.percentile(drawn, COVERED)
        value = _ratio(*counts.sum(axis=0))
        result[name] = Estimate(*_floats(value, low, high))
    return result


def confusions(views: Sequence[View]) -> dict[str, ConfusionTable]:
    """Return the confusion table of each kind of decisions."""
    names = dict.fromkeys(name for view in views for name in view.tables)
    tables = {}
    for name in names:
        pairs = [list(zip(*view.tables.get(name, ()), strict=True)) for view in views]
        both = [pair for pair in pairs if pair]
        tables[name] = confusion_table([p[0] for p in both], [p[1] for p in both])
    return tables


def calibration(views: Sequence[View]) -> Calibration | None:
    """Compare probabilities with how often decisions are right; None without any.

    Examples
    --------
    >>> from partwise.pages import View
    >>> sure = View(drawing="tags", words=[], found=[], certain=[(1.0, True)] * 3)
    >>> doubt = View(drawing="tags", words=[], found=[], certain=[(0.5, False)])
    >>> round(calibration([sure, doubt]).error, 3)
    0.125
    """
    known = [pair for view in views for pair in view.certain]
    if not known:
        return None
    shares, right = np.array(known, float).T
    where = np.minimum((shares * BINS).astype(np.int64), BINS - 1)
    bins = []
    for b in range(BINS):
        own = where == b
        if own.any():
            means = _floats(shares[own].mean(), right[own].mean())
            bins.append(Bin(means[0], means[1], int(own.sum())))
    return Calibration(bins, calibration_error(shares, right, BINS))


def _estimates(values: Any, low: Any, high: Any) -> tuple[Estimate, Estimate, Estimate]:
    made = [Estimate(*_floats(*row)) for row in zip(values, low, high, strict=True)]
    return made[0], made[1], made[2]


def _f1_counts(view: View) -> tuple[float, float]:
    """Return twice the items that are right, and all items of both outputs."""
    expected, guessed = Counter(view.gold_items), Counter(view.found_items)
    return 2.0 * (expected & guessed).total(), expected.total() + guessed.total()


def _resampled(tables: Sequence[Counts], seed: int) -> Any:
    """Yield the column sums of tables whose rows are drawn with replacement."""
    n = len(tables[0])
    rng = np.random.default_rng(seed)
    for _ in range(0, ROUNDS, IN_A_BLOCK):
        times = rng.multinomial(n, np.full(n, 1.0 / n), size=IN_A_BLOCK).astype(float)
        yield from zip(*(times @ table for table in tables), strict=True)


def _f1_table(right: Any, gold: Any, found: Any) -> Counts:
    """Return precision, recall and F1 as rows; 0/0 is 0."""
    return np.stack(
        [
            right / np.maximum(found, 1.0),
            right / np.maximum(gold, 1.0),
            2.0 * right / np.maximum(gold + found, 1.0),
        ]
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _floats(*values: Any) -> list[float]:
    return [float(value) for value in values]
