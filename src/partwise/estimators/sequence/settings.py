"""The settings of sequence taggers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from partwise.estimators.allowed_values import Flag, Metric, OneOf
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import (
    LabelCostSettings,
    LearningSettings,
    VocabularySettings,
)


@declares_settings
class TaggerSettings(LabelCostSettings, VocabularySettings, LearningSettings):
    """What a sequence tagger has to be told."""

    # 0.1 was best in the benchmark `defaults`, 1 is where a search for the log loss
    # should begin; that of the hinge has not been tuned.
    default_C: ClassVar[dict[str, float]] = {
        "squared_hinge": 0.1,
        "hinge": 1.0,
        "log_loss": 1.0,
    }

    loss: str = setting(
        default="squared_hinge",
        kw_only=False,
        more="With it the model is a conditional random field.",
    )
    template: Any = setting(
        default=None,
        type_text="str, path, list, TokenFeatures or Template",
        doc="Tokens are words, or tuples of column strings that begin with the word, "
        'and this turns them into features: "default", "ner" or "pos" for a good '
        "choice, a list of named blocks, `TokenFeatures` with gazetteers and word "
        "clusters, or a CRF++ template, its text or its path.",
    )
    boundaries: str = setting(
        default="numbered",
        allowed=OneOf("numbered", "single", "none"),
        doc="What a template reads outside a sentence: ``_B-1``, ``_B+1``, ... as in "
        "CRF++, ``_B`` everywhere, or nothing.",
    )
    pairs: str = setting(
        default="all",
        allowed=OneOf("all", "observed"),
        doc="Weights for all pairs of feature and label, or for those seen in "
        "training.",
    )
    transition_features: Iterable[str] = setting(
        default=(),
        type_text="iterable of str",
        doc="Features that are also conjoined with the pair of neighbouring labels.",
    )
    start: bool = setting(
        default=True,
        allowed=Flag(),
        doc="Whether first labels have weights of their own.",
    )
    end: bool = setting(
        default=True,
        allowed=Flag(),
        doc="Whether last labels have weights of their own.",
    )
    costs: Any = setting(default=None, more="Class and token weights do so, too.")
    constraints: Any = setting(
        default=None,
        type_text="str or Constraints",
        doc='"BIO", "IOB1", "IOBES", "BILOU", "BMEWO", or your own; they hold in '
        "training, decoding, k-best and marginals.",
    )
    dev_metric: Any = setting(
        default="auto",
        transient=True,
        allowed=Metric(
            "auto",
            "accuracy",
            "sequence_accuracy",
            "label_f1_macro",
            "chunk_f1",
            "chunk_f1_macro",
        ),
        doc='What is measured on development data; "auto" is chunk F1 for chunk '
        "labels, else accuracy. A callable takes ``(y_true, y_pred)``; higher is "
        "better.",
    )
