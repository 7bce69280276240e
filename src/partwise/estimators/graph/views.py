"""What there is to see of graphs."""

from __future__ import annotations

from typing import Any

from partwise.estimators.graph.inputs import ReadGraph, read_labels
from partwise.pages import View, view_graph


def make_views(labeler: Any, graphs: Any, y: Any = None) -> list[View]:
    """Return views of graphs; with probabilities where inference is exact."""
    graphs = list(graphs)
    read = labeler._read(graphs)
    gold: list[Any] = [None] * len(read) if y is None else read_labels(y, read)
    classes = labeler.classes_.tolist()
    exact = labeler.decoder != "relaxed"
    if exact:
        marginals = labeler.predict_marginals(graphs)
        ranked = labeler.predict_kbest(graphs, 2)
    else:
        marginals = [None] * len(read)
        ranked = [[(labels, 0.0)] for labels in labeler.predict(graphs)]
    views = []
    for graph, right, mu, best in zip(read, gold, marginals, ranked, strict=True):
        matrix = mu
        if isinstance(mu, dict):
            matrix = [[own.get(c, 0.0) for c in classes] for own in mu.values()]
        seen = [
            _view(graph, _listed(labels), right, matrix, classes) for labels, _ in best
        ]
        if len(seen) > 1:
            views.append(seen[0].with_second(seen[1], best[0][1] - best[1][1]))
        else:
            views.append(seen[0])
    return views


def _view(graph: ReadGraph, found: Any, gold: Any, matrix: Any, classes: Any) -> View:
    names = graph.names or range(graph.n_nodes)
    return view_graph(
        [str(name) for name in names],
        graph.edges.tolist(),
        found,
        gold,
        directed=graph.directed,
        probabilities=matrix,
        classes=classes,
    )


def _listed(labels: Any) -> list[Any]:
    return list(labels.values()) if isinstance(labels, dict) else list(labels)
