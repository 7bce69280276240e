"""The settings of dependency parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from partwise.estimators.allowed_values import Flag, Metric, Number, OneOf
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import NOT_NEGATIVE, LearningSettings


@declares_settings
class DependencySettings(LearningSettings):
    """What a dependency parser has to be told."""

    default_C: ClassVar[dict[str, float]] = {
        "squared_hinge": 0.01,
        "hinge": 0.01,
        "log_loss": 1.0,
    }

    projective: bool = setting(
        default=True,
        allowed=Flag(),
        doc="Whether arcs may not cross (Eisner's algorithm), or any tree will do "
        "(maximum spanning trees).",
    )
    single_root: bool = setting(
        default=True,
        allowed=Flag(),
        doc="Whether exactly one word of a sentence hangs from the root.",
    )
    labelled: bool | None = setting(
        default=None,
        allowed=Flag(),
        optional=True,
        doc="Whether arcs have labels. By default they have if the training data has "
        "labels.",
    )
    crossing: str = setting(
        default="refuse",
        allowed=OneOf("refuse", "lift", "skip"),
        doc="What a projective parser does with training trees whose arcs cross: say "
        "so and stop, hang the words higher until nothing crosses, or leave the "
        "sentence out.",
    )
    hash_bits: int = setting(
        default=22,
        allowed=Number(at_least=8, at_most=30, whole=True),
        doc="Features of arcs share ``2^hash_bits`` weights.",
    )
    suffix: int = setting(
        default=3,
        allowed=Number(at_least=1, at_most=20, whole=True),
        doc="How many letters of the end of a word are a feature.",
    )
    features: str | Sequence[str] = setting(
        default="all",
        type_text='"all", str or sequence of str',
        doc="The groups of features that are on, as a sequence of names or a string "
        'with commas: "words", "lemmas", "tags", "morphology", "suffixes", "markers" '
        "(the preposition or conjunction that a word's phrase begins with), "
        '"neighbours" (of the two words), "between" (the tags between them) and '
        '"agreement" (in case, gender, number and person). A feature is on if all that '
        "it looks at is.",
    )
    head_cost: float = setting(
        default=1.0,
        allowed=NOT_NEGATIVE,
        doc="What a wrong head costs in training with margins.",
    )
    label_cost: float = setting(
        default=1.0,
        allowed=NOT_NEGATIVE,
        doc="What a wrong label costs in training with margins.",
    )
    punctuation_weight: float = setting(
        default=1.0,
        allowed=NOT_NEGATIVE,
        doc="What multiplies these costs for punctuation; 0 if it does not count.",
    )
    tol: float = setting(
        default=0.1, more="Trees hardly change any more long before it is small."
    )
    dev_metric: Any = setting(
        default=None,
        transient=True,
        allowed=Metric("las", "uas", "complete"),
        optional=True,
        doc='What is measured on development data; by default "las", or "uas" without '
        "labels. A function takes the right and the predicted sentences.",
    )
