"""From weights to trees: the best, the k best, and probabilities of brackets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.constituents import Bracket, Tree, read_symbol, restore
from partwise.estimators.best_codes import kbest
from partwise.estimators.constituency.coarse import ChartPruner
from partwise.estimators.constituency.corpus import (
    BATCH,
    OWN_BATCH,
    GrammarSettings,
    TaggedWords,
    batches,
)
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.estimators.constituency.rule_features import (
    OwnFeatures,
    add_own_features,
    of_sentences,
)
from partwise.structures.decoding import decode, part_marginals
from partwise.structures.grammar import ConstituencyTrees
from partwise.structures.grammar.parts import part_offsets
from partwise.structures.interface import FloatArray

N_NAMED = 3
"""How many words a message names."""


class Model(NamedTuple):
    """All that predicting needs.

    `own` is what was learnt of the features of rule applications, and `rule_features`
    the function, or the matrices, that are given for the sentences. What `pruner` rules
    out is not looked at.
    """

    settings: GrammarSettings
    grammar: TreebankGrammar
    weights: FloatArray
    n_jobs: int = 1
    own: OwnFeatures | None = None
    rule_features: Any = None
    pruner: ChartPruner | None = None

    def corpora(
        self, sentences: Sequence[TaggedWords]
    ) -> Iterator[tuple[int, list[TaggedWords], ConstituencyTrees]]:
        """Yield batches of sentences: where they start, themselves, and encoded."""
        given = self.rule_features
        for first, batch in batches(sentences, OWN_BATCH if self.own else BATCH):
            part = of_sentences(given, range(first, first + len(batch)))
            yield first, batch, self._replace(rule_features=part).corpus(batch)

    def corpus(self, sentences: Sequence[TaggedWords]) -> ConstituencyTrees:
        """Encode sentences, all of them at once."""
        made = self.settings.structure(self.grammar, sentences)
        if self.pruner is not None:
            made = self.pruner.prune(made, self.n_jobs)
        if self.own is None:
            return made
        shown = [one.shown(self.settings.given_tags) for one in sentences]
        return add_own_features(self.own, self.rule_features, self.grammar, made, shown)


def best_trees(
    model: Model, sentences: Sequence[TaggedWords]
) -> tuple[list[Tree], list[int]]:
    """Return the best trees, and the numbers of sentences that have none.

    The trees of the latter are flat: all words below the most common root label.
    """
    trees, failed = [], []
    for first, batch, corpus in model.corpora(sentences):
        ptr, codes, scores = decode(corpus, model.weights, model.n_jobs)
        for i, sentence in enumerate(batch):
            if scores[i] > -np.inf:
                own = codes[ptr[i] : ptr[i + 1]].tolist()
                trees.append(tree_of(model, own, sentence))
            else:
                failed.append(first + i)
                trees.append(_flat_tree(model, sentence, corpus, i))
    return trees, failed


def unproduced(model: Model, sentences: Iterable[TaggedWords]) -> list[str]:
    """Return the words that no rule produces, each once; with tags that are given."""
    found: dict[str, None] = {}
    for words, tags in sentences:
        given = tags if model.settings.given_tags else None
        symbols = model.grammar.word_symbols_of(words, given)
        for t, word in enumerate(words):
            if not symbols[t]:
                found[word if given is None else f"{word}/{given[t]}"] = None
    return list(found)


def name_unproduced(words: Sequence[str]) -> str:
    """Say that no rule produces these words, as the end of a message about trees.

    Examples
    --------
    >>> name_unproduced(["zebra"])
    "; no rule produces 'zebra'"
    >>> name_unproduced(list("abcde"))
    "; no rule produces 'a', 'b', 'c' and 2 other words"
    """
    if not words:
        return ""
    others = len(words) - N_NAMED
    more = f" and {others} other word{'s' * (others > 1)}" if others > 0 else ""
    return f"; no rule produces {', '.join(map(repr, words[:N_NAMED]))}{more}"


def kbest_trees(
    model: Model, sentences: Sequence[TaggedWords], k: int
) -> list[list[tuple[Tree, float]]]:
    """Return up to `k` best trees of every sentence, and their scores."""
    result = []
    for _, batch, corpus in model.corpora(sentences):
        found = kbest(corpus, model.weights, k, model.n_jobs)
        for sentence, best in zip(batch, found, strict=True):
            trees: dict[Tree, float] = {}
            for codes, score in best:
                trees.setdefault(tree_of(model, codes.tolist(), sentence), score)
            result.append(list(trees.items()))
    return result


def bracket_probabilities(
    model: Model, sentences: Sequence[TaggedWords], at_least: float
) -> list[dict[Bracket, float]]:
    """Return the expected number of every bracket, the largest first."""
    result = []
    for _, batch, corpus in model.corpora(sentences):
        wanted = [part_offsets(corpus, i)[2] for i in range(len(batch))]
        ptr, mu, _ = part_marginals(
            corpus, model.weights, np.array(wanted, np.int64), model.n_jobs
        )
        for i in range(len(batch)):
            found = _brackets(model.grammar, corpus, i, mu[ptr[i] : ptr[i + 1]])
            ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
            result.append({b: share for b, share in ranked if share >= at_least})
    return result


def _brackets(
    grammar: TreebankGrammar, corpus: ConstituencyTrees, i: int, mu: FloatArray
) -> dict[Bracket, float]:
    """Sum the marginals of rules, words and spans up over brackets.

    A chain such as ``S+VP`` is a bracket for each of its labels; the rest of a phrase
    is none, and neither are tags.
    """
    found: defaultdict[Bracket, float] = defaultdict(float)
    first, last = corpus.sentences.ptr[i : i + 2].tolist()
    at = len(grammar.rules)
    for t in range(first, last):
        for symbol in _symbols(corpus, t):
            for label in read_symbol(grammar.symbols[symbol]).labels[:-1]:
                found[Bracket(label, t - first, t - first + 1)] += float(mu[at])
            at += 1
    classes = grammar.span_symbols
    n = last - first
    spans = [(a, b) for a in range(n) for b in range(a + 2, n + 1)]
    table = mu[at:].reshape(len(spans), len(classes))
    for phrase, k in np.argwhere(table > 0.0).tolist():
        if not classes[k].is_rest:
            for label in classes[k].labels:
                found[Bracket(label, *spans[phrase])] += float(table[phrase, k])
    return found


def _symbols(corpus: ConstituencyTrees, t: int) -> Any:
    """Return the symbols that a word of the corpus may have."""
    return corpus.sentences.symbol[slice(*corpus.sentences.symbol_ptr[t : t + 2])]


def tree_of(model: Model, codes: Sequence[int], sentence: TaggedWords) -> Tree:
    """Return the tree that codes stand for, as users know trees."""
    return restore(model.grammar.tree(codes, sentence.words))


def _flat_tree(
    model: Model, sentence: TaggedWords, corpus: ConstituencyTrees, i: int
) -> Tree:
    """Return a tree without phrases, every word with the tag given or its best one."""
    layout, grammar = corpus.layout, corpus.grammar
    weights = model.weights[layout.word_at : layout.span_at]
    of_features = weights.reshape(-1, grammar.n_word_classes)
    names = [read_symbol(name).labels[-1] for name in model.grammar.word_classes]
    tags = list(sentence.tags or ()) if model.settings.given_tags else []
    for t in range(*corpus.sentences.ptr[i : i + 2].tolist()) if not tags else ():
        own = corpus.words.idx[slice(*corpus.words.ptr[t : t + 2])]
        scores = of_features[own].sum(axis=0)
        classes = grammar.word_class[_symbols(corpus, t)]
        if classes.size:
            tags.append(names[int(classes[scores[classes].argmax()])])
        else:
            tags.append(_guess_tag(model, names, scores))
    below = [Tree(tag, (w,)) for tag, w in zip(tags, sentence.words, strict=True)]
    return Tree(model.grammar.common_root, tuple(below))


def _guess_tag(model: Model, names: Sequence[str], scores: FloatArray) -> str:
    """Return the best tag for a word that no rule produces.

    It is one of letters, as that of punctuation is not, if there are any; of equally
    good ones that of the most words.
    """
    n_words = model.grammar.lexicon.n_words

    def rank(k: int) -> tuple[bool, float, int]:
        is_name = any(map(str.isalpha, names[k]))
        return is_name, float(scores[k]), n_words[names[k]]

    return names[max(range(len(names)), key=rank)]
