"""Which derivations agree with what is known of a sentence: a tree, or some brackets.

Where symbols have hidden states, or where only some brackets are known, there are many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.constituents import (
    KnownBrackets,
    Symbol,
    Tree,
    read_symbol,
    subtrees,
    tags,
    words,
)
from partwise.data.bracketed import escape_brackets
from partwise.estimators.constituency.corpus import GrammarSettings, as_words
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.structures.grammar import ConstituencyTrees
from partwise.structures.grammar.known import KnownSpan, WrongParts, wrong_parts
from partwise.structures.partial import have_completions

Example = Tree | KnownBrackets


def whole_trees(examples: Iterable[Example]) -> list[Tree]:
    """Return the trees that are known completely."""
    return [one for one in examples if isinstance(one, Tree)]


def known_tags(examples: Iterable[Example]) -> Iterator[tuple[str, str]]:
    """Yield words with their tags, as far as these are known."""
    for one in examples:
        own = tags(one) if isinstance(one, Tree) else one.tags or ()
        of_words = words(one) if isinstance(one, Tree) else one.words
        for word, tag in zip(of_words, own, strict=False):
            if tag is not None:
                yield escape_brackets(word), tag


class Knowledge:
    """What is known of sentences, in the symbols of a grammar."""

    def __init__(self, grammar: TreebankGrammar, settings: GrammarSettings) -> None:
        self.grammar, self.settings = grammar, settings
        self._classes = [grammar.without_state(one) for one in grammar.span_classes]
        self._read_classes = grammar.span_symbols
        self._symbols = [grammar.without_state(one) for one in grammar.symbols]
        self._read_symbols = [read_symbol(one) for one in grammar.symbols]

    def wrong_parts(
        self, corpus: ConstituencyTrees, examples: Sequence[Example]
    ) -> WrongParts:
        """Return the parts that derivations which agree with examples do not have."""
        spans, wrong = [], np.zeros(corpus.sentences.symbol.size, bool)
        for i, example in enumerate(examples):
            if isinstance(example, Tree):
                known, right = self._of_tree(example)
            else:
                known, right = self._of_brackets(example)
            spans.append(known)
            for t, own in enumerate(right, int(corpus.sentences.ptr[i])):
                at = slice(*corpus.sentences.symbol_ptr[t : t + 2])
                wrong[at] = ~own[corpus.sentences.symbol[at]]
        return wrong_parts(corpus, spans, wrong)

    def _of_tree(self, tree: Tree) -> tuple[list[KnownSpan], list[NDArray[np.bool_]]]:
        """Return the spans of a tree, and the symbols that its words may have."""
        known, right = [], []
        for node, start, end in placed(self.settings.binarize(tree)):
            if node.is_tag:
                right.append(_where(name == node.label for name in self._symbols))
            else:
                own = self.grammar.unsplit_class(node.label)
                known.append(
                    KnownSpan(start, end, _where(name != own for name in self._classes))
                )
        return known, right

    def _of_brackets(
        self, known: KnownBrackets
    ) -> tuple[list[KnownSpan], list[NDArray[np.bool_]]]:
        """Return the spans that are known, and the symbols that words may have."""
        labels: dict[tuple[int, int], list[str]] = {}
        for label, start, end in known.brackets:
            labels.setdefault((start, end), []).extend([] if label is None else [label])
        spans = [
            KnownSpan(
                start, end, _where(not _has(one, own) for one in self._read_classes)
            )
            for (start, end), own in labels.items()
            if end - start > 1
        ]
        own_tags = known.tags or (None,) * len(known.words)
        right = [
            self._right_symbols(labels.get((t, t + 1), []), tag)
            for t, tag in enumerate(own_tags)
        ]
        return spans, right

    def _right_symbols(self, labels: list[str], tag: str | None) -> NDArray[np.bool_]:
        return _where(
            tag in (None, one.labels[-1])
            and _has(one._replace(labels=one.labels[:-1]), labels)
            for one in self._read_symbols
        )

    def underivable(
        self, examples: Sequence[Example], given_tags: bool
    ) -> dict[int, str]:
        """Return which brackets no derivation has, and why."""
        numbers = [i for i, one in enumerate(examples) if not isinstance(one, Tree)]
        some: list[Any] = [examples[i] for i in numbers]
        if not some:
            return {}
        sentences = as_words(some, given_tags, "trees")
        corpus = self.settings.structure(self.grammar, sentences)
        ptr, ids, _ = self.wrong_parts(corpus, some)
        found = have_completions(corpus, ptr, ids)
        return {numbers[j]: self._why(some[j]) for j in np.flatnonzero(~found).tolist()}

    def _why(self, known: KnownBrackets) -> str:
        there = {label for one in self._read_symbols for label in one.labels}
        for label, start, end in known.brackets:
            if label is not None and label not in there:
                return f"the label of the bracket ({label!r}, {start}, {end}) is new"
        return "no derivation has all of its brackets"


def placed(tree: Tree) -> Iterable[tuple[Tree, int, int]]:
    """Yield the nodes of a tree with their spans; tags in the order of words."""
    size: dict[int, int] = {}
    nodes = list(subtrees(tree))
    for node in reversed(nodes):
        size[id(node)] = sum(size[id(child)] for child in node.phrases) or 1
    at = 0
    for node in nodes:  # a node comes right after all words before it
        yield node, at, at + size[id(node)]
        at += node.is_tag


def _has(symbol: Symbol, labels: Sequence[str]) -> bool:
    """Say whether a symbol is a phrase with all of these labels, in their order."""
    rest = iter(symbol.labels)
    return not symbol.is_rest and all(label in rest for label in labels)


def _where(answers: Iterable[Any]) -> NDArray[np.bool_]:
    return np.fromiter(answers, bool)
