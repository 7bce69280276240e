"""A plain probabilistic context-free grammar, by relative frequency.

Scores are logarithms of probabilities, and the best tree is found by the same chart as
the other parsers' trees. A word that is rare is known by its shape and its ending; how
often a symbol has such a class of words is smoothed by how often all symbols have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.constituents import Tree, binarize, restore, subtrees, words
from partwise.estimators.constituency.grammar import TreebankGrammar, read_grammar
from partwise.estimators.constituency.lexicon import RARE
from partwise.features.span_codes import word_class
from partwise.metrics.brackets import BracketScores, bracket_scores
from partwise.structures.decoding import decode
from partwise.structures.grammar import make_constituency_trees, make_grammar
from partwise.structures.rows import make_sparse_rows

SMOOTHING = 1.0


class PCFG:
    """A grammar with the probabilities of its rules in some trees."""

    def __init__(self, trees: Sequence[Tree], horizontal: int, vertical: int) -> None:
        binary = [binarize(t, horizontal=horizontal, vertical=vertical) for t in trees]
        self.grammar = read_grammar(binary)
        nodes = [node for tree in binary for node in subtrees(tree)]
        self._count = Counter(node.word for node in nodes if node.is_tag)
        of_symbol = Counter(node.label for node in nodes)
        rules = Counter(
            (node.label, *(child.label for child in node.phrases))
            for node in nodes
            if not node.is_tag
        )
        names = self.grammar.symbols
        rule_scores = [
            np.log(rules[names[a], names[b], names[c]] / of_symbol[names[a]])
            for a, b, c in self.grammar.rules
        ]
        tagged = Counter((n.label, self._kind(n.word)) for n in nodes if n.is_tag)
        kinds = sorted({kind for _, kind in tagged})
        self._kinds = {kind: number for number, kind in enumerate(kinds)}
        counts = np.array([[tagged[name, kind] for name in names] for kind in kinds])
        shares = (counts.sum(axis=1) + 1) / (counts.sum() + len(kinds) + 1)
        shares = np.append(shares, 1 / (counts.sum() + len(kinds) + 1))
        counts = np.vstack([counts, np.zeros(len(names))])
        totals = np.array([of_symbol[name] for name in names])
        probabilities = (counts + SMOOTHING * shares[:, None]) / (totals + SMOOTHING)
        word_scores = np.log(probabilities)
        self.weights = np.concatenate([rule_scores, word_scores.ravel(), [0.0], [0.0]])

    def _kind(self, word: str) -> str:
        if self._count[word] >= RARE:
            return f"={word}"
        return word_class(word)

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        """Return the best trees, None where there is none."""
        corpus = self._corpus(sentences)
        ptr, codes, scores = decode(corpus, self.weights)
        return [
            restore(self.grammar.tree(codes[ptr[i] : ptr[i + 1]].tolist(), sentence))
            if scores[i] > -np.inf
            else None
            for i, sentence in enumerate(sentences)
        ]

    def _corpus(self, sentences: Sequence[Sequence[str]]) -> Any:
        grammar: TreebankGrammar = self.grammar
        lengths = np.array([len(sentence) for sentence in sentences])
        symbols = [
            own for one in sentences for own in grammar.word_symbols_of(one, None)
        ]
        kinds = [
            self._kinds.get(self._kind(word), len(self._kinds))
            for one in sentences
            for word in one
        ]
        n_spans = int((lengths * (lengths - 1) // 2).sum())
        n_splits = int(((lengths + 1) * lengths * (lengths - 1) // 6).sum())
        return make_constituency_trees(
            make_grammar(
                grammar.rules,
                len(grammar.symbols),
                grammar.roots,
                span_class=np.zeros(len(grammar.symbols), int),
            ),
            lengths,
            np.cumsum([0] + [len(own) for own in symbols]),
            [a for own in symbols for a in own],
            make_sparse_rows(
                np.arange(len(kinds) + 1), kinds, None, len(self._kinds) + 1
            ),
            make_sparse_rows(np.zeros(n_spans + 1), [], None, 1),
            make_sparse_rows(np.zeros(n_splits + 1), [], None, 1),
        )

    def scores(self, trees: Sequence[Tree]) -> BracketScores:
        """Return how good the trees are that it finds for the words of others.

        Where it finds none, one without phrases counts.
        """
        sentences = [words(tree) for tree in trees]
        found = [
            tree or _flat(sentence)
            for tree, sentence in zip(self.parse(sentences), sentences, strict=True)
        ]
        return bracket_scores(trees, found)


def _flat(sentence: Sequence[str]) -> Tree:
    return Tree("S", tuple(Tree("NN", (word,)) for word in sentence))
