"""What a constituency parser's model file holds besides symbols, weights, settings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from partwise import model_file
from partwise.estimators.constituency.coarse import (
    ChartPruner,
    ChartPruning,
    coarse_grammar,
    coarsest,
)
from partwise.estimators.constituency.corpus import GrammarSettings
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.estimators.constituency.lexicon import Lexicon
from partwise.estimators.constituency.rule_features import OwnFeatures
from partwise.estimators.pruning import read_coarse, store_coarse
from partwise.estimators.stored_labels import (
    check_mark,
    mark_of,
    read_encoder,
    unpack_strings,
)
from partwise.features import span_codes
from partwise.model_file import Content, prefixed


def span_features() -> tuple[Any, ...]:
    """Return the features that this version gives to spans."""
    return (
        span_codes.WORD_TEMPLATES,
        span_codes.SPAN_TEMPLATES,
        span_codes.SPLIT_TEMPLATES,
        span_codes.LENGTHS,
        span_codes.LONGEST_SHAPE,
    )


def store(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and settings that are a parser's own."""
    grammar: TreebankGrammar = model._grammar
    settings: GrammarSettings = model._settings
    lexicon = grammar.lexicon
    tags = sorted({tag for own in lexicon.words.values() for tag in own})
    tags = sorted({*tags, *lexicon.open_tags})
    number = {tag: at for at, tag in enumerate(tags)}
    of_words = [[number[tag] for tag in own] for own in lexicon.words.values()]
    tensors: dict[str, Any] = {
        "rules": np.array(grammar.rules, np.int32).reshape(-1, 3),
        "roots": np.array(grammar.roots, np.int32),
        "word_symbols": np.array(grammar.word_symbols, np.int32),
        "tag_ptr": np.cumsum([0] + [len(own) for own in of_words], dtype=np.int64),
        "tag_idx": np.array([tag for own in of_words for tag in own], np.int32),
        "open_tags": np.array([number[tag] for tag in lexicon.open_tags], np.int32),
    }
    tensors |= prefixed("words", model_file.pack_strings(list(lexicon.words)))
    tensors |= prefixed("tags", model_file.pack_strings(tags))
    own: OwnFeatures | None = model._own
    own_settings: dict[str, Any] = {}
    if own is not None:
        own_settings["rule_features"] = {"n_columns": own.n_columns, "names": None}
        if own.names is not None:
            of_names, names = own.names.to_tensors()
            own_settings["rule_features"]["names"] = names
            tensors |= prefixed("rule_features", prefixed("names", dict(of_names)))
    pruned: dict[str, Any] = {}
    if model._pruner is not None:
        of_pruner, pruned = store_coarse(model._pruner.model, model.pruning_)
        tensors |= of_pruner
    # What the weights were learnt with, whatever was set after fitting.
    return tensors, {
        **own_settings,
        **pruned,
        "trees": {
            "horizontal": settings.horizontal,
            "vertical": settings.vertical,
            "given_tags": settings.given_tags,
            "hash_bits": settings.hash_bits,
            "states": grammar.n_states,
        },
        "features": mark_of(span_features()),
        "n_skipped": int(model.n_skipped_),
        "grammar": _as_text(model.grammar),
    }


def _as_text(grammar: Any) -> str | None:
    """Return a grammar that was given, as one text."""
    if grammar is None or isinstance(grammar, str):
        return grammar
    return "\n".join(grammar)


def fill(model: Any, content: Content) -> int:
    """Fill a parser from a file; return how many weights it has to have."""
    trees = content.part("trees")
    horizontal = None
    if trees.settings.get("horizontal") is not None:
        horizontal = trees.setting("horizontal", int, at_least=0, below=1001)
    model._settings = GrammarSettings(
        horizontal,
        trees.setting("vertical", int, at_least=1, below=1001),
        trees.setting("given_tags", bool),
        trees.setting("hash_bits", int, at_least=4, below=25),
    )
    check_mark(content, span_features())
    n_states = 1
    if "states" in trees.settings:  # files of older versions have none
        n_states = trees.setting("states", int, at_least=1, below=101)
    model._grammar = _read_grammar(model._labels.classes, content, n_states)
    model.n_skipped_ = content.setting("n_skipped", int, at_least=0)
    model._name_symbols()
    if content.settings.get("grammar") is not None:
        model.grammar = content.setting("grammar", str)
    model._own = _read_own(content)
    model._pruner = model.pruning_ = None
    if "pruner" in content.settings:
        few = coarsest(model._settings)
        size = few.n_weights(coarse_grammar(model._grammar))
        coarse, model.pruning_ = read_coarse(content, size, ChartPruning)
        model._pruner = ChartPruner(model._grammar, few, coarse)
    n_own = 0 if model._own is None else model._own.n_columns
    return int(model._settings.n_weights(model._grammar)) + n_own


def _read_own(content: Content) -> OwnFeatures | None:
    """Return what was learnt of the features of rule applications, if anything was."""
    if "rule_features" not in content.settings:
        return None
    part = content.part("rule_features")
    n_columns = part.setting("n_columns", int, at_least=0, below=2**31)
    if part.settings.get("names") is None:
        return OwnFeatures(None, n_columns)
    names = read_encoder(part.part("names"))
    if names.n_attributes != n_columns:
        raise content.error("the features of rule applications are damaged")
    return OwnFeatures(names, n_columns)


def _read_grammar(
    symbols: list[Any], content: Content, n_states: int
) -> TreebankGrammar:
    if not all(isinstance(symbol, str) for symbol in symbols):
        raise content.error("the symbols of the grammar are not names")
    below = len(symbols)
    rules = content.tensor("rules", dtype=np.int32, ndim=2, at_least=0, below=below)
    if rules.shape[1] != 3 or not _are_sorted(rules):
        raise content.error("the rules of the grammar are not in their order")
    roots, of_words = (
        content.tensor(name, dtype=np.int32, at_least=0, below=below).tolist()
        for name in ("roots", "word_symbols")
    )
    if not roots or len(set(roots)) < len(roots):
        raise content.error("the root symbols of the grammar are damaged")
    if not of_words or sorted(set(of_words)) != of_words:
        raise content.error("the symbols of words are damaged")
    return TreebankGrammar(
        tuple(symbols),
        tuple(map(tuple, rules.tolist())),
        tuple(roots),
        tuple(of_words),
        _read_lexicon(content),
        n_states,
    )


def _are_sorted(rules: Any) -> bool:
    """Say whether rules are sorted by left, right and parent, and none comes twice."""
    keys = [(left, right, parent) for parent, left, right in rules.tolist()]
    return all(a < b for a, b in pairwise(keys))


def _read_lexicon(content: Content) -> Lexicon:
    words = unpack_strings(content, "words", unique=True)
    tags = unpack_strings(content, "tags", unique=True)
    idx = content.tensor("tag_idx", dtype=np.int32, at_least=0, below=len(tags))
    ptr = content.pointers("tag_ptr", end=idx.size, length=len(words) + 1).tolist()
    names = [tags[number] for number in idx.tolist()]
    open_tags = content.tensor(
        "open_tags", dtype=np.int32, at_least=0, below=max(len(tags), 1)
    )
    if open_tags.size and not tags:
        raise content.error("there are no tags")
    of_word = [names[start:end] for start, end in pairwise(ptr)]
    if any(len(set(own)) < len(own) for own in [*of_word, open_tags.tolist()]):
        raise content.error("a word has a tag twice")
    return Lexicon(
        {word: tuple(own) for word, own in zip(words, of_word, strict=True)},
        tuple(tags[number] for number in open_tags.tolist()),
    )
