"""How good predicted paths are, measured against sets of good ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from partwise.data.lattice import LatticePath
from partwise.errors import DataError

__all__ = ["LatticeScores", "edit_distance", "lattice_scores"]


@dataclass(frozen=True)
class LatticeScores:
    """What `lattice_scores` measures.

    Attributes
    ----------
    n_lattices : int
        How many predictions were compared.
    good_paths : float
        The share of predicted paths that are good ones.
    good_words : float or None
        The share of predictions that yield the words of a good path; None without
        words.
    word_error_rate : float or None
        Words to insert, delete or replace, for each word of the good path that needs
        the fewest; None without words.
    edge_precision, edge_recall, edge_f1 : float
        Edges in common with the good path that has the most in common.
    """

    n_lattices: int
    good_paths: float
    good_words: float | None
    word_error_rate: float | None
    edge_precision: float
    edge_recall: float
    edge_f1: float

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by name."""
        return asdict(self)


def edit_distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return how many items to insert, delete or replace.

    Examples
    --------
    >>> edit_distance("the big house".split(), "a house".split())
    2
    """
    if len(one) > len(other):
        one, other = other, one
    number: dict[Any, int] = {}
    short, long = (
        np.array([number.setdefault(word, len(number)) for word in words], np.int64)
        for words in (one, other)
    )
    steps = np.arange(long.size + 1)
    row = steps
    for a, word in enumerate(short.tolist(), 1):
        # One word fewer, or another one in its place; then any number of words more.
        row = np.append(a, np.minimum(row[1:] + 1, row[:-1] + (long != word)))
        row = np.minimum.accumulate(row - steps) + steps
    return int(row[-1])


def lattice_scores(
    good: Sequence[Sequence[LatticePath]], predicted: Sequence[LatticePath]
) -> LatticeScores:
    """Compare predicted paths with good ones.

    Parameters
    ----------
    good : sequence of sequences of LatticePath
        The good paths of every lattice, one at least.
    predicted : sequence of LatticePath
        A path for every lattice.

    Examples
    --------
    >>> good = [[LatticePath((0, 2), ("the", "house"))]]
    >>> scores = lattice_scores(good, [LatticePath((1, 2), ("a", "house"))])
    >>> scores.good_paths, scores.word_error_rate, scores.edge_f1
    (0.0, 0.5, 0.5)
    """
    if len(good) != len(predicted):
        raise DataError(f"good paths of {len(good)} lattices, but {len(predicted)}")
    if not good:
        raise DataError("there are no lattices to compare")
    same_path = same_words = errors = n_words = 0
    shared = n_right = n_found = 0
    for paths, found in zip(good, predicted, strict=True):
        same_path += found.edges in {path.edges for path in paths}
        same_words += found.words in {path.words for path in paths}
        distance, length = min(
            (edit_distance(found.words, path.words), len(path.words)) for path in paths
        )
        errors += distance
        n_words += length
        overlaps = [
            (len({*path.edges} & {*found.edges}), -len(path.edges)) for path in paths
        ]
        shared += max(overlaps)[0]
        n_right -= max(overlaps)[1]
        n_found += len(found.edges)
    total = len(good)
    has_words = n_words > 0 or any(path.words for path in predicted)
    return LatticeScores(
        total,
        same_path / total,
        same_words / total if has_words else None,
        errors / max(n_words, 1) if has_words else None,
        shared / max(n_found, 1),
        shared / max(n_right, 1),
        2 * shared / max(n_found + n_right, 1),
    )
