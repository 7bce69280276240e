"""Labels that are known in part: unknown, or one of several.

In Python ``None`` stands for a label that is not known, and a set for one of its
members. In files that are read for it, ``?`` and ``A|B`` do; a backslash takes the
meaning of the character after it away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.labels import Label, LabelCodes
from partwise.structures.interface import CodeArray, FloatArray

UNKNOWN = "?"
PARTIAL = (type(None), set, frozenset)


def is_partial(label: Any) -> bool:
    """Say whether a label is not known, or one of several.

    Examples
    --------
    >>> is_partial(None), is_partial({"N", "V"}), is_partial("N")
    (True, True, False)
    """
    return isinstance(label, PARTIAL)


def _may_be_partial(labels: Iterable[Any]) -> bool:
    """Say so by the types, of which there are few; nearly always none is."""
    return any(issubclass(kind, PARTIAL) for kind in set(map(type, labels)))


def possible_labels(labels: Iterable[Any]) -> list[Label]:
    """Return all labels that are named, those in sets as well.

    Examples
    --------
    >>> possible_labels(["N", None, {"V"}])
    ['N', 'V']
    """
    found = list(labels)
    if _may_be_partial(found):
        sets = [x for x in found if isinstance(x, set | frozenset)]
        found = [x for x in found if not is_partial(x)]
        found.extend(chain.from_iterable(sets))
    if not found:
        raise DataError(
            "no label is known: nothing to learn from; give some tokens a label"
        )
    return found


def check_sets(lists: Sequence[Sequence[Any]], called: str, item: str) -> bool:
    """Say whether some labels are known in part; refuse empty sets of them.

    `called` and `item` name a list and an entry of it: sequence and token, say. A
    list that is alone has no number: `called` then ends with a comma.
    """
    some = False
    for i, labels in enumerate(lists):
        for t, label in enumerate(labels if _may_be_partial(labels) else ()):
            if is_partial(label):
                some = True
                if label is not None and not label:
                    where = called if called.endswith(",") else f"{called} {i},"
                    raise DataError(
                        f"{where} {item} {t}: an empty set of labels; write None "
                        "(? in a file) if any label is possible"
                    )
    return some


def check_complete(
    lists: Iterable[Iterable[Any]], where: str, item: str = "token"
) -> None:
    """Raise `DataError` if a label is known in part."""
    for i, labels in enumerate(lists):
        for t, label in enumerate(labels):
            if is_partial(label):
                raise DataError(
                    f"{where}, sequence {i}, {item} {t}: the label is {label!r}; what "
                    "is scored must be labelled completely"
                )


def wrong_labels(flat: Sequence[Any], labels: LabelCodes) -> NDArray[np.bool_]:
    """Return which labels every token does not have; none where nothing is known.

    Examples
    --------
    >>> wrong_labels(["N", None, {"N", "V"}], LabelCodes(["A", "N", "V"]))
    array([[ True, False,  True],
           [False, False, False],
           [ True, False, False]])
    """
    wrong = np.zeros((len(flat), len(labels)), bool)
    for t, label in enumerate(flat):
        if label is not None:
            some = label if is_partial(label) else (label,)
            wrong[t] = True
            wrong[t, labels.encode(some, "y")] = False
    return wrong


def agreeing(labels: Iterable[Any], others: Iterable[Label]) -> list[Label]:
    """Return labels with those of others where these agree with what is known.

    Examples
    --------
    >>> agreeing(["N", None, {"N", "V"}, {"D"}], ["V", "V", "V", "V"])
    ['N', 'V', 'V', 'D']
    """
    return [
        label if not is_partial(label) else y if not label or y in label else min(label)
        for label, y in zip(labels, others, strict=True)
    ]


def one_of_each(wrong: NDArray[np.bool_]) -> CodeArray:
    """Return the first possible label of every token."""
    return np.asarray(np.argmin(wrong, axis=1), np.int32)


def least_costs(wrong: NDArray[np.bool_], costs: FloatArray) -> FloatArray:
    """Return what every label costs, beside the possible label where it costs least.

    Examples
    --------
    >>> least_costs(np.array([[False, False, True]]), np.array(
    ...     [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [1.0, 1.0, 0.0]]))
    array([[0., 0., 2.]])
    """
    kinds, which = np.unique(wrong, axis=0, return_inverse=True)
    table = [costs[~kind].min(axis=0, initial=np.inf) for kind in kinds]
    return np.asarray(table)[which.ravel()]


def read_label(cell: str) -> Any:
    r"""Return the label that a cell of a file means: None, a set, or itself.

    Examples
    --------
    >>> read_label("?"), read_label("N"), sorted(read_label("N|V"))
    (None, 'N', ['N', 'V'])
    >>> read_label(r"\?"), read_label(r"Case=Nom\|Number=Sing")
    ('?', 'Case=Nom|Number=Sing')
    """
    if cell == UNKNOWN:
        return None
    texts, escaped = [""], False
    for character in cell:
        if not escaped and character == "\\":
            escaped = True
        elif not escaped and character == "|":
            texts.append("")
        else:
            texts[-1] += character
            escaped = False
    if escaped:  # by nothing: a backslash at the end is itself
        texts[-1] += "\\"
    return texts[0] if len(texts) == 1 else frozenset(text for text in texts if text)


def read_labels(lists: Iterable[Iterable[str]]) -> list[list[Any]]:
    """Return what the cells of sequences mean.

    Examples
    --------
    >>> read_labels([["N", "?"]])
    [['N', None]]
    """
    meaning: dict[str, Any] = {}
    for cell in {cell for cells in lists for cell in cells}:
        meaning[cell] = read_label(cell)
    return [[meaning[cell] for cell in cells] for cells in lists]
