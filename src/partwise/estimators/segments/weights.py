"""Names for the weights of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.estimators.explanation import RowWeights, name_transition
from partwise.estimators.labels import Label
from partwise.structures.interface import IntArray

ROLES = ("", "first ", "last ")
"""What a feature is called of any token of a segment, of its first and of its last."""


@dataclass(frozen=True)
class SegmentWeights(RowWeights):
    """Names for the weights of tokens in segments, of whole segments and of lengths."""

    whole: Sequence[str]
    limits: IntArray
    lengths: bool
    start: bool

    @property
    def _tokens(self) -> RowWeights:
        """The weights of tokens: a label is one in a role."""
        classes = [*range(len(ROLES) * len(self.classes))]
        return RowWeights(self.names, classes, self.pairs, vectors=self.vectors)

    @property
    def size(self) -> int:
        """How many weights there are, without those of transitions."""
        of_lengths = int(self.limits.sum()) if self.lengths else 0
        return self._tokens.size + len(self.whole) * len(self.classes) + of_lengths

    def _split(self, index: Any) -> tuple[Any, Any]:
        """Return numbers of names and of labels.

        Names are those of tokens in each role, of whole segments, and lengths.
        """
        K, tokens = len(self.classes), self._tokens
        of_whole = tokens.size + len(self.whole) * K
        label = np.zeros(index.size, np.int64)
        name = np.zeros(index.size, np.int64)
        a, b = index < tokens.size, index >= of_whole
        attribute, roled = tokens._split(index[a])
        name[a], label[a] = attribute * len(ROLES) + roled // K, roled % K
        known, label[~a & ~b] = np.divmod(index[~a & ~b] - tokens.size, K)
        first = self._n_roled
        name[~a & ~b] = first + known
        ends = np.cumsum(self.limits)
        label[b] = np.searchsorted(ends, index[b] - of_whole, side="right")
        length = index[b] - of_whole - ends[label[b]] + self.limits[label[b]]
        name[b] = first + len(self.whole) + length
        return name, label

    @property
    def _n_roled(self) -> int:
        """How many names features of tokens have, in all roles."""
        return (len(self.names) + len(self.vectors)) * len(ROLES)

    def name(self, index: int) -> tuple[str, Label]:
        """Return feature and label of a weight."""
        if index >= self.size:
            return name_transition(self.classes, index - self.size, self.start)
        names, labels = self._split(np.array([index]))
        name, label = int(names[0]), self.classes[int(labels[0])]
        attribute, role = divmod(name, len(ROLES))
        if attribute < len(self.names):
            return f"{ROLES[role]}{self.names[attribute]}", label
        if name < self._n_roled:
            return f"{ROLES[role]}{self.vectors[attribute - len(self.names)]}", label
        name -= self._n_roled
        if name < len(self.whole):
            return self.whole[name], label
        return f"length={name - len(self.whole) + 1}", label
