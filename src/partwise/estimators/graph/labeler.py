"""The graph labeler: a label for every node of a graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from partwise.errors import DataError
from partwise.estimators.attached_vectors import FORGETS_NO_VECTORS
from partwise.estimators.base import StructuredEstimator, TrainingData
from partwise.estimators.best_codes import kbest
from partwise.estimators.carrying import Blocks
from partwise.estimators.checks import as_pair, check_k
from partwise.estimators.costs import class_weights, cost_matrix, sample_weights
from partwise.estimators.dev_metrics import TAGGING, find_measure, rehearse
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.graph.corpus import GraphEncoder
from partwise.estimators.graph.inputs import ReadGraph, read_graphs, read_labels
from partwise.estimators.graph.persistence import fill, store
from partwise.estimators.graph.settings import GraphSettings
from partwise.estimators.graph.views import make_views
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import (
    check_complete,
    check_sets,
    least_costs,
    possible_labels,
    wrong_labels,
)
from partwise.estimators.settings import check_settings
from partwise.solvers.loop import Evaluate
from partwise.structures import decoding
from partwise.structures.graph import FactorGraph
from partwise.structures.graph.known import know_vertices
from partwise.structures.interface import FloatArray, IntArray

Labels = list[Label] | dict[Hashable, Label]
"""A list in the order of the nodes, or a dict for a networkx graph."""


class Labelling(NamedTuple):
    """The labels of a graph, their score, and a bound on the best score there is.

    Examples
    --------
    >>> Labelling(["a", "b"], score=3.0, bound=3.5).is_proved
    False
    """

    labels: Labels
    score: float
    bound: float

    @property
    def is_proved(self) -> bool:
        """Whether no labels have a higher score."""
        return self.bound <= self.score


class GraphLabeler(StructuredEstimator, Samples, GraphSettings):
    """Predict a label for every node of a graph, from all nodes and edges at once.

    A Markov random field: nodes, edges and larger cliques have features, with a weight
    for every label, pair of labels and so on; the best labels of all nodes together
    are found exactly, as long as the graph is narrow enough.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.

    Examples
    --------
    Nodes without a colour get their label from their neighbours:

    >>> import networkx as nx
    >>> from partwise import GraphLabeler
    >>> graph = nx.path_graph(3)
    >>> graph.nodes[0]["colour"] = "blue"
    >>> labels = {0: "sea", 1: "sea", 2: "sea"}
    >>> other = nx.path_graph(3)
    >>> other.nodes[2]["colour"] = "brown"
    >>> labeler = GraphLabeler(C=1.0).fit([graph, other], [labels, ["land"] * 3])
    >>> labeler.predict([other])
    [{0: 'land', 1: 'land', 2: 'land'}]
    """

    _store, _fill = store, fill
    _views = make_views

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        graphs: Iterable[Any],
        labels: Iterable[Any],
        sample_weight: Any = None,
        *,
        dev: tuple[Any, Any] | None = None,
    ) -> GraphLabeler:
        """Learn from graphs whose nodes have labels.

        Parameters
        ----------
        graphs : iterable of networkx graphs, GraphArrays or tuples
            The attributes of networkx nodes and edges are their features: strings,
            numbers, bools, lists of strings, dicts of these, arrays. Edges of directed
            graphs have a weight for every pair of labels, others for every two. Arrays
            are ``(nodes, edges)`` or ``(nodes, edges, edge_features)``, or a
            `GraphArrays`.
        labels : iterable of lists or dicts
            For every graph the labels (str or int) of its nodes, in their order, or by
            node. None where a label is not known, a set where it is one of several.
        sample_weight : array, optional
            A weight for every graph: what multiplies its loss.
        dev : (graphs, labels), optional
            Development data, for early stopping.

        Returns
        -------
        GraphLabeler
            Itself.
        """
        return self._fit(graphs, labels, sample_weight, dev=dev)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.decoder == "relaxed" and self.loss == "log_loss":
            raise ValueError(
                "decoder='relaxed' has no probabilities, which loss='log_loss' needs: "
                "use loss='squared_hinge' or 'hinge', or decoder='exact'"
            )

    def _read(self, graphs: Any, called: str = "graph") -> list[ReadGraph]:
        return read_graphs(graphs, self.node_kind, self.edge_kind, called)

    def _prepare(
        self, graphs: Any, labels: Any, sample_weight: Any = None, *, dev: Any = None
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        read = self._read(graphs)
        right = read_labels(labels, read)
        if not any(graph.n_nodes for graph in read):
            raise DataError("there are no nodes to learn from")
        in_part = check_sets(right, "graph", "node")
        flat = [label for own in right for label in own]
        codes = LabelCodes(self._all_classes(possible_labels(flat)))
        if len(codes) < 2:
            raise DataError(
                f"all nodes have the label {codes.classes[0]!r}: nothing to learn"
            )
        weight = sample_weights(sample_weight, len(read))
        wrong = wrong_labels(flat, codes)
        self._set_labels(codes)
        self._costs = cost_matrix(self.costs, codes)
        self._graphs, rows = GraphEncoder.learn(
            read,
            codes,
            wrong,
            self.min_count,
            self.hash_bits,
            self.scale_vectors,
            None if self._start is None else self._start._graphs,
        )
        gold = self._graphs.one_of_each(read, wrong)
        structure: Any = self._graphs.structure(
            read,
            rows,
            gold,
            costs=least_costs(wrong, self._costs),
            node_weight=self._node_weight(gold, weight),
            relaxed=self.decoder == "relaxed",
            max_table=int(self.max_table),
        )
        if in_part:
            structure = know_vertices(
                structure, self._graphs.of_own_labels(read, wrong)
            )
        wanted = self.costs is not None or self.class_weight is not None
        evaluate = None if dev is None else self._evaluator(*as_pair(dev))
        return TrainingData(self._with_costs(structure, wanted), weight, evaluate)

    def _as_start(self) -> GraphLabeler:
        if any(own.vectors.width for own in self._graphs.features.values()):
            raise ValueError(FORGETS_NO_VECTORS)
        return super()._as_start()

    def _blocks(self) -> Blocks:
        return self._graphs.blocks()

    def _node_weight(
        self, gold: list[IntArray], weight: FloatArray | None
    ) -> FloatArray | None:
        """Return the weight of every node's class."""
        if self.class_weight is None:
            return None
        codes = np.concatenate(gold)
        sizes = [own.size for own in gold]
        of_node = None if weight is None else np.repeat(weight, sizes)
        by_class = class_weights(
            self.class_weight, self._labels, codes.astype(np.int32), of_node
        )
        return by_class[codes]

    def _evaluator(self, graphs: Any, labels: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        read = self._read(graphs, "dev graph")
        right = read_labels(labels, read)
        check_complete(right, "dev")
        _encode_labels(right, self._labels, "dev graph")
        measure = find_measure(self.dev_metric, TAGGING)
        rehearse(measure, right)
        corpus = self._structure(read)

        def evaluate(w: FloatArray) -> float:
            found = decoding.decode(corpus, w, self._jobs())
            return measure(right, self._lists(read, found.ptr, found.codes))

        return evaluate

    # --- predicting -----------------------------------------------------------------

    def _structure(self, read: list[ReadGraph]) -> FactorGraph:
        check_settings(self, "decoder", "max_table")
        return self._graphs.structure(
            read,
            self._graphs.encode(read),
            None,
            relaxed=self.decoder == "relaxed",
            max_table=int(self.max_table),
        )

    def _encode(
        self, graphs: Any, wanted: str = ""
    ) -> tuple[list[ReadGraph], FactorGraph]:
        self._check_fitted()
        if wanted and self.decoder == "relaxed":
            raise ValueError(
                f"{wanted} needs exact inference: set_params(decoder='exact'), and a "
                "larger max_table for wide graphs"
            )
        read = self._read(graphs)
        return read, self._structure(read)

    def _lists(
        self, read: list[ReadGraph], ptr: IntArray, codes: Any
    ) -> list[list[Label]]:
        """Return the labels of all graphs as lists."""
        places = zip(read, pairwise(ptr.tolist()), strict=True)
        return [self._graphs.decode(g, codes[a:b].tolist()) for g, (a, b) in places]

    def _given(self, graphs: Any, labels: Any = None) -> Given:
        read, corpus = self._encode(graphs, "the probability of labels")
        without, right = None, None if labels is None else read_labels(labels, read)
        if right is not None and check_sets(right, "graph", "node"):
            wrong = wrong_labels([y for own in right for y in own], self._labels)
            known = know_vertices(corpus, self._graphs.of_own_labels(read, wrong))
            without = known.forbidden.ptr, known.forbidden.ids
        elif right is not None:
            corpus = self._graphs.structure(
                read,
                self._graphs.encode(read),
                _encode_labels(right, self._labels, "graph"),
                relaxed=False,
                max_table=int(self.max_table),
            )
        decode = self._graphs.decode
        return Given(
            corpus,
            self.weights_,
            lambda i, y: _named(read[i], decode(read[i], y.tolist())),
            without=without,
        )

    def predict(self, graphs: Iterable[Any]) -> list[Labels]:
        """Return the best labels of all nodes.

        Parameters
        ----------
        graphs : iterable of graphs
            As in `fit`.

        Returns
        -------
        list of dicts or lists
            For a networkx graph its labels by node, for arrays a list.
        """
        read, corpus = self._encode(graphs)
        found = decoding.decode(corpus, self.weights_, self._jobs())
        lists = self._lists(read, found.ptr, found.codes)
        return [_named(graph, own) for graph, own in zip(read, lists, strict=True)]

    def predict_with_bounds(self, graphs: Iterable[Any]) -> list[Labelling]:
        """Return the labels of all nodes, their score and how high any score can be.

        With ``decoder="exact"`` the bound always is the score.

        Examples
        --------
        >>> import networkx as nx
        >>> labeler = GraphLabeler().fit([nx.path_graph(2)], [["a", "b"]])
        >>> labeler.predict_with_bounds([nx.path_graph(2)])[0].is_proved
        True
        """
        read, corpus = self._encode(graphs)
        found = decoding.decode_with_bounds(corpus, self.weights_, self._jobs())
        lists = self._lists(read, found.ptr, found.codes)
        return [
            Labelling(_named(graph, own), float(score), float(bound))
            for graph, own, score, bound in zip(
                read, lists, found.scores, found.bounds, strict=True
            )
        ]

    def predict_marginals(self, graphs: Iterable[Any]) -> list[Any]:
        """Return the probability of every label at every node.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss.

        Returns
        -------
        list of arrays or dicts
            For arrays a matrix, nodes by `classes_`; for a networkx graph a dict of
            labels and probabilities by node.
        """
        read, corpus = self._encode(graphs, "predict_marginals")
        # The cliques of single nodes come first.
        wanted = np.add.reduceat(
            np.append(corpus.vertices.n_labels, 0), corpus.vertices.ptr[:-1]
        )
        wanted[np.diff(corpus.vertices.ptr) == 0] = 0
        ptr, mu, _ = decoding.part_marginals(
            corpus, self.weights_, wanted, self._jobs()
        )
        return [
            self._probabilities(graph, mu[ptr[i] : ptr[i + 1]])
            for i, graph in enumerate(read)
        ]

    def _probabilities(self, graph: ReadGraph, mu: FloatArray) -> Any:
        result = np.zeros((graph.n_nodes, len(self._labels)))
        at = 0
        for v, kind in enumerate(graph.node_kinds):
            own = self._graphs.node_kinds[kind]
            result[v, own] = mu[at : at + own.size]
            at += own.size
        if graph.names is None:
            return result
        classes = self._labels.classes
        return {
            name: {
                classes[code]: float(result[v, code])
                for code in self._graphs.node_kinds[graph.node_kinds[v]]
            }
            for v, name in enumerate(graph.names)
        }

    def predict_kbest(
        self, graphs: Iterable[Any], k: int = 5
    ) -> list[list[tuple[Labels, float]]]:
        """Return the `k` best labellings of every graph with their scores."""
        check_k(k)
        read, corpus = self._encode(graphs, "predict_kbest")
        found = kbest(corpus, self.weights_, k, self._jobs())
        decode = self._graphs.decode
        return [
            [(_named(graph, decode(graph, y.tolist())), score) for y, score in best]
            for graph, best in zip(read, found, strict=True)
        ]

    def score(self, graphs: Iterable[Any], labels: Iterable[Any]) -> float:
        """Return the share of nodes with the right label."""
        read, corpus = self._encode(graphs)
        right = read_labels(labels, read)
        check_complete(right, "labels", "node")
        found = decoding.decode(corpus, self.weights_, self._jobs())
        return TAGGING["accuracy"](right, self._lists(read, found.ptr, found.codes))

    # --- understanding --------------------------------------------------------------

    def table_sizes(self, graphs: Iterable[Any]) -> list[int]:
        """Return how many numbers exact inference needs for each graph.

        Regardless of `max_table`, which may be raised to the largest of them.

        Examples
        --------
        >>> import networkx as nx
        >>> labeler = GraphLabeler().fit([nx.path_graph(2)], [["a", "b"]])
        >>> labeler.table_sizes([nx.path_graph(10), nx.grid_2d_graph(8, 8)])
        [36, 7264]
        """
        self._check_fitted()
        return [_table_size(self, graph) for graph in self._read(graphs)]


def _table_size(labeler: GraphLabeler, graph: ReadGraph) -> int:
    encoder = labeler._graphs
    rows = encoder.encode([graph])
    s: Any = encoder.structure([graph], rows, None, max_table=2**40)
    return int(s.inference.largest[0])


def _named(graph: ReadGraph, labels: list[Label]) -> Labels:
    if graph.names is None:
        return labels
    return dict(zip(graph.names, labels, strict=True))


def _encode_labels(
    labels: list[list[Label]], codes: LabelCodes, what: str
) -> list[IntArray]:
    return [
        codes.encode(own, f"{what} {i}").astype(np.int64)
        for i, own in enumerate(labels)
    ]
