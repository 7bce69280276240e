"""Checks of what methods are given, and the labels allowed per token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.labels import Label, LabelCodes
from partwise.structures.interface import FloatArray, IntArray

MOST_BEST = 100_000


def check_k(k: Any) -> None:
    """Raise `ValueError` unless `k` is a sensible number of best outputs."""
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= MOST_BEST:
        raise ValueError(f"k must be an integer from 1 to {MOST_BEST:,}, not {k!r}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise `ValueError` unless an argument is one of some names."""
    known = tuple(choices)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def check_listed(
    given: Any,
    wanted: str,
    hint: str = "",
    *,
    no: tuple[type, ...] = (),
    show: bool = False,
) -> None:
    """Raise `DataError` for a single item where a collection is needed.

    Strings are single items, and so are objects of the types `no`. The message is
    `wanted`, what was given (its type, or with `show` itself), and the `hint`.

    Examples
    --------
    >>> check_listed("a b", "y must be a list of labels")
    Traceback (most recent call last):
        ...
    partwise.errors.DataError: y must be a list of labels, not str
    """
    if isinstance(given, (str, bytes, *no)) or not isinstance(given, Iterable):
        found = repr(given) if show else type(given).__name__
        raise DataError(f"{wanted}, not {found}{hint}")


def peek(X: Iterable[Any]) -> tuple[Any, Iterator[Any]]:
    """Return the first item that is not empty, and all of them, unconsumed.

    Examples
    --------
    >>> first, whole = peek(iter([[], ["a"], ["b"]]))
    >>> first, list(whole)
    (['a'], [[], ['a'], ['b']])
    """
    looked_at: list[Any] = [None]
    rest = iter(X)
    for item in rest:
        looked_at.append(item)
        if not hasattr(item, "__len__") or len(item):
            break
    return looked_at[-1], chain(looked_at[1:], rest)


def check_same_length(n_inputs: int, n_others: int, what: str = "y") -> None:
    """Raise `DataError` unless there is something for every input."""
    if n_inputs != n_others:
        raise DataError(f"X has {n_inputs} examples, but {what} has {n_others}")


def label_lists(y: Any) -> list[list[Label]]:
    """Return labels as lists; a string is a label, not a sequence of them."""
    check_listed(y, "y must be a list of sequences of labels")
    result = []
    for i, labels in enumerate(y):
        hint = " (give one label for every token)"
        wanted = f"y, sequence {i}: expected a list of labels"
        check_listed(labels, wanted, hint, show=True)
        result.append(list(labels))
    return result


def as_pair(dev: Any) -> tuple[Any, Any]:
    """Return development data as ``(X, y)``; raise `DataError` for anything else."""
    if not isinstance(dev, list | tuple) or len(dev) != 2:
        raise DataError("dev must be a pair of inputs and labels: dev=(X, y)")
    X, y = dev
    return X, y


def check_labelled(ptr: IntArray, y: list[list[Label]]) -> None:
    """Raise `DataError` unless every token has a label."""
    check_same_length(ptr.size - 1, len(y))
    if not y:
        raise DataError("there are no sequences: X and y are empty")
    for i, (length, labels) in enumerate(zip(np.diff(ptr), y, strict=True)):
        if length != len(labels):
            raise DataError(
                f"sequence {i} has {length} tokens, but {len(labels)} labels"
            )
    if not ptr[-1]:
        raise DataError("all sequences are empty: there is nothing to learn from")


def check_no_labels(y: Any) -> None:
    """Raise `DataError` for labels beside an encoded corpus."""
    if y is not None:
        raise DataError("an encoded corpus has its labels; leave y out")


def check_no_weights(sample_weight: Any) -> None:
    """Raise `DataError` for sample weights of a corpus that is encoded."""
    if sample_weight is not None:
        raise DataError("a folder holds no sample weights; give sample_weight to fit")


def check_possible(scores: FloatArray, stuck: Callable[[int], int]) -> None:
    """Raise `DataError` if some sequence has no legal labels, or scores overflow.

    `scores` holds a score of every sequence: -inf where nothing is legal; then `stuck`
    says of a sequence up to which token that is so.
    """
    bad = np.flatnonzero(~np.isfinite(scores))
    if bad.size:
        i = int(bad[0])
        raise DataError(
            f"sequence {i}: constraints, and what is allowed or known, leave no legal "
            f"labels up to token {stuck(i)}; loosen them"
            if np.isneginf(scores[i])
            else f"sequence {i}: its score overflows; scale the features"
        )


def forbidden_labels(
    ptr: IntArray, allowed: Any, labels: LabelCodes
) -> NDArray[np.bool_] | None:
    """Turn the labels allowed per token into a mask of the forbidden ones."""
    if allowed is None:
        return None
    allowed = list(allowed)
    check_same_length(ptr.size - 1, len(allowed), "allowed")
    mask = np.zeros((int(ptr[-1]), len(labels)), bool)
    for i, choices in enumerate(allowed):
        first, last = int(ptr[i]), int(ptr[i + 1])
        if choices is None:
            continue
        if len(choices) != last - first:
            raise DataError(
                f"allowed, sequence {i}: {len(choices)} entries for "
                f"{last - first} tokens"
            )
        for t, some in enumerate(choices):
            if some is not None:
                where = f"allowed, sequence {i}, token {t}"
                if not some:
                    raise DataError(f"{where}: no label at all; write None for any")
                mask[first + t] = True
                mask[first + t, [labels.code(x, where) for x in some]] = False
    return mask
