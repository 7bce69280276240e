"""Grammars that users write, in Chomsky normal form.

``|A grammar is text such as ``S -> NP VP``, one production per line, ``|``|`` between
alternatives, words in quotes. Productions of more than two symbols are made binary, and
those of one symbol are collapsed into chains, just as `partwise.constituents.binarize`
does it to the trees to learn from: so `restore` undoes it on those that are predicted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from partwise.constituents import Tree, binarize, read_symbol, subtrees
from partwise.data.bracketed import BLANKS, escape_brackets
from partwise.errors import DataError
from partwise.estimators.constituency.grammar import TreebankGrammar, name_grammar
from partwise.estimators.constituency.lexicon import Lexicon, learn_lexicon

_TOKEN = re.compile(r""""[^"]*"|'[^']*'|\S+""")
_WEIGHT = re.compile(r"\[[-+.\deE]+\]")


Chain = tuple[str, ...]


class Production(NamedTuple):
    """A parent and what it becomes: symbols, or one word."""

    parent: str
    children: tuple[str, ...]
    is_word: bool

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{self.parent} -> {self.right_side}"

    @property
    def right_side(self) -> str:
        """What it becomes, as it is written."""
        return repr(self.children[0]) if self.is_word else " ".join(self.children)


def read_productions(grammar: str | Iterable[str]) -> list[Production]:
    """Read productions from text, or from lines.

    Examples
    --------
    >>> for production in read_productions("S -> NP VP | VP"):
    ...     print(production)
    S -> NP VP
    S -> VP
    >>> read_productions("NN -> 'dog'")
    [Production(parent='NN', children=('dog',), is_word=True)]
    """
    if not isinstance(grammar, str | Iterable):
        raise TypeError(
            f"a grammar is text or a list of lines, not {type(grammar).__name__}"
        )
    lines = grammar.splitlines() if isinstance(grammar, str) else list(grammar)
    found: dict[Production, None] = {}
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise TypeError(f"line {number} of the grammar is {line!r}, not text")
        for one in _read_line(line, number):
            found[one] = None
    if not found:
        raise DataError("the grammar has no productions")
    return list(found)


def _read_line(line: str, number: int) -> Iterator[Production]:
    place = f"line {number} of the grammar"
    tokens = _TOKEN.findall(line)
    if not tokens or tokens[0].startswith("#"):
        return
    if len(tokens) < 3 or tokens[1] != "->" or _is_quoted(tokens[0]):
        raise DataError(f"{place}: {line.strip()!r} (expected, say, S -> NP VP)")
    for token in [tokens[0], *tokens[2:]]:
        wrong = _what_is_wrong(token)
        if wrong:
            raise DataError(f"{place}: {wrong}: {line.strip()!r}")
    alternative: list[str] = []
    for token in [*tokens[2:], "|"]:
        if token != "|":
            alternative.append(token)
            continue
        if not alternative:
            raise DataError(f"{place}: a side of | is empty (no symbol is empty)")
        is_word = _is_quoted(alternative[0])
        if any(map(_is_quoted, alternative)) and len(alternative) > 1:
            raise DataError(
                f"{place}: a word stands next to other symbols in "
                f"{' '.join(alternative)!r} (give it a tag of its own)"
            )
        if is_word:  # in brackets, as trees have it
            alternative = [escape_brackets(alternative[0][1:-1])]
        yield Production(tokens[0], tuple(alternative), is_word)
        alternative = []


def _is_quoted(token: str) -> bool:
    return len(token) > 2 and token[0] in "\"'" and token[-1] == token[0]


def _what_is_wrong(token: str) -> str | None:
    """Say why this is neither a word nor a symbol, if it is not."""
    if _is_quoted(token):
        if set(BLANKS) & set(token):
            return f"the word {token} has a blank in it (no word of a sentence has)"
        return None
    if token[0] in "\"'" and token not in ("''", '""'):  # these two are tags
        return f"the quote of {token} is not closed"
    if "->" in token:
        return f"a second arrow, in {token} (a line has one; | is for alternatives)"
    if _WEIGHT.fullmatch(token):
        return f"{token} is not a symbol (leave weights out: they are learnt)"
    if set("()") & set(token):
        return f"the symbol {token} has a round bracket in it (trees cannot have it)"
    return None


def compile_grammar(
    productions: Sequence[Production],
    tagged: Iterable[tuple[str, str]],
    *,
    given_tags: bool = False,
) -> TreebankGrammar:
    """Bring a grammar into Chomsky normal form.

    The parent of the first production is the root. Which words a tag has is learnt
    from `tagged`, unless productions say it. A tag that no word has is of use only
    where tags are given.

    Raises
    ------
    DataError
        If a production is of no use, or leads back to itself.

    Examples
    --------
    >>> rules = read_productions(["S -> NP VP", "NP -> NNS", "VP -> VBP | VBP NP"])
    >>> grammar = compile_grammar(rules, [("dogs", "NNS"), ("bark", "VBP")])
    >>> grammar.symbols
    ('NP+NNS', 'S', 'VBP', 'VP', 'VP+VBP')
    """
    parents = {one.parent for one in productions if not one.is_word}
    children = {a for one in productions if not one.is_word for a in one.children}
    tags = (children - parents) | {one.parent for one in productions if one.is_word}
    chains = _find_chains(productions, tags)
    _check_use(productions)
    lexicon = _make_lexicon(productions, children - parents, tagged)
    if not given_tags:
        _check_tags(productions, (children - parents) - lexicon.all_tags)
    rules: set[tuple[str, ...]] = set()
    for production in productions:
        if len(production.children) > 1:
            for chain in chains:
                if chain[-1] == production.parent:
                    rules |= _binary_rules(chain, production.children, chains)
    of_words = {_name(chain) for chain in chains if chain[-1] in tags}
    roots = {_name(chain) for chain in chains if chain[0] == productions[0].parent}
    used = {name for rule in rules for name in rule[1:]} | roots
    return name_grammar(
        [rule for rule in rules if rule[0] in used],
        sorted(roots),
        of_words & used,
        lexicon,
    )


def _make_lexicon(
    productions: Sequence[Production], tags: set[str], tagged: Iterable[tuple[str, str]]
) -> Lexicon:
    """Return the tags of words, as productions say or as they were seen."""
    words: dict[str, set[str]] = {}
    for one in productions:
        if one.is_word:
            words.setdefault(one.children[0], set()).add(one.parent)
    if not words:
        return learn_lexicon((word, tag) for word, tag in tagged if tag in tags)
    without = sorted(tags.difference(*words.values()))
    if without:
        raise DataError(
            f"the grammar gives words to some tags, but none to {', '.join(without)} "
            "(give words to all tags, or to none: then they are learnt)"
        )
    return Lexicon({word: tuple(sorted(own)) for word, own in words.items()}, ())


def _find_chains(productions: Sequence[Production], tags: set[str]) -> list[Chain]:
    """Return the chains of only children, each down to a tag or a longer production."""
    below: dict[str, list[str]] = {}
    ends = set(tags)
    for one in productions:
        if len(one.children) > 1:
            ends.add(one.parent)
        elif not one.is_word:
            below.setdefault(one.parent, []).append(one.children[0])
    chains = []
    stack: list[Chain] = [(symbol,) for symbol in sorted(ends | set(below))]
    while stack:
        chain = stack.pop()
        if chain[-1] in ends:
            chains.append(chain)
        for child in below.get(chain[-1], ()):
            if child in chain:
                circle = " -> ".join([*chain[chain.index(child) :], child])
                raise DataError(
                    "the grammar has a circle of productions with one symbol each, "
                    f"{circle}, so that a sentence has infinitely many trees (take "
                    "one of them out)"
                )
            stack.append((*chain, child))
    return chains


def _check_use(productions: Sequence[Production]) -> None:
    """Refuse productions that are in no tree of any sentence."""
    inner = {one.parent for one in productions}
    full = {a for one in productions if not one.is_word for a in one.children} - inner
    reached = {productions[0].parent}
    for _ in range(len(productions)):
        full |= {
            one.parent
            for one in productions
            if one.is_word or full.issuperset(one.children)
        }
    for _ in range(len(productions)):
        for one in productions:
            if one.parent in reached and not one.is_word:
                reached |= set(one.children)
    for one in productions:
        empty = [] if one.is_word else [a for a in one.children if a not in full]
        if empty:
            raise DataError(
                f"the production {one} is of no use: {empty[0]} never becomes words"
            )
        if one.parent not in reached:
            raise DataError(
                f"the production {one} is of no use: nothing leads from "
                f"{productions[0].parent}, the root, to {one.parent} (the root is the "
                "parent of the first production)"
            )


def _check_tags(productions: Sequence[Production], without: set[str]) -> None:
    """Refuse productions with tags that no word has."""
    for one in productions:
        for child in one.children:
            if not one.is_word and child in without:
                raise DataError(
                    f"the production {one} is of no use: {child} is the parent of no "
                    "production, and no word of the training trees has it as its tag"
                )


def describe_lack(tree: Tree, productions: Sequence[Production]) -> str | None:
    """Say what a grammar would need to have a tree; None if it has it.

    Examples
    --------
    >>> tree = Tree("S", (Tree("NN", ("dog",)), Tree("VB", ("barks",))))
    >>> describe_lack(tree, read_productions("S -> NN"))
    'the grammar has no production S -> NN VB'
    """
    root, known = productions[0].parent, set(productions)
    if tree.label != root:
        return f"its root is {tree.label}, that of the grammar {root}"
    has_words = any(one.is_word for one in productions)
    phrases = {one.parent for one in productions}
    for node in subtrees(tree):
        if node.is_tag:
            needed = Production(node.label, (node.word,), True)
            is_there = needed in known if has_words else node.label not in phrases
        else:
            below = tuple(child.label for child in node.phrases)
            needed = Production(node.label, below, False)
            is_there = needed in known
        if not is_there:
            return f"the grammar has no production {needed}"
    return None


def _chain_tree(labels: Sequence[str], below: tuple[Any, ...]) -> Tree:
    tree = Tree(labels[-1], below)
    for label in reversed(labels[:-1]):
        tree = Tree(label, (tree,))
    return tree


def _name(chain: Sequence[str]) -> str:
    """Return the symbol of a chain, as binary trees have it."""
    return binarize(_chain_tree(chain, ("word",)), horizontal=None).label


def _binary_rules(
    chain: Chain, children: Sequence[str], chains: Sequence[Chain]
) -> set[tuple[str, ...]]:
    """Return the rules of a production below a chain, as binary trees have them."""
    words = tuple(Tree(child, ("word",)) for child in children)
    tree = binarize(_chain_tree(chain, words), horizontal=None)
    rules: set[tuple[str, ...]] = set()
    for node in subtrees(tree):
        if not node.is_tag:
            choices = [_names(child, chains) for child in node.phrases]
            rules |= {(node.label, *names) for names in product(*choices)}
    return rules


def _names(child: Tree, chains: Sequence[Chain]) -> list[str]:
    """Return the symbols that may stand where a production has a child."""
    if not child.is_tag:  # the rest of the production
        return [child.label]
    label = read_symbol(child.label).labels[0]
    return [_name(chain) for chain in chains if chain[0] == label]
