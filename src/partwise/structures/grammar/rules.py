"""The rules of a grammar in Chomsky normal form, indexed for charts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partwise._moved import renamed
from partwise.structures.interface import IntArray
from partwise.structures.rows import (
    SparseRows,
    check_rows,
    make_sparse_rows,
    take_rows,
)


class RuleTable(NamedTuple):
    """Rules ``parent -> left right``, sorted by left, right and parent.

    What two children have in common is worked out once for all their parents: *pairs*
    are the different ``(left, right)``. Those of the left child `B` are the numbers
    ``pair_ptr[B]:pair_ptr[B + 1]``, and the rules of pair `p` are
    ``rule_ptr[p]:rule_ptr[p + 1]``. The rules of the parent `A`, for the way down, are
    ``of_parent[parent_ptr[A]:parent_ptr[A + 1]]``.
    """

    parent: IntArray
    left: IntArray
    right: IntArray
    pair: IntArray
    pair_ptr: IntArray
    pair_right: IntArray
    rule_ptr: IntArray
    parent_ptr: IntArray
    of_parent: IntArray


class Grammar(NamedTuple):
    """A grammar; make one with `make_grammar`.

    Symbols whose spans have features in common are one class of `span_class`; for
    spans of one word it is `word_class`. Symbols that no rule expands have the span
    class -1.
    """

    rules: RuleTable
    rows: SparseRows
    is_root: NDArray[np.uint8]
    span_class: IntArray
    word_class: IntArray
    n_symbols: int
    n_span_classes: int
    n_word_classes: int


def make_grammar(
    rules: ArrayLike,
    n_symbols: int,
    roots: ArrayLike,
    *,
    rows: SparseRows | None = None,
    span_class: ArrayLike | None = None,
    word_class: ArrayLike | None = None,
) -> Grammar:
    """Check and index the rules of a grammar in Chomsky normal form.

    Which words a symbol may stand for is said sentence by sentence
    (`make_constituency_trees`).

    Parameters
    ----------
    rules : array of int, shape (n_rules, 3)
        Parent, left child and right child of every rule.
    n_symbols : int
        Symbols are ``0 .. n_symbols - 1``.
    roots : array of int
        The symbols that a whole sentence may have.
    rows : SparseRows, optional
        The features of every rule, in the order given; by default its identity.
    span_class : array of int, optional
        For every symbol the class whose weights its spans have; by default every
        symbol is a class of its own. -1 where no rule expands it.
    word_class : array of int, optional
        The same for spans of one word; -1 for symbols that stand for no word.

    Returns
    -------
    Grammar
        With its rules sorted: rule `r` is ``rules.parent[r]``, ``rules.left[r]``,
        ``rules.right[r]``.

    Examples
    --------
    >>> s, np_, vp = range(3)
    >>> grammar = make_grammar([(s, np_, vp), (vp, vp, np_)], 3, [s])
    >>> grammar.rules.parent, grammar.rules.left
    (array([0, 2]), array([1, 2]))
    """
    table = np.asarray(rules, np.int64).reshape(-1, 3)
    n_rules = len(table)
    if table.size and not 0 <= table.min() <= table.max() < n_symbols:
        raise ValueError(f"symbols of rules must lie in 0..{n_symbols - 1}")
    if rows is None:
        rows = make_sparse_rows(np.arange(n_rules + 1), np.arange(n_rules))
    check_rows(rows, n_rules, 1)
    order = np.lexsort((table[:, 0], table[:, 2], table[:, 1]))
    table = np.ascontiguousarray(table[order])
    same = np.flatnonzero((np.diff(table, axis=0) == 0).all(axis=1))
    if same.size:
        parent, left, right = table[same[0]]
        raise ValueError(f"the rule {parent} -> {left} {right} is given twice")
    is_root = np.zeros(n_symbols, np.uint8)
    root_symbols = np.asarray(roots, np.int64).reshape(-1)
    if not root_symbols.size:
        raise ValueError("a grammar needs at least one root symbol")
    if not 0 <= root_symbols.min() <= root_symbols.max() < n_symbols:
        raise ValueError(f"roots must lie in 0..{n_symbols - 1}")
    is_root[root_symbols] = 1
    span_classes = _classes(span_class, n_symbols, "span_class")
    if (span_classes[table[:, 0]] < 0).any():
        raise ValueError("span_class is -1 for a symbol that a rule expands")
    word_classes = _classes(word_class, n_symbols, "word_class")
    return Grammar(
        _index(table, n_symbols),
        take_rows(rows, order),
        is_root,
        span_classes,
        word_classes,
        int(n_symbols),
        int(span_classes.max(initial=0)) + 1,
        int(word_classes.max(initial=0)) + 1,
    )


def _index(table: NDArray[np.int64], n_symbols: int) -> RuleTable:
    parent, left, right = table.T
    is_new = np.ones(len(table), bool)
    is_new[1:] = (np.diff(table[:, 1:], axis=0) != 0).any(axis=1)
    first = np.flatnonzero(is_new)
    symbols = np.arange(n_symbols + 1)
    of_parent = np.argsort(parent, kind="stable")
    return RuleTable(
        parent.copy(),
        left.copy(),
        right.copy(),
        (np.cumsum(is_new) - 1).astype(np.int64),
        np.searchsorted(left[first], symbols).astype(np.int64),
        right[first],
        np.append(first, len(table)).astype(np.int64),
        np.searchsorted(parent[of_parent], symbols).astype(np.int64),
        of_parent.astype(np.int64),
    )


def without_pairs(rules: RuleTable) -> RuleTable:
    """Return the rules with every one as a pair of its own.

    Then what is worked out for pairs may differ from rule to rule.
    """
    n_rules, n_symbols = rules.parent.size, rules.pair_ptr.size - 1
    return rules._replace(
        pair=np.arange(n_rules),
        pair_ptr=np.searchsorted(rules.left, np.arange(n_symbols + 1)).astype(np.int64),
        pair_right=rules.right.copy(),
        rule_ptr=np.arange(n_rules + 1),
    )


def _classes(given: ArrayLike | None, n_symbols: int, name: str) -> IntArray:
    if given is None:
        return np.arange(n_symbols, dtype=np.int64)
    classes = np.ascontiguousarray(given, np.int64)
    if classes.shape != (n_symbols,):
        raise ValueError(f"{name} has {classes.size} entries for {n_symbols} symbols")
    if classes.min(initial=0) < -1:
        raise ValueError(f"{name} must not be below -1")
    return classes


__getattr__ = renamed(__name__, {"Rules": "RuleTable"})
