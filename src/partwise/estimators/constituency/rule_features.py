"""Features of whole rule applications that the user gives: by a function or matrices.

The applications are those in the chart of a sentence: what the grammar allows somewhere
in a tree of the whole sentence. Those without features are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from partwise.constituents import RuleApplication
from partwise.errors import DataError, OutOfMemoryError
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.features import FeatureDictEncoder
from partwise.solvers.memory import available_memory, in_words
from partwise.structures.grammar import ConstituencyTrees, make_applications
from partwise.structures.grammar.corpus import add_applications
from partwise.structures.grammar.reachable import chart_applications, count_applications
from partwise.structures.interface import CodeArray, IntArray
from partwise.structures.rows import LARGEST, SparseRows, make_sparse_rows, take_rows

Words = Sequence[Any]
RuleFunction = Callable[[Words, RuleApplication], Any]
"""Takes words and an application; returns a dict of features, or names of them."""

APPLICATION, ENTRY = 16, 12
"""Bytes of an application that is listed, and of each of its features."""


@dataclass(frozen=True)
class OwnFeatures:
    """What a parser has learnt of the features of rule applications.

    Attributes
    ----------
    names : FeatureDictEncoder or None
        The features that a function named; None if matrices were given.
    n_columns : int
        How many features there are.
    """

    names: FeatureDictEncoder | None
    n_columns: int


def name_applications(
    grammar: TreebankGrammar, s: ConstituencyTrees
) -> Iterator[list[RuleApplication]]:
    """Yield the rule applications in the chart of every sentence."""
    for table in chart_applications(s):
        yield _named(grammar, table)


def _named(grammar: TreebankGrammar, table: CodeArray) -> list[RuleApplication]:
    rules = [tuple(grammar.symbols[a] for a in rule) for rule in grammar.rules]
    return [RuleApplication(*rules[r], *place) for r, *place in table.tolist()]


def learn_own_features(
    given: Any, grammar: TreebankGrammar, s: ConstituencyTrees, words: Sequence[Words]
) -> tuple[OwnFeatures, ConstituencyTrees]:
    """Return what there is to learn, and the corpus with these features.

    Raises
    ------
    OutOfMemoryError
        If they would not fit into memory: before any but those of one sentence are
        asked for.
    """
    if not callable(given):
        matrices = _as_matrices(given, s)
        n_columns = int(matrices[0].shape[1])
        return OwnFeatures(None, n_columns), _with_matrices(s, matrices)
    encoder = FeatureDictEncoder()
    check_memory(s, _mean_size(given, grammar, s, words))
    rows = _call(given, grammar, s, words, encoder.fit_encode)
    own = OwnFeatures(encoder, encoder.n_attributes)
    return own, _with_rows(s, rows)


def add_own_features(
    own: OwnFeatures,
    given: Any,
    grammar: TreebankGrammar,
    s: ConstituencyTrees,
    words: Sequence[Words],
) -> ConstituencyTrees:
    """Return the corpus with the features that a parser has learnt."""
    if own.names is None:
        return _with_matrices(s, _as_matrices(given, s, own.n_columns))
    check_memory(s, 1.0)
    return _with_rows(s, _call(given, grammar, s, words, own.names.encode))


def of_sentences(given: Any, kept: Sequence[int]) -> Any:
    """Return what is given for some of the sentences: a function is for all."""
    if callable(given) or not isinstance(given, Sequence):
        return given
    return [given[i] for i in kept if i < len(given)]


def check_as_trained(own: OwnFeatures | None, given: Any, what: str) -> None:
    """Raise `DataError` unless features are given if and only if some were learnt."""
    if own is None and given is not None:
        raise DataError(
            f"the parser was trained without rule_features: leave {what} out, or give "
            "fit some as well"
        )
    if own is not None and (given is None or callable(given) == (own.names is None)):
        kind = "matrices" if own.names is None else "a function"
        raise DataError(
            f"the parser was trained with rule_features, {own.n_columns:,} of them by "
            f"{kind}: give {kind} as {what} as well (in Python; a model file and the "
            "command line have no functions)"
        )


# --- from a function --------------------------------------------------------------


def _call(
    function: RuleFunction,
    grammar: TreebankGrammar,
    s: ConstituencyTrees,
    words: Sequence[Words],
    encode: Any,
) -> SparseRows:
    """Encode what the function says of every application."""
    tokens = (
        (function(own, application) for application in applications)
        for own, applications in zip(words, name_applications(grammar, s), strict=True)
    )
    try:
        nodes = encode(tokens).nodes
    except DataError as error:
        raise DataError(f"rule_features returned what is no feature: {error}") from None
    val = nodes.val if nodes.val.size else None
    return make_sparse_rows(nodes.ptr, nodes.idx, val, nodes.n_columns)


def _mean_size(
    function: RuleFunction,
    grammar: TreebankGrammar,
    s: ConstituencyTrees,
    words: Sequence[Words],
) -> float:
    """Return how many features an application has, judged by one sentence."""
    for own, applications in zip(words, name_applications(grammar, s), strict=True):
        if applications:
            sizes = [_size(function(own, one)) for one in applications]
            return float(np.mean(sizes))
    return 0.0


def _size(features: Any) -> int:
    try:
        return len(features)
    except TypeError:
        return 1


# --- from matrices ------------------------------------------------------------------


def _as_matrices(
    given: Any, s: ConstituencyTrees, n_columns: int | None = None
) -> list[Any]:
    """Return a CSR matrix for every sentence; raise `DataError` if one is invalid."""
    wanted = "rule_features must be a function, or a list of sparse matrices"
    if scipy.sparse.issparse(given) or not isinstance(given, Iterable):
        raise DataError(f"{wanted}, not {type(given).__name__}")
    counts, matrices = count_applications(s), list(given)
    if len(matrices) != counts.size:
        raise DataError(
            f"rule_features: {len(matrices)} matrices for {counts.size} sentences"
        )
    for i, matrix in enumerate(matrices):
        place = f"rule_features of sentence {i}"
        if not scipy.sparse.issparse(matrix) or matrix.ndim != 2:
            raise DataError(
                f"{place}: {type(matrix).__name__} is not a sparse matrix of two "
                "dimensions (scipy.sparse.csr_array makes one)"
            )
        n_columns = matrix.shape[1] if n_columns is None else n_columns
        if matrix.shape != (counts[i], n_columns):
            raise DataError(
                f"{place}: the shape is {matrix.shape}, expected "
                f"({counts[i]}, {n_columns}): a row for every application that "
                "rule_applications lists, and the same columns everywhere"
            )
        if matrix.dtype.kind not in "biuf":
            raise DataError(
                f"{place}: values of type {matrix.dtype} are not real numbers"
            )
        matrices[i] = scipy.sparse.csr_array(matrix, dtype=np.float64)
        if not (np.abs(matrices[i].data) <= LARGEST).all():
            raise DataError(
                f"{place}: values must be finite numbers, none above {LARGEST:g}"
            )
    return matrices


def _with_matrices(s: ConstituencyTrees, matrices: Sequence[Any]) -> ConstituencyTrees:
    n_entries = sum(matrix.nnz for matrix in matrices)
    check_memory(s, n_entries / max(sum(matrix.shape[0] for matrix in matrices), 1))
    whole = scipy.sparse.vstack(list(matrices), format="csr")
    rows = make_sparse_rows(whole.indptr, whole.indices, whole.data, whole.shape[1])
    return _with_rows(s, rows)


# --- both -----------------------------------------------------------------------------


def _with_rows(s: ConstituencyTrees, rows: SparseRows) -> ConstituencyTrees:
    """Add the features of all applications to a corpus; those without any are dropped.

    `rows` are in the order of the charts.
    """
    kept = np.flatnonzero(np.diff(rows.ptr) > 0)
    tables = list(chart_applications(s))
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    whole = np.column_stack([owner, np.concatenate(tables)])[kept]
    lengths: IntArray = np.diff(s.sentences.ptr)
    listed = make_applications(s.grammar, lengths, whole, take_rows(rows, kept))
    return add_applications(s, listed)


def check_memory(s: ConstituencyTrees, mean_size: float) -> None:
    """Refuse features of rule applications that would not fit into memory.

    Parameters
    ----------
    s : ConstituencyTrees
        The corpus.
    mean_size : float
        How many features an application has.
    """
    free, counts = available_memory(), count_applications(s)
    if free is None:
        return
    total, n_splits = int(counts.sum()), int(s.sentences.split_ptr[-1])
    # They are there twice while they are put in order.
    needed = int(8 * n_splits + 2 * total * (APPLICATION + ENTRY * mean_size))
    if needed > free:
        i = int(counts.argmax())
        raise OutOfMemoryError(
            f"the charts have {total:,} rule applications, sentence {i} alone "
            f"{int(counts[i]):,}; with {mean_size:.3g} features each they would take "
            f"{in_words(needed)}, more than the {in_words(free)} that are free (leave "
            "out long sentences, or use a grammar of fewer rules)"
        )
