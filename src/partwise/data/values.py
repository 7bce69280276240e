"""Numbers and sequences as the feature formats write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

from partwise.errors import DataError

FeatureSequences: TypeAlias = list[list[dict[str, float]]]
LabelSequences: TypeAlias = list[list[str]]


def parse_value(text: str, name: str) -> float:
    """Return the finite number that a text stands for.

    Parameters
    ----------
    text : str
        The number.
    name : str
        Whose value it is, for the message.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> parse_value("2.5", "length")
    2.5
    """
    try:
        value = float(text)
    except ValueError:
        raise DataError(
            f'the value of "{name}" must be a number, found "{text}"'
        ) from None
    return check_finite(value, name)


def check_finite(value: float, name: str) -> float:
    """Return a value, or raise `DataError` if it is NaN or infinite.

    Examples
    --------
    >>> check_finite(1.5, "length")
    1.5
    """
    if not math.isfinite(value):
        raise DataError(
            f'the value of "{name}" is {value} '
            "(leave the feature out, or give it a finite value)"
        )
    return value


def flatten(token: Any, place: str) -> Iterator[tuple[str, float]]:
    """Yield a token's features as names with numbers.

    Text becomes part of the name (``word=Paris``), nested names are joined with
    a colon, and false or missing features are left out.

    Parameters
    ----------
    token : mapping or iterable of str
        A feature dict, or names that are all worth 1.
    place : str
        Where the token stands, for the message.

    Yields
    ------
    name : str
        The feature.
    value : float
        Its value, finite.

    Examples
    --------
    >>> list(flatten({"word": "Paris", "next": {"title": True}, "len": 5}, "here"))
    [('word=Paris', 1.0), ('next:title', 1.0), ('len', 5.0)]
    >>> list(flatten(["bias", "title"], "here"))
    [('bias', 1.0), ('title', 1.0)]
    """
    if isinstance(token, Mapping):
        for name, value in token.items():
            yield from _flatten_item(str(name), value, place)
    elif isinstance(token, Iterable) and not isinstance(token, str):
        yield from ((str(name), 1.0) for name in token)
    else:
        raise TypeError(
            f"{place}: a token must be a dict of features or a list of strings, "
            f"not {token!r}"
        )


def _flatten_item(name: str, value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, str):
        yield f"{name}={value}", 1.0
    elif value is None or value is False:
        return
    elif isinstance(value, Mapping):
        for inner, inner_value in value.items():
            yield from _flatten_item(f"{name}:{inner}", inner_value, place)
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"{name}={each}", 1.0) for each in value)
    elif isinstance(value, Real) or hasattr(value, "__float__"):
        yield name, check_finite(float(value), name)
    else:
        raise TypeError(
            f'{place}: the value of "{name}" must be text, a number or a bool, '
            f"not {type(value).__name__}"
        )


def paired(
    X: Iterable[Sequence[Any]], y: Iterable[Sequence[Any]] | None
) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
    """Yield ``(i, tokens, labels)`` for sequences that can be written.

    Without `y` the labels are None.

    Examples
    --------
    >>> list(paired([["a"]], [["X"]]))
    [(0, ['a'], ['X'])]
    """
    labels_of = None if y is None else iter(y)
    n = 0
    for i, tokens in enumerate(X):
        n += 1
        if not len(tokens):
            raise DataError(
                "it has no tokens, which the format cannot express (leave it out)",
                where=f"sequence {i}",
                example=i,
            )
        labels: Sequence[Any] | None = [None] * len(tokens)
        if labels_of is not None:
            labels = next(labels_of, None)
        if labels is None:
            raise DataError(f"X has more sequences than y, which has {i}")
        if len(tokens) != len(labels):
            raise DataError(
                f"it has {len(tokens)} tokens, but {len(labels)} labels",
                where=f"sequence {i}",
                example=i,
            )
        yield i, tokens, labels
    if labels_of is not None and next(labels_of, None) is not None:
        raise DataError(f"y has more sequences than X, which has {n}")
