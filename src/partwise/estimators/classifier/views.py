"""What there is to see of classified examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from partwise.estimators.checks import check_same_length
from partwise.pages import Reason, View, view_class
from partwise.pages.classes import ONLY

MOST_SHOWN = 12
"""How many features of an example are shown."""


def make_views(classifier: Any, X: Any, y: Any = None) -> list[View]:
    """Return views of examples, with the second best class and probabilities."""
    X = X if hasattr(X, "__len__") or hasattr(X, "shape") else list(X)
    shares, ranked = classifier.predict_proba(X), classifier.predict_kbest(X, 2)
    gold = None if y is None else list(y)
    if gold is not None:
        check_same_length(len(ranked), len(gold))
    classes = classifier.classes_.tolist()
    names = classifier._weights.names
    views = []
    for i, (best, own) in enumerate(zip(ranked, shares.tolist(), strict=True)):
        view = view_class(
            _shown(X, i, names),
            {ONLY: best[0][0]},
            None if gold is None else {ONLY: gold[i]},
            probabilities={ONLY: dict(zip(classes, own, strict=True))},
        )
        views.append(view.with_second(None, best[0][1] - best[1][1]))
    return views


def find_reasons(classifier: Any, x: Any, view: View, most: int) -> list[Reason]:
    """Say why an example has a class that it should not have."""
    one = classifier.explain(x)
    features = [(c.feature, str(c.label), c.value) for c in one.contributions[:most]]
    return [Reason(0, str(one.label), str(one.runner_up), one.margin, features)]


def _shown(X: Any, i: int, names: Any) -> list[str]:
    """Return the features of an example that stand out, with their names."""
    if hasattr(X, "iloc"):
        X = X.to_numpy()
    x = X[[i]] if scipy.sparse.issparse(X) else X[i]
    if isinstance(x, Mapping):
        return [f"{name}={value}" for name, value in list(x.items())[:MOST_SHOWN]]
    if scipy.sparse.issparse(x):
        x = x.toarray()[0]
    x = list(x)
    if all(isinstance(value, str) for value in x):
        return x[:MOST_SHOWN]
    row = np.asarray(x, np.float64)
    order = np.argsort(-np.abs(row), kind="stable")[:MOST_SHOWN]
    return [f"{names[j]}={row[j]:.4g}" for j in sorted(order.tolist()) if row[j]]
