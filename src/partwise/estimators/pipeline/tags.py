"""Tags: a tagger for parts of speech, or several for large sets of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Self

from partwise.data.conllu_columns import with_column
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.bundles import Bundles
from partwise.estimators.pipeline.by_heart import ByHeart, Known, follows
from partwise.estimators.pipeline.steps import (
    Make,
    NothingToLearn,
    Step,
    columns_of,
    learnt,
)
from partwise.estimators.pipeline.tables import (
    Stored,
    is_cell,
    read_models,
    read_table,
    store_table,
)
from partwise.model_file import Content

MOST_LABELS = 96
"""Larger sets of labels are taken apart."""
WHOLE = 1_000_000
"""More labels than any treebank has: nothing is taken apart."""


class TagStep(Step):
    """Fill a column of tags, from the words and the columns filled before."""

    column: ClassVar[str]
    reads: ClassVar[tuple[str, ...]] = ()
    alternatives: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"template": "default"},
        {"template": "ner"},
    )

    def __init__(self) -> None:
        super().__init__()
        self.bundles = Bundles()
        self.constant: list[str] = []
        self._is_shared = False

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn one tagger for every group of attributes."""
        labels = [getattr(one, self.column) for one in sentences]
        seen = {label for one in labels for label in one}
        if len(seen) < 2:
            raise NothingToLearn(f"all words have {min(seen, default='_')!r}")
        most = self.choice.get("most_labels", MOST_LABELS)
        self.bundles = Bundles.learn((x for one in labels for x in one), most)
        parts = {label: self.bundles.split(label) for label in seen}
        X = columns_of(sentences, "forms", *self.reads)
        self.constant = []
        n_groups = len(self.bundles.groups)
        for i in range(n_groups):
            y = [[parts[label][i] for label in one] for one in labels]
            values = {label for one in y for label in one}
            # A part that never changes needs no tagger.
            self.constant.append(values.pop() if len(values) == 1 else "")
            if not self.constant[-1]:
                name = self._model_name(i)
                self.models[name] = learnt(
                    make("SequenceTagger", 1.0 / (n_groups - i)), X, y
                )
        self._share_features()
        return self

    def _share_features(self) -> None:
        """Let all taggers use the features of the first, which are the same."""
        first, *others = [*self.models.values()] or [None]
        shared = [other.share_features(first) for other in others]
        self._is_shared = bool(self.models) and all(shared)

    def _model_name(self, i: int) -> str:
        """Return what the tagger of a part is called."""
        return f"{self.name}.{i}" if len(self.bundles.groups) > 1 else self.name

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with predicted tags."""
        X: Any = columns_of(sentences, "forms", *self.reads)
        if self._is_shared:
            X = next(iter(self.models.values())).encode(X)
        models = iter(self.models.values())
        found = [
            [[constant] * len(one) for one in sentences]
            if constant
            else next(models).predict(X)
            for constant in self.constant
        ]
        if self.bundles.kind == "whole":
            rows = found[0]
        else:
            known: dict[tuple[str, ...], str] = {}
            rows = []
            for parts in zip(*found, strict=True):
                row = []
                for key in zip(*parts, strict=True):
                    if key not in known:
                        known[key] = self.bundles.join(key)
                    row.append(known[key])
                rows.append(row)
        return [
            with_column(one, self.column, row)
            for one, row in zip(sentences, rows, strict=True)
        ]

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = super().store(dtype)
        return tensors, settings | {
            "bundles": self.bundles.to_json(),
            "constant": self.constant,
        }

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = cls()
        step.bundles = Bundles.from_content(content.part("bundles"))
        step.constant = content.setting("constant", list)
        parts = range(len(step.bundles.groups))
        if len(step.constant) != len(parts):
            raise content.error("the number of parts of labels does not fit")
        names = [step._model_name(i) for i in parts if step.constant[i] == ""]
        classes = dict.fromkeys(names, "SequenceTagger")
        step.models = read_models(content, classes, names)
        models = iter(names)
        for i, constant in enumerate(step.constant):
            labels = [constant] if constant else step.models[next(models)].classes_
            if not all(step.bundles.fits(i, label) for label in labels):
                raise content.error("a label has attributes that its part has not")
        step._read_choice(content)
        step._share_features()
        return step


class UposStep(TagStep):
    """Universal parts of speech."""

    name, column, adds = "upos", "upos", ("upos",)


TAKEN_APART = ({"most_labels": 1}, {"most_labels": WHOLE})
"""One tagger for every attribute, or one for all of them together."""


class FeatsStep(TagStep):
    """Morphological features."""

    name, column, adds = "feats", "feats", ("feats",)
    reads = ("upos",)
    alternatives = (*TAKEN_APART, *TagStep.alternatives)


class XposStep(TagStep):
    """Parts of speech of the language's own: by heart, if they follow from the rest."""

    name, column, adds = "xpos", "xpos", ("xpos",)
    reads = ("upos", "feats")
    alternatives = ({"by_heart": False}, *TAKEN_APART, *TagStep.alternatives)

    def __init__(self) -> None:
        super().__init__()
        self.known: ByHeart | None = None

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn a table, if it is good enough; else taggers."""
        right = self.right or sentences
        words = list(chain.from_iterable(map(_known, right)))
        tags = [tag for one in right for tag in one.xpos]
        # One tagger for a few tags is as good, and reads what stands around a word.
        many = len(set(tags)) > MOST_LABELS and not self.choice
        if many and follows(words, tags):
            self.known = ByHeart.learn(words, tags)
            return self
        return super().fit(sentences, make)

    @property
    def is_table(self) -> bool:
        """Whether tags follow from others, for known and for new words alike."""
        return self.known is not None

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with predicted tags."""
        if self.known is None:
            return super().apply(sentences)
        rows = self.known.tags(map(_known, sentences))
        return [
            with_column(one, self.column, row)
            for one, row in zip(sentences, rows, strict=True)
        ]

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = super().store(dtype)
        if self.known is not None:
            tensors |= store_table("known", self.known.table)
        return tensors, settings | {"by_heart": self.known is not None}

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        if content.settings.get("by_heart") is not True:
            return super().from_content(content)
        step = cls()
        step._read_choice(content)
        table = read_table(content, "known")
        if not all(map(is_cell, table.values())):
            raise content.error("a tag is empty or holds a tab or a line break")
        step.known = ByHeart(table)
        return step


def _known(sentence: Sentence) -> list[Known]:
    """Return what tags may follow from, word by word."""
    return [*zip(sentence.forms, sentence.upos, sentence.feats, strict=True)]
