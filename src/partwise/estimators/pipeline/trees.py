"""Trees: heads and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.steps import Make, NothingToLearn, Step, learnt

WITHOUT_LEMMAS = "words,tags,morphology,suffixes,markers,neighbours,between,agreement"


class TreeStep(Step):
    """Fill heads and labels, from everything filled before."""

    name, adds = "trees", ("heads", "labels")
    alternatives = ({"suffix": 5}, {"features": WITHOUT_LEMMAS})
    classes: ClassVar = {"trees": "DependencyParser"}
    needed = ("trees",)

    dev: Sequence[Sentence] | None = None
    """Development data for early stopping: as predicted so far, with right trees."""

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn a parser from the sentences that have trees."""
        trees = [one for one in sentences if len(one) and one.heads is not None]
        if not trees:
            raise NothingToLearn("no sentence has a tree")
        self.models["trees"] = learnt(make("DependencyParser"), trees, dev=self.dev)
        return self

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with predicted trees."""
        parsed: list[Sentence] = self.models["trees"].predict(sentences)
        return parsed
