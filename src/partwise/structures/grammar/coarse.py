"""A coarser grammar, whose symbols stand for several, and what it leaves of charts.

Every derivation under the grammar is one under the coarser grammar, too, symbol by
symbol. So a phrase that is hardly probable there need not be looked at here: a phrase
with a coarse symbol stays if its probability is at least the threshold (Charniak and
Johnson, ACL 2005; Petrov and Klein, NAACL 2007).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise.structures.grammar import places
from partwise.structures.grammar.allowed import AllowedPhrases
from partwise.structures.grammar.corpus import (
    ConstituencyTrees,
    make_constituency_trees,
)
from partwise.structures.grammar.parts import n_words, part_views
from partwise.structures.grammar.rules import Grammar
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.pruning import keep_probable, prune


class Coarsening(NamedTuple):
    """A coarser grammar; `symbol` and `span_class` stand for those of the grammar."""

    grammar: Grammar
    symbol: IntArray
    span_class: IntArray


def make_coarsening(fine: Grammar, coarse: Grammar, symbol: ArrayLike) -> Coarsening:
    """Say which symbols of a coarser grammar stand for those of a grammar.

    Parameters
    ----------
    fine, coarse : Grammar
        The two grammars.
    symbol : array of int
        The coarse symbol that stands for each symbol. Symbols of the same span class
        have the same one.

    Raises
    ------
    ValueError
        If a derivation under the grammar is none under the coarser one.

    Examples
    --------
    >>> from partwise.structures import make_grammar
    >>> fine = make_grammar([(0, 2, 3), (1, 2, 2)], 4, [0])
    >>> coarse = make_grammar([(0, 1, 1)], 2, [0])
    >>> make_coarsening(fine, coarse, [0, 0, 1, 1]).span_class
    array([0, 0, 1, 1])
    """
    number = np.asarray(symbol, np.int64)
    rules = {*zip(*(own.tolist() for own in coarse.rules[:3]), strict=True)}
    needed = zip(*(number[own].tolist() for own in fine.rules[:3]), strict=True)
    roots = number[np.flatnonzero(fine.is_root)]
    if not rules.issuperset(needed) or not coarse.is_root[roots].all():
        raise ValueError("the coarser grammar lacks a rule or a root of the grammar")
    if (coarse.word_class[number[fine.word_class >= 0]] < 0).any():
        raise ValueError("the coarser grammar lacks a symbol of words of the grammar")
    span_class = np.zeros(fine.n_span_classes, np.int64)
    has_spans = fine.span_class >= 0
    own, right = fine.span_class[has_spans], coarse.span_class[number[has_spans]]
    span_class[own] = right
    if (span_class[own] != right).any():
        raise ValueError("symbols of one span class have different coarse symbols")
    return Coarsening(coarse, number, span_class)


def coarsen(s: ConstituencyTrees, coarse: Coarsening) -> ConstituencyTrees:
    """Return the same sentences with the same features under a coarser grammar."""
    of_words = s.sentences
    word = np.repeat(
        np.arange(of_words.symbol_ptr.size - 1), np.diff(of_words.symbol_ptr)
    )
    pairs = np.column_stack([word, coarse.symbol[of_words.symbol]])
    pairs = np.unique(pairs.reshape(-1, 2), axis=0)
    return make_constituency_trees(
        coarse.grammar,
        np.diff(of_words.ptr),
        np.searchsorted(pairs[:, 0], np.arange(of_words.symbol_ptr.size)),
        pairs[:, 1],
        s.words,
        s.spans,
        s.splits,
    )


def prune_phrases(
    s: ConstituencyTrees,
    coarse: Coarsening,
    w: FloatArray,
    least: float,
    n_jobs: int = 1,
) -> ConstituencyTrees:
    """Return the corpus without the phrases that are hardly probable.

    Parameters
    ----------
    s : ConstituencyTrees
        The corpus.
    coarse : Coarsening
        A coarser grammar.
    w : array
        The weights of the corpus that `coarsen` makes.
    least : float
        The smallest probability of a phrase with a coarse symbol that stays: with 0,
        all of them do.
    n_jobs : int
        How many threads.
    """
    n_columns = coarse.grammar.n_span_classes
    ptr = s.sentences.phrase_ptr * n_columns
    kept = prune(coarsen(s, coarse), w, least, ptr, n_jobs)
    table = kept.reshape(-1, n_columns)
    return s._replace(allowed=AllowedPhrases(coarse.span_class, table))


@keep_probable.implement(ConstituencyTrees)
def _(
    s: ConstituencyTrees,
    i: int,
    mu: FloatArray,
    y: CodeArray,
    least: float,
    kept: NDArray[np.uint8],
) -> None:
    n, grammar, share = n_words(s, i), s.grammar, part_views(s, i, mu).span
    cells = kept.reshape(share.shape)
    for p in range(share.shape[0]):
        for k in range(share.shape[1]):
            if share[p, k] >= least:
                cells[p, k] = 1
    for m in range(1, n):
        r, start, end = y[m - 1], y[n - 1 + m - 1], y[2 * (n - 1) + m - 1]
        phrase = places.phrase_at(n, start, end)
        cells[phrase, grammar.span_class[grammar.rules.parent[r]]] = 1
