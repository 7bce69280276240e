"""Training the steps of a pipeline, one after the other, within a time budget."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from partwise._interrupts import Interruptible
from partwise._jit import working_time
from partwise.data.treebank import Sentence
from partwise.errors import ConvergenceWarning
from partwise.estimators.pipeline.boundaries import (
    SENTENCE_TEMPLATE,
    BoundaryStep,
)
from partwise.estimators.pipeline.characters import TOKEN_TEMPLATE
from partwise.estimators.pipeline.inner_spaces import SPACE_TEMPLATE
from partwise.estimators.pipeline.lemmas import LemmaStep
from partwise.estimators.pipeline.multiword import MultiwordStep
from partwise.estimators.pipeline.spans import SPAN_STEPS
from partwise.estimators.pipeline.steps import (
    NothingToLearn,
    Step,
    estimator,
    jackknifed,
)
from partwise.estimators.pipeline.tags import FeatsStep, UposStep, XposStep
from partwise.estimators.pipeline.time_plan import TimePlan
from partwise.estimators.pipeline.trees import TreeStep
from partwise.solvers.endings import MAX_ITER, TIME_LIMIT

_ALL: tuple[type[Step], ...] = (
    *(BoundaryStep, MultiwordStep),
    *(UposStep, FeatsStep, XposStep, LemmaStep, TreeStep),
    *SPAN_STEPS.values(),
)
STEPS: dict[str, type[Step]] = {cls.name: cls for cls in _ALL}
"""All steps by name, in their order."""

MARGINS = "squared_hinge"
CHARACTERS = {"loss": MARGINS, "tol": 0.02, "hash_bits": 20}
SETTINGS: dict[str, dict[str, Any]] = {
    # Hashed: a vocabulary of characters next to each other would be most of the file.
    "tokens": {**CHARACTERS, "template": TOKEN_TEMPLATE},
    "spaces": {**CHARACTERS, "template": SPACE_TEMPLATE},
    "sentences": {**CHARACTERS, "template": SENTENCE_TEMPLATE},
    "SequenceTagger": {"loss": MARGINS, "template": "pos", "tol": 0.1},
    "spans": {"loss": MARGINS, "template": "ner", "tol": 0.02},
    "MulticlassClassifier": {"loss": MARGINS, "tol": 0.05, "max_iter": 60},
    "DependencyParser": {"crossing": "lift", "patience": 3, "reach": "seen"},
}
"""The settings of the estimators."""
CLASSES = dict.fromkeys(("tokens", "spaces", "sentences", "spans"), "SequenceTagger")
FACTORS = (3.0, 0.3)
"""What `C` is multiplied with, if there is time to try other values."""
LOOSER = 2.0
"""How much earlier the models end that show others what mistakes there are."""
COLUMNS = ("lemmas", "upos", "xpos", "feats")
HELD_OUT = 10
"""Every so many sentences of a second corpus are held out to choose by."""

Tell = Callable[[str], None]
Choice = Mapping[str, Any]
"""How a step learns where that is not as usual: a factor of C, other features."""


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
    corpora : mapping
        Sentences that steps learn from instead of the treebank, by the step's name.
    gold_dev : list of Sentence, optional
        The right annotation of the development data.
    """

    seconds: float | None
    folds: int
    settings: Mapping[str, Any]
    tell: Tell
    corpora: Mapping[str, list[Sentence]] = field(default_factory=dict)
    gold_dev: list[Sentence] | None = None
    steps: dict[str, Step] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    hurried: dict[str, str] = field(default_factory=dict)
    right: list[Sentence] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._time = TimePlan(self.seconds)
        self._work = Interruptible()
        self._longest = 0.0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended training."""
        return self._work.came

    def make(
        self, name: str, part: float = 1.0, *, choice: Choice, looser: float = 1.0
    ) -> Any:
        """Return an estimator for a step; none after Ctrl-C.

        It may take a part of what is left for the work at hand. Its tolerance is that
        of its kind, or this many times looser.
        """
        if self.interrupted:
            raise KeyboardInterrupt
        made = estimator(CLASSES.get(name, name), **SETTINGS[name], **self.settings)
        made.set_params(time_limit=self._time.limit(part))
        known = made.get_params()
        made.set_params(tol=looser * made.tol)
        made.set_params(**{k: v for k, v in choice.items() if k in known})
        if "C_times" in choice:
            made.set_params(C=choice["C_times"] * made.default_C[made.loss])
        return made

    def train(
        self, names: Sequence[str], train: list[Sentence], dev: list[Sentence] | None
    ) -> None:
        """Train steps; each of them learns from what those before it predict.

        Ctrl-C ends it: the steps that have been trained are kept.
        """
        if "tokens" in names:  # nothing but text is given later
            train = without_columns(train, unfilled(names))
            dev = dev and without_columns(dev, unfilled(names))
        self.right = train
        if dev:  # begins without what the steps are to say
            dev = [
                replace(one, heads=None, labels=None)
                for one in without_columns(dev, set(COLUMNS) - set(unfilled(names)))
            ]
        # What nothing learns from need not be predicted: trees, spans, the last tags.
        readers = [name for name in names if name not in self.corpora]
        with self._work:
            for i, name in enumerate(names):
                self._time.begin_step(name, names[i + 1 :])
                train, dev = self._step(name, train, dev, is_read=name in readers[:-1])
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
        is_read: bool,
    ) -> tuple[list[Sentence], list[Sentence] | None]:
        """Train a step, if there is anything to learn and Ctrl-C does not end it."""
        self.tell(f"training {name}")
        cls = STEPS[name]
        is_read = is_read and bool(cls.adds) and name not in ("trees", *SPAN_STEPS)
        try:
            with warnings.catch_warnings(), self._work.here():
                # What is left is shown with every certificate.
                warnings.simplefilter("ignore", ConvergenceWarning)
                if name not in self.corpora:
                    return self._one(cls, train, dev, is_read)
                self._learn_elsewhere(cls, self.corpora[name])
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
        is_read: bool,
    ) -> tuple[list[Sentence], list[Sentence] | None]:
        folds = self.folds if is_read else 1
        begin = working_time()
        with self._time.share(1.0 if folds == 1 else 0.5):
            self.steps[cls.name] = step = self._fit(cls, train, dev)
        took = working_time() - begin
        # Taggers in the place of a table take as long as those of other steps.
        self._longest = max(self._longest, took)
        gold = self.gold_dev
        if dev is not None and gold is not None and cls.can_be_judged(gold):
            needs = self._longest if step.is_table else took
            step, dev = self._chosen(step, train, dev, gold, needs, folds)
        self.steps[cls.name] = step
        if is_read and step.is_table:
            return step.apply(train), dev
        n_folds = self._time.affordable_folds(folds, took)
        self._note_hurry(step, n_folds, folds)
        if n_folds > 1:
            train = self._jackknifed(cls, train, n_folds, step.choice)
        return train, dev

    def _note_hurry(self, step: Step, n_folds: int, folds: int) -> None:
        """Remember what there was too little time for."""
        reasons = {model.solution_.reason for model in step.models.values()}
        found = []
        if self.seconds is not None and reasons & {TIME_LIMIT, MAX_ITER}:
            found.append("ended early")
        if n_folds < folds:
            found.append(f"{n_folds} folds instead of {folds}")
        if found:
            self.hurried[step.name] = ", ".join(found)

    def _jackknifed(
        self, cls: type[Step], train: list[Sentence], folds: int, choice: Choice
    ) -> list[Sentence]:
        """Return sentences with what a step predicts that has not seen them."""
        make = partial(self.make, choice=choice, looser=LOOSER)
        left = iter(range(folds, 0, -1))

        def fit(step: Step, rest: list[Sentence]) -> None:
            with self._time.share(1.0 / next(left)):
                step.fit(rest, make)

        return jackknifed(cls, train, fit, folds, choice)

    def _learn_elsewhere(self, cls: type[Step], corpus: list[Sentence]) -> None:
        """Train a step on a corpus of its own, which the steps so far annotate.

        With a limit of time, some of it is held out to choose how the step learns, and
        it then learns from all.
        """
        words = with_words_only(corpus)
        for step in self.steps.values():
            if step.adds == ("upos",):
                words = step.apply(words)
        if self.seconds is None:
            self.steps[cls.name] = self._fit(cls, words, None)
            return
        rest = [one for i, one in enumerate(words) if i % HELD_OUT]
        begin = working_time()
        with self._time.share(0.5):
            first = self._fit(cls, rest, None)
        took = working_time() - begin
        held_out = words[::HELD_OUT]
        right = corpus[::HELD_OUT]
        chosen, _ = self._chosen(first, rest, held_out, right, 2.0 * took)
        self.steps[cls.name] = self._fit(cls, words, None, chosen.choice)

    def _fit(
        self,
        cls: type[Step],
        train: list[Sentence],
        dev: list[Sentence] | None,
        choice: Choice | None = None,
    ) -> Step:
        step = cls()
        step.choice = choice or {}
        step.right = None if cls.name in self.corpora else self.right
        if isinstance(step, TreeStep) and dev is not None and self.gold_dev is not None:
            step.dev = [
                replace(one, heads=gold.heads, labels=gold.labels)
                for one, gold in zip(dev, self.gold_dev, strict=True)
                if gold.heads is not None
            ] or None
        return step.fit(train, partial(self.make, choice=step.choice))

    def _chosen(
        self,
        step: Step,
        train: list[Sentence],
        dev: list[Sentence],
        gold: list[Sentence],
        took: float,
        folds: int = 1,
    ) -> tuple[Step, list[Sentence]]:
        """Return the best step on development data, and what it predicts there.

        Alternatives are tried one after the other, as long as there is time: other
        features first, and then other values of `C`. What is better stays.
        """
        best, found = step.score(gold, dev)
        for other in (*step.alternatives, *({"C_times": x} for x in FACTORS)):
            if not self._time.can_try(took, folds):
                break
            rival = self._fit(type(step), train, dev, {**step.choice, **other})
            score, predicted = rival.score(gold, dev)
            if score > best:
                step, best, found = rival, score, predicted
        self.scores[step.name] = best
        self.tell(f"{step.name}: {best:.2%} on development data")
        return step, found


def unfilled(names: Iterable[str]) -> list[str]:
    """Return the columns that none of these steps fills."""
    filled = {column for name in names for column in STEPS[name].adds}
    return [column for column in COLUMNS if column not in filled]


def without_columns(
    sentences: Sequence[Sentence], columns: Iterable[str]
) -> list[Sentence]:
    """Return sentences without what these columns say."""
    names = list(columns)

    def without(one: Sentence) -> Sentence:
        cells: Any = dict.fromkeys(names, ("_",) * len(one))
        return replace(one, **cells)

    return [without(one) for one in sentences] if names else list(sentences)


def with_words_only(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences without any annotation."""
    return [
        replace(one, heads=None, labels=None)
        for one in without_columns(sentences, COLUMNS)
    ]
