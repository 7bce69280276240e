"""What there is to see of lattices."""

from __future__ import annotations

from typing import Any

from partwise.data.lattice import LatticeInput
from partwise.pages import View, view_path


def make_views(ranker: Any, lattices: Any, y: Any = None) -> list[View]:
    """Return views of lattices, with the second best paths and probabilities."""
    given = [
        one if isinstance(one, LatticeInput) else LatticeInput.from_networkx(one)
        for one in lattices
    ]
    if y is None:
        good: list[Any] = [lattice.good for lattice in given]
    else:
        reader, _ = ranker._read(given, y, learning=True)
        good = [[p.edges for p in reader.good_outputs(i)] for i in range(len(given))]
    marginals, ranked = ranker.predict_marginals(given), ranker.predict_kbest(given, 2)
    views = []
    for lattice, right, mu, best in zip(given, good, marginals, ranked, strict=True):
        seen = [view_path(lattice, path.edges, right, marginals=mu) for path in best]
        views.append(
            seen[0].with_second(seen[1], best[0].score - best[1].score)
            if len(seen) > 1
            else seen[0]
        )
    return views
