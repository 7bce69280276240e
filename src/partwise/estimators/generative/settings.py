"""The settings that all generative models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from partwise.estimators.allowed_values import NOT_NEGATIVE, one_of
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import RescalingSettings, TrainingSettings

if TYPE_CHECKING:
    from partwise.solvers import Solver


@declares_settings
class GenerativeSettings(RescalingSettings, TrainingSettings):
    """The settings of a generative model.

    Parameters
    ----------
    objective
        How the probabilities are found: so that predictions are right, with a margin
        that grows with the cost of a mistake; or by counting (maximum likelihood).
    C
        Weight of the margin violations against the distance from the `reference`; by
        default chosen from the costs and the size of the data. The default is small
        enough to stay near to the reference. It has no meaning for the likelihood.
        Choose it on development data (`C_path`).
    reference : {"likelihood", "uniform"} or mapping
        What the probabilities stay near to, unless margins need something else: the
        smoothed counts (the default), uniform distributions, or your own.
    divergence
        How the distance from the `reference` is measured: forward, ``KL(reference ||
        model)``, which nothing that is probable there may leave; or reverse, ``KL(model
        || reference)``, where becoming improbable is cheaper, and probable dearer.
    loss
        How a violated margin is penalised.
    smoothing
        Added to every count, for the likelihood and the reference that is made of it.
    solver : str or Solver
        "auto", or a `RestrictedSimplicialDecomposition` with settings of your own.
    n_jobs
        Threads; -1 for one per core.
    random_state
        Seed.
    """

    # Only while there is no data to suit.
    default_C: ClassVar = {"hinge": 1.0, "squared_hinge": 1.0}

    divergence: str = setting(default="forward", allowed=one_of("forward", "reverse"))
    loss: str = setting(default="hinge", allowed=one_of("hinge", "squared_hinge"))
    smoothing: float = setting(default=1.0, allowed=NOT_NEGATIVE)
    solver: str | Solver = "auto"
    tol: float = 1e-3
    max_iter: int = 2000
    patience: int = 100
    n_jobs: int | None = None
    random_state: Any = 0
