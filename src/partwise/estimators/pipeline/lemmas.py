"""Lemmas: by heart for words that were seen, by edit scripts for others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import ClassVar, Self

from partwise.data.conllu_columns import with_column
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.edit_scripts import apply_script, edit_script
from partwise.estimators.pipeline.memory import Memory
from partwise.estimators.pipeline.steps import (
    Make,
    NothingToLearn,
    Step,
    is_given,
    learnt,
)
from partwise.estimators.pipeline.tables import (
    Stored,
    is_cell,
    read_table,
    store_table,
)
from partwise.model_file import Content

Word = tuple[str, str, str]
"""A form, its part of speech and its features."""

FEWEST = 2
"""How many words must share a script for it to be learnt."""


class LemmaStep(Step):
    """Fill lemmas, from words, parts of speech and features."""

    name, adds = "lemmas", ("lemmas",)
    alternatives = ({"suffix": 4}, {"suffix": 8})
    classes: ClassVar = {"lemmas": "MulticlassClassifier"}

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, str] = {}
        self._memory: Memory[Word, str] = Memory()

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Remember words, and learn scripts from them."""
        if not is_given(sentences, "lemmas"):
            raise NothingToLearn("no word has a lemma")
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        kinds: dict[Word, Counter[str]] = defaultdict(Counter)
        for one in sentences:
            words = zip(one.forms, one.upos, one.feats, one.lemmas, strict=True)
            for form, upos, feats, lemma in words:
                for key in _keys(form, upos, feats):
                    counts[key][lemma] += 1
                kinds[form, upos, feats][lemma] += 1
        self.seen = {key: _most_common(found) for key, found in counts.items()}
        examples = [
            (kind, edit_script(kind[0], _most_common(found)))
            for kind, found in kinds.items()
        ]
        shared = Counter(script for _, script in examples)
        kept = [one for one in examples if shared[one[1]] >= FEWEST]
        if len({script for _, script in kept}) >= 2:
            X = [_features(*kind, self.suffix) for kind, _ in kept]
            y = [script for _, script in kept]
            self.models["lemmas"] = learnt(make("MulticlassClassifier"), X, y)
        return self

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with lemmas."""
        rows = [[*zip(s.forms, s.upos, s.feats, strict=True)] for s in sentences]
        lemmas = self._memory.answers(chain.from_iterable(rows), self._lemmas)
        return [
            with_column(one, "lemmas", [lemmas[word] for word in row])
            for one, row in zip(sentences, rows, strict=True)
        ]

    def _lemmas(self, words: list[Word]) -> Iterable[str]:
        """Return the lemmas of words: by heart, or else by scripts."""
        found = {word: self._by_heart(word) for word in words}
        unknown = [word for word, lemma in found.items() if lemma is None]
        if unknown and self.models:
            model = self.models["lemmas"]
            scripts = model.predict([_features(*word, self.suffix) for word in unknown])
            for word, script in zip(unknown, scripts, strict=True):
                found[word] = apply_script(script, word[0])
        return [lemma or word[0] for word, lemma in found.items()]

    def _by_heart(self, word: Word) -> str | None:
        return next((self.seen[k] for k in _keys(*word) if k in self.seen), None)

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = super().store(dtype)
        return tensors | store_table("seen", self.seen), settings

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = super().from_content(content)
        step.seen = read_table(content, "seen")
        if not all(map(is_cell, step.seen.values())):
            raise content.error("a lemma is empty or holds a tab or a line break")
        return step


def _keys(form: str, upos: str, feats: str) -> tuple[str, str]:
    """Return what a word is remembered by: with its features, or without."""
    return f"{form}\t{upos}\t{feats}", f"{form}\t{upos}"


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda lemma: (-counts[lemma], lemma))


def _features(form: str, upos: str, feats: str, longest: int) -> list[str]:
    """Return what the choice of a script depends on."""
    low = form.lower()
    case = "upper" if form.isupper() else "title" if form[:1].isupper() else "lower"
    suffixes = [low[-n:] for n in range(1, min(longest, len(low)) + 1)]
    return [
        f"{upos} {case}",
        f"feats={feats}",
        f"prefix={low[:2]}",
        f"prefix={low[:3]}",
        f"word={low}",
        *(f"suffix={one}" for one in suffixes),
        *(f"{upos} suffix={one}" for one in suffixes),
        *(f"{feats} suffix={one}" for one in suffixes[:4]),
    ]
