"""Coarse to fine: a grammar whose symbols remember nothing prunes the charts.

What symbols remember of their surroundings, and their hidden states, make a grammar
large and its charts slow. Without them there are few symbols. They say which phrases
are worth a look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from partwise.constituents import KnownBrackets, Tree, read_symbol
from partwise.constituents.binary import without_memory
from partwise.errors import DataError
from partwise.estimators.constituency.corpus import (
    GrammarSettings,
    TaggedWords,
    find_derivations,
)
from partwise.estimators.constituency.grammar import TreebankGrammar, name_grammar
from partwise.estimators.constituency.known import Example, Knowledge, placed
from partwise.estimators.pruning import CoarseModel, learn_coarse
from partwise.structures.grammar import ConstituencyTrees
from partwise.structures.grammar.coarse import (
    Coarsening,
    make_coarsening,
    prune_phrases,
)
from partwise.structures.grammar.places import phrase_at
from partwise.structures.partial import best_completions, make_partial


class ChartPruning(NamedTuple):
    """What pruning leaves of the charts of some sentences.

    Attributes
    ----------
    phrases : float
        The share of all spans of two words or more that may still be phrases.
    oracle_brackets : float
        The share of the right brackets that are among them, of those of two words or
        more whose labels the grammar knows: no parser finds others.
    """

    phrases: float
    oracle_brackets: float


def coarse_grammar(fine: TreebankGrammar) -> TreebankGrammar:
    """Return a grammar with symbols that remember nothing and have one state.

    Examples
    --------
    >>> from partwise.estimators.constituency.grammar import read_grammar, split_symbols
    >>> a, b = Tree("A", ("a",)), Tree("B", ("b",))
    >>> fine = read_grammar([Tree("S", (a, Tree("S|A", (b, Tree("S|B", (a, b))))))])
    >>> coarse_grammar(split_symbols(fine, 2)).symbols
    ('A', 'B', 'S', 'S|')
    """
    names = [without_memory(symbol) for symbol in fine.symbols]
    return name_grammar(
        {tuple(names[a] for a in rule) for rule in fine.rules},
        dict.fromkeys(names[a] for a in fine.roots),
        dict.fromkeys(names[a] for a in fine.word_symbols),
        fine.lexicon,
    )


@dataclass(frozen=True)
class ChartPruner:
    """Prunes the charts of a grammar, with a coarse model that has learnt."""

    fine: TreebankGrammar
    settings: GrammarSettings
    model: CoarseModel

    @cached_property
    def grammar(self) -> TreebankGrammar:
        """The coarse grammar."""
        return coarse_grammar(self.fine)

    @cached_property
    def _coarsening(self) -> Coarsening:
        number = self.grammar.symbol_number
        symbols = [number[without_memory(symbol)] for symbol in self.fine.symbols]
        return make_coarsening(self.fine.structure, self.grammar.structure, symbols)

    @cached_property
    def _class_number(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.grammar.span_classes)}

    def prune(self, s: ConstituencyTrees, n_jobs: int) -> ConstituencyTrees:
        """Return the corpus without the phrases that are hardly probable."""
        weights, least = self.model
        return prune_phrases(s, self._coarsening, weights, least, n_jobs)

    def measure(
        self, s: ConstituencyTrees, trees: Sequence[tuple[int, Tree]]
    ) -> ChartPruning:
        """Say what is left of a pruned corpus, given numbers and right trees."""
        is_open = s.allowed.table.any(axis=1)
        total = found = 0
        for i, tree in trees:
            for start, end, label in _phrases(self.settings.binarize(tree)):
                cell = self._cell(s, i, start, end, label)
                if cell is not None and not read_symbol(label).is_rest:
                    total += 1
                    found += bool(s.allowed.table[cell])
        share = is_open.mean() if is_open.size else 0.0
        return ChartPruning(float(share), found / total if total else 1.0)

    def put_back(
        self,
        s: ConstituencyTrees,
        examples: Sequence[Example],
        sentences: Sequence[TaggedWords],
    ) -> None:
        """Allow the phrases of the right trees again, so that they can be learnt.

        Where brackets are known in part, those of the best tree that has them.
        """
        known = [i for i, one in enumerate(examples) if isinstance(one, KnownBrackets)]
        trees = {i: one for i, one in enumerate(examples) if isinstance(one, Tree)}
        binary = {i: self.settings.binarize(one) for i, one in trees.items()}
        if known:
            some = [sentences[i] for i in known]
            made = self.settings.structure(self.grammar, some)
            knowledge = Knowledge(self.grammar, self.settings)
            wrong = knowledge.wrong_parts(made, [examples[i] for i in known])
            right = best_completions(make_partial(made, *wrong), self.model.weights)
            for j, i in enumerate(known):
                codes = right.codes[right.code_ptr[j] : right.code_ptr[j + 1]].tolist()
                binary[i] = self.grammar.tree(codes, some[j].words)
        for i, tree in binary.items():
            for start, end, label in _phrases(tree):
                cell = self._cell(s, i, start, end, label)
                assert cell is not None  # the grammar derives it
                s.allowed.table[cell] = 1

    def _cell(
        self, s: ConstituencyTrees, i: int, start: int, end: int, label: str
    ) -> tuple[int, int] | None:
        """Return the place of a phrase in the table, if the grammar knows its label."""
        k = self._class_number.get(self.grammar.unsplit_class(label))
        n = int(s.sentences.ptr[i + 1] - s.sentences.ptr[i])
        if k is None:
            return None
        return int(s.sentences.phrase_ptr[i] + phrase_at(n, start, end)), k


def _phrases(tree: Tree) -> Iterator[tuple[int, int, str]]:
    """Yield the phrases of a binary tree."""
    for node, start, end in placed(tree):
        if not node.is_tag:
            yield start, end, node.label


def learn_pruner(
    fine: TreebankGrammar,
    settings: GrammarSettings,
    examples: Sequence[Example],
    sentences: Sequence[TaggedWords],
    least: float,
    seed: int,
) -> ChartPruner:
    """Learn which phrases are worth a look, from trees known completely."""
    trees = {i: one for i, one in enumerate(examples) if isinstance(one, Tree)}
    if not trees:
        raise DataError(
            "no tree is known completely, and prune learns from whole trees: give "
            "some, or leave prune out"
        )
    coarse, few = coarse_grammar(fine), coarsest(settings)
    codes, _ = find_derivations(list(trees.values()), coarse, few)
    corpus = few.structure(coarse, [sentences[i] for i in trees], list(codes.values()))
    return ChartPruner(fine, few, learn_coarse(corpus, least, seed))


def coarsest(settings: GrammarSettings) -> GrammarSettings:
    """Return the settings of a grammar with symbols that remember nothing."""
    return replace(settings, horizontal=0, vertical=1)
