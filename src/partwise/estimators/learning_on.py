"""Learning on: more examples for a model that has learnt from some.

All examples are kept, so that the objective, and its certificate, are those of
everything seen so far. The solver goes on from the dual variables it has; those of new
examples start where they are feasible.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from partwise.errors import DataError
from partwise.estimators.given_vectors import split_pair

NOTHING_KEPT = (
    "the examples of `fit` are not kept, so this model starts anew with these: to "
    "learn on from them, set warm_start=True before `fit`, or begin with `partial_fit`"
    "; to go on from the weights alone, set forget=True"
)


class Seen(NamedTuple):
    """The examples that a model has learnt from, as `fit` was given them."""

    X: Any
    y: Any
    sample_weight: Any
    options: dict[str, Any]

    def begins_with(self, before: Seen) -> bool:
        """Say whether the first of these examples are the ones of before."""
        n = count_of(before.X)
        if type(self.X) is not type(before.X) or count_of(self.X) < n:
            return False
        now = (*split_pair(self.X), self.y)
        then = (*split_pair(before.X), before.y)
        return all(
            new is old is None or (new is not None and _same(new[:n], old))
            for new, old in zip(now, then, strict=True)
        )

    def joined(self, new: Seen, owner: str) -> Seen:
        """Return these examples and new ones, for an estimator of class `owner`."""
        (X, vectors), (more, more_vectors) = split_pair(self.X), split_pair(new.X)
        before, after = kind_of(X), kind_of(more)
        if before != after and None not in (before, after):
            raise DataError(
                f"the examples seen so far are {before}, these are {after}; give the "
                "same kind, or fit a new model"
            )
        _check_width(X, more, owner)
        options = {
            name: _join_option(name, self.options.get(name), new.options.get(name))
            for name in {**self.options, **new.options}
        }
        X, vectors = _join(X, more, "X"), _join(vectors, more_vectors, "a matrix")
        return Seen(
            X if vectors is None else (X, vectors),
            _join(self.y, new.y, "y"),
            _join_weights(self, new),
            options,
        )


def as_seen(X: Any, y: Any, sample_weight: Any, options: Mapping[str, Any]) -> Seen:
    """Hold examples so that they can be read again."""
    return Seen(_listed(X), _listed(y), sample_weight, dict(options))


def kind_of(X: Any) -> str | None:
    """Say what features are given as: those of the first example; None without any.

    Examples
    --------
    >>> kind_of([[{"word": "a"}]]), kind_of([["a", "b"]]), kind_of([[0.5, 1.0]])
    ('dicts', 'strings', 'numbers')
    """
    first: Any = X
    while True:
        if isinstance(first, Mapping):
            return "dicts"
        if isinstance(first, str | bytes):
            return "strings"
        if isinstance(first, int | float | np.number) or hasattr(first, "toarray"):
            return "numbers"
        if isinstance(first, np.ndarray) and first.dtype.kind in "fiub":
            return "numbers"
        if hasattr(first, "_fields") or not isinstance(first, Iterable):
            return type(first).__name__
        following = next(iter(first), None)
        if following is None:
            return None
        first = following


def _listed(values: Any) -> Any:
    """Hold what can be read only once."""
    if values is None or hasattr(values, "__len__") or hasattr(values, "shape"):
        return copy.copy(values)  # lists grow; these must not
    return list(values)


def _same(one: Any, other: Any) -> bool:
    """Compare examples, of whatever they consist."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if hasattr(one, "toarray"):
        return one.shape == other.shape and not (one != other).nnz
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    return bool(one == other)


def _join(before: Any, after: Any, name: str) -> Any:
    if before is None and after is None:
        return None
    if before is None or after is None:
        raise DataError(f"{name} was given for some examples, but not for others")
    if hasattr(before, "toarray"):
        import scipy.sparse

        return scipy.sparse.vstack([before, after], format="csr")
    if hasattr(before, "iloc"):
        import pandas as pd

        return pd.concat([before, after], ignore_index=True)
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return np.concatenate([before, after])
    if hasattr(before, "from_sentences"):
        return type(before).from_sentences([*before, *after])
    return [*before, *after]


def _check_width(before: Any, after: Any, owner: str) -> None:
    """Refuse matrices with other columns."""
    expected, found = _width(before), _width(after)
    if None not in (expected, found) and expected != found:
        raise DataError(
            f"X has {found} features, but {owner} is expecting {expected} "
            "features as input, as in the examples seen so far"
        )


def _width(X: Any) -> int | None:
    """Return how many columns a matrix has, or a list of rows; None for the rest."""
    if hasattr(X, "shape"):
        return int(X.shape[1]) if len(X.shape) == 2 else None
    row = next(iter(X), None)
    if not isinstance(row, list | tuple) or not row:
        return None
    return len(row) if isinstance(row[0], int | float | np.number) else None


def _join_option(name: str, before: Any, after: Any) -> Any:
    """Join what is given per example; take the newest of the rest."""
    if name.startswith("dev") or callable(after) or callable(before):
        return after
    return _join(before, after, name)


def _join_weights(before: Seen, after: Seen) -> Any:
    if before.sample_weight is None and after.sample_weight is None:
        return None
    return np.concatenate(
        [
            np.ones(count_of(one.X))
            if one.sample_weight is None
            else np.asarray(one.sample_weight, np.float64)
            for one in (before, after)
        ]
    )


def count_of(X: Any) -> int:
    """Return how many examples there are."""
    X, _ = split_pair(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
