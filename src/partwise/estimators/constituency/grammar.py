"""Grammars in Chomsky normal form with named symbols, as binary trees spell them.

The names of symbols are those of `partwise.constituents.binarize`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from partwise.constituents import Symbol, Tree, read_symbol, subtrees
from partwise.estimators.constituency.lexicon import Lexicon, learn_lexicon
from partwise.structures.grammar import Grammar, make_grammar
from partwise.structures.rows import SparseRows, make_sparse_rows

Rule = tuple[int, int, int]


@dataclass(frozen=True)
class TreebankGrammar:
    """Symbols, rules, and the tags of words.

    Attributes
    ----------
    symbols : tuple of str
        Their names, sorted.
    rules : tuple of (int, int, int)
        Parent, left and right child of every rule, sorted by left, right and parent.
    roots : tuple of int
        The symbols of whole sentences, the most frequent first.
    word_symbols : tuple of int
        The symbols of words: tags, and chains of phrases that end in a tag.
    lexicon : Lexicon
        The tags of words.
    n_states : int
        How many hidden states there are behind each symbol; if there are several, the
        names of symbols end in ``^`` and a number.
    """

    symbols: tuple[str, ...]
    rules: tuple[Rule, ...]
    roots: tuple[int, ...]
    word_symbols: tuple[int, ...]
    lexicon: Lexicon
    n_states: int = 1

    @cached_property
    def symbol_number(self) -> dict[str, int]:
        """The number of every symbol."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @cached_property
    def rule_number(self) -> dict[Rule, int]:
        """The number of every rule."""
        return {rule: number for number, rule in enumerate(self.rules)}

    @cached_property
    def symbols_of_tag(self) -> dict[str, tuple[int, ...]]:
        """The symbols of words that end in a tag."""
        found: dict[str, list[int]] = {}
        for number in self.word_symbols:
            tag = read_symbol(self.symbols[number]).labels[-1]
            found.setdefault(tag, []).append(number)
        return {tag: tuple(numbers) for tag, numbers in found.items()}

    @cached_property
    def span_classes(self) -> tuple[str, ...]:
        """What the spans of symbols have features of."""
        parents = {rule[0] for rule in self.rules}
        return tuple(sorted({self._class(self.symbols[a]) for a in parents}))

    @cached_property
    def span_symbols(self) -> tuple[Symbol, ...]:
        """What the span classes stand for."""
        found = {}
        for parent in {rule[0] for rule in self.rules}:
            symbol = self.symbols[parent]
            found[self._class(symbol)] = read_symbol(symbol)
        return tuple(found[name] for name in self.span_classes)

    @cached_property
    def word_classes(self) -> tuple[str, ...]:
        """What the words of symbols have features of."""
        return tuple(sorted({self._class(self.symbols[a]) for a in self.word_symbols}))

    def without_state(self, name: str) -> str:
        """Return the name of a symbol, or of a class, without that of its state."""
        return name.rpartition("^")[0] if self.n_states > 1 else name

    def unsplit_class(self, symbol: str) -> str:
        """Return a symbol without what it remembers of its surroundings."""
        labels, is_rest = read_symbol(symbol)
        return "+".join(labels) + "|" * is_rest

    def _class(self, symbol: str) -> str:
        """Return what the spans and words of a symbol have features of."""
        state = f"^{symbol.rpartition('^')[2]}" if self.n_states > 1 else ""
        return self.unsplit_class(symbol) + state

    @cached_property
    def structure(self) -> Grammar:
        """The grammar with its indices and the features of its rules."""
        span, word = (
            {name: number for number, name in enumerate(names)}
            for names in (self.span_classes, self.word_classes)
        )
        parents, of_words = {rule[0] for rule in self.rules}, set(self.word_symbols)
        names = [self._class(symbol) for symbol in self.symbols]
        unsplit = [self.unsplit_class(symbol) for symbol in self.symbols]
        return make_grammar(
            np.array(self.rules, np.int64).reshape(-1, 3),
            len(self.symbols),
            self.roots,
            rows=rule_rows(self.rules, unsplit)[0],
            span_class=[span[n] if a in parents else -1 for a, n in enumerate(names)],
            word_class=[word[n] if a in of_words else -1 for a, n in enumerate(names)],
        )

    @property
    def rule_features(self) -> list[Hashable]:
        """What rules have weights for, in names: rules, and what they have in common.

        A rule is three symbols in a tuple of their own, since classes have names too.
        """
        names = [self.unsplit_class(symbol) for symbol in self.symbols]
        return [
            (tuple(self.symbols[number] for number in feature),)
            if feature in self.rule_number
            else feature
            for feature in rule_rows(self.rules, names)[1]
        ]

    def beyond(self, before: TreebankGrammar) -> TreebankGrammar:
        """Return this grammar with all that another one allows, too."""
        rules = {
            tuple(own.symbols[number] for number in rule)
            for own in (before, self)
            for rule in own.rules
        }
        roots, of_words = (
            dict.fromkeys(
                own.symbols[number]
                for own in (before, self)
                for number in getattr(own, name)
            )
            for name in ("roots", "word_symbols")
        )
        lexicon = self.lexicon.beyond(before.lexicon)
        return name_grammar(rules, roots, of_words, lexicon)

    @cached_property
    def common_root(self) -> str:
        """The label that most sentences have."""
        return read_symbol(self.symbols[self.roots[0]]).labels[0]

    def word_symbols_of(
        self, words: Sequence[str], tags: Sequence[str] | None
    ) -> list[tuple[int, ...]]:
        """Return the symbols that the words of a sentence may have.

        With `tags`, every word keeps the one it is given.
        """
        if tags is not None:
            return [self.symbols_of_tag.get(tag, ()) for tag in tags]
        return [self._symbols_of_word(word) for word in words]

    def _symbols_of_word(self, word: str) -> tuple[int, ...]:
        found = self._found
        if word not in found:
            tags = self.lexicon.tags(word)
            of_tag = self.symbols_of_tag
            found[word] = tuple(a for tag in tags for a in of_tag.get(tag, ()))
        return found[word]

    @cached_property
    def _found(self) -> dict[str, tuple[int, ...]]:
        return {}

    def derivation(self, tree: Tree) -> list[int]:
        """Return the codes of a binary tree, as `ConstituencyTrees` has them.

        Raises
        ------
        LookupError
            If the grammar does not have a rule of the tree; the message names it.
        """
        nodes = list(subtrees(tree))
        n_words: dict[int, int] = {}
        for node in reversed(nodes):
            below = node.phrases
            n_words[id(node)] = sum(n_words[id(child)] for child in below) or 1
        n = n_words[id(tree)]
        codes = [0] * (4 * n - 3)
        if self.symbol_number.get(tree.label) not in self.roots:
            raise LookupError(f"no sentence is a {tree.label!r}")
        stack = [(tree, 0)]
        while stack:
            node, start = stack.pop()
            if node.is_tag:
                codes[3 * n - 3 + start] = self._word_symbol(node)
                continue
            left, right = node.phrases
            split = start + n_words[id(left)]
            codes[split - 1] = self._rule(node.label, left.label, right.label)
            codes[n - 1 + split - 1] = start
            codes[2 * (n - 1) + split - 1] = start + n_words[id(node)]
            stack += [(right, split), (left, start)]
        return codes

    def _word_symbol(self, node: Tree) -> int:
        symbol = self.symbol_number.get(node.label)
        tag = read_symbol(node.label).labels[-1]
        if symbol is None or symbol not in self.symbols_of_tag.get(tag, ()):
            raise LookupError(f"no word is a {node.label!r}")
        if tag not in self.lexicon.tags(node.word):
            raise LookupError(f"there is no rule {tag} -> {node.word!r}")
        return symbol

    def _rule(self, *names: str) -> int:
        numbers = [self.symbol_number.get(name, -1) for name in names]
        number = self.rule_number.get((numbers[0], numbers[1], numbers[2]))
        if number is None:
            parent, left, right = names
            raise LookupError(f"there is no rule {parent} -> {left} {right}")
        return number

    def tree(self, codes: Sequence[int], words: Sequence[str]) -> Tree:
        """Return the binary tree that codes stand for."""
        n = len(words)
        found: dict[tuple[int, int], Tree] = {
            (t, t + 1): Tree(self.symbols[codes[3 * n - 3 + t]], (word,))
            for t, word in enumerate(words)
        }
        nodes = [
            (codes[n - 1 + m - 1], m, codes[2 * n - 2 + m - 1]) for m in range(1, n)
        ]
        # Short spans first: a phrase is made when its parts are there.
        for start, split, end in sorted(nodes, key=lambda node: node[2] - node[0]):
            symbol = self.symbols[self.rules[codes[split - 1]][0]]
            below = found[start, split], found[split, end]
            found[start, end] = Tree(symbol, below)
        return found[0, n]


def rule_rows(
    rules: Sequence[Rule], classes: Sequence[str]
) -> tuple[SparseRows, list[Hashable]]:
    """Return the features of rules, and what these are.

    Each rule has itself, and what is left of it in classes.

    Examples
    --------
    >>> rows, features = rule_rows([(0, 1, 2), (3, 1, 2)], ["S", "NP", "VP", "S"])
    >>> rows.idx.tolist(), features[4]
    ([0, 1, 2, 3, 4, 1, 2, 3], (3, 1, 2))
    """
    columns: dict[Hashable, int] = {}
    entries = []
    for rule in rules:
        parent, left, right = (classes[a] for a in rule)
        for feature in (
            rule,
            (parent, left, right),
            (parent, left, "left"),
            (parent, right, "right"),
        ):
            entries.append(columns.setdefault(feature, len(columns)))
    ptr = np.arange(len(rules) + 1) * 4
    return make_sparse_rows(ptr, entries, None, len(columns)), list(columns)


def read_grammar(
    trees: Iterable[Tree], tagged: Iterable[tuple[str, str]] = ()
) -> TreebankGrammar:
    """Read the grammar off binary trees: every rule that is in one of them.

    Words that are `tagged` elsewhere may have their tags, too.

    Examples
    --------
    >>> dogs, bark = Tree("NP+NNS", ("dogs",)), Tree("VP+VBP", ("bark",))
    >>> grammar = read_grammar([Tree("S", (dogs, bark))])
    >>> grammar.symbols, grammar.rules
    (('NP+NNS', 'S', 'VP+VBP'), ((1, 0, 2),))
    """
    rules: set[tuple[str, ...]] = set()
    roots: Counter[str] = Counter()
    of_words: set[str] = set()
    tagged = list(tagged)
    for tree in trees:
        roots[tree.label] += 1
        for node in subtrees(tree):
            if node.is_tag:
                of_words.add(node.label)
                tagged.append((node.word, read_symbol(node.label).labels[-1]))
            else:
                rules.add((node.label, *(child.label for child in node.phrases)))
    by_count = sorted(roots, key=lambda name: (-roots[name], name))
    return name_grammar(rules, by_count, of_words, learn_lexicon(tagged))


def name_grammar(
    rules: Iterable[tuple[str, ...]],
    roots: Iterable[str],
    word_symbols: Iterable[str],
    lexicon: Lexicon,
) -> TreebankGrammar:
    """Give numbers to the symbols of rules."""
    listed, roots, of_words = list(rules), list(roots), list(word_symbols)
    names = {name for rule in listed for name in rule} | {*roots, *of_words}
    symbols = tuple(sorted(names))
    number = {name: at for at, name in enumerate(symbols)}
    numbered = [(number[a], number[b], number[c]) for a, b, c in listed]
    return TreebankGrammar(
        symbols,
        tuple(sorted(numbered, key=lambda rule: (rule[1], rule[2], rule[0]))),
        tuple(number[name] for name in roots),
        tuple(sorted(number[name] for name in of_words)),
        lexicon,
    )


def split_symbols(grammar: TreebankGrammar, n_states: int) -> TreebankGrammar:
    """Return a grammar with so many hidden states behind each symbol.

    Every rule becomes one for all states of its three symbols.

    Examples
    --------
    >>> dogs, bark = Tree("NP+NNS", ("dogs",)), Tree("VP+VBP", ("bark",))
    >>> split = split_symbols(read_grammar([Tree("S", (dogs, bark))]), 2)
    >>> split.symbols[:3], len(split.rules)
    (('NP+NNS^1', 'NP+NNS^2', 'S^1'), 8)
    """
    if n_states == 1:
        return grammar

    def split(number: int) -> list[str]:
        return [f"{grammar.symbols[number]}^{s + 1}" for s in range(n_states)]

    made = name_grammar(
        (names for rule in grammar.rules for names in product(*map(split, rule))),
        (name for root in grammar.roots for name in split(root)),
        (name for number in grammar.word_symbols for name in split(number)),
        grammar.lexicon,
    )
    return replace(made, n_states=n_states)
