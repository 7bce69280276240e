"""What there is to see of labelled sequences: taggers, hidden Markov models."""

from __future__ import annotations

from typing import Any

from partwise._work import steps
from partwise.estimators.checks import check_same_length, label_lists
from partwise.estimators.explanation import show_token
from partwise.estimators.partial_labels import agreeing
from partwise.pages import Reason, View, spell_chunks, view_tags


def make_views(model: Any, X: Any, y: Any = None) -> list[View]:
    """Return views of sequences, with the second best labels and probabilities."""
    X = X if hasattr(X, "__len__") else list(X)
    gold = None if y is None else label_lists(y)
    if gold is not None:
        check_same_length(len(X), len(gold))
    marginals, ranked = model.predict_marginals(X), model.predict_kbest(X, 2)
    classes = model.classes_.tolist()
    chunks = spell_chunks([classes])
    views = []
    for i, x in enumerate(steps(X, "describing examples")):
        words = [show_token(token) or str(t + 1) for t, token in enumerate(x)]
        right = None if gold is None else agreeing(gold[i], ranked[i][0].labels)
        best = [
            view_tags(
                words,
                one.labels,
                right,
                chunks=chunks,
                probabilities=marginals[i],
                classes=classes,
            )
            for one in ranked[i]
        ]
        views.append(
            best[0].with_second(best[1], ranked[i][0].score - ranked[i][1].score)
            if len(best) > 1
            else best[0]
        )
    return views


def find_reasons(model: Any, x: Any, view: View, most: int) -> list[Reason]:
    """Say why tokens have labels that they should not have."""
    wrong = {t for t, (a, b) in enumerate(view.tables["labels"]) if a != b}
    return [
        Reason(t, str(one.label), str(one.runner_up), one.margin,
               [(c.feature, str(c.label), c.value) for c in one.contributions[:most]])
        for t, one in enumerate(model.explain(x))
        if t in wrong and one.runner_up is not None
    ]  # fmt: skip
