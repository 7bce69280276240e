"""The settings of segment taggers."""

from __future__ import annotations

from typing import Any, ClassVar

from partwise.estimators.allowed_values import (
    COUNT,
    FLAG,
    metric,
    number,
    one_of,
    optional,
)
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import (
    LearningSettings,
    VectorSettings,
    VocabularySettings,
)


@declares_settings
class SegmentTaggerSettings(VectorSettings, VocabularySettings, LearningSettings):
    """The settings of a segment tagger.

    Parameters
    ----------
    loss
        ... With it the model is a semi-Markov conditional random field.
    max_length : int or dict
        How many tokens a segment may have: one limit for all labels, or one by label;
        labels not named have the length of their longest segment in training, and so
        do all by default.
    outside : str or int
        What tokens that belong to no segment are called.
    template : str, path, list, TokenFeatures or Template
        Tokens are words, or tuples of column strings that begin with the word, and this
        turns them into features, as in `SequenceTagger`.
    boundaries
        What a template reads outside a sentence: ``_B-1``, ``_B+1``, ... as in CRF++,
        ``_B`` everywhere, or nothing.
    whole : "auto" or list
        Which columns (numbers), or features of dicts (names), describe segments as a
        whole: that all their cells together are those of a segment of the training
        data. "auto" takes the columns that the template reads, and nothing of dicts.
    whole_min_count
        How often such cells must occur as a segment of the training data. With 1, every
        segment of the training data is known, which no other data promises.
    gazetteers : list of Gazetteer
        Segments that are a phrase of a gazetteer have its type as a feature. Phrases
        are looked up in the first of `whole`.
    pairs
        Weights for all pairs of feature and label, or for those seen in training.
    lengths
        Whether every length of a label has a weight.
    start
        Whether first labels have weights of their own.
    end
        Whether last labels have weights of their own.
    costs : matrix, dict or callable
        What a token costs that has one label instead of another; 1 for every wrong one
        by default.
    class_weight : dict or "balanced"
        What multiplies the cost of a wrong label for tokens of each label; "balanced"
        makes mistakes of rare labels cost more.
    border_cost
        What a token of the right label costs that wrongly begins a segment, or goes on
        with one.
    segment_cost
        What a wrong segment costs besides, and a right one that is missing; those that
        are `outside` cost nothing.
    constraints : Constraints
        Which labels may not follow each other, or come first or last.
    calibrate
        "temperature" scales the weights so that development data is most probable;
        every other sequence of it is then held out for `predict_sets`.
    dev_metric
        What is measured on development data: the F1 of segments, or the share of tokens
        or of sequences that are right. A callable takes ``(y_true, y_pred)``, lists of
        segments; higher is better.
    """

    default_C: ClassVar = {"squared_hinge": 0.1, "hinge": 1.0, "log_loss": 1.0}

    loss: str = setting(default="squared_hinge", kw_only=False)
    max_length: Any = None
    outside: Any = "O"
    template: Any = None
    boundaries: str = setting(
        default="numbered", allowed=one_of("numbered", "single", "none")
    )
    whole: Any = "auto"
    whole_min_count: int = setting(default=2, allowed=COUNT)
    gazetteers: Any = ()
    pairs: str = setting(default="all", allowed=one_of("all", "observed"))
    lengths: bool = setting(default=True, allowed=FLAG)
    start: bool = setting(default=True, allowed=FLAG)
    end: bool = setting(default=True, allowed=FLAG)
    costs: Any = None
    class_weight: Any = None
    border_cost: float = setting(default=1.0, allowed=number(at_least=0))
    segment_cost: float = setting(default=0.0, allowed=number(at_least=0))
    constraints: Any = None
    calibrate: str | None = setting(default=None, allowed=optional("temperature"))
    dev_metric: Any = setting(
        default="segment_f1",
        allowed=metric("segment_f1", "accuracy", "sequence_accuracy"),
    )
