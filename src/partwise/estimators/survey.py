"""What shards of a corpus have to agree on before any of them can be encoded.

Each shard is surveyed where it lies; surveys of shards that follow each other are
merged. As names get their numbers in the order in which they come first, they get those
that they would have had in one piece.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from partwise.errors import DataError
from partwise.estimators.labels import Label
from partwise.features.csr import Encoded, Key, KeyCounts


@dataclass
class Survey:
    """What is known of some examples.

    Attributes
    ----------
    n_examples : int
        How many there are.
    labels : dict
        How often each label occurs.
    nodes, edges : dict
        How many tokens, and transitions, have each feature; by name.
    form : object
        What must be the same in all shards, such as the number of columns.
    source : object
        An encoder that has learnt nothing yet, if one is needed.
    n_rows, squares : int, float
        How many rows of numbers there are, and the sum of their squared lengths.
    """

    n_examples: int
    labels: dict[Label, int] = field(default_factory=dict)
    nodes: KeyCounts = field(default_factory=dict)
    edges: KeyCounts = field(default_factory=dict)
    form: Any = None
    source: Any = None
    n_rows: int = 0
    squares: float = 0.0

    @property
    def row_size(self) -> float | None:
        """The mean squared length of rows of numbers; None without any."""
        return self.squares / self.n_rows if self.n_rows else None

    def count_rows(self, n_rows: int, row_size: float) -> None:
        """Count rows of numbers, of a mean squared length."""
        self.n_rows, self.squares = n_rows, n_rows * row_size

    def count_labels(self, labels: Any) -> None:
        """Count labels."""
        for label in labels:
            self.labels[label] = self.labels.get(label, 0) + 1

    def count_features(self, encoder: Any, encoded: Encoded) -> None:
        """Count the features that an encoder has just learnt."""
        self.nodes, self.edges = encoder.key_counts(encoded)

    def go_on_with(self, other: Survey) -> None:
        """Add the survey of examples that come after these."""
        if self.form != other.form:
            raise DataError(
                f"shards are not alike: some have {self.form}, others {other.form}; "
                "give all of them the same kind of examples, with labels"
            )
        self.n_examples += other.n_examples
        _add(self.labels, other.labels)
        _add(self.nodes, other.nodes)
        _add(self.edges, other.edges)
        self.n_rows += other.n_rows
        self.squares += other.squares


def merge(first: Survey, second: Survey) -> Survey:
    """Return the survey of two runs of examples, one after the other.

    Examples
    --------
    >>> merge(Survey(1, {"N": 2}), Survey(2, {"V": 1, "N": 1})).labels
    {'N': 3, 'V': 1}
    """
    both = replace(
        first,
        labels=dict(first.labels),
        nodes=dict(first.nodes),
        edges=dict(first.edges),
    )
    both.go_on_with(second)
    return both


def _add(total: dict[Any, int], more: dict[Any, int]) -> None:
    for key, count in more.items():
        total[key] = total.get(key, 0) + count


def frequent(counts: KeyCounts, min_count: int) -> list[Key]:
    """Return the names that occur often enough, in order."""
    return [key for key, count in counts.items() if count >= min_count]
