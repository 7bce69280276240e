"""What is learnt from two text files, before any tuning: words, phrases, language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.beam_search import Found, Limits, translate
from benchmarks.translation.bitext import Bitext, Sentence
from benchmarks.translation.extraction import extract
from benchmarks.translation.features import FeatureSpace
from benchmarks.translation.language_model import (
    LanguageModel,
    train_language_model,
    trigram_keys,
)
from benchmarks.translation.options import PASSED_THROUGH, Options, find_options
from benchmarks.translation.phrase_table import (
    PhraseTable,
    number_phrases,
    score_phrases,
)
from benchmarks.translation.symmetrise import grow_diag_final
from benchmarks.translation.vocabulary import IntArray, Vocabulary
from benchmarks.translation.word_alignment import align
from partwise import DataError

FloatArray = NDArray[np.float64]


class TranslationModel(NamedTuple):
    """Vocabularies, phrases and the language model; `space` numbers the features.

    `source` and `target` are the training sentences as numbers.
    """

    source_words: Vocabulary
    target_words: Vocabulary
    table: PhraseTable
    language_model: LanguageModel
    space: FeatureSpace
    source: list[IntArray]
    target: list[IntArray]

    def options(self, sentence: Sentence) -> Options:
        """Return the phrases that may translate a sentence."""
        numbers = self.source_words.number(sentence)
        return find_options(sentence, numbers, self.table, self.target_words)

    def lattices(
        self, sentences: Sequence[Sentence], w: FloatArray, limits: Limits
    ) -> Iterator[tuple[Found, Options]]:
        """Translate sentences, one after the other."""
        for sentence in sentences:
            options = self.options(sentence)
            yield translate(options, self.language_model, w, limits), options

    def without(self, left_out: NDArray[np.bool_]) -> TranslationModel:
        """Return what would have been learnt without some sentences.

        Words stay aligned, and lexical weights what they are.
        """
        kept = [e for e, out in zip(self.target, left_out, strict=True) if not out]
        size = self.language_model.unigram.size
        return self._replace(
            table=score_phrases(self.table.phrases, left_out),
            language_model=train_language_model(kept, size),
        )

    def text(self, words: IntArray) -> str:
        """Return target words with blanks between them."""
        return " ".join(self.target_words.words[k] for k in words)


def learn_translation(bitext: Bitext, longest: int = 5) -> TranslationModel:
    """Learn from sentences and their translations, phrases up to `longest` words.

    Raises
    ------
    DataError
        There are no sentences, or some are empty.
    """
    pairs = list(zip(bitext.source, bitext.target, strict=True))
    if not pairs or not all(f and e for f, e in pairs):
        raise DataError(
            "phrases are learnt from pairs of sentences, none of them empty (leave out "
            "empty ones, as read_bitext does by default)"
        )
    source_words, target_words = Vocabulary(bitext.source), Vocabulary(bitext.target)
    source = [source_words.number(sentence) for sentence in bitext.source]
    target = [target_words.number(sentence) for sentence in bitext.target]
    to_source = align(source, target).places
    to_target = align(target, source).places
    links = [grow_diag_final(*both) for both in zip(to_source, to_target, strict=True)]
    spans = extract(links, [f.size for f in source], [e.size for e in target], longest)
    phrases = number_phrases(spans, links, source, target)
    return TranslationModel(
        source_words,
        target_words,
        score_phrases(phrases),
        train_language_model(target, len(target_words)),
        FeatureSpace(trigram_keys(target), phrases.source.size),
        source,
        target,
    )


class Coverage(NamedTuple):
    """How much of some sentences the phrase table knows, in percent.

    Of running words, those that some phrase of one word translates; and sentences all
    of whose words are.
    """

    words: float
    sentences: float


def coverage(model: TranslationModel, sentences: Sequence[Sentence]) -> Coverage:
    """Measure the coverage of the phrase table."""
    unknown = [
        np.count_nonzero(model.options(sentence).pair == PASSED_THROUGH)
        for sentence in sentences
    ]
    n_words = max(sum(map(len, sentences)), 1)
    whole = sum(1 for n in unknown if n == 0)
    return Coverage(
        100 * (1 - sum(unknown) / n_words), 100 * whole / max(len(sentences), 1)
    )
