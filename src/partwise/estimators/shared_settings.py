"""Settings that several estimators share; nothing but the standard library is needed.

`TrainingSettings` are those of all estimators, `LearningSettings` those of all but
the generative ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from partwise.estimators import allowed_values as allow
from partwise.estimators.settings import declares_settings, setting

if TYPE_CHECKING:
    from partwise.solvers import Solver
    from partwise.solvers.loop import Callback


@declares_settings
class TrainingSettings:
    """The settings of a training run, for all estimators.

    Parameters
    ----------
    tol
        Training stops when the objective is proved to be within this fraction of the
        best possible.
    max_iter
        The most passes over the data.
    n_jobs : int
        Threads for everything that passes over the data without learning in between:
        predictions, certificates, and most of "lbfgs", "cg", "owlqn", "eg-batch",
        "eg-primal", "cpd" and "cutting-plane"; -1 for one per core. The same number
        gives the same result, bit for bit.
    random_state
        Seed of the order in which examples are visited, and of everything else that is
        random.
    verbose : int
        1 shows how far training is.
    warm_start : bool
        Continue from the last fit when the data is the same, with another `C`, `tol` or
        `max_iter`.
    patience
        With development data: stop after this many passes without a new best.
    checkpoint : path
        Save the state of training there after every pass.
    resume : bool
        Continue from `checkpoint` if it exists.
    time_limit
        Stop training after this many seconds.
    callbacks : sequence of Callback
        Watchers of the training loop.
    """

    tol: float = setting(default=1e-2, allowed=allow.POSITIVE)
    max_iter: int = setting(default=100, allowed=allow.COUNT)
    n_jobs: int | None = None
    random_state: Any = setting(default=0, allowed=allow.SEED)
    verbose: int = setting(default=0, transient=True)
    warm_start: bool = setting(default=False, transient=True)
    patience: int = setting(default=5, allowed=allow.COUNT)
    checkpoint: str | Path | None = setting(default=None, transient=True)
    resume: bool = setting(default=False, transient=True)
    time_limit: float | None = setting(default=None, allowed=allow.POSITIVE)
    callbacks: Sequence[Callback] = setting(default=(), transient=True)


@declares_settings
class RescalingSettings:
    """How costs enter a margin loss.

    Parameters
    ----------
    rescaling
        What the cost of an output rescales: the margin by which the right output must
        beat it, or the slack, which is what is missing to a margin of one. "slack"
        takes a search for the worst output that is several times longer.
    """

    rescaling: str = setting(default="margin", allowed=allow.one_of("margin", "slack"))


@declares_settings
class LearningSettings(RescalingSettings, TrainingSettings):
    """What is minimised, with weights that are free.

    Parameters
    ----------
    loss
        What is minimised. Only the log loss gives calibrated probabilities.
    C
        Weight of the losses against the penalty; larger fits the data closer.
        {default_C}
    solver : str or Solver
        "auto", a solver object, or a name. {solvers}
    penalty
        What keeps the weights small: ``1/2 |w|^2``, or ``|w|_1``, which leaves many of
        them zero, or a mixture of both, "elasticnet". With the hinge, "l1" means a
        linear program.
    l1_ratio
        With "elasticnet", the share `r` of the L1 norm: the penalty is
        ``(1 - r)/2 |w|^2 + r |w|_1``.
    margin
        By how much the right output must beat a wrong one: by its cost, or, for the
        hinge with penalty "l1", by one.
    positive
        Whether to allow no negative weights. For the hinge with penalty "l1".
    dev_metric
        What is measured on development data.
    """

    default_C: ClassVar[dict[str, float]]
    """What ``C=None`` means, by loss."""

    loss: str = setting(
        default="squared_hinge",
        allowed=allow.one_of("squared_hinge", "hinge", "log_loss"),
        kw_only=False,
    )
    C: float | None = setting(default=None, allowed=allow.POSITIVE, kw_only=False)
    solver: str | Solver = setting(default="auto", kw_only=False)
    penalty: str = setting(default="l2", allowed=allow.one_of("l2", "l1", "elasticnet"))
    l1_ratio: float = setting(default=0.5, allowed=allow.number(at_least=0, at_most=1))
    margin: str = setting(default="cost", allowed=allow.one_of("cost", "unit"))
    positive: bool = setting(default=False, allowed=allow.FLAG)
    dev_metric: Any = setting(default=None, transient=True)


@declares_settings
class VocabularySettings:
    """How features of dicts become numbers.

    Parameters
    ----------
    min_count
        Features that occur fewer times than this in the training data are dropped.
    hash_bits : int
        Keep no vocabulary; hash features to ``2**hash_bits`` numbers.
    """

    min_count: int = setting(default=1, allowed=allow.COUNT)
    hash_bits: int | None = None


@declares_settings
class VectorSettings:
    """Vectors beside words.

    Parameters
    ----------
    vectors : path, WordVectors or list of these
        Vectors to look words up in: a word2vec, GloVe or fastText text file, or what
        `WordVectors.read` returns.
    scale_vectors
        Whether the columns of vectors are brought to mean 0 and the same standard
        deviation, as in the training data, so that a vector weighs as much as ten
        features: the penalty on weights depends on scale.
    """

    vectors: Any = setting(default=None, transient=True)
    scale_vectors: bool = setting(default=False, allowed=allow.FLAG)


@declares_settings
class LabelCostSettings:
    """What mistakes cost.

    Parameters
    ----------
    costs : matrix, dict or callable
        What predicting one label for another costs; 1 for every wrong label by default.
        A dict is keyed by ``(right, predicted)``, a callable takes the two. With the
        log loss, costs make it the softmax-margin: they are added to the scores inside
        the normaliser.
    class_weight : dict or "balanced"
        What multiplies the cost of a mistake where this label is right; labels not
        named have 1. "balanced" gives rare labels more, as in scikit-learn:
        ``n / (n_labels * count)``.
    """

    costs: Any = None
    class_weight: Any = None
