"""The settings of sequence taggers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from partwise.estimators.allowed_values import FLAG, metric, number, one_of, optional
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import (
    LabelCostSettings,
    LearningSettings,
    VectorSettings,
    VocabularySettings,
)


@declares_settings
class TaggerSettings(
    LabelCostSettings, VectorSettings, VocabularySettings, LearningSettings
):
    """The settings of a sequence tagger.

    Parameters
    ----------
    loss
        ... With it the model is a conditional random field.
        If it is left out, it is the log loss, of rows of numbers the hinge, or else
        what goes with the other settings: the squared hinge with `costs`,
        `class_weight` or a solver such as "dcd", which does not minimise the log
        loss. Of more than 100 labels it is the squared hinge, too, which is learnt
        sooner and keeps less in memory.
    template : str, path, list, TokenFeatures or Template
        Tokens are words, or tuples of column strings that begin with the word, and this
        turns them into features: "default", "ner" or "pos" for a good choice, a list of
        named blocks, `TokenFeatures` with gazetteers and word clusters, or a CRF++
        template, its text or its path.
    boundaries
        What a template reads outside a sentence: ``_B-1``, ``_B+1``, ... as in CRF++,
        ``_B`` everywhere, or nothing.
    pairs
        Weights for all pairs of feature and label, or for those seen in training.
    transitions
        Weights for all pairs of neighbouring labels, or for those seen in training; the
        others are as legal, and add nothing to a score.
    transition_features : iterable of str
        Features that are also conjoined with the pair of neighbouring labels.
    start
        Whether first labels have weights of their own.
    end
        Whether last labels have weights of their own.
    costs
        ... Class and token weights do so, too.
    order
        How many labels before it a label depends on. With 2 or 3 the label tuples of
        the training data have weights besides; where one was never seen, the shorter
        ones that end it decide, or with ``transitions="observed"`` it is never
        predicted.
    states
        How many hidden states there are behind each label. They are found in training,
        which begins at random and ends in a local optimum.
    constraints : str or Constraints
        "BIO", "IOB1", "IOBES", "BILOU", "BMEWO", or your own; they hold in training,
        decoding, k-best and marginals.
    conllu_column : str
        Where the labels belong in CoNLL-U files: "upos", "xpos", "feats", or
        "misc.NER" for an entry in MISC. Commands read and write them there.
    calibrate
        How probabilities are calibrated on development data, of which every other
        sequence is then held out for prediction sets: "temperature" scales the weights,
        "isotonic" replaces probabilities by how often they were right.
    dev_metric
        What is measured on development data; "auto" is chunk F1 for chunk labels, else
        accuracy. A callable takes ``(y_true, y_pred)``; higher is better.
    """

    # Chosen by the benchmark `defaults`, with the loss that is taken by default.
    default_C: ClassVar = {"squared_hinge": 0.1, "hinge": 0.3, "log_loss": 3.0}
    default_C_of_numbers: ClassVar = {
        "squared_hinge": 1.0, "hinge": 30.0, "log_loss": 30.0,
    }  # fmt: skip

    loss: Any = setting(default=None, kw_only=False)
    tol: float = 0.03
    template: Any = None
    boundaries: str = setting(
        default="numbered", allowed=one_of("numbered", "single", "none")
    )
    pairs: str = setting(default="all", allowed=one_of("all", "observed"))
    transitions: str = setting(default="all", allowed=one_of("all", "observed"))
    transition_features: Iterable[str] = ()
    start: bool = setting(default=True, allowed=FLAG)
    end: bool = setting(default=True, allowed=FLAG)
    order: int = setting(default=1, allowed=number(1, 3, whole=True))
    states: int = setting(default=1, allowed=number(1, 100, whole=True))
    costs: Any = None
    constraints: Any = None
    conllu_column: str | None = None
    calibrate: str | None = setting(
        default=None, allowed=optional("temperature", "isotonic")
    )
    dev_metric: Any = setting(
        default="auto",
        allowed=metric(
            "auto",
            "accuracy",
            "sequence_accuracy",
            "label_f1_macro",
            "chunk_f1",
            "chunk_f1_macro",
        ),
    )
