"""Labelers of three nodes, which use all that others use."""

from __future__ import annotations

from typing import Any

from partwise.estimators.graph.labeler import GraphLabeler


def try_out(**settings: Any) -> None:
    """Train labelers on a triangle with names and with numbers; ask them all."""
    import networkx

    for features in ({"colour": "blue"}, {"depth": 1.5}):
        graph = networkx.cycle_graph(3)
        graph.nodes[0].update(features)
        graph.edges[0, 1].update(features)
        labels = [["sea", "sea", "land"]]
        labeler = GraphLabeler(**settings).fit([graph], labels, dev=([graph], labels))
        labeler.predict([graph])
        labeler.predict_marginals([graph])
        labeler.predict_kbest([graph], 2)
