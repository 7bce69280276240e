"""What there is to see of constituency trees."""

from __future__ import annotations

import warnings
from typing import Any

from partwise.constituents import Tree
from partwise.pages import View, view_brackets


def make_views(parser: Any, sentences: Any, y: Any = None) -> list[View]:
    """Return views of sentences, with the second best trees and probabilities."""
    given = list(sentences)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pages show what has no parse
        found = parser.predict(given, no_parse="none")
        flat = parser.predict([g for g, t in zip(given, found, strict=True) if not t])
    marginals, ranked = parser.predict_marginals(given), parser.predict_kbest(given, 2)
    spare = iter(flat)
    views = []
    for one, tree, mu, best in zip(given, found, marginals, ranked, strict=True):
        gold = one if isinstance(one, Tree) else None
        shown = tree if tree is not None else None if gold is not None else next(spare)
        view = view_brackets(shown, gold, marginals=mu)
        if len(best) > 1:
            view = view.with_second(view_brackets(best[1][0]), best[0][1] - best[1][1])
        views.append(view)
    return views
