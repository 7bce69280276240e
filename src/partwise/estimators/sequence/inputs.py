"""Inputs as users have them, turned into rows of features.

Three kinds, one interface: feature dicts (or strings), columns with a template,
and dense arrays. Which one it is shows in the first token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, cast

import numpy as np

from partwise.data import ColumnData
from partwise.errors import DataError, ModelFileError
from partwise.estimators.checks import check_listed, peek
from partwise.estimators.explanation import NumberedNames
from partwise.features import (
    Encoded,
    FeatureDictEncoder,
    Template,
    TemplateEncoder,
    TokenFeatures,
    default_template,
)
from partwise.features.array_features import Vectors
from partwise.features.csr import AttributeRows
from partwise.features.reading import learn_beyond
from partwise.features.token_features import looks_like_blocks
from partwise.model_file import Content
from partwise.structures import rows as feature_rows
from partwise.structures.interface import IntArray
from partwise.structures.rows import LARGEST, Rows, SparseRows, VectorRows

Tensors = dict[str, Any]

FREE_TO_CHANGE = ("min_count", "n_columns")
"""Settings of inputs that do not say what a feature is."""


class Tokens(NamedTuple):
    """Encoded sequences: their borders, and the features of tokens and transitions.

    `arrays` are the features of tokens that are vectors, as they were given; `vectors`
    what a model makes of all its vectors.
    """

    ptr: IntArray
    nodes: Rows
    edges: SparseRows
    arrays: Mapping[str, Vectors] = {}
    vectors: VectorRows | None = None


class Input(Protocol):
    """One kind of input."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """How many features tokens have."""

    @property
    def n_edge_features(self) -> int:
        """How many features transitions have."""

    def fit_encode(self, X: Any) -> Tokens:
        """Learn the features of `X` and encode it."""

    def go_on_from(self, before: Input | None) -> None:
        """Read on where `before` has ended; what it has read must come first again."""

    def learn_beyond(self, before: Input, X: Any) -> Tokens:
        """Keep the features of `before`; learn what is new in `X`, and encode it."""

    def encode(self, X: Any, n_jobs: int = 1) -> Tokens:
        """Encode `X` with the features learnt; by threads, where that is faster."""

    def names(self) -> Sequence[str]:
        """Name the features of tokens."""

    def edge_names(self) -> Sequence[str]:
        """Name the features of transitions."""

    def to_tensors(self) -> tuple[Tensors, dict[str, Any]]:
        """Return what was learnt, for the model file."""


def learn_tokens(model: Any, source: Input, X: Any) -> Tokens:
    """Learn the features of `X` and encode it, going on from what a model knows."""
    if model._start is not None:
        return source.learn_beyond(model._start._input, X)
    if model._seen is not None:
        source.go_on_from(model._earlier("_input"))
    return source.fit_encode(X)


def _tokens(encoded: Encoded) -> Tokens:
    nodes, edges = encoded.nodes, encoded.edges
    if nodes.val.size and np.abs(nodes.val).max() > LARGEST:
        raise DataError(
            f"a feature has the value {np.abs(nodes.val).max():g}, larger than "
            f"{LARGEST:g}; scale the features"
        )
    return Tokens(
        encoded.ptr,
        SparseRows(nodes.ptr, nodes.idx, nodes.val, nodes.n_columns),
        SparseRows(edges.ptr, edges.idx, edges.val, edges.n_columns)
        if edges.n_columns
        else feature_rows.no_rows(),
        encoded.vectors,
    )


class _EncoderInput:
    """What dicts and templates have in common: an encoder with a vocabulary."""

    encoder: Any

    @property
    def n_features(self) -> int:
        """How many attributes tokens have."""
        return int(self.encoder.n_attributes)

    @property
    def n_edge_features(self) -> int:
        """How many attributes transitions have."""
        return int(self.encoder.n_edge_attributes)

    def names(self) -> Sequence[str]:
        """Name the attributes of tokens."""
        if self.encoder.hash_bits is not None:
            return NumberedNames("#", self.n_features)
        return list(self.encoder.attribute_names())

    def edge_names(self) -> Sequence[str]:
        """Name the attributes of transitions."""
        if self.encoder.hash_bits is not None:
            return NumberedNames("#", self.n_edge_features)
        return list(self.encoder.edge_attribute_names())

    def go_on_from(self, before: Input | None) -> None:
        """Read everything again."""

    def learn_beyond(self, before: Input, X: Any) -> Tokens:
        """Keep the attributes of `before`; learn what is new in `X`, and encode it."""
        check_same_features(cast(Input, self), before)
        X, ours = self._readable(X), self.encoder
        if ours.hash_bits is not None:
            return _tokens(ours.fit_encode(X))
        known = getattr(before, "encoder", None)
        return _tokens(learn_beyond(ours, known, X, ours.fit_encode, ours.encode))

    def _readable(self, X: Any) -> Any:
        return X if hasattr(X, "__len__") else list(X)

    def to_tensors(self) -> tuple[Tensors, dict[str, Any]]:
        """Return the vocabulary."""
        tensors, settings = self.encoder.to_tensors()
        return dict(tensors), dict(settings)

    def is_like(self, other: Any) -> bool:
        """Say whether another input gives the same features the same numbers."""
        if type(self) is not type(other):
            return False
        own, own_settings = self.to_tensors()
        its, its_settings = other.to_tensors()
        return (
            own_settings == its_settings
            and own.keys() == its.keys()
            and all(np.array_equal(own[name], its[name]) for name in own)
        )


class DictInput(_EncoderInput):
    """Feature dicts or iterables of strings."""

    kind: ClassVar[str] = "dicts"

    def __init__(self, encoder: FeatureDictEncoder):
        self.encoder = encoder

    def go_on_from(self, before: Input | None) -> None:
        """Read only what `before` has not."""
        known = before.encoder if isinstance(before, DictInput) else None
        self.encoder.go_on_from(known)

    def fit_encode(self, X: Any) -> Tokens:
        """Learn the attributes of `X` and encode it."""
        return _tokens(self.encoder.fit_encode(X))

    def encode(self, X: Any, n_jobs: int = 1) -> Tokens:
        """Encode `X`; attributes never seen are left out."""
        return _tokens(self.encoder.encode(X))


class TemplateInput(_EncoderInput):
    """Columns of strings and a template."""

    kind: ClassVar[str] = "template"

    def __init__(self, encoder: TemplateEncoder):
        self.encoder = encoder

    def _readable(self, X: Any) -> Any:
        return as_columns(X)

    def fit_encode(self, X: Any) -> Tokens:
        """Learn the attributes of the columns and encode them."""
        return _tokens(self.encoder.fit_encode(as_columns(X)))

    def encode(self, X: Any, n_jobs: int = 1) -> Tokens:
        """Encode columns; attributes never seen are left out."""
        return _tokens(self.encoder.encode(as_columns(X), n_jobs))


class DenseInput:
    """A matrix of numbers per sequence."""

    kind: ClassVar[str] = "dense"

    def __init__(self, n_columns: int = -1):
        self.n_columns = n_columns

    def go_on_from(self, before: Input | None) -> None:
        """Read everything again."""

    def learn_beyond(self, before: Input, X: Any) -> Tokens:
        """Encode as many columns as `before` has."""
        check_same_features(self, before)
        self.n_columns = before.n_features
        return self.encode(X)

    def fit_encode(self, X: Any) -> Tokens:
        """Learn the number of columns and encode."""
        return self.encode(X)

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return max(self.n_columns, 0)

    @property
    def n_edge_features(self) -> int:
        """None: dense features do not see transitions."""
        return 0

    def encode(self, X: Any, n_jobs: int = 1) -> Tokens:
        """Check and stack the matrices."""
        check_sequences(X)
        matrices = []
        for number, sequence in enumerate(X):
            try:
                matrix = self._matrix(sequence)
                if len(matrix):
                    if self.n_columns < 0:
                        self.n_columns = matrix.shape[1]
                    if matrix.shape[1] != self.n_columns:
                        raise DataError(
                            f"it has {matrix.shape[1]} columns, expected "
                            f"{self.n_columns}"
                        )
            except DataError as error:
                token = "" if error.part is None else f", token {error.part}"
                place = f"sequence {number}{token}"
                raise error.located(place, example=number) from None
            matrices.append(matrix)
        ptr = np.zeros(len(matrices) + 1, np.int64)
        np.cumsum([len(matrix) for matrix in matrices], out=ptr[1:])
        filled = [matrix for matrix in matrices if len(matrix)]
        values = np.concatenate(filled) if filled else np.zeros((0, self.n_features))
        return Tokens(ptr, feature_rows.make_dense_rows(values), feature_rows.no_rows())

    def _matrix(self, sequence: Any) -> Any:
        try:
            matrix = np.asarray(sequence, np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "it is not a matrix of numbers, as the first one is; use the same kind "
                "of features for all"
            ) from None
        if matrix.ndim == 2 and len(matrix) and not matrix.shape[1]:
            raise DataError(f"it has {len(matrix)} tokens, but no feature columns")
        if matrix.size == 0:
            return matrix.reshape(0, self.n_features)
        if matrix.ndim != 2:
            raise DataError(
                f"it has {matrix.ndim} dimensions; dense features are 2-D, one row per "
                "token"
            )
        bad = np.argwhere(~(np.abs(matrix) <= LARGEST))
        if bad.size:
            raise DataError(
                f"column {bad[0][1]} is {matrix[tuple(bad[0])]}; replace NaN and "
                "infinity first, and scale huge values",
                part=int(bad[0][0]),
                column=int(bad[0][1]),
            )
        return matrix

    def names(self) -> Sequence[str]:
        """Return x0, x1, ..."""
        return NumberedNames("x", self.n_features)

    def edge_names(self) -> Sequence[str]:
        """Return nothing: dense features do not see transitions."""
        return []

    def to_tensors(self) -> tuple[Tensors, dict[str, Any]]:
        """Return the number of columns."""
        return {}, {"n_columns": self.n_columns}


def check_same_features(new: Input, before: Input) -> None:
    """Raise `DataError` unless weights of one kind of features fit the other."""
    if new.kind != before.kind:
        raise DataError(
            f"the model has learnt from {before.kind}, these are {new.kind}; give the "
            "same kind, or fit a new model"
        )
    forms = [
        {k: v for k, v in one.to_tensors()[1].items() if k not in FREE_TO_CHANGE}
        for one in (before, new)
    ]
    if forms[0] != forms[1]:
        names = [
            k for k in {**forms[0], **forms[1]} if forms[0].get(k) != forms[1].get(k)
        ]
        raise DataError(
            f"the model was trained with another setting of {names[0]}; use the same, "
            "or fit a new model"
        )


def check_sequences(X: Any) -> None:
    """Raise `DataError` for anything but a list of sequences."""
    hint = "; for one sequence write [sequence]"
    check_listed(X, "X must be a list of sequences", hint)


def as_columns(X: Any) -> Any:
    """Return `X` as `ColumnData`, which it may be already."""
    if hasattr(X, "columns") and hasattr(X, "ptr"):
        return X
    check_sequences(X)
    return ColumnData.from_sentences(X)


def choose_input(
    X: Any,
    template: Any,
    boundaries: str,
    min_count: int,
    hash_bits: int | None,
    transition_features: Iterable[str],
) -> tuple[Input, Any]:
    """Return the kind of input that `X` is, and `X` unconsumed."""
    if isinstance(transition_features, str):
        raise TypeError(
            "transition_features must be a list of names, not one string "
            f"(write [{transition_features!r}])"
        )
    names = tuple(transition_features)
    if template is not None:
        if names:
            raise ValueError(
                "transition_features name features of dicts; in a template, write "
                "lines that start with B"
            )
        columns = as_columns(X)
        text = read_template(template, len(columns.columns))
        encoder = TemplateEncoder(text, min_count, hash_bits, boundaries)
        return TemplateInput(encoder), columns
    check_sequences(X)
    if hasattr(X, "columns") and hasattr(X, "ptr"):
        raise DataError("columns of text need a template; pass template='default'")
    first, everything = peek(X)
    if _is_dense(first):
        if names or hash_bits is not None or min_count != 1:
            raise ValueError(
                "transition_features, hash_bits and min_count are for feature dicts "
                "and templates; these features are dense"
            )
        return DenseInput(), everything
    dicts = FeatureDictEncoder(min_count, hash_bits, names, arrays=True)
    return DictInput(dicts), everything


def _is_dense(sequence: Any) -> bool:
    if isinstance(sequence, np.ndarray):
        return sequence.dtype.kind in "fiub"
    if isinstance(sequence, list | tuple) and len(sequence):
        first = sequence[0]
        if isinstance(first, np.ndarray):
            return first.dtype.kind in "fiub"
        return (
            isinstance(first, list | tuple)
            and len(first) > 0
            and all(isinstance(x, int | float | np.number) for x in first)
        )
    return False


def read_template(template: Any, n_columns: int) -> Any:
    """Return a template, or its text, for data of so many columns."""
    if isinstance(template, Template):
        return template
    if isinstance(template, Path):
        return Template.read(template)
    if isinstance(template, list | tuple):
        template = TokenFeatures(template)
    if isinstance(template, TokenFeatures):
        return template.template(n_columns)
    if not isinstance(template, str):
        raise TypeError(
            "template must be a text, a path, a name such as 'default', a list of "
            f"blocks, TokenFeatures or a Template, not {type(template).__name__}"
        )
    if template == "default":
        return default_template(n_columns)
    if "\n" in template or "%x" in template or template.strip() == "B":
        return template
    if looks_like_blocks(template):
        return TokenFeatures(template).template(n_columns)
    if not Path(template).is_file():
        raise DataError(
            f"template {template!r} is neither a file nor the text of a template "
            "(lines such as U00:%x[0,0]) nor a name (default, ner, pos, or blocks "
            "such as words,affixes:4)"
        )
    return Template.read(Path(template))


def describe(source: Input) -> tuple[str, int]:
    """Return the kind of an input, and how many columns it reads, if that is fixed."""
    return source.kind, source.n_features if isinstance(source, DenseInput) else 0


def encoded_of(tokens: Tokens) -> Encoded:
    """Return tokens as their encoder made them."""
    nodes, edges = tokens.nodes, tokens.edges
    assert isinstance(nodes, SparseRows)
    return Encoded(tokens.ptr, AttributeRows(*nodes), AttributeRows(*edges))


def load_input(content: Content) -> Input:
    """Rebuild an input from a model file."""
    kind = content.setting("kind", str, choices=("dicts", "template", "dense"))
    if kind == "dense":
        return DenseInput(content.setting("n_columns", int, at_least=0, below=2**31))
    settings = {k: v for k, v in content.settings.items() if k != "kind"}
    try:
        if kind == "dicts":
            encoder = FeatureDictEncoder.from_tensors(content.tensors, settings)
            return DictInput(encoder)
        return TemplateInput(TemplateEncoder.from_tensors(content.tensors, settings))
    except ModelFileError as error:  # an encoder does not know the file's name
        raise content.error(str(error)) from None
