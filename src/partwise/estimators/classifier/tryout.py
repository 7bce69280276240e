"""Classifiers of two examples, which use all that others use."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from partwise.estimators.classifier.classifier import MulticlassClassifier

CLASSES = ["pea", "tomato", "carrot"]


def try_out(**settings: Any) -> None:
    """Train classifiers on numbers, sparse and dense, and on names; ask them all."""
    dense = np.array([[0.0, 1.0], [1.0, 0.5], [0.0, 0.0]])
    names = [{"colour": "green", "size": 0.5}, {"colour": "red"}, {"colour": "orange"}]
    strings = [["green"], ["red"], ["orange", "long"]]
    for X in (dense, scipy.sparse.csr_array(dense), names, strings):
        model = MulticlassClassifier(**settings).fit(X, CLASSES, dev=(X, CLASSES))
        model.predict(X)
        model.predict_proba(X)
        model.predict_kbest(X, 2)
        model.explain(X[:1] if hasattr(X, "shape") else X[0])
