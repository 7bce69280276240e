"""What all steps of a pipeline have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.tables import Stored, read_models, store_models
from partwise.estimators.registry import find_estimator
from partwise.model_file import Content

Make = Callable[[str], Any]
"""Returns an estimator by the name of its class, with the settings of the pipeline."""


class Step:
    """A step: it learns from sentences, and adds to sentences.

    Attributes
    ----------
    models : dict of str to estimator
        What it has learnt, by name; a step without any only knows what it has seen.
    """

    name: ClassVar[str]
    """What users call it."""
    adds: ClassVar[tuple[str, ...]] = ()
    """The columns of sentences that it fills."""
    classes: ClassVar[Mapping[str, str]] = {}
    """The models that it may have, by name, and what classes they are of."""
    needed: ClassVar[tuple[str, ...]] = ()
    """The models that it cannot do without."""

    def __init__(self) -> None:
        self.models: dict[str, Any] = {}

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn from sentences."""
        raise NotImplementedError

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with what the step adds."""
        raise NotImplementedError

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        return store_models(self.models, dtype)

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = cls()
        step.models = read_models(content, cls.classes, cls.needed)
        return step


def jackknifed(
    step: Callable[[], Step],
    sentences: Sequence[Sentence],
    make: Make,
    folds: int,
) -> list[Sentence]:
    """Return sentences with what a step adds that has not seen them.

    The sentences are cut into folds, and the step that fills one learns from the
    others: its mistakes are those that it will make on new text.
    """
    found: list[Sentence] = [*sentences]
    for fold in range(folds):
        held_out = range(fold, len(sentences), folds)
        rest = [one for i, one in enumerate(sentences) if i % folds != fold]
        try:
            fitted = step().fit(rest, make)
        except NothingToLearn:
            continue
        for i, one in zip(
            held_out, fitted.apply([sentences[i] for i in held_out]), strict=True
        ):
            found[i] = one
    return found


class NothingToLearn(Exception):
    """There is nothing that a step could learn; its message says why."""


def estimator(name: str, **settings: Any) -> Any:
    """Return an estimator by the name of its class."""
    return find_estimator(name)(**settings)


def is_given(sentences: Iterable[Sentence], column: str) -> bool:
    """Say whether some word has a value in a column."""
    return any(cell != "_" for one in sentences for cell in getattr(one, column) or ())
