"""Probabilistic grammars with heads, written as text, that generate sentences.

A line of the text is one rule: a symbol, a weight, and what the symbol becomes::

    NP-s   30   DT-s/det JJ/amod NN*

- The head child carries ``*`` (the first child, if none does). Every other
  child's head word depends on the head's head word; the relation follows ``/``.
- ``/acl@nsubj`` moves a child away: it depends on that dependent of the head
  which has relation ``nsubj``. This is how crossing arcs come about.
- What follows the first ``-`` of a symbol is hidden: ``NP-s`` prints as ``NP``.
- A symbol that starts with ``_`` is transparent: its children become children of
  the phrase above. One that starts with ``=`` is transparent and a named entity.
- ``#`` stands for number, ``%`` for a class of verbs; such a line is many rules.
- A symbol without rules is a part-of-speech tag, and the lexicon has its words.

Chunks follow from tree and heads: a phrase whose head is a word of its own is a
*base phrase*. Its chunk runs from its first word to the end of the unbroken row
of own words that the head stands in. The outermost base phrase wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple, TypeAlias

from partwise.synthetic.draws import Table, Uniform

Tree: TypeAlias = "tuple[str, str | tuple[Tree, ...]]"
"""A constituency tree: ``(tag, word)`` or ``(label, (tree, tree, ...))``."""

VARIABLES = {"#": "sp", "%": "itdco"}

# Below this depth every symbol takes its first rule, which must lead to words.
DEEPEST = 22


class Rule(NamedTuple):
    """What a symbol becomes: children, their relations, and which one is the head."""

    symbols: tuple[str, ...]
    relations: tuple[str, ...]
    targets: tuple[str, ...]
    head: int


def parse_rule(right_hand_side: str) -> Rule:
    """Read the children of a rule.

    Examples
    --------
    >>> parse_rule("DT/det NN*")
    Rule(symbols=('DT', 'NN'), relations=('det', ''), targets=('', ''), head=1)
    """
    symbols, relations, targets = [], [], []
    head = 0
    for position, child in enumerate(right_hand_side.split()):
        symbol, _, relation = child.partition("/")
        relation, _, target = relation.partition("@")
        if symbol.endswith("*"):
            symbol, head = symbol[:-1], position
        symbols.append(symbol)
        relations.append(relation)
        targets.append(target)
    return Rule(tuple(symbols), tuple(relations), tuple(targets), head)


def _instances(line: str) -> Iterator[str]:
    """Yield a line once for every value of the variables in it."""
    present = [name for name in VARIABLES if name in line]
    for values in product(*(VARIABLES[name] for name in present)):
        instance = line
        for name, value in zip(present, values, strict=True):
            instance = instance.replace(name, value)
        yield instance


class HeadedGrammar:
    """A probabilistic context-free grammar with heads and a lexicon.

    Parameters
    ----------
    text : str
        The rules; the module's own documentation says how to write them.
        Generation starts with the symbol of the first rule.
    lexicon : mapping of str to Table of str
        The words of every symbol that has no rules.

    Examples
    --------
    >>> words = {"DT": Table(["the"]), "NN": Table(["cat"]), "VBZ": Table(["sleeps"])}
    >>> grammar = HeadedGrammar(
    ...     '''
    ...     S   1  NP/nsubj VP*
    ...     NP  1  DT/det NN*
    ...     VP  1  VBZ*
    ...     ''',
    ...     words,
    ... )
    >>> derivation = grammar.derive(lambda: 0.5)
    >>> derivation.words, derivation.heads, derivation.chunks
    (['The', 'cat', 'sleeps'], [2, 3, 0], ['B-NP', 'I-NP', 'B-VP'])
    """

    def __init__(self, text: str, lexicon: Mapping[str, Table[str]]) -> None:
        choices: dict[str, tuple[list[Rule], list[float]]] = {}
        for line in text.splitlines():
            for instance in _instances(line.strip()):
                if instance:
                    symbol, weight, right_hand_side = instance.split(maxsplit=2)
                    rules, weights = choices.setdefault(symbol, ([], []))
                    rules.append(parse_rule(right_hand_side))
                    weights.append(float(weight))
        self.start = next(iter(choices))
        self.rules = {
            symbol: Table(rules, weights)
            for symbol, (rules, weights) in choices.items()
        }
        self.lexicon = dict(lexicon)
        used = {
            symbol
            for rules, _ in choices.values()
            for rule in rules
            for symbol in rule.symbols
        }
        missing = sorted(used - self.rules.keys() - self.lexicon.keys())
        if missing:
            raise ValueError(
                f"no rules and no words for {', '.join(missing)}: "
                "add a rule to the grammar or a table to the lexicon"
            )

    def derive(self, draw: Uniform) -> Derivation:
        """Generate one sentence with all its annotation."""
        derivation = Derivation(self, draw)
        (tree,), _, _ = derivation.expand(self.start, 0)
        derivation.finish(tree)
        return derivation


class Derivation:
    """A sentence in the making: parallel lists, one entry per word, and its tree.

    Words are numbered from 1, and 0 is the head of the root.
    """

    __slots__ = (
        "chunks",
        "draw",
        "entities",
        "grammar",
        "heads",
        "relations",
        "tags",
        "tree",
        "words",
    )

    def __init__(self, grammar: HeadedGrammar, draw: Uniform) -> None:
        self.grammar = grammar
        self.draw = draw
        self.words: list[str] = []
        self.tags: list[str] = []
        self.chunks: list[str] = []
        self.entities: list[str] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.tree: Tree = ("", ())

    def expand(self, symbol: str, depth: int) -> tuple[tuple[Tree, ...], int, int]:
        """Generate what a symbol stands for.

        Returns
        -------
        trees : tuple of Tree
            One tree, or several if the symbol is transparent.
        head : int
            The head word's number.
        own : int
            Which of `trees` is the head word itself, -1 if it lies deeper.
        """
        table = self.grammar.rules.get(symbol)
        if table is None:
            return self._add_word(symbol)
        rule = table.items[0] if depth > DEEPEST else table.pick(self.draw)
        start = len(self.words)
        trees: list[Tree] = []
        positions = []
        own = -1
        for child, child_symbol in enumerate(rule.symbols):
            subtrees, position, child_own = self.expand(child_symbol, depth + 1)
            if child == rule.head and child_own >= 0:
                own = len(trees) + child_own
            trees.extend(subtrees)
            positions.append(position)
        head = positions[rule.head]
        self._attach(rule, positions, head)

        if symbol[0] == "_":
            return tuple(trees), head, own
        if symbol[0] == "=":
            self._label(self.entities, start, len(self.words), symbol[1:])
            return tuple(trees), head, own
        label = symbol.partition("-")[0]
        if own >= 0:
            # Inner phrases were labelled before: the outermost wins.
            end = head + _length_of_word_run(trees, own + 1)
            self._label(self.chunks, start, end, label)
        return ((label, tuple(trees)),), head, -1

    def finish(self, tree: Tree) -> None:
        """Begin the sentence with a capital, and put its words into its tree.

        Only now, because a word can change its neighbour: "a" becomes "an".
        """
        first = self.words[0]
        self.words[0] = first[0].upper() + first[1:]
        self.tree = _with_words(tree, iter(self.words))

    def _add_word(self, symbol: str) -> tuple[tuple[Tree, ...], int, int]:
        word = self.grammar.lexicon[symbol].pick(self.draw)
        if self.words and self.words[-1] == "a" and word[0] in "aeiouAEIOU":
            self.words[-1] = "an"
        tag = symbol.partition("-")[0]
        self.words.append(word)
        self.tags.append(tag)
        self.chunks.append("O")
        self.entities.append("O")
        self.heads.append(0)
        self.relations.append("root")
        return ((tag, ""),), len(self.words), 0

    def _attach(self, rule: Rule, positions: list[int], head: int) -> None:
        for position, relation in zip(positions, rule.relations, strict=True):
            if position != head:
                self.heads[position - 1] = head
                self.relations[position - 1] = relation
        for position, target in zip(positions, rule.targets, strict=True):
            if target:
                self.heads[position - 1] = self._dependent(head, target)

    def _dependent(self, head: int, relation: str) -> int:
        for position, candidate in enumerate(self.relations, start=1):
            if candidate == relation and self.heads[position - 1] == head:
                return position
        raise ValueError(
            f"a rule attaches a child to @{relation}, "
            "but the head has no such dependent: correct the rule"
        )

    @staticmethod
    def _label(labels: list[str], start: int, end: int, kind: str) -> None:
        labels[start:end] = [f"I-{kind}"] * (end - start)
        labels[start] = f"B-{kind}"


def _length_of_word_run(trees: list[Tree], first: int) -> int:
    """Count the words, not phrases nor punctuation, in a row from `first` on."""
    length = 0
    for tag, content in trees[first:]:
        if not isinstance(content, str) or not tag[0].isalpha():
            break
        length += 1
    return length


def _with_words(tree: Tree, words: Iterator[str]) -> Tree:
    """Return the tree with the next words at its leaves."""
    label, content = tree
    if isinstance(content, str):
        return label, next(words)
    return label, tuple([_with_words(child, words) for child in content])
