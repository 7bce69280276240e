"""The settings of dependency parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from partwise.estimators import allowed_values as allow
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import LearningSettings, VectorSettings


@declares_settings
class DependencySettings(VectorSettings, LearningSettings):
    """The settings of a dependency parser.

    Parameters
    ----------
    projective
        Whether to predict only trees without crossing arcs (Eisner's algorithm), or any
        tree (maximum spanning trees).
    single_root
        Whether exactly one word of a sentence hangs from the root.
    order
        How many arcs the parts of a tree have. With 2, pairs of arcs count as well: a
        word and the sibling next to it, and a word, its head and the head of that. For
        projective trees.
    prune
        With ``order=2``: a parser of first order, trained first, leaves the heads that
        are at least this many times as probable as a word's best one. 0 leaves all,
        which is slow.
    reach
        Which arcs to predict with ``order=1``: any, or only such as were seen, no
        longer than the longest one between words of these parts of speech, in this
        direction. That is faster. Probabilities and the k best look at all.
    labelled
        Whether arcs have labels. By default they have if the training data has labels.
    crossing
        What a projective parser does with training trees whose arcs cross: say so and
        stop, hang the words higher until nothing crosses, or leave the sentence out.
    hash_bits
        Bits of the hashes that number features: arcs share ``2**hash_bits`` weights.
    suffix
        How many letters of the end of a word are a feature.
    features : "all", str or sequence of str
        The groups of features that are on, as a sequence of names or a string with
        commas: "words", "lemmas", "tags", "morphology", "suffixes", "markers" (the
        preposition or conjunction that a word's phrase begins with), "neighbours" (of
        the two words), "between" (the tags between them) and "agreement" (in case,
        gender, number and person). A feature is on if all that it looks at is.
    head_cost
        What a wrong head costs in training with margins.
    label_cost
        What a wrong label costs in training with margins.
    punctuation_weight
        What multiplies these costs for punctuation; 0 if it does not count.
    tol
        ... Trees hardly change any more long before it is small.
    calibrate
        "temperature" scales the weights so that development data is most probable;
        every other sentence of it is then held out for `predict_sets`.
    dev_metric
        What is measured on development data; by default "las", or "uas" without labels.
        A function takes the right and the predicted sentences.
    """

    default_C: ClassVar = {"squared_hinge": 0.01, "hinge": 0.01, "log_loss": 1.0}

    projective: bool = setting(default=True, allowed=allow.FLAG)
    single_root: bool = setting(default=True, allowed=allow.FLAG)
    order: int = setting(default=1, allowed=allow.number(1, 2, whole=True))
    prune: float = setting(default=1e-3, allowed=allow.number(0, 1))
    reach: str = setting(default="any", allowed=allow.one_of("any", "seen"))
    labelled: bool | None = setting(default=None, allowed=allow.FLAG)
    crossing: str = setting(
        default="refuse", allowed=allow.one_of("refuse", "lift", "skip")
    )
    hash_bits: int = setting(default=22, allowed=allow.number(8, 30, whole=True))
    suffix: int = setting(default=3, allowed=allow.number(1, 20, whole=True))
    features: str | Sequence[str] = "all"
    head_cost: float = setting(default=1.0, allowed=allow.NOT_NEGATIVE)
    label_cost: float = setting(default=1.0, allowed=allow.NOT_NEGATIVE)
    punctuation_weight: float = setting(default=1.0, allowed=allow.NOT_NEGATIVE)
    tol: float = 0.1
    calibrate: str | None = setting(default=None, allowed=allow.optional("temperature"))
    dev_metric: Any = setting(
        default=None, allowed=allow.metric("las", "uas", "complete")
    )
