"""What all steps of a pipeline have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import eq
from typing import Any, ClassVar, Self

import numpy as np

from partwise.data.columns import ColumnData
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.tables import Stored, read_models, store_models
from partwise.estimators.registry import find_estimator
from partwise.model_file import Content

SUFFIX = 6
"""How long the suffixes are that classifiers see, unless something else is chosen."""
LONGEST_SUFFIX = 20

Make = Callable[..., Any]
"""Returns an estimator by the name of its class, with the settings of the pipeline.

Its second argument is the part of the time that the model may take, if others follow.
"""


class Step:
    """A step: it learns from sentences, and adds to sentences.

    Attributes
    ----------
    models : dict of str to estimator
        What it has learnt, by name; a step without any only knows what it has seen.
    choice : mapping
        What differs from the usual in how it learns; see `alternatives`.
    note : str
        What whoever trains it should know about the data.
    right : sequence of Sentence, optional
        The right annotation of the sentences that it learns from, where these have
        predicted tags.
    """

    name: ClassVar[str]
    """What users call it."""
    adds: ClassVar[tuple[str, ...]] = ()
    """The columns of sentences that it fills."""
    alternatives: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    """Other features that are worth a try on development data."""
    classes: ClassVar[Mapping[str, str]] = {}
    """The models that it may have, by name, and what classes they are of."""
    needed: ClassVar[tuple[str, ...]] = ()
    """The models that it cannot do without."""

    right: Sequence[Sentence] | None = None

    def __init__(self) -> None:
        self.models: dict[str, Any] = {}
        self.choice: Mapping[str, Any] = {}
        self.note = ""

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Learn from sentences."""
        raise NotImplementedError

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return sentences with what the step adds."""
        raise NotImplementedError

    @property
    def is_table(self) -> bool:
        """Whether it predicts for sentences it has seen what it would for others."""
        return False

    @classmethod
    def can_be_judged(cls, gold: Sequence[Sentence]) -> bool:
        """Say whether development data tells what is right."""
        return True

    def score(
        self, gold: Sequence[Sentence], dev: Sequence[Sentence]
    ) -> tuple[float, list[Sentence]]:
        """Return how good the step is on development data, and what it predicts.

        Parameters
        ----------
        gold, dev : sequences of Sentence
            What is right, and what earlier steps have predicted so far.
        """
        found = self.apply(dev)
        return agreement(gold, found, self.adds), found

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = store_models(self.models, dtype)
        return tensors, settings | {"choice": dict(self.choice)}

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = cls()
        step.models = read_models(content, cls.classes, cls.needed)
        step._read_choice(content)
        return step

    def _read_choice(self, content: Content) -> None:
        """Read how the step has learnt; files of the first version do not say."""
        if "choice" in content.settings:
            self.choice = content.setting("choice", dict)
        if not 1 <= self.suffix <= LONGEST_SUFFIX:
            raise content.error("the length of suffixes is damaged")

    @property
    def suffix(self) -> int:
        """The longest suffix of words that a classifier sees."""
        length = self.choice.get("suffix", SUFFIX)
        return length if type(length) is int else 0


def agreement(
    gold: Sequence[Sentence], found: Sequence[Sentence], columns: Sequence[str]
) -> float:
    """Return the share of words that have the right values in some columns."""
    right = total = 0
    for one, other in zip(gold, found, strict=True):
        total += len(one)
        right += sum(map(eq, _rows(one, columns), _rows(other, columns)))
    return right / total if total else 0.0


def _rows(sentence: Sentence, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield what each word has in some columns; None where nothing is given."""
    nothing = (None,) * len(sentence)
    cells = [getattr(sentence, name) or nothing for name in columns]
    return zip(*cells, strict=True)


def jackknifed(
    step: Callable[[], Step],
    sentences: Sequence[Sentence],
    fit: Callable[[Step, list[Sentence]], Any],
    folds: int,
    choice: Mapping[str, Any],
) -> list[Sentence]:
    """Return sentences with what a step adds that has not seen them.

    The sentences are cut into folds, and the step that fills one learns from the
    others: its mistakes are those that it will make on new text.
    """
    found: list[Sentence] = [*sentences]
    for fold in range(folds):
        held_out = range(fold, len(sentences), folds)
        rest = [one for i, one in enumerate(sentences) if i % folds != fold]
        fitted = step()
        fitted.choice = choice
        try:
            fit(fitted, rest)
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


def learnt(model: Any, *data: Any, **more: Any) -> Any:
    """Fit a model; it takes its first pass even if there is no time for it.

    A step that has learnt nothing would mislead all that follow.
    """
    model.fit(*data, **more)
    if model.time_limit is not None and not model.n_iter_:
        wanted = {name: getattr(model, name) for name in ("time_limit", "max_iter")}
        model.set_params(time_limit=None, max_iter=1).fit(*data, **more)
        model.set_params(**wanted)
    return model


def columns_of(sentences: Sequence[Sentence], *names: str) -> ColumnData:
    """Return columns of sentences as taggers read them."""
    columns = [[x for one in sentences for x in getattr(one, name)] for name in names]
    return ColumnData(columns, np.cumsum([0, *map(len, sentences)]))


def is_given(sentences: Iterable[Sentence], column: str) -> bool:
    """Say whether some word has a value in a column."""
    return any(cell != "_" for one in sentences for cell in getattr(one, column) or ())
