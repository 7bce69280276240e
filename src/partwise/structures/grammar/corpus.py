"""A corpus of sentences and their derivations as flat arrays, and its checks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partwise.errors import DataError
from partwise.structures.grammar.allowed import AllowedPhrases, all_phrases
from partwise.structures.grammar.applications import Applications, no_applications
from partwise.structures.grammar.places import phrase_at
from partwise.structures.grammar.rules import Grammar, without_pairs
from partwise.structures.interface import CodeArray, IntArray
from partwise.structures.rows import Rows, check_rows, n_row_weights


class DerivationLayout(NamedTuple):
    """Where each kind of weight lies in `w`, and what mistakes cost."""

    word_at: int
    span_at: int
    split_at: int
    application_at: int
    n_weights: int
    span_cost: float
    word_cost: float


class Sentences(NamedTuple):
    """Sentence `i` is the words ``ptr[i]:ptr[i + 1]``.

    Word `t` may have the symbols ``symbol[symbol_ptr[t]:symbol_ptr[t + 1]]``, sorted.
    `phrase_ptr` and `split_ptr` say where the features of its phrases and splits begin.
    """

    ptr: IntArray
    symbol_ptr: IntArray
    symbol: CodeArray
    phrase_ptr: IntArray
    split_ptr: IntArray


class ConstituencyTrees(NamedTuple):
    """A corpus of derivations; make one with `make_constituency_trees`.

    A binary tree over `n` words has ``n - 1`` rules, and each place between two words
    is the split of just one of them. An output is the rule that splits at each place,
    then where its span starts, then where it ends, and last the symbol of every word:
    ``4 n - 3`` codes. `gold_class` is the span class of every phrase, or -1. Phrases
    that are not `allowed` are in no output.
    """

    grammar: Grammar
    sentences: Sentences
    words: Rows
    spans: Rows
    splits: Rows
    applications: Applications
    gold: CodeArray
    gold_class: CodeArray
    layout: DerivationLayout
    allowed: AllowedPhrases


def make_constituency_trees(
    grammar: Grammar,
    lengths: ArrayLike,
    symbol_ptr: ArrayLike,
    symbols: ArrayLike,
    words: Rows,
    spans: Rows,
    splits: Rows,
    gold: ArrayLike | None = None,
    *,
    applications: Applications | None = None,
    span_cost: float = 1.0,
    word_cost: float = 1.0,
) -> ConstituencyTrees:
    """Check the arrays of a corpus of derivations and lay out its weights.

    Parameters
    ----------
    grammar : Grammar
        As `make_grammar` makes it.
    lengths : array of int
        The number of words of every sentence; at least one.
    symbol_ptr, symbols : arrays of int
        Word `t` of the corpus may have the symbols
        ``symbols[symbol_ptr[t]:symbol_ptr[t + 1]]``: its lexical rules.
    words, spans, splits : SparseRows, PairRows or DenseRows
        The features of every word, of every span of at least two words (by start, then
        end) and of every way to cut such a span in two (by split after that). The
        first two have weights for every class of symbols, splits have one each.
    gold : array of int, optional
        The right outputs, one after the other (see `ConstituencyTrees`).
    applications : Applications, optional
        Rule applications that have features of their own, as `make_applications` makes
        them.
    span_cost, word_cost : float
        What a span with a symbol of a class that it does not have in the right tree
        costs, and a wrong symbol of a word.

    Raises
    ------
    DataError
        If a right output is not a derivation under the grammar.

    Examples
    --------
    >>> from partwise.structures.grammar.rules import make_grammar
    >>> from partwise.structures.rows import make_sparse_rows
    >>> grammar = make_grammar([(0, 1, 1)], 2, [0])
    >>> words, one = make_sparse_rows([0, 1, 2], [0, 1]), make_sparse_rows([0, 1], [0])
    >>> trees = make_constituency_trees(
    ...     grammar, [2], [0, 1, 2], [1, 1], words, one, one, [0, 0, 2, 1, 1]
    ... )
    >>> trees.layout.n_weights  # a rule, two words and a span by two classes, a split
    8
    """
    sizes = np.asarray(lengths, np.int64)
    if sizes.size and sizes.min() < 1:
        raise DataError(f"sentence {int(sizes.argmin())} has no words")
    ptr = _pointers(sizes)
    for name, value in (("span_cost", span_cost), ("word_cost", word_cost)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and not negative, got {value}")
    sentences = Sentences(
        ptr,
        *_lexicon(grammar, int(ptr[-1]), symbol_ptr, symbols),
        _pointers(sizes * (sizes - 1) // 2),
        _pointers((sizes + 1) * sizes * (sizes - 1) // 6),
    )
    check_rows(words, int(ptr[-1]), grammar.n_word_classes)
    check_rows(spans, int(sentences.phrase_ptr[-1]), grammar.n_span_classes)
    check_rows(splits, int(sentences.split_ptr[-1]), 1)
    word_at = n_row_weights(grammar.rows, 1)
    span_at = word_at + n_row_weights(words, grammar.n_word_classes)
    split_at = span_at + n_row_weights(spans, grammar.n_span_classes)
    application_at = split_at + n_row_weights(splits, 1)
    layout = DerivationLayout(
        word_at,
        span_at,
        split_at,
        application_at,
        application_at,
        float(span_cost),
        float(word_cost),
    )
    codes = np.zeros(int((4 * sizes - 3).sum()), np.int32)
    gold_class = np.full(int(sentences.phrase_ptr[-1]), -1, np.int32)
    if gold is not None:
        given = np.asarray(gold)
        if given.shape != codes.shape:
            raise ValueError(
                f"gold must hold {codes.size} codes, 4 n - 3 for every sentence of n "
                f"words, not {given.size}"
            )
        codes[:] = given
    corpus = ConstituencyTrees(
        grammar, sentences, words, spans, splits, no_applications(), codes, gold_class,
        layout, all_phrases(),
    )  # fmt: skip
    if gold is not None:
        for i in range(sizes.size):
            _take_gold(corpus, i)
    return corpus if applications is None else add_applications(corpus, applications)


def add_applications(
    s: ConstituencyTrees, applications: Applications
) -> ConstituencyTrees:
    """Return a corpus whose rule applications have features of their own, too."""
    if applications.ptr.size not in (0, int(s.sentences.split_ptr[-1]) + 1):
        raise ValueError("applications were made for sentences of other lengths")
    grammar, layout = s.grammar, s.layout
    if applications.rule.size:
        grammar = grammar._replace(rules=without_pairs(grammar.rules))
    n_weights = layout.application_at + n_row_weights(applications.rows, 1)
    return s._replace(
        grammar=grammar,
        applications=applications,
        layout=layout._replace(n_weights=n_weights),
    )


def _pointers(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _lexicon(
    grammar: Grammar, n_words: int, symbol_ptr: ArrayLike, symbols: ArrayLike
) -> tuple[IntArray, CodeArray]:
    """Check the symbols of words, and sort those of every word."""
    ptr = np.ascontiguousarray(symbol_ptr, np.int64)
    found = np.ascontiguousarray(symbols, np.int32)
    if ptr.size != n_words + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any():
        raise ValueError(
            f"symbol_ptr must hold {n_words + 1} numbers, which rise from 0"
        )
    if ptr[-1] != found.size:
        raise ValueError(
            f"symbols must hold {ptr[-1]} numbers, as symbol_ptr says, not {found.size}"
        )
    if found.size and not 0 <= found.min() <= found.max() < grammar.n_symbols:
        raise ValueError(f"symbols of words must lie in 0..{grammar.n_symbols - 1}")
    if (grammar.word_class[found] < 0).any():
        raise ValueError("a word has a symbol whose word_class is -1")
    word = np.repeat(np.arange(n_words), np.diff(ptr))
    found = found[np.lexsort((found, word))]
    if ((np.diff(word) == 0) & (np.diff(found) == 0)).any():
        raise ValueError("a word has the same symbol twice")
    return ptr, found


def _take_gold(s: ConstituencyTrees, i: int) -> None:
    """Check that the right output is a derivation; write its classes."""
    first, n = int(s.sentences.ptr[i]), int(np.diff(s.sentences.ptr[i : i + 2])[0])
    y = s.gold[4 * first - 3 * i :][: 4 * n - 3]
    rule, start, end = y[: 3 * n - 3].reshape(3, n - 1).tolist()
    symbol = {(t, t + 1): int(a) for t, a in enumerate(y[3 * n - 3 :])}
    wrong = DataError(f"the right output of sentence {i} is not a derivation")
    for t in range(n):
        allowed = s.sentences.symbol[slice(*s.sentences.symbol_ptr[first + t :][:2])]
        if symbol[t, t + 1] not in allowed:
            raise wrong
    rules, classes = s.grammar.rules, s.gold_class[s.sentences.phrase_ptr[i] :]
    for a, b, r in zip(start, end, rule, strict=True):
        if not (0 <= a < b - 1 < n and 0 <= r < rules.parent.size):
            raise wrong
        symbol[a, b] = int(rules.parent[r])
        classes[phrase_at(n, a, b)] = s.grammar.span_class[symbol[a, b]]
    if not s.grammar.is_root[symbol.get((0, n), 0)] or (0, n) not in symbol:
        raise wrong
    for m, (a, b, r) in enumerate(zip(start, end, rule, strict=True), 1):
        children = symbol.get((a, m)), symbol.get((m, b))
        if children != (rules.left[r], rules.right[r]):
            raise wrong
