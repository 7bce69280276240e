"""Sequences of symbols, with their states, as codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.checks import (
    check_labelled,
    check_listed,
    check_same_length,
    label_lists,
)
from partwise.estimators.hidden_markov.symbols import symbol_lists
from partwise.estimators.labels import LabelCodes, listed
from partwise.structures.chain import Chain
from partwise.structures.hidden_markov import make_hidden_markov
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class SymbolSequences(NamedTuple):
    """Sequences end to end: sequence `i` is the positions ``ptr[i]:ptr[i + 1]``.

    Attributes
    ----------
    ptr : array of int
        Where sequences begin.
    symbols, states : array of int
        The codes of every position; no states where only symbols are known.
    hidden : array of bool or None
        False where the state is given, and only the others are to be predicted; None:
        all of them are.
    """

    ptr: IntArray
    symbols: CodeArray
    states: CodeArray
    hidden: NDArray[np.bool_] | None = None

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return self.ptr.size - 1

    def where(self, chosen: NDArray[np.bool_]) -> SymbolSequences:
        """Return some of the sequences.

        Examples
        --------
        >>> codes = np.array([0, 1, 2], np.int32)
        >>> both = SymbolSequences(np.array([0, 2, 3]), codes, codes)
        >>> both.where(np.array([False, True])).symbols.tolist()
        [2]
        """
        lengths = np.diff(self.ptr)
        kept = np.repeat(chosen, lengths)
        ptr = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype(np.int64)
        hidden = None if self.hidden is None else self.hidden[kept]
        return SymbolSequences(ptr, self.symbols[kept], self.states[kept], hidden)

    def chain(
        self, n_states: int, n_symbols: int, costs: FloatArray | None = None
    ) -> Chain:
        """Return the structure; with costs, that of training."""
        needed = costs is not None or self.hidden is not None
        return make_hidden_markov(
            self.symbols,
            self.ptr,
            self.states if needed else None,
            n_states,
            n_symbols,
            costs=costs,
            hidden=self.hidden,
        )

    def costs_of(self, found: CodeArray, costs: FloatArray) -> FloatArray:
        """Return what predicted states cost, for every sequence.

        Where the right state is one that the model does not know, all predictions are
        alike, and cost nothing.
        """
        owner = np.repeat(np.arange(self.n_sequences), np.diff(self.ptr))
        each = np.where(self.states >= 0, costs[self.states, found], 0.0)
        return np.asarray(np.bincount(owner, each, self.n_sequences), np.float64)

    def worst_loss(self, costs: FloatArray, power: int) -> float:
        """Return the sum of losses, costs to this power, if every state were wrong."""
        typical = float(costs.sum()) / max(costs.size - len(costs), 1)
        before = np.arange(self.ptr[-1] + 1)
        if self.hidden is not None:
            before = np.concatenate([[0], np.cumsum(self.hidden)])
        return float(np.sum((np.diff(before[self.ptr]) * typical) ** power))


def encode_symbols(X: Any, column: int, symbols: LabelCodes) -> SymbolSequences:
    """Encode new sequences; a symbol that is not known has the code after the last.

    Examples
    --------
    >>> encode_symbols([["a", "x"]], 0, LabelCodes(["a", "b"])).symbols.tolist()
    [0, 2]
    """
    ptr, flat = symbol_lists(X, column)
    known: Sequence[Any] = symbols.classes
    kinds = {isinstance(symbol, str) for symbol in flat}
    if kinds and kinds != {isinstance(known[0], str)}:
        raise DataError(
            "X: symbols of another kind than in training; the model knows "
            f"{listed(known, 5)}"
        )
    code_of = {symbol: code for code, symbol in enumerate(known)}
    codes = [code_of.get(symbol, len(known)) for symbol in flat]
    nothing = np.zeros(0, np.int32)
    return SymbolSequences(ptr, np.array(codes, np.int32), nothing)


def encode_hidden(hidden: Any, ptr: IntArray) -> NDArray[np.bool_] | None:
    """Return which positions are to be predicted, end to end; None for all.

    Examples
    --------
    >>> encode_hidden([[True, False], [True]], np.array([0, 2, 3]))
    array([ True, False,  True])
    """
    if hidden is None:
        return None
    check_listed(hidden, "hidden must be a list of bool for every sequence")
    lists = [np.asarray(one) for one in hidden]
    check_same_length(ptr.size - 1, len(lists), "hidden")
    for i, (one, length) in enumerate(zip(lists, np.diff(ptr), strict=True)):
        if one.shape != (length,) or (length and one.dtype != bool):
            raise DataError(
                f"hidden, sequence {i}: expected {length} values that are True or False"
            )
    mask = np.concatenate([one.astype(bool) for one in lists])
    if not mask.any():
        raise DataError("nothing is hidden: there is nothing to predict")
    return mask


def encode_known(
    sequences: SymbolSequences, known: Any, labels: LabelCodes
) -> SymbolSequences:
    """Return new sequences with the states that are known, None where they are not.

    Examples
    --------
    >>> two = encode_symbols([["a", "a"]], 0, LabelCodes(["a"]))
    >>> given = encode_known(two, [[None, "t"]], LabelCodes(["s", "t"]))
    >>> given.states.tolist(), given.hidden.tolist()
    ([0, 1], [True, False])
    """
    if known is None:
        return sequences
    check_listed(known, "known must be a list of states, or None, for every sequence")
    lists = [list(one) for one in known]
    check_same_length(sequences.n_sequences, len(lists), "known")
    for i, (one, length) in enumerate(zip(lists, np.diff(sequences.ptr), strict=True)):
        if len(one) != length:
            raise DataError(
                f"known, sequence {i}: {len(one)} states for {length} symbols; write "
                "None where a state is not known"
            )
    flat = [state for one in lists for state in one]
    hidden = np.array([state is None for state in flat], bool)
    states = np.zeros(hidden.size, np.int32)
    there = [state for state in flat if state is not None]
    states[~hidden] = labels.encode(there, "known")
    return sequences._replace(states=states, hidden=hidden)


def encode_labelled(
    X: Any, y: Any, column: int, symbols: LabelCodes, labels: LabelCodes
) -> SymbolSequences:
    """Encode development data; states that the model does not know are -1.

    Examples
    --------
    >>> states = LabelCodes(["s", "t"])
    >>> symbols = LabelCodes(["a"])
    >>> found = encode_labelled([["a", "x"]], [["t", "q"]], 0, symbols, states)
    >>> found.states.tolist()
    [1, -1]
    """
    sequences, y = encode_symbols(X, column, symbols), label_lists(y)
    check_labelled(sequences.ptr, y)
    code_of = {label: code for code, label in enumerate(labels.classes)}
    states = np.array([code_of.get(s, -1) for one in y for s in one], np.int32)
    if (states < 0).all():
        raise DataError("dev: none of its states occurs in the training data")
    return sequences._replace(states=states)
