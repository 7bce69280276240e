"""Reading tokens, in all the forms they may take, into sparse rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, chain, islice
from math import isfinite
from operator import countOf, getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._work import steps, tell
from partwise.errors import DataError
from partwise.features.array_features import ArrayFeatures, BadArray
from partwise.features.byte_lookup import ByteLookup
from partwise.features.csr import AttributeRows, tidy_rows
from partwise.features.vocabulary import BadName, Vocabulary

Token = Mapping[str, Any] | Iterable[str]

MOST_OF_FEW = 256
"""Tokens of which lists are made; there is another way for more."""

MOST_NAMES = 256
"""Tuples of names that are kept."""

_NUMBERS = (int, float, np.integer, np.floating)


ENCODING = "encoding"


class _BadFeature(Exception):
    """A feature that cannot be encoded; its place is added further out."""


class FeatureRows:
    """Rows under construction: ids in compact arrays, never lists of objects."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        lookup: ByteLookup | None = None,
        arrays: ArrayFeatures | None = None,
        names_of: TokenNames | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.arrays = arrays
        self._lookup = lookup
        self._names_of = names_of
        self._ptr = array("q", [0])
        self._idx = array("i")
        # Nearly all values are one, so only the others are noted.
        self._other_at = array("q")
        self._other_value = array("d")
        # Attributes are known, and occur once a row: a dict has no name twice.
        self._are_tidy = vocabulary.is_growing

    def add_token(self, token: Token) -> None:
        """Add a token to the current row, whatever form it has."""
        if isinstance(token, Mapping):
            self.add_features(token)
        elif isinstance(token, Iterable) and not isinstance(token, (str, bytes)):
            self.add_strings(token)
        else:
            raise _BadFeature(
                "features must be a dict or a list of strings, not"
                f" {_kind(token)} (wrap a single feature in a list: [{token!r}])"
            )

    def add_features(self, features: Mapping[str, Any]) -> None:
        """Add a feature dict; this loop is where encoding spends its time."""
        plain, valued = self.vocabulary
        append = self._idx.append
        try:
            for name, value in features.items():
                kind = value.__class__
                if kind is str:
                    append(valued[name][value])
                elif kind is bool and name.__class__ is str:
                    if value:
                        append(plain[name])
                elif kind is float and name.__class__ is str and isfinite(value):
                    if value != 0.0:
                        if value != 1.0:
                            self._note_value(value)
                        append(plain[name])
                else:
                    self._add_other(name, value)
        except BadName as error:
            name = error.args[0]
            raise _BadFeature(
                f"feature name {name!r} is {_kind(name)}, not a string (use str(name))"
            ) from None

    def _add_other(self, name: str, value: Any) -> None:
        try:
            self._add_any(name, value)
        except RecursionError:
            raise _BadFeature(
                f"feature {name[:40]!r} is a dict of dicts of dicts, too many inside "
                "each other (a few levels are plenty)"
            ) from None

    def _add_any(self, name: str, value: Any) -> None:
        plain, valued = self.vocabulary
        if not isinstance(name, str):
            raise BadName(name)
        name = str(name)  # NumPy's strings and other subclasses are not kept
        if value is None:
            return
        if isinstance(value, str):
            self._idx.append(valued[name][str(value)])
        elif isinstance(value, (bool, np.bool_)):
            if value:
                self._idx.append(plain[name])
        elif isinstance(value, _NUMBERS):
            self._add_number(name, value)
        elif isinstance(value, Mapping):
            self._are_tidy = False  # the names may occur outside as well
            for inner, inner_value in value.items():
                if not isinstance(inner, str):
                    raise BadName(inner)
                self.add_features({f"{name}:{inner}": inner_value})
        elif isinstance(value, (list, tuple, set, frozenset)):
            self._are_tidy = False
            values = valued[name]
            self._idx.extend(values[item] for item in _strings(value, name))
        elif self.arrays is not None and isinstance(value, np.ndarray) and value.ndim:
            try:
                self.arrays.add(name, self.n_rows, value)
            except BadArray as error:
                raise _BadFeature(f"feature {name!r} {error}") from None
        else:
            raise _BadFeature(
                f"feature {name!r} is {_kind(value)} (use a string, number, bool,"
                " None, a dict of these or a list of strings)"
            )

    def _add_number(self, name: str, value: Any) -> None:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise _BadFeature(
                f"feature {name!r} has the value {value} (replace it by a finite"
                " number, or by None where it is missing)"
            )
        if number == 0.0:
            return
        if number != 1.0:
            self._note_value(number)
        self._idx.append(self.vocabulary.plain[name])

    def _note_value(self, number: float) -> None:
        """Note the value of the attribute that is added next."""
        self._other_at.append(len(self._idx))
        self._other_value.append(number)

    def add_strings(self, strings: Iterable[str]) -> None:
        """Add strings that are attributes themselves."""
        self._are_tidy = False
        plain = self.vocabulary.plain
        self._idx.extend(plain[string] for string in _strings(strings))

    def end_row(self) -> None:
        """Finish the current row and begin the next."""
        self._ptr.append(len(self._idx))

    @property
    def n_rows(self) -> int:
        """How many rows are finished."""
        return len(self._ptr) - 1

    def add_plain_rows(self, tokens: list[Any]) -> int:
        """Add rows of plain feature dicts quickly; return how many.

        That is all, or as many as come before something that is slower to read.
        """
        before = self.n_rows
        if self._lookup is not None:
            for ends, ids in self._lookup.ids_of(tokens):
                self._ptr.frombytes((ends + len(self._idx)).tobytes())
                self._idx.frombytes(ids.tobytes())
                tell(ENCODING, (self.n_rows - before) / len(tokens))
        if self._names_of is not None and self.n_rows == 0:
            if few := ids_of_few(self._names_of, tokens):
                self._ptr.extend(accumulate(map(len, tokens)))
                self._idx.extend(few)
        return self.n_rows - before

    def keep_rows(self, n: int) -> None:
        """Forget all rows after the first `n`, which must be plain."""
        del self._ptr[n + 1 :]
        del self._idx[self._ptr[n] :]

    def finish(self, n_columns: int, go_on: bool = False) -> AttributeRows:
        """Return all rows; others can be added after that only with `go_on`."""
        # What is returned may be changed; with `go_on`, it is not what is kept.
        ptr = np.array(self._ptr) if go_on else np.frombuffer(self._ptr, np.int64)
        idx = np.empty(0, np.int32)
        if self._idx:
            idx = np.array(self._idx) if go_on else np.frombuffer(self._idx, np.int32)
        val = np.empty(0)
        if self._other_at:
            val = np.ones(idx.size)
            val[np.array(self._other_at)] = self._other_value
        if self._are_tidy:
            return AttributeRows(ptr, idx, val, n_columns)
        return tidy_rows(ptr, idx, val, n_columns)


def ids_of_few(names_of: TokenNames, tokens: list[Any]) -> list[int]:
    """Return the ids of a sentence or so of dicts, if these are all of one kind.

    That is, if all values are strings, or all are one; for others, nothing. Each step
    is a single call for all features, which takes half the time of a loop over them.

    Examples
    --------
    >>> from partwise.features.vocabulary import joined_vocabulary
    >>> known = TokenNames(joined_vocabulary(["bias", "word:Paris"]))
    >>> ids_of_few(known, [{"bias": 1.0}, {"bias": True, "x": 1}])
    [0, 0, -1]
    >>> ids_of_few(known, [{"word": "Paris"}]), ids_of_few(known, [{"bias": 2.0}])
    ([1], [])
    """
    if len(tokens) > MOST_OF_FEW or countOf(map(type, tokens), dict) < len(tokens):
        return []
    values = list(chain.from_iterable(map(dict.values, tokens)))
    kinds = set(map(type, values))
    if kinds == {str}:
        try:
            by_token = map(names_of.__getitem__, map(tuple, tokens))
            return list(map(getitem, chain.from_iterable(by_token), values))
        except BadName:
            return []
    if kinds <= {float, bool, int} and values.count(1.0) == len(values):
        names = list(chain.from_iterable(tokens))
        if countOf(map(type, names), str) == len(names):
            return list(map(names_of.plain.__getitem__, names))
    return []


class TokenNames(dict[tuple[str, ...], list[dict[str, int]]]):
    """The names of a token -> where their values are looked up, name by name.

    Tokens are mostly made by one piece of code, so that the same names come again.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.plain, self._valued = vocabulary

    def __missing__(self, names: tuple[str, ...]) -> list[dict[str, int]]:
        """Look the names up, which must be strings."""
        if countOf(map(type, names), str) < len(names):
            raise BadName(names)
        if len(self) >= MOST_NAMES:
            self.clear()
        found = self[names] = [self._valued[name] for name in names]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave what was found out of copies and pickles."""
        return TokenNames, (Vocabulary(self.plain, self._valued),)


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"


def _strings(items: Iterable[Any], feature: str = "") -> Iterable[str]:
    """Yield strings, in an order that is the same in every process."""
    if isinstance(items, (set, frozenset)):
        # The order of a set of strings changes from process to process.
        items = sorted(items, key=str)
    for item in items:
        if item.__class__ is str:
            yield item
        elif isinstance(item, str):
            yield str(item)
        else:
            where = f"feature {feature!r} lists" if feature else "the features list"
            raise _BadFeature(
                f"{where} {item!r}, {_kind(item)} (only strings can be listed;"
                " give a number as {name: number})"
            )


def scan_sequences(
    sequences: Iterable[Iterable[Token]],
    nodes: FeatureRows,
    edges: FeatureRows,
    transition_features: tuple[str, ...],
) -> NDArray[np.int64]:
    """Read sequences into rows; return where each begins and ends, in tokens."""
    _refuse_text(sequences, "X", "a list of sequences of tokens")
    ptr = array("q", [0])
    if not transition_features and isinstance(sequences, (list, tuple)):
        _scan_plain(sequences, nodes, ptr)
    n_read, n_tokens = len(ptr) - 1, ptr[-1]
    s = t = 0
    try:
        rest = islice(steps(sequences, ENCODING), n_read, None)
        for s, sequence in enumerate(rest, n_read):
            _refuse_text(sequence, f"sequence {s}", "a list of tokens")
            t = -1
            for t, token in enumerate(sequence):
                if token.__class__ is dict:  # nearly always; the rest is slower
                    nodes.add_features(token)
                else:
                    token = _reusable(token)
                    nodes.add_token(token)
                nodes.end_row()
                if transition_features:
                    if t > 0:
                        edges.add_token(_choose(token, transition_features))
                    edges.end_row()
            n_tokens += t + 1
            ptr.append(n_tokens)
    except _BadFeature as problem:
        where = f"sequence {s}, token {t}"
        raise DataError(str(problem), where=where, example=s, part=t) from None
    return np.frombuffer(ptr, np.int64)


def _scan_plain(sequences: Iterable[Any], nodes: FeatureRows, ptr: array[int]) -> None:
    """Read sequences as long as all of their tokens are plain feature dicts."""
    if not set(map(type, sequences)) <= {list, tuple}:
        return
    n_plain = nodes.add_plain_rows(list(chain.from_iterable(sequences)))
    if n_plain == 0:
        return
    for sequence in sequences:
        if ptr[-1] + len(sequence) > n_plain:
            break
        ptr.append(ptr[-1] + len(sequence))
    nodes.keep_rows(ptr[-1])


def scan_rows(
    rows: Iterable[Token],
    nodes: FeatureRows,
    edges: FeatureRows,
    transition_features: tuple[str, ...],
) -> NDArray[np.int64]:
    """Read one-token examples into rows; there are no transitions."""
    _refuse_text(rows, "X", "a list of tokens")
    n_rows = 0
    if not transition_features and isinstance(rows, (list, tuple)):
        n_rows = nodes.add_plain_rows(list(rows))
    try:
        for row in islice(steps(rows, ENCODING), n_rows, None):
            nodes.add_token(row)
            nodes.end_row()
            if transition_features:
                edges.end_row()
            n_rows += 1
    except _BadFeature as problem:
        raise DataError(str(problem), example=n_rows) from None
    return np.arange(n_rows + 1, dtype=np.int64)


def _refuse_text(value: object, what: str, expected: str) -> None:
    """Refuse what would iterate over its characters or its keys."""
    if value.__class__ is list:
        return
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise DataError(
            f"{what} must be {expected}, not {_kind(value)}"
            " (wrap it in a list if it is the only one)"
        )


def _reusable(token: Any) -> Any:
    """Return a token that can be read twice, as a generator cannot."""
    return list(token) if isinstance(token, Iterator) else token


def _choose(token: Any, names: tuple[str, ...]) -> Token:
    if isinstance(token, Mapping):
        return {name: token[name] for name in names if name in token}
    return [string for string in _strings(token) if string in names]
