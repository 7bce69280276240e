"""The settings that all generative models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from partwise.estimators.allowed_values import OneOf
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import NOT_NEGATIVE, TrainingSettings

if TYPE_CHECKING:
    from partwise.solvers import Solver

BY_MARGIN = (
    "How the probabilities are found: so that predictions are right, with a margin "
    "that grows with the cost of a mistake; or by counting (maximum likelihood)."
)
WEIGHT = (
    "Weight of the margin violations against the divergence from the `reference`; by "
    "default one that suits costs and size of the data, small enough to stay near to "
    "the reference. Without meaning for the likelihood. Choose it on development data "
    "(`C_path`)."
)
REFERENCE = (
    "What the probabilities stay near to, unless margins need something else: the "
    "smoothed counts (the default), uniform distributions, or your own"
)


@declares_settings
class GenerativeSettings(TrainingSettings):
    """What a model of probabilities has to be told."""

    # Only while there is no data to suit.
    default_C: ClassVar[dict[str, float]] = {"hinge": 1.0, "squared_hinge": 1.0}

    loss: str = setting(
        default="hinge",
        allowed=OneOf("hinge", "squared_hinge"),
        doc="How a violated margin is penalised.",
    )
    smoothing: float = setting(
        default=1.0,
        allowed=NOT_NEGATIVE,
        doc="Added to every count, for the likelihood and the reference that is made "
        "of it.",
    )
    solver: str | Solver = setting(
        default="auto",
        type_text="str or Solver",
        doc='"auto", or a `RestrictedSimplicialDecomposition` with settings of your '
        "own.",
    )
    tol: float = 1e-3
    max_iter: int = 2000
    patience: int = 100
    n_jobs: int | None = setting(default=None, doc="Threads; -1 for one per core.")
    random_state: Any = setting(default=0, doc="Seed.")
