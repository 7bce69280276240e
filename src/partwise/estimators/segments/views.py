"""What there is to see of sequences that are cut into segments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from partwise._work import steps
from partwise.estimators.explanation import show_token
from partwise.estimators.segments.answers import spell
from partwise.estimators.segments.cuts import segment_lists
from partwise.estimators.segments.partial import agreeing_cuts, known_in_part
from partwise.pages import View, view_tags

OUTSIDE = "O"


def make_views(tagger: Any, X: Any, y: Any = None) -> list[View]:
    """Return views of sequences: their segments, with probabilities."""
    X = X if hasattr(X, "__len__") else list(X)
    rows = [list(x) for x in X]
    lengths = [len(row) for row in rows]
    scored, shares = tagger.predict_spans(X), tagger.predict_marginals(X)
    ranked = tagger.predict_kbest(X, 2)
    gold = None if y is None else segment_lists(y, lengths, tagger.outside)
    if gold is not None and known_in_part(gold):
        gold = agreeing_cuts(gold, [one[0].segments for one in ranked])
    right = None if gold is None else spell(gold, lengths, OUTSIDE)
    column = {label: c for c, label in enumerate(tagger.classes_.tolist())}
    views = []
    for i, row in enumerate(steps(rows, "describing examples")):
        words = [show_token(token) or str(t + 1) for t, token in enumerate(row)]
        known = None if right is None else right[i]
        best = [
            view_tags(words, labels, known, chunks=True)
            for labels in spell(
                [one.segments for one in ranked[i]],
                [lengths[i]] * len(ranked[i]),
                OUTSIDE,
            )
        ]
        sure = [float(p.max()) for p in shares[i]]
        for start, end, _, score in scored[i]:
            sure[start:end] = [score] * (end - start)
        view = replace(best[0], more={"sure": sure})
        if gold is not None:
            own = {tuple(segment) for segment in gold[i]}
            labels = [tagger.outside] * lengths[i]
            for start, end, label in gold[i]:
                labels[start:end] = [label] * (end - start)
            probable = [
                float(shares[i][t][column[label]]) if label in column else 0.0
                for t, label in enumerate(labels)
            ]
            view = replace(
                view,
                certain=[(one.score, tuple(one[:3]) in own) for one in scored[i]],
                believed=probable,
            )
        if len(best) > 1:
            view = view.with_second(best[1], ranked[i][0].score - ranked[i][1].score)
        views.append(view)
    return views
