"""Suspects: training examples that a model cannot reconcile with the others."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from partwise._notebooks import html_table
from partwise._work import steps
from partwise.characters import printable
from partwise.errors import DataError
from partwise.pages import View
from partwise.structures import interface as waist
from partwise.structures.interface import FloatArray
from partwise.structures.partial import find_partial, least_probable_knowledge
from partwise.structures.probabilities import least_probable_parts

PART = "by the least probable part of what the data says: -ln p"
MASS = "by the mass of their dual variables"
LOSS = "by their loss"
HELD_OUT = "by how much models that have not seen them prefer another decision"
SURPRISE = "by how improbable the model finds them"


class Suspicion(NamedTuple):
    """How suspicious examples are: a score for each of some, and what it measures."""

    scores: FloatArray
    losses: FloatArray
    numbers: list[int]
    by: str


class Suspect(NamedTuple):
    """A training example that fits the others badly.

    Attributes
    ----------
    example : int
        Its number, from 0.
    score : float
        How suspicious it is; what that means is said by `Suspects.by`.
    view : View
        What it looks like, and what the model would predict.
    """

    example: int
    score: float
    view: View


@dataclass(frozen=True)
class Suspects:
    """Training examples that fit the others least, most suspicious first.

    Attributes
    ----------
    by : str
        What suspicion is measured by.
    found : tuple of Suspect
        The suspects; also what iterating gives.
    """

    by: str
    found: tuple[Suspect, ...]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.found)

    def __iter__(self) -> Any:
        """Iterate over the suspects."""
        return iter(self.found)

    def __getitem__(self, which: int) -> Suspect:
        """Return a suspect by its rank, from 0."""
        return self.found[which]

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, ready for JSON."""
        return {
            "by": self.by,
            "suspects": [
                {
                    "example": one.example + 1,
                    "score": one.score,
                    "wrong": one.view.mistakes,
                    "words": list(one.view.words),
                    "differences": differences(one.view),
                }
                for one in self.found
            ],
        }

    def _repr_html_(self) -> str:
        """Return the same table for notebooks."""
        return html_table(
            ["example", "score", "the data says, the model says", "words"],
            [
                [
                    one.example + 1,
                    f"{one.score:.4g}",
                    "; ".join(differences(one.view)[:3]) or "no difference",
                    " ".join(one.view.words),
                ]
                for one in self.found
            ],
        )

    def __str__(self) -> str:
        """Return a table, with what the model would say instead."""
        lines = [f"{'example':>8}{'score':>10}  the data says, the model says"]
        for one in self.found:
            said = "; ".join(differences(one.view)[:3]) or "no difference"
            lines.append(f"{one.example + 1:>8}{one.score:>10.4g}  {printable(said)}")
        return "\n".join(lines)


def differences(view: View) -> list[str]:
    """Say where the right output and the predicted one differ.

    Examples
    --------
    >>> from partwise.pages import view_tags
    >>> differences(view_tags(["the", "dog"], ["D", "V"], ["D", "N"]))
    ['dog: N, V']
    """
    if not view.tables:
        return [f"{view.mistakes} edges"] if view.mistakes else []
    name = next(iter(view.tables))
    aligned = len(view.tables[name]) == len(view.words)
    said = []
    for t, (right, found) in enumerate(view.tables[name]):
        if right != found:
            said.append(f"{view.words[t]}: {right}, {found}" if aligned else
                        f"{right}, {found}")  # fmt: skip
    if not said and view.mistakes:
        said = [f"{view.mistakes} other heads"]
    return said


def find_suspicion(model: Any, X: Any, y: Any) -> Suspicion:
    """Return how suspicious training examples are.

    One wrong label makes one part of the right output improbable, however long the
    example is. With the log loss, ``C (1 - p)`` is the mass of the dual variables that
    contradict the part: what it pulls the weights with. Structures without marginals
    have the mass of all wrong outputs, where the loss determines it, or the loss.
    """
    trained = copy.copy(model)
    trained.verbose = 0
    _uncalibrated(trained)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # training has said it
        data = trained._prepare(X, y)
    structure = trained._rescaled(data.structure)
    if int(waist.n_weights(structure)) != model.weights_.size:
        raise DataError(
            f"these examples have {int(waist.n_weights(structure)):,} weights, but the "
            f"model has {model.weights_.size:,}: give the data that it was trained on"
        )
    w, n_jobs = model.weights_, model._jobs()
    loss = model._make_loss(structure)
    losses = loss.values(structure, w, n_jobs)
    numbers = list(range(losses.size)) if data.kept is None else list(data.kept)
    if waist.marginals.provided_by(type(waist.innermost(structure))):
        # What an output costs, which `structure` may add, makes it no more probable.
        partial = find_partial(structure)
        if partial is None:
            least = least_probable_parts(waist.innermost(structure), w, n_jobs)
        else:
            least = least_probable_knowledge(partial, w, n_jobs)
        surprise = -np.log(np.clip(least, waist.LEAST_PROBABILITY, 1.0))
        return Suspicion(surprise, losses, numbers, PART)
    C = np.full(losses.size, float(getattr(model, "C_", 1.0)))
    mass = loss.mass(losses, C) if model.certificate_ is not None else None
    if mass is None:
        return Suspicion(losses, losses, numbers, LOSS)
    return Suspicion(mass, losses, numbers, MASS)


def _uncalibrated(model: Any) -> None:
    """Have a model learn without development data, which there is none of here."""
    if getattr(model, "calibrate", None) is not None:
        model.calibrate = None


def held_out_suspects(model: Any, X: Any, y: Any, folds: int, n: int) -> Suspects:
    """Return where models trained on the other examples prefer another decision.

    Parameters
    ----------
    model : estimator
        Its settings are those of all models.
    X, y : training data
        As in `fit`.
    folds : int
        How many parts there are; example `i` is in part ``i % folds``.
    n : int
        How many to return.
    """
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    if not 2 <= folds <= count:
        raise ValueError(f"folds must lie between 2 and the {count} examples")
    found: list[Suspect] = []
    for fold in steps(range(folds), "training on the other examples"):
        own = list(range(fold, count, folds))
        others = [i for i in range(count) if i % folds != fold]
        fresh = type(model)(**model.get_params(deep=False)).set_params(verbose=0)
        _uncalibrated(fresh)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # training has said it
            fresh.fit(*_parts(X, y, others))
        views = fresh._views(*_parts(X, y, own))
        for i, view in zip(own, views, strict=True):
            found.append(Suspect(i, view.doubt or 0.0, view))
    found.sort(key=lambda one: (-one.score, -(one.view.surprise or 0.0), one.example))
    return Suspects(HELD_OUT, tuple(found[: max(n, 0)]))


def _parts(X: Any, y: Any, numbers: Sequence[int]) -> tuple[Any, ...]:
    return (chosen(X, numbers), *([] if y is None else [chosen(y, numbers)]))


def chosen(X: Any, numbers: Sequence[int]) -> Any:
    """Return some examples of whatever examples are kept in."""
    if hasattr(X, "take_rows"):  # tables
        return X.take_rows(numbers)
    if hasattr(X, "iloc"):
        return X.iloc[list(numbers)]
    if hasattr(X, "shape"):
        return X[list(numbers)]
    if hasattr(X, "sentence"):  # columns, which are read as lists of tuples too
        return [X.sentence(i) for i in numbers]
    return [X[i] for i in numbers]
