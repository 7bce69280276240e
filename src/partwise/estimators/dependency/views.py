"""What there is to see of dependency trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.data.treebank import Sentence
from partwise.estimators.dependency.corpus import as_sentences
from partwise.pages import Reason, View, view_arcs


def make_views(parser: Any, sentences: Any, y: Any = None) -> list[View]:
    """Return views of sentences, with the second best trees and probabilities."""
    given = as_sentences(sentences)
    marginals, ranked = parser.predict_marginals(given), parser.predict_kbest(given, 2)
    views = []
    for sentence, mu, best in zip(given, marginals, ranked, strict=True):
        gold = None if sentence.heads is None else sentence
        if sentence.unknown and best:
            gold = _completed(sentence, best[0][0])
        if not best:  # there are no words
            views.append(view_arcs(sentence, gold))
            continue
        seen = view_arcs(best[0][0], gold, marginals=mu)
        if len(best) > 1:
            seen = seen.with_second(view_arcs(best[1][0]), best[0][1] - best[1][1])
        views.append(seen)
    return views


def _completed(known: Sentence, found: Sentence) -> Sentence:
    """Return a tree known in part, with the heads of another where it is unknown."""

    def merged(own: Sequence[Any] | None, others: Sequence[Any] | None) -> Any:
        if own is None or others is None:
            return None
        return [
            other if word in known.unknown else one
            for word, (one, other) in enumerate(zip(own, others, strict=True), 1)
        ]

    heads = merged(known.heads, found.heads)
    return known.with_tree(heads, merged(known.labels, found.labels))


def find_reasons(parser: Any, sentence: Any, view: View, most: int) -> list[Reason]:
    """Say why words have heads or labels that they should not have."""
    pairs = zip(view.gold_items, view.found_items, strict=True)
    wrong = [m for m, (a, b) in enumerate(pairs, start=1) if a != b]
    words = ["the root", *view.words]
    reasons = []
    for m in wrong:
        one = parser.explain(sentence, m)
        if one.runner_up is not None:
            reasons.append(
                Reason(
                    m - 1,
                    _arc(words[one.head], one.label),
                    _arc(words[one.runner_up], one.runner_up_label),
                    one.margin,
                    [
                        (c.feature, str(c.label), c.value)
                        for c in one.contributions[:most]
                    ],
                )
            )
    return reasons


def _arc(head: str, label: Any) -> str:
    return f"below {head}" + (f" as {label}" if label is not None else "")
