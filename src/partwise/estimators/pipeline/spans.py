"""Named entities and chunks: spans of words, as entries in MISC.

They are learnt from the treebank if its words have such entries, or else from a second
corpus, whose words get their parts of speech from the pipeline itself.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

from partwise.data.columns import ColumnData
from partwise.data.conllu_columns import OUTSIDE, ConlluData, LabelPlace
from partwise.data.document import make_sentence
from partwise.data.surface import SurfaceToken, Written
from partwise.data.tree_files import read_trees
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.pipeline.steps import (
    Make,
    NothingToLearn,
    Step,
    columns_of,
    learnt,
)
from partwise.metrics.chunks import are_chunk_labels, chunk_scores


class SpanStep(Step):
    """Mark spans of words, from the words and their parts of speech."""

    entry: ClassVar[str]
    """The entry in MISC that holds the labels."""

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn a tagger from the labels in MISC."""
        labels = self.labels(sentences)
        seen = {label for one in labels for label in one}
        if seen <= {OUTSIDE}:
            raise NothingToLearn(f"no word has an entry {self.entry}= in MISC")
        tagger = make("spans")
        if all(map(_is_bio, labels)):
            tagger.set_params(constraints="BIO")
        self.models[self.name] = learnt(tagger, _inputs(sentences), labels)
        return self

    @classmethod
    def check(cls, sentences: Sequence[Sentence]) -> None:
        """Refuse labels that are not those of spans, before anything is trained."""
        seen = {label for one in cls.labels(sentences) for label in one} - {OUTSIDE}
        if seen and not are_chunk_labels(seen):
            odd = min(seen)
            raise DataError(
                f"{cls.name}: labels look like B-PER, I-PER and O, but one is {odd!r}"
            )

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with predicted entries."""
        found = self.models[self.name].predict(_inputs(sentences))
        changed = list(sentences)
        place = LabelPlace(f"misc.{self.entry}")
        for i, labels in enumerate(found):
            one = _with_lines(changed[i])
            changed[i] = one
            # Most sentences have none, and need not be written anew.
            if set(labels) != {OUTSIDE} or f"{self.entry}=" in _text(one):
                [changed[i]] = place.put([one], [labels])
        return changed

    @classmethod
    def can_be_judged(cls, gold: Sequence[Sentence]) -> bool:
        """Say whether some word has an entry."""
        return any(set(labels) != {OUTSIDE} for labels in cls.labels(gold))

    def score(
        self, gold: Sequence[Sentence], dev: Sequence[Sentence]
    ) -> tuple[float, list[Sentence]]:
        """Return the F1 of spans, and what was predicted."""
        found = self.apply(dev)
        f1 = chunk_scores(self.labels(gold), self.labels(found)).overall.f1
        return f1, found

    @classmethod
    def labels(cls, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Return the labels that words have in MISC."""
        return labels_in(sentences, cls.entry)


class EntityStep(SpanStep):
    """Named entities."""

    name, entry, adds = "entities", "NER", ("NER",)
    classes: ClassVar = {"entities": "SequenceTagger"}
    needed = ("entities",)


class ChunkStep(SpanStep):
    """Chunks, such as noun phrases without what follows them."""

    name, entry, adds = "chunks", "Chunk", ("Chunk",)
    classes: ClassVar = {"chunks": "SequenceTagger"}
    needed = ("chunks",)


SPAN_STEPS: dict[str, type[SpanStep]] = {
    cls.name: cls for cls in (EntityStep, ChunkStep)
}


def labels_in(sentences: Sequence[Sentence], entry: str) -> list[list[str]]:
    """Return what the words of sentences have as an entry in MISC, O for nothing."""
    return LabelPlace(f"misc.{entry}").labels(ConlluData.of(sentences))


def labelled_sentences(corpus: Any, entry: str) -> list[Sentence]:
    """Return a corpus as sentences with an entry in MISC.

    Parameters
    ----------
    corpus : ColumnData or iterable of Sentence
        Columns of which the first has the words and the last the labels, or sentences
        that have the entry already.
    entry : str
        What the entry is called.
    """
    if not isinstance(corpus, ColumnData):
        return [one for one in corpus if len(one)]
    if isinstance(corpus, ConlluData):
        return [one for one in corpus.sentences if len(one)]
    if corpus.n_columns < 2:
        raise DataError("has only one column (expected a word and its label)")
    made = [_made(words) for words in corpus.column_sequences(0)]
    return LabelPlace(f"misc.{entry}").put(made, corpus.column_sequences(-1))


def _made(words: Iterable[str]) -> Sentence:
    surface = [SurfaceToken(word, 0, 0) for word in words]
    written = Written("", surface, [" "] * len(surface))
    return make_sentence(written, [[token.form] for token in surface], [])


def _inputs(sentences: Sequence[Sentence]) -> ColumnData:
    return columns_of(sentences, "forms", "upos")


def _text(sentence: Sentence) -> str:
    return "" if sentence.verbatim is None else sentence.verbatim.text


def _with_lines(sentence: Sentence) -> Sentence:
    """Return a sentence with lines of CoNLL-U, which entries are written to."""
    if sentence.verbatim is not None and sentence.verbatim.format == "conllu":
        return sentence
    [read] = read_trees(io.StringIO(sentence.to_text("conllu")), "conllu")
    return read


def _is_bio(labels: Sequence[str]) -> bool:
    """Say whether every span begins with B."""
    return all(
        after[:1] in "BO" or (after[:1] == "I" and before[1:] == after[1:])
        for before, after in pairwise([OUTSIDE, *labels])
    )
