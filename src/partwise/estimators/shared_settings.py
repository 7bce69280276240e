"""Settings that several estimators share; nothing but the standard library is needed.

`TrainingSettings` are those of all estimators, `LearningSettings` those of all but
the generative ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from partwise.estimators.allowed_values import Flag, Number, OneOf, Seed
from partwise.estimators.settings import DEFAULT_C, declares_settings, setting

if TYPE_CHECKING:
    from partwise.solvers import Solver
    from partwise.solvers.loop import Callback

COUNT = Number(at_least=1, whole=True)
POSITIVE = Number(above=0)
NOT_NEGATIVE = Number(at_least=0)


def _solver_sentence() -> str:
    """Say which solvers there are for which loss."""
    return (
        '"auto", a solver object, or a name. Squared hinge: "dcd-ssvm", "dcd-light", '
        '"cpd"; log loss: "eg", "sdca", "lbfgs", "cg", "owlqn"; hinge: "frank-wolfe", '
        '"smo", "cutting-plane", "eg"; all three: "sgd". "perceptron", "mira" and '
        '"mira-kbest" run with any loss, but minimise none.'
    )


@declares_settings
class TrainingSettings:
    """What all estimators have to be told about a training run."""

    tol: float = setting(
        default=1e-2,
        allowed=POSITIVE,
        doc="Training stops when the objective is proved to be within this fraction of "
        "the best possible.",
    )
    max_iter: int = setting(
        default=100, allowed=COUNT, doc="The most passes over the data."
    )
    n_jobs: int | None = setting(
        default=None,
        type_text="int",
        doc="Threads for everything that passes over the data without learning in "
        'between: predictions, certificates, and most of "lbfgs", "cg", "owlqn", '
        '"eg-batch", "eg-primal", "cpd" and "cutting-plane"; -1 for one per core. The '
        "same number gives the same result, bit for bit.",
    )
    random_state: Any = setting(
        default=0,
        allowed=Seed(),
        doc="Seed of the order in which examples are visited, and of everything else "
        "that is random.",
    )
    verbose: int = setting(
        default=0, type_text="int", transient=True, doc="1 shows a progress bar."
    )
    warm_start: bool = setting(
        default=False,
        type_text="bool",
        transient=True,
        doc="Go on from the last fit when the data is the same, with another `C`, "
        "`tol` or `max_iter`.",
    )
    patience: int = setting(
        default=5,
        allowed=COUNT,
        doc="With development data: stop after this many passes without a new best.",
    )
    checkpoint: str | Path | None = setting(
        default=None,
        type_text="path",
        transient=True,
        doc="Save the state of training there after every pass.",
    )
    resume: bool = setting(
        default=False,
        type_text="bool",
        transient=True,
        doc="Go on from `checkpoint` if it exists.",
    )
    time_limit: float | None = setting(
        default=None,
        allowed=POSITIVE,
        optional=True,
        doc="Stop training after this many seconds.",
    )
    callbacks: Sequence[Callback] = setting(
        default=(),
        type_text="sequence of Callback",
        transient=True,
        doc="Watchers of the training loop.",
    )


@declares_settings
class LearningSettings(TrainingSettings):
    """What is minimised, with weights that are free."""

    default_C: ClassVar[dict[str, float]]
    """What ``C=None`` means, by loss."""

    loss: str = setting(
        default="squared_hinge",
        kw_only=False,
        allowed=OneOf("squared_hinge", "hinge", "log_loss"),
        doc="What is minimised. Only the log loss gives calibrated probabilities.",
    )
    C: float | None = setting(
        default=None,
        kw_only=False,
        allowed=POSITIVE,
        optional=True,
        doc="Weight of the losses against the penalty; larger fits the data closer. "
        + DEFAULT_C,
    )
    solver: str | Solver = setting(
        default="auto",
        kw_only=False,
        type_text="str or Solver",
        doc=_solver_sentence(),
    )
    penalty: str = setting(
        default="l2",
        allowed=OneOf("l2", "l1", "elasticnet"),
        doc="What keeps the weights small: ``1/2 |w|^2``, or ``|w|_1``, which leaves "
        'many of them zero, or a mixture of both. "l1" goes with the log loss and, by '
        'linear programming, with the hinge; "elasticnet" with the log loss.',
    )
    l1_ratio: float = setting(
        default=0.5,
        allowed=Number(at_least=0, at_most=1),
        doc='With "elasticnet", the share `r` of the L1 norm: the penalty is '
        "``(1 - r)/2 |w|^2 + r |w|_1``.",
    )
    margin: str = setting(
        default="cost",
        allowed=OneOf("cost", "unit"),
        doc="By how much the right output must beat a wrong one: by its cost, or, for "
        'the hinge with penalty "l1", by one.',
    )
    positive: bool = setting(
        default=False,
        allowed=Flag(),
        doc='Whether weights must not be negative, for the hinge with penalty "l1".',
    )


@declares_settings
class VocabularySettings:
    """How features of dicts become numbers."""

    min_count: int = setting(
        default=1,
        allowed=COUNT,
        doc="Features that occur fewer times than this in the training data are "
        "dropped.",
    )
    hash_bits: int | None = setting(
        default=None,
        type_text="int",
        doc="Keep no vocabulary; hash features to ``2**hash_bits`` numbers.",
    )


@declares_settings
class LabelCostSettings:
    """What mistakes cost."""

    costs: Any = setting(
        default=None,
        type_text="matrix, dict or callable",
        doc="What predicting one label for another costs; 1 for every wrong label by "
        "default. A dict is keyed by ``(right, predicted)``, a callable takes the two. "
        "With the log loss, costs make it the softmax-margin: they are added to the "
        "scores inside the normaliser.",
    )
    class_weight: Any = setting(
        default=None,
        type_text='dict or "balanced"',
        doc="What multiplies the cost of a mistake where this label is right; labels "
        'not named have 1. "balanced" gives rare labels more, as in scikit-learn: '
        "``n / (n_labels * count)``.",
    )


LEARNT = {
    "weights_ : array": "All the weights.",
    "solution_ : Solution": "All that training found, and how it ended. Its `state` is "
    "kept only with `warm_start`.",
    "certificate_ : Certificate or None": "Objective, lower bound and relative gap; "
    "None if no objective was minimised.",
    "trace_ : Trace": "One row a pass.",
    "status_ : str": "How training ended, in a sentence.",
    "n_iter_ : int": "The number of passes.",
    "C_ : float": "The `C` that was used.",
    "solver_ : Solver": "The solver that was used.",
    "bound_ : float or None": 'For the hinge with penalty "l1" and margin "unit": a '
    "bound on the error on new data that holds with probability 0.95.",
}
"""What all estimators learn, by the names and types of attributes."""
