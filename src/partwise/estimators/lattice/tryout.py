"""Rankers of three edges, which use all that others use."""

from __future__ import annotations

from typing import Any

from partwise.data.lattice import LatticeEdge, LatticeInput
from partwise.estimators.lattice.ranker import LatticeRanker

EDGES: list[tuple[int, int, dict[str, Any], str]] = [
    (0, 1, {"word": "the", "lm": -1.0}, "the"),
    (0, 1, {"word": "teh", "lm": -9.0}, "teh"),
    (1, 2, {"word": "house"}, "house"),
]


def try_out(**settings: Any) -> None:
    """Train rankers, and ask them everything."""
    named = [(*edge[:2], {"word": edge[3]}, edge[3]) for edge in EDGES]
    for edges in (EDGES, named):
        lattices = [LatticeInput([LatticeEdge(*edge) for edge in edges])]
        ranker = LatticeRanker(**settings).fit(lattices, [[0, 2]])
        ranker.predict(lattices)
        ranker.predict_marginals(lattices)
        for outputs in ("paths", "words"):
            ranker.predict_kbest(lattices, 2, outputs=outputs)
