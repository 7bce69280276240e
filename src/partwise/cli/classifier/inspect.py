"""What ``partwise inspect`` shows of a classifier."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from partwise.cli.inspect import Findings, print_top_features, top_features
from partwise.cli.options import Label, Sign, WeightSign

if TYPE_CHECKING:
    from partwise import MulticlassClassifier


def inspect(
    model: MulticlassClassifier,
    top: int,
    *,
    label: Label = None,
    sign: Sign = WeightSign.any,
) -> Findings:
    """Return the features with the largest weights."""
    found = top_features(model, top, label, sign)
    return Findings(
        "dense arrays" if model._encoder is None else "named features",
        found,
        [("features", found["features"])],
        partial(print_top_features, found),
    )
