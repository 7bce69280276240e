"""From sentences to a structure: words, tags, grammars and checked trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from partwise._moved import renamed
from partwise._threads import count_jobs
from partwise.constituents import KnownBrackets, Tree, binarize, tags, words
from partwise.data.bracketed import BLANKS, check_writable, escape_brackets
from partwise.errors import Advice, DataError, OutOfMemoryError
from partwise.estimators.checks import check_listed
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.features import span_codes
from partwise.solvers.memory import available_memory, in_words
from partwise.structures.grammar import ConstituencyTrees, make_constituency_trees
from partwise.structures.grammar.places import n_cells, n_phrases, n_splits
from partwise.structures.rows import make_sparse_rows

BATCH = 4_000_000
"""Features of so many splits, a few more, are in memory at once when predicting."""

OWN_BATCH = 50_000
"""As many if rule applications have features of their own: many for every split."""


class TaggedWords(NamedTuple):
    """A sentence: its words, and their tags if these are given."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None

    def shown(self, given_tags: bool) -> list[Any]:
        """Return words, or pairs of a word and its tag, as users give them."""
        if not given_tags or self.tags is None:
            return list(self.words)
        return list(zip(self.words, self.tags, strict=True))


@dataclass(frozen=True)
class GrammarSettings:
    """What a parser's trees and features are, as far as it decides its weights.

    Attributes
    ----------
    horizontal, vertical : int
        How much symbols remember, as in `partwise.constituents.binarize`; horizontal
        is None for all children.
    given_tags : bool
        Whether the tags of words are given.
    hash_bits : int
        Words, spans and splits have ``2^hash_bits`` different features each.
    """

    horizontal: int | None
    vertical: int
    given_tags: bool
    hash_bits: int

    def binarize(self, tree: Tree) -> Tree:
        """Return a tree in the symbols of the grammar."""
        return binarize(tree, horizontal=self.horizontal, vertical=self.vertical)

    def structure(
        self,
        grammar: TreebankGrammar,
        sentences: Sequence[TaggedWords],
        gold: Sequence[Sequence[int]] | None = None,
        *,
        span_cost: float = 1.0,
        word_cost: float = 1.0,
    ) -> ConstituencyTrees:
        """Encode sentences, with the codes of the right derivations if they are known.

        Examples
        --------
        >>> from partwise.estimators.constituency.grammar import read_grammar
        >>> one = Tree("S", (Tree("NP+NNS", ("dogs",)), Tree("VP+VBP", ("bark",))))
        >>> settings = GrammarSettings(1, 1, False, 8)
        >>> sentence = TaggedWords(words(one), None)
        >>> corpus = settings.structure(read_grammar([one]), [sentence])
        >>> corpus.grammar.n_symbols, corpus.sentences.ptr.tolist()
        (3, [0, 2])
        """
        given = [one.tags or () for one in sentences] if self.given_tags else None
        codes = span_codes.encode_tokens([one.words for one in sentences], given)
        of_words = [
            own
            for one in sentences
            for own in grammar.word_symbols_of(
                one.words, one.tags if self.given_tags else None
            )
        ]
        return make_constituency_trees(
            grammar.structure,
            codes.lengths,
            np.cumsum([0] + [len(own) for own in of_words]),
            np.array([a for own in of_words for a in own], np.int32),
            make_sparse_rows(*span_codes.word_rows(codes, self.hash_bits)),
            make_sparse_rows(*span_codes.span_rows(codes, self.hash_bits)),
            make_sparse_rows(*span_codes.split_rows(codes, self.hash_bits)),
            None if gold is None else np.concatenate(gold),
            span_cost=span_cost,
            word_cost=word_cost,
        )

    def n_weights(self, grammar: TreebankGrammar) -> int:
        """Return how many weights a parser has."""
        own = grammar.structure
        n_rows = own.n_word_classes + own.n_span_classes + 1
        return own.rows.n_columns + (n_rows << self.hash_bits)

    def memory(self, grammar: TreebankGrammar, n: int, k: int = 1) -> int:
        """Return about how many bytes a thread needs for a sentence of `n` words."""
        n_classes, n_symbols = grammar.structure.n_span_classes, len(grammar.symbols)
        cells = n_cells(n) * n_symbols
        parts = len(grammar.rules) + n_phrases(n) * n_classes + n_splits(n)
        numbers = 2 * cells + 6 * parts + (16 * (n + 1) * k if k > 1 else 0)
        codes = cells * (2 if k > 1 else 1)
        codes += n_phrases(n) * len(span_codes.SPAN_TEMPLATES) + n_splits(n) * len(
            span_codes.SPLIT_TEMPLATES
        )
        return 8 * numbers + 4 * codes

    def check_memory(
        self,
        grammar: TreebankGrammar,
        sentences: Sequence[TaggedWords],
        n_jobs: int,
        k: int = 1,
    ) -> None:
        """Refuse a sentence whose tables would not fit into memory."""
        free = available_memory()
        if free is None or not sentences:
            return
        i = max(range(len(sentences)), key=lambda i: len(sentences[i].words))
        n = len(sentences[i].words)
        needed = count_jobs(n_jobs) * self.memory(grammar, n, k)
        if needed > free:
            raise OutOfMemoryError(
                f"sentence {i} has {n:,} words; its tables would take "
                f"{in_words(needed)}, more than the {in_words(free)} that are free "
                "(split it into sentences)"
            )


def as_trees(trees: Any, what: str = "trees", first: int = 0) -> list[Tree]:
    """Return a list of trees; raise `DataError` for anything else.

    Messages count them from `first`.
    """
    hint = " (read_brackets reads them from a file)"
    check_listed(trees, f"{what} must be a list of Tree", hint, no=(Tree,))
    result = list(trees)
    for i, tree in enumerate(result, first):
        if not isinstance(tree, Tree):
            kind = type(tree).__name__
            raise DataError(f"{what}: number {i} is a {kind}, not a Tree")
        check_writable(tree, f"{what}: number {i}")
    return result


def as_examples(trees: Any) -> list[Tree | KnownBrackets]:
    """Return a list of trees and of what is known of trees, checked."""
    hint = " (read_brackets reads them from a file)"
    check_listed(trees, "trees must be a list of Tree", hint, no=(Tree, KnownBrackets))
    result: list[Tree | KnownBrackets] = []
    for i, one in enumerate(trees):
        if isinstance(one, KnownBrackets):
            wrong = one.problem()
            if wrong:
                raise DataError(f"trees: number {i}: {wrong}")
            result.append(one)
        else:
            result += as_trees([one], "trees", i)
    return result


def as_words(
    sentences: Any, given_tags: bool, what: str = "sentences"
) -> list[TaggedWords]:
    """Return words, and tags if they are given: from words, pairs or trees."""
    wanted = f"{what} must be a list of sentences, each a list of words"
    check_listed(sentences, wanted, no=(Tree,))
    result = []
    for i, sentence in enumerate(sentences):
        one = _as_words(sentence, given_tags, f"{what}: number {i}")
        if not one.words:
            raise DataError(f"{what}: number {i} has no words (leave it out)")
        result.append(one)
    return result


def _as_words(sentence: Any, given_tags: bool, place: str) -> TaggedWords:
    if isinstance(sentence, Tree):
        check_writable(sentence, place)
        return TaggedWords(words(sentence), tags(sentence))
    if isinstance(sentence, KnownBrackets):
        return _words_of_known(sentence, given_tags, place)
    if isinstance(sentence, str | bytes) or not isinstance(sentence, Iterable):
        raise DataError(f"{place} is {sentence!r}, not a list of words (split it)")
    found = list(sentence)
    if all(isinstance(word, str) for word in found):
        if given_tags and found:
            raise DataError(
                f"{place} has words without tags, but the parser was trained with tags "
                "that are given (give pairs of a word and its tag)"
            )
        return TaggedWords(_writable(found, "word", place), None)
    for word in found:
        if not (isinstance(word, str) or _is_pair(word)):
            raise DataError(
                f"{place}: {word!r} is neither a word nor a pair of a word and its tag"
            )
    if not all(map(_is_pair, found)):
        raise DataError(f"{place}: some words have tags, others have none")
    if not given_tags:
        raise DataError(
            f"{place} has tags, but the parser finds tags itself (give words alone; "
            "given_tags=True trains a parser that is given tags)"
        )
    return TaggedWords(
        _writable([word for word, _ in found], "word", place),
        _writable([tag for _, tag in found], "tag", place),
    )


def _words_of_known(known: KnownBrackets, given_tags: bool, place: str) -> TaggedWords:
    tags = known.tags or (None,) * len(known.words)
    if given_tags and None in tags:
        raise DataError(
            f"{place} has a word without a tag, but tags are given (given_tags=True): "
            "give the tags of all words"
        )
    found = _writable(list(known.words), "word", place)
    return TaggedWords(found, tuple(map(str, tags)) if given_tags else None)


def _writable(texts: Sequence[str], what: str, place: str) -> tuple[str, ...]:
    """Return words or tags as trees in brackets have them."""
    for t, text in enumerate(texts):
        if not text or set(BLANKS) & set(text):
            wrong = "has a blank in it" if text else "is empty"
            raise DataError(
                f"{place}: the {what} {text!r} at position {t} {wrong}, which no tree "
                "in brackets can have (leave it out, or split the sentence into words)"
            )
    return tuple(map(escape_brackets, texts))


def _is_pair(word: Any) -> bool:
    """Say whether this is a word and its tag."""
    return (
        isinstance(word, tuple | list)
        and len(word) == 2
        and all(isinstance(text, str) for text in word)
    )


def find_derivations(
    trees: Sequence[Tree], grammar: TreebankGrammar, settings: GrammarSettings
) -> tuple[dict[int, list[int]], dict[int, str]]:
    """Return the codes of trees that the grammar derives, and why of the others."""
    found, failed = {}, {}
    for i, tree in enumerate(trees):
        try:
            found[i] = grammar.derivation(settings.binarize(tree))
        except LookupError as error:
            failed[i] = str(error)
    return found, failed


def check_derivable(failed: Mapping[int, str], n_trees: int, policy: str) -> list[int]:
    """Return the numbers of the trees that the grammar derives.

    `failed` says why not of all others, which are refused or left out, as `policy`
    says.
    """
    if failed:
        i = min(failed)
        message = (
            f"the grammar does not derive {len(failed)} of {n_trees} trees (the first "
            f"is tree {i}: {failed[i]})"
        )
        if policy == "refuse" or len(failed) == n_trees:
            raise DataError(
                f"{message}; add what is missing to the grammar",
                advice=[Advice("underivable", "skip", "leaves these trees out")],
            )
        warnings.warn(f"{message}; they were left out", UserWarning, stacklevel=5)
    return [i for i in range(n_trees) if i not in failed]


def batches(
    sentences: Sequence[TaggedWords], most: int = BATCH
) -> Iterator[tuple[int, list[TaggedWords]]]:
    """Cut sentences into batches whose features fit into memory, with their starts."""
    start, size = 0, 0
    for i, sentence in enumerate(sentences):
        own = n_splits(len(sentence.words))
        if i > start and size + own > most:
            yield start, list(sentences[start:i])
            start, size = i, 0
        size += own
    if start < len(sentences):
        yield start, list(sentences[start:])


# Pickled parsers know the settings by this name.
__getattr__ = renamed(__name__, {"ConstituencySettings": "GrammarSettings"})
