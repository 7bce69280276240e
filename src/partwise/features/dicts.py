"""Feature dicts and lists of strings to attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import ModelFileError
from partwise.features import strings
from partwise.features.array_features import WIDEST, ArrayFeatures, Vectors
from partwise.features.byte_lookup import ByteLookup
from partwise.features.csr import (
    Encoded,
    Key,
    KeyCounts,
    keep_frequent,
    no_attributes,
)
from partwise.features.feature_rows import (
    FeatureRows,
    Token,
    TokenNames,
    scan_rows,
    scan_sequences,
)
from partwise.features.reading import Reading, known_vocabulary, make_reading
from partwise.features.vocabulary import (
    Vocabulary,
    frozen_vocabulary,
    growing_vocabulary,
    hashed_vocabulary,
    joined_vocabulary,
    vocabulary_from_tensors,
    vocabulary_to_tensors,
)

_SETTINGS = frozenset({"min_count", "hash_bits", "transition_features"})


class FeatureDictEncoder:
    """Encode tokens given as feature dicts or as iterables of strings.

    The forms a token can take are python-crfsuite's. In a dict, a string is a
    category (the attribute is the name with the value), a number is a value of
    the attribute `name`, true counts as 1 and false or None as absent, a nested
    dict prefixes its names with ``outer:``, and a list, tuple or set of strings
    is several categories. With `arrays`, a NumPy array with one dimension is a vector,
    which stays one: it is not spread over attributes. In an iterable of strings each
    is an attribute.

    Parameters
    ----------
    min_count : int, default=1
        Attributes that fewer tokens have are dropped.
    hash_bits : int, optional
        Keep no vocabulary: an attribute's id is a stable hash of this many bits.
    transition_features : iterable of str
        Names of features that also describe the transition into their token.
    arrays : bool, default=False
        Whether features may be arrays.

    Examples
    --------
    >>> encoder = FeatureDictEncoder()
    >>> tokens = [{"word": "Paris", "is_title": True}, {"word": "is", "length": 2}]
    >>> encoded = encoder.fit_encode([tokens])
    >>> encoder.attribute_names()
    ['word=Paris', 'is_title', 'word=is', 'length']
    >>> encoded.nodes.idx, encoded.nodes.val
    (array([0, 1, 2, 3], dtype=int32), array([1., 1., 1., 2.]))
    >>> encoder.encode([[{"word": "Rome", "is_title": True}]]).nodes.idx
    array([1], dtype=int32)
    """

    def __init__(
        self,
        min_count: int = 1,
        hash_bits: int | None = None,
        transition_features: Iterable[str] = (),
        *,
        arrays: bool = False,
    ) -> None:
        strings.check_settings(min_count, hash_bits)
        if isinstance(transition_features, str):
            raise TypeError(
                "transition_features must be a list of names, not one string"
                f" (write [{transition_features!r}])"
            )
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.transition_features = tuple(transition_features)
        if not all(isinstance(name, str) for name in self.transition_features):
            raise TypeError("transition_features must be strings")
        self._nodes = self._edges = _first_vocabulary(hash_bits)
        self._lookup: ByteLookup | None = None
        self._names_of: TokenNames | None = None
        self.array_widths: dict[str, int] = {}
        self._takes_arrays = arrays
        self._is_ready = hash_bits is not None  # hashing has nothing to learn
        self._reading: Reading | None = None
        self._learns_on = False

    @property
    def n_attributes(self) -> int:
        """The number of attributes that tokens have."""
        return self._size(self._nodes)

    @property
    def n_edge_attributes(self) -> int:
        """The number of attributes that transitions have."""
        return self._size(self._edges) if self.transition_features else 0

    def _size(self, vocabulary: Vocabulary) -> int:
        if self.hash_bits is None:
            return vocabulary.n_attributes
        return 1 << self.hash_bits

    def attribute_names(self) -> list[str]:
        """Return the attributes of tokens, ``name=value`` or ``name``, by id."""
        return self._names(self._nodes)

    def attribute_keys(self) -> list[tuple[str, str | None]]:
        """Return (name, value) of every attribute by id; None without a value."""
        return self._nodes.keys_by_id()

    def edge_attribute_names(self) -> list[str]:
        """Return the attributes of transitions, by id."""
        return self._names(self._edges) if self.transition_features else []

    def _names(self, vocabulary: Vocabulary) -> list[str]:
        if self.hash_bits is not None:
            return strings.bucket_names(self.hash_bits)
        keys = vocabulary.keys_by_id()
        return [name if value is None else f"{name}={value}" for name, value in keys]

    # Encoding

    def fit_encode(self, sequences: Iterable[Iterable[Token]]) -> Encoded:
        """Learn the attributes of sequences of tokens, and encode them.

        Parameters
        ----------
        sequences : iterable of iterables of tokens
            Generators are fine: everything is read once, and not kept.

        Returns
        -------
        Encoded
            The sequences in terms of what was learnt.
        """
        return self._fit(scan_sequences, sequences)

    def encode(self, sequences: Iterable[Iterable[Token]]) -> Encoded:
        """Encode sequences of tokens; attributes that were not learnt are dropped.

        Parameters
        ----------
        sequences : iterable of iterables of tokens
            Generators are fine.

        Returns
        -------
        Encoded
            The sequences as arrays.
        """
        return self._apply(scan_sequences, sequences)

    def fit_encode_rows(self, rows: Iterable[Token]) -> Encoded:
        """Learn and encode examples that are one token each."""
        return self._fit(scan_rows, rows)

    def encode_rows(self, rows: Iterable[Token]) -> Encoded:
        """Encode examples that are one token each.

        Examples
        --------
        >>> encoder = FeatureDictEncoder()
        >>> encoder.fit_encode_rows([["sunny", "warm"], ["rainy"]]).ptr
        array([0, 1, 2])
        >>> encoder.encode_rows([{"warm": True}]).nodes.idx
        array([1], dtype=int32)
        """
        return self._apply(scan_rows, rows)

    def _fit(self, scan: Any, data: Iterable[Any]) -> Encoded:
        if self.hash_bits is not None:
            return self._apply(scan, data, learn=True)
        reading, self._reading = self._reading, None
        if reading is None:
            reading = make_reading(self.transition_features, self._arrays(learn=True))
        reading = reading.read(scan, data)
        nodes, edges, _, ptr = reading
        encoded, vocabularies = [], []
        for rows in (nodes, edges):
            vocabulary = rows.vocabulary
            sparse = rows.finish(vocabulary.n_attributes, self._learns_on)
            sparse, new_ids = keep_frequent(sparse, self.min_count)
            vocabularies.append(frozen_vocabulary(vocabulary, new_ids))
            encoded.append(sparse)
        self._learn(*vocabularies)
        if self._learns_on:
            self._reading = reading
        if self.n_edge_attributes == 0:
            encoded[1] = no_attributes()
        return Encoded(ptr, encoded[0], encoded[1], self._vectors(nodes))

    def go_on_from(self, before: FeatureDictEncoder | None) -> None:
        """Remember what is read; take what `before` remembers, as the beginning of it.

        The next data to be learnt must begin with what `before` was given.

        Examples
        --------
        >>> one, other = FeatureDictEncoder(), FeatureDictEncoder()
        >>> one.go_on_from(None)
        >>> data = [[{"word": "a"}]]
        >>> _ = one.fit_encode(data)
        >>> other.go_on_from(one)
        >>> other.fit_encode([*data, [{"word": "b"}]]).nodes.idx
        array([0, 1], dtype=int32)
        """
        self._learns_on = True
        if before is not None and before._reading is not None:
            # Taken away: should learning fail, nothing half read is left there.
            reading, before._reading = before._reading, None
            if reading.names == self.transition_features:
                self._reading = reading

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is only for learning on."""
        return {**self.__dict__, "_reading": None}

    def _arrays(self, learn: bool) -> ArrayFeatures | None:
        """Return what collects arrays, if there may be any."""
        if not self._takes_arrays:
            return None
        return ArrayFeatures(None if learn else self.array_widths)

    def _vectors(self, nodes: FeatureRows) -> Mapping[str, Vectors]:
        if nodes.arrays is None or not nodes.arrays.widths:
            return {}
        self.array_widths = nodes.arrays.widths
        return nodes.arrays.finish(nodes.n_rows)

    def key_counts(self, encoded: Encoded) -> tuple[KeyCounts, KeyCounts]:
        """Return what was learnt from data, with the number of rows that have it.

        Keys of tokens, and of transitions, in the order of their ids; those of several
        pieces of a corpus can be merged, and learnt by `learn_keys`.

        Examples
        --------
        >>> encoder = FeatureDictEncoder()
        >>> encoder.key_counts(encoder.fit_encode([[{"word": "a"}, {"word": "a"}]]))[0]
        {('word', 'a'): 2}
        """
        found: list[KeyCounts] = []
        sides = (self._nodes, encoded.nodes), (self._edges, encoded.edges)
        for vocabulary, rows in sides:
            keys = vocabulary.keys_by_id()
            counts = np.bincount(rows.idx, minlength=len(keys)).tolist()
            found.append(dict(zip(keys, counts, strict=True)))
        return found[0], found[1]

    def learn_keys(self, nodes: Iterable[Key], edges: Iterable[Key]) -> None:
        """Learn attributes from their keys, as `key_counts` has them, by id."""
        vocabularies = []
        for keys in (nodes, edges):
            vocabulary = known_vocabulary(keys)
            ids = np.arange(vocabulary.n_attributes, dtype=np.int32)
            vocabularies.append(frozen_vocabulary(vocabulary, ids))
        self._learn(*vocabularies)

    @classmethod
    def of_names(cls, names: Iterable[str]) -> FeatureDictEncoder:
        """Return an encoder for attributes as CRFsuite names them.

        Parameters
        ----------
        names : iterable of str
            The attributes, by number; a feature with a string as its value is the
            attribute ``name:value``.

        Examples
        --------
        >>> encoder = FeatureDictEncoder.of_names(["bias", "word:Paris"])
        >>> encoder.encode([[{"word": "Paris", "bias": 2.0}]]).nodes.idx
        array([1, 0], dtype=int32)
        """
        encoder = cls()
        encoder._learn(joined_vocabulary(names), encoder._edges)
        return encoder

    def _learn(self, nodes: Vocabulary, edges: Vocabulary) -> None:
        self._nodes, self._edges = nodes, edges
        self._lookup = ByteLookup(nodes.valued, nodes.n_attributes)
        self._names_of = TokenNames(nodes)
        self._is_ready = True

    def _apply(self, scan: Any, data: Iterable[Any], *, learn: bool = False) -> Encoded:
        if not self._is_ready:
            raise ValueError(
                "the encoder has learnt nothing yet: call fit_encode first"
            )
        arrays = self._arrays(learn)
        nodes = FeatureRows(self._nodes, self._lookup, arrays, self._names_of)
        edges = FeatureRows(self._edges)
        ptr = scan(data, nodes, edges, self.transition_features)
        transitions = no_attributes()
        if self.n_edge_attributes:
            transitions = edges.finish(self.n_edge_attributes)
        vectors = self._vectors(nodes)
        return Encoded(ptr, nodes.finish(self.n_attributes), transitions, vectors)

    # Storing

    def to_tensors(self) -> tuple[strings.Tensors, strings.Settings]:
        """Return all that was learnt, as arrays and as settings for JSON."""
        settings: strings.Settings = {
            "min_count": self.min_count,
            "hash_bits": self.hash_bits,
            "transition_features": list(self.transition_features),
        }
        if self.array_widths:
            settings["arrays"] = dict(self.array_widths)
        if self.hash_bits is not None:
            return {}, settings
        if self._nodes.is_joined:  # a word that older versions do not know
            settings["joined"] = True
        nodes = vocabulary_to_tensors(self._nodes, "nodes")
        return nodes | vocabulary_to_tensors(self._edges, "edges"), settings

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]
    ) -> FeatureDictEncoder:
        """Rebuild an encoder from what `to_tensors` returned.

        Raises
        ------
        ModelFileError
            If anything is missing or does not fit together.
        """
        settings = dict(settings)
        is_joined = settings.pop("joined", False)
        if not isinstance(is_joined, bool):
            raise ModelFileError("setting 'joined' must be true or false")
        widths = _checked_widths(settings.pop("arrays", {}))
        chosen = strings.take_settings(settings, _SETTINGS)
        if not isinstance(chosen["transition_features"], list):
            raise ModelFileError("setting 'transition_features' must be a list")
        try:
            encoder = cls(**chosen)
        except (ValueError, TypeError) as error:
            raise ModelFileError(f"encoder settings are damaged: {error}") from None
        encoder.array_widths, encoder._takes_arrays = widths, True
        if encoder.hash_bits is None:
            nodes = vocabulary_from_tensors(tensors, "nodes")
            if is_joined:
                if nodes.valued:
                    raise ModelFileError("an attribute is stored in two ways")
                nodes = joined_vocabulary(nodes.plain)
            encoder._learn(nodes, vocabulary_from_tensors(tensors, "edges"))
        return encoder


def _checked_widths(widths: object) -> dict[str, int]:
    """Return the lengths of arrays that a file names, by name."""
    if not isinstance(widths, dict) or not all(
        isinstance(name, str) and type(width) is int and 0 < width < WIDEST
        for name, width in widths.items()
    ):
        raise ModelFileError("setting 'arrays' must be lengths of vectors, by name")
    return dict(widths)


def _first_vocabulary(hash_bits: int | None) -> Vocabulary:
    if hash_bits is not None:
        return hashed_vocabulary(hash_bits)
    return frozen_vocabulary(growing_vocabulary(), np.empty(0, np.int32))
