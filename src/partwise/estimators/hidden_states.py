"""States behind labels: what tells tokens of the same label apart, and nobody writes.

A model with hidden states has labels of its own, `n` for every label that users know.
The right output is then known in part: the states of a token are those of its label,
and which of them it is is found in training.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.labels import Label, LabelCodes

NOISE = 0.5
"""How random the first weights are: equal states would stay equal for ever."""


@dataclass(frozen=True)
class HiddenStates:
    """The states behind labels, `each` of them; those of a label are side by side.

    With one state each they are the labels themselves.

    Examples
    --------
    >>> states = HiddenStates(LabelCodes(["N", "V"]), 2)
    >>> states.names
    ['N#1', 'N#2', 'V#1', 'V#2']
    >>> states.decode([0, 3])
    ['N', 'V']
    >>> states.gather(np.array([[0.1, 0.2, 0.3, 0.4]]), 1).round(1).tolist()
    [[0.3, 0.7]]
    """

    labels: LabelCodes
    each: int = 1

    def __len__(self) -> int:
        """Return how many states there are."""
        return len(self.labels) * self.each

    @cached_property
    def classes(self) -> list[Label]:
        """The label of every state."""
        return [label for label in self.labels.classes for _ in range(self.each)]

    @cached_property
    def label(self) -> NDArray[np.int32]:
        """The code of the label of every state."""
        return np.repeat(np.arange(len(self.labels), dtype=np.int32), self.each)

    @property
    def first(self) -> NDArray[np.int32]:
        """The code of the first state of every label."""
        return np.arange(0, len(self), self.each, dtype=np.int32)

    @property
    def names(self) -> list[Label]:
        """What states are called: by their labels, with a number if there are more."""
        if self.each == 1:
            return self.labels.classes
        return [f"{a}#{s + 1}" for a in self.labels.classes for s in range(self.each)]

    def of(self, label: Label, where: str) -> list[int]:
        """Return the states of a label; `where` is for the error message."""
        first = self.labels.code(label, where) * self.each
        return list(range(first, first + self.each))

    def decode(self, codes: Iterable[int]) -> list[Label]:
        """Return the labels of states."""
        if self.each == 1:
            return self.labels.decode(codes)
        return self.labels.decode(code // self.each for code in codes)

    def spread(self, table: Any, *axes: int) -> Any:
        """Return a table of labels, if there is one, as one of states."""
        if table is None or self.each == 1:
            return table
        for axis in axes:
            table = np.repeat(table, self.each, axis)
        return table

    def gather(self, shares: NDArray[np.float64], *axes: int) -> NDArray[np.float64]:
        """Return probabilities of states as those of labels, along these axes."""
        if self.each == 1:
            return shares
        for axis in axes:
            shares = np.add.reduceat(shares, self.first, axis)
        return shares
