"""What an encoder has read, and can go on from.

An encoder that learns on reads only what is new: rows that it has read before are kept
as ids. One that starts from what another has learnt keeps that one's attributes, with
the same numbers, whether or not they occur again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.array_features import ArrayFeatures
from partwise.features.csr import Key
from partwise.features.feature_rows import FeatureRows
from partwise.features.vocabulary import Vocabulary, growing_vocabulary

Scan = Callable[[Any, FeatureRows, FeatureRows, tuple[str, ...]], NDArray[np.int64]]


class Reading(NamedTuple):
    """Rows with vocabularies that grow, and what they started from.

    Attributes
    ----------
    nodes, edges : FeatureRows
        The rows of tokens and of transitions.
    names : tuple of str
        The features of transitions.
    known : tuple of int
        How many attributes of tokens and of transitions stay, however rare they are.
    ptr : array
        Where examples begin and end.
    """

    nodes: FeatureRows
    edges: FeatureRows
    names: tuple[str, ...]
    known: tuple[int, int] = (0, 0)
    ptr: NDArray[np.int64] = np.zeros(1, np.int64)

    def read(self, scan: Scan, data: Iterable[Any]) -> Reading:
        """Read the examples that come after those that were read before."""
        n_read = self.ptr.size - 1
        if n_read:
            data = list(islice(data, n_read, None))
        ptr = scan(data, self.nodes, self.edges, self.names)
        if n_read:
            ptr = np.concatenate([self.ptr, self.ptr[-1] + ptr[1:]])
        return self._replace(ptr=ptr)


def make_reading(
    names: tuple[str, ...],
    arrays: ArrayFeatures | None,
    nodes: Iterable[Key] = (),
    edges: Iterable[Key] = (),
) -> Reading:
    """Return what nothing was read into, with these attributes known already."""
    vocabularies = known_vocabulary(nodes), known_vocabulary(edges)
    known = vocabularies[0].n_attributes, vocabularies[1].n_attributes
    rows = FeatureRows(vocabularies[0], arrays=arrays), FeatureRows(vocabularies[1])
    return Reading(*rows, names, known)


def known_vocabulary(keys: Iterable[Key]) -> Vocabulary:
    """Return a growing vocabulary that has these attributes, by id.

    Examples
    --------
    >>> vocabulary = known_vocabulary([("word", "a"), ("bias", None)])
    >>> vocabulary.plain["bias"], vocabulary.valued["word"]["b"]
    (1, 2)
    """
    vocabulary = growing_vocabulary()
    for name, value in keys:
        values: Any = vocabulary.plain if value is None else vocabulary.valued[name]
        values[name if value is None else value]
    return vocabulary
