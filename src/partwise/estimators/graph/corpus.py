"""From graphs that were read to the structure that is learnt from.

Every node is a clique, every edge, and every larger clique. What they have in common
decides which weights they share: the kinds of their nodes, and the kind of the edge.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators.carrying import Axis, Block, Blocks
from partwise.estimators.graph.features import ELEMENTS, ElementFeatures, Where
from partwise.estimators.graph.inputs import ReadGraph
from partwise.estimators.labels import Label, LabelCodes
from partwise.structures import graph as factor_graphs
from partwise.structures.costs import make_token_weight
from partwise.structures.graph import CliqueKind, FactorGraph, Layout
from partwise.structures.graph.junction_tree import TooWideError
from partwise.structures.interface import FloatArray, IntArray
from partwise.structures.rows import SparseRows, make_sparse_rows


@dataclass
class GraphEncoder:
    """What was learnt about graphs, except the weights.

    Attributes
    ----------
    labels : LabelCodes
        All labels.
    directed : bool
        Whether edges have a direction.
    node_kinds : dict
        For every kind of nodes, the codes of its labels, sorted.
    joint_kinds : list of tuple
        The kinds of edges and cliques: the kind of the edge (None for larger cliques)
        and those of the nodes.
    features : dict
        The features of nodes, edges and cliques.
    """

    labels: LabelCodes
    directed: bool
    node_kinds: dict[str, IntArray]
    joint_kinds: list[tuple[Any, ...]]
    features: dict[str, ElementFeatures] = field(
        default_factory=lambda: {what: ElementFeatures(what) for what in ELEMENTS}
    )

    # --- what there is ---------------------------------------------------------------

    def clique_kinds(self) -> list[CliqueKind]:
        """Return the kinds of cliques: nodes first, then edges and larger cliques."""
        sizes = {kind: own.size for kind, own in self.node_kinds.items()}
        kinds = [
            CliqueKind((size,), self.features["node"].n_columns)
            for size in sizes.values()
        ]
        for edge_kind, *nodes in self.joint_kinds:
            shape = tuple(sizes[kind] for kind in nodes)
            what = "clique" if edge_kind is None else "edge"
            alike = what == "edge" and not self.directed and len(set(nodes)) == 1
            classes = factor_graphs.symmetric_classes(shape[0]) if alike else None
            kinds.append(CliqueKind(shape, self.features[what].n_columns, classes))
        return kinds

    def weight_counts(self) -> list[int]:
        """Return how many weights every kind of cliques has."""
        counts = []
        for kind in self.clique_kinds():
            own = kind.classes
            n_classes = prod(kind.shape) if own is None else int(own.max()) + 1
            counts.append(kind.n_columns * n_classes)
        return counts

    def n_weights(self) -> int:
        """Return how many weights there are."""
        return sum(self.weight_counts())

    def named_kinds(self) -> dict[str, list[Label]]:
        """Return the labels of every kind of nodes."""
        classes = self.labels.classes
        return {
            kind: [classes[k] for k in own.tolist()]
            for kind, own in self.node_kinds.items()
        }

    def blocks(self) -> Blocks:
        """Say what the weights of every kind of cliques belong to."""
        labels = self.named_kinds()
        found: dict[Hashable, Block] = {}
        keys = [*((kind,) for kind in self.node_kinds), *self.joint_kinds]
        for key, kind in zip(keys, self.clique_kinds(), strict=True):
            own = [labels[node] for node in key[1:] or key]
            axes: list[Axis] = [[*range(kind.n_columns - 1), "constant"], *own]
            if kind.classes is not None:  # pairs of labels without an order
                axes[1:] = [[*combinations_with_replacement(own[0], 2)]]
            found[key] = tuple(axes)
        return found

    # --- learning ---------------------------------------------------------------------

    @classmethod
    def learn(
        cls,
        graphs: Sequence[ReadGraph],
        labels: LabelCodes,
        wrong: NDArray[np.bool_],
        min_count: int,
        hash_bits: int | None,
        scale_vectors: bool = False,
        before: GraphEncoder | None = None,
    ) -> tuple[GraphEncoder, dict[str, SparseRows]]:
        """Learn kinds, their labels, and features; return the encoded features too.

        `wrong` says which labels every node does not have, where something is known.
        What was learnt `before` is kept.
        """
        known_kinds = {} if before is None else before.named_kinds()
        seen: dict[str, set[int]] = {
            kind: {labels.code(label, "labels") for label in own}
            for kind, own in known_kinds.items()
        }
        of_nodes = [kind for graph in graphs for kind in graph.node_kinds]
        for kind, own in zip(of_nodes, wrong, strict=True):
            known = np.flatnonzero(~own) if own.any() or own.size == 1 else ()
            seen.setdefault(kind, set()).update(map(int, known))
        for kind, found in seen.items():
            if not found:
                raise DataError(
                    f"no label of a node of kind {kind!r} is known: nothing to learn"
                )
        kinds = {kind: np.array(sorted(seen[kind]), np.int64) for kind in sorted(seen)}
        encoder = cls(labels, bool(graphs and graphs[0].directed), kinds, [])
        if before is not None and graphs and before.directed != encoder.directed:
            raise DataError(
                "the model has learnt from "
                f"{'directed' if before.directed else 'undirected'} graphs; convert "
                "these: to_directed, to_undirected"
            )
        joint = {key for graph in graphs for key in encoder._joint(graph)[0]}
        joint |= set(() if before is None else before.joint_kinds)
        encoder.joint_kinds = sorted(
            joint, key=lambda key: (key[0] is None, key[1:], key[0])
        )
        rows = {
            what: encoder.features[what].learn(
                *_elements(graphs, what),
                min_count,
                hash_bits,
                scale_vectors,
                None if before is None else before.features[what],
            )
            for what in ELEMENTS
        }
        return encoder, rows

    def _joint(
        self, graph: ReadGraph
    ) -> tuple[list[tuple[Any, ...]], list[tuple[int, ...]]]:
        """Return the kinds and the nodes of edges and larger cliques."""
        keys: list[tuple[Any, ...]] = []
        members: list[tuple[int, ...]] = []
        kinds = graph.node_kinds
        for edge_kind, (a, b) in zip(
            graph.edge_kinds, graph.edges.tolist(), strict=True
        ):
            # An edge without direction goes from the kind that is sorted first.
            if not self.directed and kinds[a] > kinds[b]:
                a, b = b, a
            keys.append((edge_kind, kinds[a], kinds[b]))
            members.append((a, b))
        for clique in graph.cliques:
            keys.append((None, *(kinds[v] for v in clique)))
            members.append(clique)
        return keys, members

    # --- encoding ---------------------------------------------------------------------

    def encode(self, graphs: Sequence[ReadGraph]) -> dict[str, SparseRows]:
        """Encode the features of graphs."""
        for graph in graphs:
            for v, kind in enumerate(graph.node_kinds):
                if kind not in self.node_kinds:
                    known = ", ".join(map(repr, self.node_kinds))
                    raise DataError(
                        f"{graph.where('node', v)}: its kind {kind!r} does not "
                        f"occur in the training data ({known})"
                    )
            if graph.directed != self.directed:
                now, then = ("directed", "undirected")[:: 1 if graph.directed else -1]
                raise DataError(
                    f"{graph.title} is {now}, but the model was trained on {then} "
                    "graphs"
                )
        return {
            what: self.features[what].encode(*_elements(graphs, what))
            for what in ELEMENTS
        }

    def structure(
        self,
        graphs: Sequence[ReadGraph],
        rows: dict[str, SparseRows],
        gold: Sequence[IntArray] | None,
        *,
        costs: FloatArray | None = None,
        node_weight: FloatArray | None = None,
        relaxed: bool = False,
        max_table: int,
    ) -> FactorGraph:
        """Return the graphs as the structure that is learnt from.

        `gold` are codes of labels, `costs` are those of all labels of every node.
        """
        number = {kind: k for k, kind in enumerate(self.node_kinds)}
        joint = {key: len(number) + k for k, key in enumerate(self.joint_kinds)}
        own_labels = list(self.node_kinds.values())
        members: list[int] = []
        chosen: list[int] = []
        sizes, kinds, counts = [], [], [0]
        starts = {what: 0 for what in ELEMENTS}
        offset = {
            "node": 0,
            "edge": rows["node"].ptr.size - 1,
            "clique": rows["node"].ptr.size + rows["edge"].ptr.size - 2,
        }
        node_kinds: list[int] = []
        for graph in graphs:
            of_nodes = [number[kind] for kind in graph.node_kinds]
            node_kinds += of_nodes
            members += range(graph.n_nodes)
            sizes += [1] * graph.n_nodes
            kinds += of_nodes
            first = offset["node"] + starts["node"]
            chosen += range(first, first + graph.n_nodes)
            keys, joined = self._joint(graph)
            n_edges = len(graph.edges)
            for j, (key, nodes) in enumerate(zip(keys, joined, strict=True)):
                if key not in joint:
                    continue  # never seen, so without weights
                members += nodes
                sizes.append(len(nodes))
                kinds.append(joint[key])
                what, at = ("edge", j) if j < n_edges else ("clique", j - n_edges)
                chosen.append(offset[what] + starts[what] + at)
            for what in ELEMENTS:
                starts[what] += _n_elements(graph, what)
            counts.append(len(kinds))
        of_node = np.array(node_kinds, np.int64)
        n_labels = np.array([own.size for own in own_labels], np.int64)[of_node]
        vertex_ptr = np.cumsum([0, *(graph.n_nodes for graph in graphs)])
        layout = Layout(vertex_ptr, n_labels, counts, _ends(sizes), members, kinds)
        make: Any = (
            factor_graphs.make_relaxed_graph if relaxed else factor_graphs.make_graph
        )
        more: dict[str, Any] = {} if relaxed else {"max_table": max_table}
        right = None
        if gold is not None:
            codes = np.concatenate([np.zeros(0, np.int64), *gold])
            right = self._own_codes(graphs, codes, of_node, vertex_ptr)
            if costs is not None:
                more["costs"] = self.of_own_labels(graphs, costs)
            more["vertex_weight"] = (
                None
                if node_weight is None
                else make_token_weight(node_weight, codes.size)
            )
        chosen_rows = _choose_rows(rows, chosen)
        try:
            return make(  # type: ignore[no-any-return]
                layout, self.clique_kinds(), chosen_rows, right, **more
            )
        except TooWideError as error:
            graph = graphs[error.example]
            names = [graph.name(v) for v in error.vertices]
            remedy = (
                "raise max_table, cut edges between these, or relax: "
                "GraphLabeler(decoder='relaxed')"
            )
            raise DataError(
                error.told("nodes", names, remedy),
                where=graph.title,
                example=error.example,
            ) from None

    def _own_codes(
        self,
        graphs: Sequence[ReadGraph],
        codes: IntArray,
        of_node: IntArray,
        vertex_ptr: IntArray,
    ) -> IntArray:
        """Return labels as numbers within the labels of each node's kind."""
        table = np.full((len(self.node_kinds), len(self.labels)), -1, np.int64)
        for k, own in enumerate(self.node_kinds.values()):
            table[k, own] = np.arange(own.size)
        result = table[of_node, codes]
        if (result < 0).any():
            v = int(np.argmin(result))
            i = int(np.searchsorted(vertex_ptr, v, side="right")) - 1
            kind = list(self.node_kinds)[of_node[v]]
            node = v - int(vertex_ptr[i])
            raise DataError(
                f"nodes of kind {kind!r} do not have the label "
                f"{self.labels.classes[codes[v]]!r} in the training data",
                where=graphs[i].where("node", node),
                example=i,
                part=node,
            )
        return result

    def of_own_labels(self, graphs: Sequence[ReadGraph], table: Any) -> Any:
        """Return what a table says of every node's own labels, end to end."""
        own = [self.node_kinds[kind] for graph in graphs for kind in graph.node_kinds]
        rows = [row[labels] for row, labels in zip(table, own, strict=True)]
        return np.concatenate([table[:0].ravel(), *rows])

    def one_of_each(
        self, graphs: Sequence[ReadGraph], wrong: NDArray[np.bool_]
    ) -> list[IntArray]:
        """Return a possible label of every node, one of its kind."""
        rows, found = iter(wrong), []
        for graph in graphs:
            own = [self.node_kinds[kind] for kind in graph.node_kinds]
            first = [int(some[np.argmin(next(rows)[some])]) for some in own]
            found.append(np.array(first, np.int64))
        return found

    def decode(self, graph: ReadGraph, y: Iterable[int]) -> list[Label]:
        """Return the labels that the codes of an output mean."""
        classes = self.labels.classes
        return [
            classes[self.node_kinds[kind][code]]
            for kind, code in zip(graph.node_kinds, y, strict=True)
        ]


def _elements(
    graphs: Sequence[ReadGraph], what: str
) -> tuple[list[Any], list[int], Where]:
    """Return the features and the numbers of elements, and how errors call one."""

    def where(i: int, j: int | None) -> str:
        return graphs[i].title if j is None else graphs[i].where(what, j)

    features = [_features(graph, what) for graph in graphs]
    return features, [_n_elements(graph, what) for graph in graphs], where


def _features(graph: ReadGraph, what: str) -> Any:
    return {
        "node": graph.nodes,
        "edge": graph.edge_features,
        "clique": graph.clique_features,
    }[what]


def _n_elements(graph: ReadGraph, what: str) -> int:
    counts = {"node": graph.n_nodes, "edge": len(graph.edges)}
    return counts.get(what, len(graph.cliques))


def _ends(sizes: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _choose_rows(rows: dict[str, SparseRows], chosen: Sequence[int]) -> SparseRows:
    """Put rows of features into the order of the cliques."""
    width = max(own.n_columns for own in rows.values())
    stacked = scipy.sparse.vstack(
        [
            scipy.sparse.csr_array(
                (own.val, own.idx, own.ptr), (own.ptr.size - 1, width)
            )
            for own in (rows[what] for what in ELEMENTS)
        ],
        "csr",
    )
    picked = scipy.sparse.csr_array(stacked)[np.array(chosen, np.int64)]
    return make_sparse_rows(picked.indptr, picked.indices, picked.data, width)
