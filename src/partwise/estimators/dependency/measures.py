"""What may be measured on development data of dependency parsers, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.metrics.attachment import attachment_scores

Trees = Sequence[Sentence]


def _las(gold: Trees, found: Trees) -> float:
    scores = attachment_scores(gold, found)
    if scores.las is None and scores.n_words:
        raise DataError(
            "'las' compares labels, which the right or the predicted trees do not have "
            "(use 'uas')"
        )
    return scores.las or 0.0


MEASURES: dict[str, Callable[[Trees, Trees], float]] = {
    "uas": lambda gold, found: attachment_scores(gold, found).uas,
    "las": _las,
    "complete": lambda gold, found: attachment_scores(gold, found).complete,
}
