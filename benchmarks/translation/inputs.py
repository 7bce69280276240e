"""Lattices of the search as those that users of the library have: with names."""

from __future__ import annotations

from benchmarks.translation.beam_search import NO_OPTION, Found
from benchmarks.translation.dense_features import DENSE_NAMES, N_DENSE
from benchmarks.translation.features import feature_rows
from benchmarks.translation.options import Options
from benchmarks.translation.phrase_table import N_ORIENTATIONS
from benchmarks.translation.translation_model import TranslationModel
from benchmarks.translation.vocabulary import WIDTH
from partwise import LatticeEdge, LatticeInput

ORIENTATIONS = ("monotone", "swap", "discontinuous")


def feature_name(model: TranslationModel, feature: int) -> str:
    """Return a feature in words."""
    if feature < N_DENSE:
        return DENSE_NAMES[feature]
    words = model.target_words.words
    feature -= N_DENSE
    trigrams, n_pairs = model.space.trigrams, model.space.n_pairs
    if feature < trigrams.size:
        key = int(trigrams[feature])
        numbers = key // WIDTH**2, key // WIDTH % WIDTH, key % WIDTH
        return "trigram " + " ".join(words[k] for k in numbers)
    feature -= trigrams.size
    pair, orientation = feature, ""
    if feature >= n_pairs:
        pair, kind = divmod(feature - n_pairs, N_ORIENTATIONS)
        orientation = ", " + ORIENTATIONS[kind]
    phrases = model.table.phrases
    given = model.source_words.words
    source = " ".join(given[k] for k in phrases.source_words[phrases.source[pair]])
    target = " ".join(words[k] for k in phrases.target_words[phrases.target[pair]])
    return f"phrase {source} -> {target}{orientation}"


def lattice_input(
    found: Found, options: Options, model: TranslationModel
) -> LatticeInput:
    """Return a lattice with the names of its features and the words of its edges."""
    ptr, idx, val = feature_rows(found, options, model.space)
    edges = []
    for e, o in enumerate(found.option.tolist()):
        own = slice(int(ptr[e]), int(ptr[e + 1]))
        features: dict[str, float] = {}
        for f, value in zip(idx[own].tolist(), val[own].tolist(), strict=True):
            name = feature_name(model, f)
            features[name] = features.get(name, 0.0) + value
        words = options.words[:0]
        if o != NO_OPTION:
            words = options.words[options.word_ptr[o] : options.word_ptr[o + 1]]
        text = tuple(model.target_words.words[k] for k in words)
        ends = int(found.source[e]), int(found.target[e])
        edges.append(LatticeEdge(*ends, features, text))
    return LatticeInput(edges, start=0, end=found.n_nodes - 1)
