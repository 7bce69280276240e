"""What ``partwise inspect`` shows of a graph labeler."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.inspect import Findings

if TYPE_CHECKING:
    from partwise import GraphLabeler


def inspect(model: GraphLabeler, top: int) -> Findings:
    """Return the kinds of nodes, edges and cliques, and their weights."""
    graphs = _graph_kinds(model)
    features = [f"{n:,} of {what}s" for what, n in graphs["features"].items()]
    return Findings(
        "graphs, in Python",
        {"graphs": graphs},
        [
            ("edges", "directed" if graphs["directed"] else "undirected"),
            ("features", f"{', '.join(features)}, and a constant one"),
        ],
        partial(_show, graphs),
    )


def _graph_kinds(model: Any) -> dict[str, Any]:
    """Return what a graph labeler knows of the kinds of nodes, edges and cliques."""
    encoder = model._graphs
    counts = encoder.weight_counts()
    classes, n_kinds = model.classes_.tolist(), len(encoder.node_kinds)
    nodes = zip(encoder.node_kinds.items(), counts[:n_kinds], strict=True)
    joint = zip(encoder.joint_kinds, counts[n_kinds:], strict=True)
    return {
        "directed": encoder.directed,
        "features": {what: own.width for what, own in encoder.features.items()},
        "node_kinds": [
            {"kind": kind, "labels": [classes[k] for k in codes], "weights": count}
            for (kind, codes), count in nodes
        ],
        "edge_and_clique_kinds": [
            {"kind": kind, "node_kinds": list(joined), "weights": count}
            for (kind, *joined), count in joint
        ],
    }


def _graph_kind_rows(graphs: dict[str, Any]) -> list[list[Any]]:
    """Return a row for every kind: of what, the kind, its labels or nodes, weights."""
    rows = [
        ["nodes", one["kind"], " ".join(map(str, one["labels"])), one["weights"]]
        for one in graphs["node_kinds"]
    ]
    between = " -> " if graphs["directed"] else " - "
    for one in graphs["edge_and_clique_kinds"]:
        what = "cliques" if one["kind"] is None else "edges"
        joined = ", " if one["kind"] is None else between
        # The only kind there is has no name.
        nodes = joined.join(kind or "node" for kind in one["node_kinds"])
        rows.append([what, one["kind"] or "", nodes, one["weights"]])
    return rows


def _show(graphs: dict[str, Any]) -> None:
    from partwise.cli.output import print_table

    print_table(
        "weights of every kind",
        ["of", "kind", "labels, or nodes joined", "weights"],
        _graph_kind_rows(graphs),
    )
