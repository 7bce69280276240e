"""What an encoder has read, and can go on from.

An encoder that learns on reads only what is new: rows that it has read before are kept
as ids. One that learns beyond another keeps that one's attributes, with the same
numbers, whether or not they occur again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.features.array_features import ArrayFeatures
from partwise.features.csr import Encoded, Key, no_attributes
from partwise.features.feature_rows import FeatureRows
from partwise.features.vocabulary import Vocabulary, growing_vocabulary

Scan = Callable[[Any, FeatureRows, FeatureRows, tuple[str, ...]], NDArray[np.int64]]


class Reading(NamedTuple):
    """Rows with vocabularies that grow, and where examples begin and end in them.

    Attributes
    ----------
    nodes, edges : FeatureRows
        The rows of tokens and of transitions.
    names : tuple of str
        The features of transitions.
    ptr : array
        Where examples begin and end.
    """

    nodes: FeatureRows
    edges: FeatureRows
    names: tuple[str, ...]
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


def make_reading(names: tuple[str, ...], arrays: ArrayFeatures | None) -> Reading:
    """Return what nothing was read into as yet."""
    nodes = FeatureRows(growing_vocabulary(), arrays=arrays)
    return Reading(nodes, FeatureRows(growing_vocabulary()), names)


def learn_beyond(
    encoder: Any,
    before: Any,
    data: Any,
    fit_encode: Callable[[Any], Encoded],
    encode: Callable[[Any], Encoded],
) -> Encoded:
    """Let an encoder keep all that `before` has learnt, and learn what is new in data.

    Parameters
    ----------
    encoder, before : encoders of the same kind
        With the same settings.
    data
        What to encode; it is read twice.
    fit_encode, encode : callable
        The encoder's methods for such data.

    Examples
    --------
    >>> from partwise.features import FeatureDictEncoder
    >>> one, other = FeatureDictEncoder(), FeatureDictEncoder()
    >>> _ = one.fit_encode([[{"word": "a"}]])
    >>> new = [[{"word": "b"}]]
    >>> learn_beyond(other, one, new, other.fit_encode, other.encode).nodes.idx
    array([1], dtype=int32)
    >>> other.attribute_names()
    ['word=a', 'word=b']
    """
    fit_encode(data)
    know_both(encoder, before)
    return encode(data)


def know_both(encoder: Any, before: Any) -> None:
    """Give an encoder the attributes of another: they come first, then its own."""
    nothing = Encoded(np.zeros(1, np.int64), no_attributes(), no_attributes())
    known, new = before.key_counts(nothing), encoder.key_counts(nothing)
    encoder.learn_keys(*({**a, **b} for a, b in zip(known, new, strict=True)))


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
