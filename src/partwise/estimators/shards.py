"""Those that can learn from shards of a corpus, none of which is here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from partwise.estimators.base import TrainingData
from partwise.estimators.survey import Survey


class LearnsFromShards(ABC):
    """Mixin: how an estimator is fitted to a corpus that it never sees in one piece.

    Each shard is surveyed where it lies; what all surveys say together settles
    vocabularies, labels, and all that follows; then each shard is encoded. The methods
    are given what `fit` is given, for a shard.
    """

    takes_labels: ClassVar[bool] = True
    """Whether examples and labels are given apart."""

    takes_tables: ClassVar[bool] = False
    """Whether a row of a table can be an example."""

    def _check_for_shards(self) -> None:  # noqa: B027 - most have none
        """Raise ValueError for settings that need the corpus in one piece."""

    @abstractmethod
    def _survey(self, *data: Any) -> Survey:
        """Return what a shard knows, and all have to agree on."""

    @abstractmethod
    def _settle(self, survey: Survey) -> None:
        """Set all that follows from the survey of the whole corpus."""

    @abstractmethod
    def _prepare_shard(self, *data: Any) -> TrainingData:
        """Encode a shard, once things are settled."""


def check_learns_from_shards(estimator: Any) -> None:
    """Raise `TypeError` if an estimator needs its corpus in one piece."""
    if isinstance(estimator, type):
        raise TypeError(f"give an estimator, not its class: {estimator.__name__}()")
    if not isinstance(estimator, LearnsFromShards):
        able = sorted(cls.__name__ for cls in _concrete(LearnsFromShards))
        raise TypeError(
            f"{type(estimator).__name__} needs its data in one piece; those that learn "
            f"from shards are {', '.join(able)}"
        )


def _concrete(cls: type) -> set[type]:
    """Return the subclasses that are estimators, not mixins."""
    below: list[type] = cls.__subclasses__()
    found = {sub for sub in below if hasattr(sub, "fit")}
    return found.union(*map(_concrete, (sub for sub in below if sub not in found)))
