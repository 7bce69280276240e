"""Graphs as users have them: networkx graphs with attributes, or arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.errors import DataError
from partwise.estimators.checks import check_listed
from partwise.estimators.labels import Label
from partwise.structures.interface import IntArray

MOST_DRAWN = 60
"""Graphs with more nodes are not drawn in notebooks."""
ONE_KIND = ""
"""The kind of all nodes, or edges, where there is just one."""


class GraphArrays(NamedTuple):
    """A graph as arrays.

    Attributes
    ----------
    nodes : array or sparse matrix of shape (n_nodes, n_features), or list of dicts
        The features of every node.
    edges : array of int of shape (n_edges, 2)
        The two nodes of every edge, counted from 0.
    edge_features : array, sparse matrix or list of dicts, optional
        The features of every edge.
    node_kinds, edge_kinds : sequence of str, optional
        Nodes of a kind have labels and weights of their own; edges of a kind have
        weights of their own.
    cliques : sequence of tuples of int
        Larger groups of nodes that are scored as a whole, in the order given.
    clique_features : array, sparse matrix or list of dicts, optional
        Their features.
    directed : bool
        Whether an edge from `a` to `b` is another one than from `b` to `a`.

    Examples
    --------
    >>> import numpy as np
    >>> GraphArrays(np.eye(2), [(0, 1)]).directed
    False
    """

    nodes: Any
    edges: Any
    edge_features: Any = None
    node_kinds: Sequence[str] | None = None
    edge_kinds: Sequence[str] | None = None
    cliques: Sequence[Sequence[int]] = ()
    clique_features: Any = None
    directed: bool = False

    def _repr_svg_(self) -> str | None:
        """Show notebooks a drawing; nothing if the graph is large."""
        from partwise.drawing import draw_graph_svg

        names = range(_count(self.nodes, "nodes"))
        if len(names) > MOST_DRAWN:
            return None
        edges = np.asarray(self.edges).reshape(-1, 2).tolist()
        return draw_graph_svg(names, edges, directed=self.directed)


class ReadGraph(NamedTuple):
    """A graph that was read: features as they came, the rest as numbers.

    `title` is what errors call it, "graph 3"; `names` are the nodes of a networkx
    graph, None for arrays.
    """

    title: str
    names: list[Hashable] | None
    n_nodes: int
    nodes: Any
    node_kinds: list[str]
    edges: IntArray
    edge_features: Any
    edge_kinds: list[str]
    cliques: list[tuple[int, ...]]
    clique_features: Any
    directed: bool

    def name(self, v: int) -> str:
        """Return what the user calls a node: its name, or its number."""
        return str(v) if self.names is None else repr(self.names[v])

    def where(self, what: str, j: int) -> str:
        """Say which node, edge or clique an error is about."""
        if what == "node":
            return f"{self.title}, node {self.name(j)}"
        if what == "edge":
            return (
                f"{self.title}, edge {'-'.join(map(self.name, self.edges[j].tolist()))}"
            )
        return f"{self.title}, clique {self.cliques[j]}"


def read_graphs(
    graphs: Any, node_kind: str | None, edge_kind: str | None, called: str = "graph"
) -> list[ReadGraph]:
    """Read graphs; raise `DataError` where one, `called` so, cannot be read."""
    if hasattr(graphs, "nodes") or isinstance(graphs, str | bytes | Mapping):
        raise DataError(
            f"graphs must be a list of graphs, not {type(graphs).__name__} (wrap it in "
            "a list if it is the only one)"
        )
    check_listed(graphs, "graphs must be a list")
    found = []
    for i, given in enumerate(graphs):
        where = f"{called} {i}"
        if hasattr(given, "is_directed") and hasattr(given, "edges"):
            found.append(_read_networkx(given, node_kind, edge_kind, where))
        elif isinstance(given, tuple) and 2 <= len(given) <= len(GraphArrays._fields):
            found.append(_read_arrays(GraphArrays(*given), where))
        else:
            raise DataError(
                f"{where} must be a networkx graph, a GraphArrays or a tuple (nodes, "
                f"edges, ...), not {type(given).__name__}"
            )
    if len({graph.directed for graph in found}) > 1:
        odd = next(i for i, g in enumerate(found) if g.directed != found[0].directed)
        raise DataError(
            f"{called} {odd} is {_direction(found[odd])}, but {called} 0 is "
            f"{_direction(found[0])} (convert one: to_directed, to_undirected)"
        )
    return found


def _direction(graph: ReadGraph) -> str:
    return "directed" if graph.directed else "undirected"


def _read_networkx(
    graph: Any, node_kind: str | None, edge_kind: str | None, where: str
) -> ReadGraph:
    names = list(graph.nodes)
    number = {name: v for v, name in enumerate(names)}
    listed = [(a, b, attributes) for a, b, attributes in graph.edges(data=True)]
    loops = [a for a, b, _ in listed if a == b]
    if loops:
        raise DataError(
            f"{where}: an edge leads from node {loops[0]!r} to itself (remove it: "
            "networkx.selfloop_edges finds them)"
        )
    nodes = [graph.nodes[name] for name in names]
    pairs = [(number[a], number[b]) for a, b, _ in listed]
    return ReadGraph(
        where,
        names,
        len(names),
        [_plain(attributes, node_kind) for attributes in nodes],
        [_kind(a, node_kind, f"{where}, node {n!r}") for n, a in zip(names, nodes)],  # noqa: B905
        np.array(pairs, np.int64).reshape(-1, 2),
        [_plain(attributes, edge_kind) for _, _, attributes in listed],
        [_kind(a, edge_kind, f"{where}, edge {u!r}-{v!r}") for u, v, a in listed],
        [],
        None,
        bool(graph.is_directed()),
    )


def _plain(attributes: Mapping[Any, Any], without: str | None) -> dict[Any, Any]:
    """Return attributes as a feature dict; arrays become numbered features."""
    return {
        name: {str(j): x for j, x in enumerate(np.ravel(value).tolist())}
        if isinstance(value, np.ndarray)
        else value
        for name, value in attributes.items()
        if name != without
    }


def _kind(attributes: Mapping[Any, Any], name: str | None, where: str) -> str:
    if name is None:
        return ONE_KIND
    if not isinstance(attributes.get(name), str):
        raise DataError(
            f"{where}: its kind, the attribute {name!r}, must be a string, not "
            f"{attributes.get(name)!r}"
        )
    return str(attributes[name])


def _read_arrays(graph: GraphArrays, where: str) -> ReadGraph:
    n_nodes = _count(graph.nodes, f"{where}, nodes")
    edges = _numbers(graph.edges, f"{where}: edges", 2)
    cliques = _cliques(graph.cliques, where)
    for what, members in [("edge", e) for e in edges.tolist()] + [
        ("clique", c) for c in cliques
    ]:
        bad = [v for v in members if not 0 <= v < n_nodes]
        if bad:
            raise DataError(
                f"{where}: {what} {tuple(members)} names node {bad[0]}, but there are "
                f"{n_nodes} nodes, counted from 0"
            )
        if len(set(members)) < len(members):
            raise DataError(f"{where}: {what} {tuple(members)} names a node twice")
    for what, features, count in (
        ("edge_features", graph.edge_features, len(edges)),
        ("clique_features", graph.clique_features, len(cliques)),
        ("node_kinds", graph.node_kinds, n_nodes),
        ("edge_kinds", graph.edge_kinds, len(edges)),
    ):
        if features is not None and _count(features, f"{where}, {what}") != count:
            raise DataError(
                f"{where}: {what} has {_count(features, what)} rows, where {count} are "
                "needed"
            )
    return ReadGraph(
        where,
        None,
        n_nodes,
        graph.nodes,
        _kinds(graph.node_kinds, [f"{where}, node {v}" for v in range(n_nodes)]),
        edges,
        graph.edge_features,
        _kinds(graph.edge_kinds, [f"{where}, edge {a}-{b}" for a, b in edges.tolist()]),
        cliques,
        graph.clique_features,
        bool(graph.directed),
    )


def _kinds(given: Any, places: Sequence[str]) -> list[str]:
    """Check the kinds of nodes or edges, which are at `places`."""
    if given is None:
        return [ONE_KIND] * len(places)
    for kind, where in zip(given, places, strict=True):
        if not isinstance(kind, str):
            raise DataError(f"{where}: its kind must be a string, not {kind!r}")
    return [str(kind) for kind in given]


def _cliques(given: Any, where: str) -> list[tuple[int, ...]]:
    listed = _listed(given)
    if listed is None:
        raise DataError(
            f"{where}: cliques must be a list of tuples of node numbers, not {given!r} "
            "(empty if there are none)"
        )
    found = []
    for j, clique in enumerate(listed):
        members = _listed(clique)
        if not members or not all(map(_is_whole, members)):
            raise DataError(
                f"{where}: clique {j} must be a tuple of node numbers, not {clique!r}"
            )
        found.append(tuple(map(int, members)))
    return found


def _listed(given: Any) -> list[Any] | None:
    """Return what was given as a list; None if it is not a collection."""
    if isinstance(given, str | bytes | Mapping):
        return None
    try:
        return list(given)
    except TypeError:
        return None


def _is_whole(number: Any) -> bool:
    if isinstance(number, float | np.floating):
        return bool(number.is_integer())
    return isinstance(number, int | np.integer)


def _count(features: Any, where: str) -> int:
    shape = getattr(features, "shape", None)
    if shape:
        return int(shape[0])
    text = isinstance(features, str | bytes | Mapping)
    if shape is not None or text or not hasattr(features, "__len__"):
        kind = "a single value" if shape == () else type(features).__name__
        raise DataError(f"{where}: expected rows, not {kind}")
    return len(features)


def _numbers(values: Any, where: str, width: int) -> IntArray:
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError
        if array.size == 0:
            return np.zeros((0, width), np.int64)
        with np.errstate(invalid="ignore"):  # what is not finite is not whole either
            whole = array.astype(np.int64)
        if array.ndim == 2 and array.shape[1] == width and (whole == array).all():
            return np.ascontiguousarray(whole)
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError(f"{where} must be pairs of node numbers, an array (n_edges, 2)")


def read_labels(labels: Any, graphs: list[ReadGraph]) -> list[list[Label]]:
    """Return the labels of all nodes, in their order."""
    wanted = "labels must be a list with the labels of every graph"
    check_listed(labels, wanted, no=(Mapping,))
    given = list(labels)
    if len(given) != len(graphs):
        raise DataError(f"{len(graphs)} graphs, but labels of {len(given)}")
    return [_labels_of(*pair) for pair in zip(given, graphs, strict=True)]


def _labels_of(labels: Any, graph: ReadGraph) -> list[Label]:
    where = graph.title
    if isinstance(labels, Mapping):
        names = graph.names if graph.names is not None else range(graph.n_nodes)
        missing = [name for name in names if name not in labels]
        if missing:
            raise DataError(f"{where}: node {missing[0]!r} has no label")
        if len(labels) > graph.n_nodes:
            known = set(names)
            odd = next(name for name in labels if name not in known)
            raise DataError(f"{where}: a label for {odd!r}, which is not a node")
        return [labels[name] for name in names]
    check_listed(labels, f"{where}: its labels must be a list or a dict")
    own = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(own) != graph.n_nodes:
        raise DataError(f"{where}: {len(own)} labels for {graph.n_nodes} nodes")
    return own
