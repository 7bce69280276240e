"""The settings of multiclass classifiers."""

from __future__ import annotations

from typing import Any, ClassVar

from partwise.estimators.allowed_values import FLAG
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import (
    LabelCostSettings,
    LearningSettings,
    VectorSettings,
    VocabularySettings,
)


@declares_settings
class ClassifierSettings(
    LabelCostSettings, VectorSettings, VocabularySettings, LearningSettings
):
    """The settings of a multiclass classifier.

    Parameters
    ----------
    loss
        ... With it this is multinomial logistic regression.
        If it is left out, it is the log loss, of rows of numbers the hinge, or else
        what goes with the other settings: the squared hinge with `costs` or a solver
        such as "dcd", which does not minimise the log loss.
    fit_intercept
        Add a constant feature; its weights are regularised like all others.
    class_weight
        What multiplies the weight of an example of this class; classes not named have
        1. "balanced" gives rare classes more: ``n_samples / (n_classes * count)``.
    dev_metric : str or callable
        What is measured on development data: the name of a scikit-learn scorer, such as
        "accuracy", "f1_macro" or "neg_log_loss", or a function of ``(y_true, y_pred)``;
        higher is better.
    """

    default_C: ClassVar = {"squared_hinge": 1.0, "hinge": 1.0, "log_loss": 1.0}
    # Chosen by the benchmark `defaults`, with the loss that is taken by default.
    default_C_of_numbers: ClassVar = {
        "squared_hinge": 1.0, "hinge": 3.0, "log_loss": 10.0,
    }  # fmt: skip

    loss: Any = setting(default=None, kw_only=False)
    tol: float = 0.03
    max_iter: int = 1000
    fit_intercept: bool = setting(default=True, allowed=FLAG)
    class_weight: Any = None
    dev_metric: Any = "accuracy"
