"""Training the steps of a pipeline, one after the other, within a time budget."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import eq
from typing import Any

from partwise._interrupts import Interruptible
from partwise.data.treebank import Sentence
from partwise.errors import ConvergenceWarning
from partwise.estimators.pipeline.boundaries import (
    SENTENCE_TEMPLATE,
    TOKEN_TEMPLATE,
    BoundaryStep,
)
from partwise.estimators.pipeline.lemmas import LemmaStep
from partwise.estimators.pipeline.multiword import MultiwordStep
from partwise.estimators.pipeline.steps import (
    NothingToLearn,
    Step,
    estimator,
    jackknifed,
)
from partwise.estimators.pipeline.tags import FeatsStep, UposStep, XposStep
from partwise.estimators.pipeline.trees import TreeStep

STEPS: dict[str, type[Step]] = {
    cls.name: cls
    for cls in (
        *(BoundaryStep, MultiwordStep),
        *(UposStep, FeatsStep, XposStep, LemmaStep, TreeStep),
    )
}
"""All steps by name, in their order."""

MARGINS = "squared_hinge"
SETTINGS: dict[str, dict[str, Any]] = {
    "tokens": {"loss": MARGINS, "template": TOKEN_TEMPLATE, "tol": 0.02},
    "sentences": {"loss": MARGINS, "template": SENTENCE_TEMPLATE, "tol": 0.02},
    "SequenceTagger": {"loss": MARGINS, "template": "pos", "tol": 0.1},
    "MulticlassClassifier": {"loss": MARGINS, "tol": 0.05, "max_iter": 60},
    "DependencyParser": {"crossing": "lift", "patience": 3},
}
"""The settings of the estimators."""
CLASSES = {"tokens": "SequenceTagger", "sentences": "SequenceTagger"}
SHARES = {
    "tokens": 0.05,
    "sentences": 0.03,
    "SequenceTagger": 0.12,
    "MulticlassClassifier": 0.04,
    "DependencyParser": 1.0,
}
"""The share of the time that a step may take, of all or, for the last, of the rest."""
FACTORS = (3.0, 0.3)
"""What `C` is multiplied with, if there is time to try other values."""
TRIES = 0.1
"""The share of the time that goes to trying other values, for each step."""

LEAST_SECONDS = 0.5
"""A model gets at least this much time, however little is left."""

Tell = Callable[[str], None]


@dataclass
class Trainer:
    """Trains steps and keeps the time.

    Parameters
    ----------
    seconds : float or None
        How long it may take.
    folds : int
        How many parts the treebank is cut into.
    settings : mapping
        Settings of all estimators: the seed, the threads.
    tell : callable
        Is told what is being done.
    """

    seconds: float | None
    folds: int
    settings: Mapping[str, Any]
    tell: Tell
    steps: dict[str, Step] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    gold_dev: list[Sentence] | None = None
    factor_of_step: float = 1.0

    def __post_init__(self) -> None:
        """Start the clock."""
        self._begin = time.monotonic()
        self._factor = 1.0
        self._parts = 1
        self._work = Interruptible()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended training."""
        return self._work.came

    @property
    def _left(self) -> float | None:
        if self.seconds is None:
            return None
        return max(self.seconds - (time.monotonic() - self._begin), 1.0)

    def make(self, name: str) -> Any:
        """Return an estimator for a step; none after Ctrl-C."""
        if self.interrupted:
            raise KeyboardInterrupt
        cls = CLASSES.get(name, name)
        settings = {**SETTINGS[name], **self.settings}
        if self.seconds is not None and self._left is not None:
            share = min(self.seconds * SHARES[name], self._left)
            settings["time_limit"] = max(share / self._parts, LEAST_SECONDS)
        made = estimator(cls, **settings)
        if self._factor != 1.0:
            made.set_params(C=self._factor * made.default_C[made.loss])
        return made

    def train(
        self, names: Sequence[str], train: list[Sentence], dev: list[Sentence] | None
    ) -> None:
        """Train steps; each of them learns from what those before it predict.

        Ctrl-C ends it: the steps that have been trained are kept.
        """
        with self._work:
            for name in names:
                train, dev = self._step(name, train, dev, last=names[-1])
                if self.interrupted:
                    break
        if self.interrupted:
            for name in names:
                if name not in self.steps:
                    self.left_out.setdefault(name, "training was interrupted")

    def _step(
        self,
        name: str,
        train: list[Sentence],
        dev: list[Sentence] | None,
        last: str,
    ) -> tuple[list[Sentence], list[Sentence] | None]:
        """Train a step, if there is anything to learn and Ctrl-C does not end it."""
        self.tell(f"training {name}")
        cls = STEPS[name]
        self.factor_of_step = 1.0
        self._parts = 1 + (self.folds if cls.adds and name != "trees" else 0)
        try:
            with warnings.catch_warnings(), self._work.here():
                # What is left is shown with every certificate.
                warnings.simplefilter("ignore", ConvergenceWarning)
                return self._one(cls, train, dev, last)
        except NothingToLearn as reason:
            self.left_out[name] = str(reason)
            self.tell(f"leaving out {name}: {reason}")
        except KeyboardInterrupt:
            self.tell("interrupted: the steps that have been trained are kept")
        return train, dev

    def _one(
        self,
        cls: type[Step],
        train: list[Sentence],
        dev: list[Sentence] | None,
        last: str,
    ) -> tuple[list[Sentence], list[Sentence] | None]:
        begin = time.monotonic()
        self.steps[cls.name] = step = self._fit(cls, train, dev)
        took = time.monotonic() - begin
        found = None
        if cls.adds and dev is not None and self.gold_dev is not None:
            step, found = self._chosen(cls, step, train, dev, self.gold_dev, took)
            self.steps[cls.name] = step
        if cls.adds and cls.name != last and self.folds > 1:
            factor, self._factor = self._factor, self.factor_of_step
            train = jackknifed(cls, train, self.make, self.folds)
            self._factor = factor
        return train, found if found is not None else dev

    def _fit(
        self, cls: type[Step], train: list[Sentence], dev: list[Sentence] | None
    ) -> Step:
        step = cls()
        if isinstance(step, TreeStep) and dev is not None and self.gold_dev is not None:
            step.dev = [
                replace(one, heads=gold.heads, labels=gold.labels)
                for one, gold in zip(dev, self.gold_dev, strict=True)
                if gold.heads is not None
            ] or None
        return step.fit(train, self.make)

    def _chosen(
        self,
        cls: type[Step],
        step: Step,
        train: list[Sentence],
        dev: list[Sentence],
        gold: list[Sentence],
        took: float,
    ) -> tuple[Step, list[Sentence]]:
        """Return the best step on development data, and what it predicts there."""
        self.factor_of_step = 1.0
        found = step.apply(dev)
        best = agreement(gold, found, cls.adds)
        spent = 0.0
        for factor in FACTORS:
            if self.seconds is None or self._left is None:
                break
            if took > min(TRIES * self.seconds - spent, self._left / 2):
                break
            begin = time.monotonic()
            self._factor = factor
            other = self._fit(cls, train, dev)
            self._factor = 1.0
            other_found = other.apply(dev)
            score = agreement(gold, other_found, cls.adds)
            if score > best:
                step, found, best = other, other_found, score
                self.factor_of_step = factor
            spent += time.monotonic() - begin
        self.scores[cls.name] = best
        self.tell(f"{cls.name}: {best:.2%} of the words of the development data")
        return step, found


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


def with_words_only(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences without any annotation, as development data begins."""
    return [
        replace(
            one,
            lemmas=("_",) * len(one),
            upos=("_",) * len(one),
            xpos=("_",) * len(one),
            feats=("_",) * len(one),
            heads=None,
            labels=None,
        )
        for one in sentences
    ]
