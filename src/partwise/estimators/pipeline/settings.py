"""The settings of pipelines."""

from __future__ import annotations

from collections.abc import Sequence

from partwise.estimators import allowed_values as allow
from partwise.estimators.settings import declares_settings, setting


@declares_settings
class PipelineSettings:
    """The settings of a pipeline.

    Parameters
    ----------
    steps : "all", str or sequence of str
        The steps to train, as a sequence of names or a string with commas: "tokens"
        (and sentences), "words" (of multiword tokens), "upos", "feats", "xpos",
        "lemmas", "trees", "entities", "chunks". Those that the treebank says nothing
        about are left out.
    minutes : float
        How long training may take, about. With development data, time that is left is
        used to try other features and values of `C` for every step.
    folds
        Later steps learn from what earlier ones predict for sentences they have not
        seen: the treebank is cut into this many parts. 1 lets them learn from what is
        right, which is faster and less accurate.
    n_jobs : int
        Threads for predictions; -1 for one per core.
    random_state
        Seed of everything random.
    verbose : int
        1 says which step is being trained.
    """

    steps: str | Sequence[str] = "all"
    minutes: float | None = setting(default=None, allowed=allow.POSITIVE)
    folds: int = setting(default=4, allowed=allow.COUNT)
    n_jobs: int | None = None
    random_state: int = setting(default=0, allowed=allow.SEED)
    verbose: int = setting(default=0, transient=True)
