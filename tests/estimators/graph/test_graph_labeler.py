"""The graph labeler: what it learns, takes, refuses, and saves."""

import json
import re

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import problems
from partwise import GraphArrays, GraphLabeler, load
from partwise.errors import DataError, ModelFileError
from places import GOLDEN

# Compiled, one example each in the docstrings and the guide: see there.
pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


def noisy_grid(seed, n=3):
    """Draw a picture of two halves, and noise on its pixels."""
    random = np.random.default_rng(seed)
    graph = nx.grid_2d_graph(n, n)
    cut = int(random.integers(1, n))
    labels = {(r, c): "ink" if c < cut else "paper" for r, c in graph}
    for pixel, label in labels.items():
        darkness = (label == "ink") + random.normal(0.0, 0.5)
        graph.nodes[pixel]["dark"] = darkness
    return graph, labels


def noisy_grids(seeds):
    pairs = [noisy_grid(seed) for seed in seeds]
    return [graph for graph, _ in pairs], [labels for _, labels in pairs]


TRAIN, TEST = noisy_grids(range(6)), noisy_grids(range(100, 108))


def without_edges(graphs):
    bare = [graph.copy() for graph in graphs]
    for graph in bare:
        graph.remove_edges_from(list(graph.edges))
    return bare


@pytest.fixture(scope="module")
def labeler():
    return GraphLabeler(C=1.0, tol=0.2).fit(*TRAIN)


def test_graph_labeler_edges_help(labeler):
    alone = GraphLabeler(C=1.0, tol=0.2).fit(without_edges(TRAIN[0]), TRAIN[1])
    assert labeler.score(*TEST) > alone.score(without_edges(TEST[0]), TEST[1]) + 0.02
    assert labeler.certificate_.relative_gap <= 0.2
    assert labeler.classes_.tolist() == ["ink", "paper"]


def as_arrays(graph):
    number = {pixel: v for v, pixel in enumerate(graph)}
    dark = np.array([[graph.nodes[pixel]["dark"]] for pixel in graph])
    return dark, [(number[a], number[b]) for a, b in graph.edges]


@pytest.mark.parametrize("kind", ["dense", "sparse", "dicts"])
def test_graph_labeler_arrays_say_the_same_as_networkx(labeler, kind):
    convert = {
        "dense": lambda x: x,
        "sparse": sparse.csr_array,
        "dicts": lambda x: [{"dark": float(v)} for v in x[:, 0]],
    }[kind]
    train, test = (
        [(convert(nodes), edges) for nodes, edges in map(as_arrays, graphs)]
        for graphs in (TRAIN[0], TEST[0])
    )
    lists = [list(labels.values()) for labels in TRAIN[1]]
    same = GraphLabeler(C=1.0, tol=0.2).fit(train, lists)
    np.testing.assert_allclose(same.weights_, labeler.weights_)
    expected = [list(labels.values()) for labels in labeler.predict(TEST[0])]
    assert same.predict(test) == expected
    for ours, theirs in zip(
        same.predict_marginals(test), labeler.predict_marginals(TEST[0]), strict=True
    ):
        dicts = [list(own.values()) for own in theirs.values()]
        np.testing.assert_allclose(ours, dicts)


def test_graph_labeler_probabilities_and_kbest_fit_together(labeler):
    graphs = TEST[0][:2]
    best = labeler.predict(graphs)
    for i, found in enumerate(labeler.predict_kbest(graphs, k=3)):
        labels, scores = zip(*found, strict=True)
        assert labels[0] == best[i]
        assert scores[0] >= scores[1] >= scores[2]
        assert labels[0] != labels[1]
    for graph, probabilities in zip(
        graphs, labeler.predict_marginals(graphs), strict=True
    ):
        assert list(probabilities) == list(graph)
        for own in probabilities.values():
            assert sum(own.values()) == pytest.approx(1.0)


def test_graph_labeler_relaxed_finds_the_same_and_says_so(labeler):
    exact = labeler.predict_with_bounds(TEST[0])
    assert all(found.is_proved for found in exact)
    relaxed = GraphLabeler(C=1.0, tol=0.2, decoder="relaxed").fit(*TRAIN)
    found = relaxed.predict_with_bounds(TEST[0])
    assert all(own.bound >= own.score for own in found)
    assert np.mean([own.is_proved for own in found]) > 0.5
    assert relaxed.score(*TEST) == pytest.approx(labeler.score(*TEST), abs=0.1)
    with pytest.raises(ValueError, match="predict_marginals needs exact inference"):
        relaxed.predict_marginals(TEST[0])


def test_graph_labeler_too_wide_says_what_to_do(labeler):
    wide = nx.complete_graph(40)
    named = nx.relabel_nodes(wide, lambda v: f"n{v}")
    nodes = ", ".join(f"'n{v}'" for v in range(12))
    with pytest.raises(DataError, match=rf"graph 1: .*max_table.*{nodes}.*relaxed"):
        labeler.predict([nx.path_graph(2), named])
    twin = GraphLabeler(max_table=10)
    with pytest.raises(DataError, match="max_table is 10"):
        twin.fit(*TRAIN)
    with pytest.raises(DataError, match=r"^graph 1: .* the 60 nodes 0, 1,"):
        labeler.table_sizes([nx.path_graph(3), nx.complete_graph(60)])
    assert labeler.table_sizes([nx.path_graph(3), wide.subgraph(range(5))]) == [8, 32]


def test_graph_labeler_directed_edges_know_where_they_lead():
    forward = nx.DiGraph([("a", "b"), ("b", "c")])
    labels = {"a": 1, "b": 2, "c": 3}
    labeler = GraphLabeler(C=10.0).fit([forward], [labels])
    assert labeler.predict([forward]) == [labels]
    assert labeler.predict([forward.reverse()]) == [{"a": 3, "b": 2, "c": 1}]
    with pytest.raises(DataError, match=r"undirected, but the model .* directed"):
        labeler.predict([nx.path_graph(2)])


def test_graph_labeler_kinds_have_their_own_labels():
    def molecule():
        graph = nx.Graph()
        graph.add_node("c", element="atom")
        graph.add_node("r", element="ring")
        graph.add_edge("c", "r", bond="member")
        graph.add_edge("r", "c", bond="member")
        return graph

    graphs = [molecule(), molecule()]
    graphs[0].nodes["c"]["charge"] = 1.0
    labels = [{"c": "acid", "r": "aromatic"}, {"c": "base", "r": "plain"}]
    labeler = GraphLabeler(C=10.0, node_kind="element", edge_kind="bond")
    labeler.fit(graphs, labels)
    assert labeler.predict(graphs) == labels
    [found] = labeler.predict_marginals(graphs[:1])
    assert set(found["c"]) == {"acid", "base"}
    assert set(found["r"]) == {"aromatic", "plain"}
    graphs[1].nodes["c"]["element"] = "bond"
    with pytest.raises(DataError, match=r"graph 1, node 'c': its kind 'bond'"):
        labeler.predict(graphs)
    del graphs[1].nodes["c"]["element"]
    with pytest.raises(DataError, match="attribute 'element', must be a string"):
        labeler.predict(graphs)


def test_graph_labeler_learns_from_larger_cliques():
    """An exclusive or, which no pair of nodes could tell."""
    graphs, labels = [], []
    for a in (0, 1):
        for b in (0, 1):
            known = np.array([[1.0, a], [1.0, b], [0.0, 0.0]])
            graphs.append(GraphArrays(known, [], cliques=[(0, 1, 2)]))
            labels.append([a, b, a ^ b])
    labeler = GraphLabeler(C=100.0).fit(graphs, labels)
    assert labeler.score(graphs, labels) == 1.0


def test_graph_labeler_saves_and_loads(labeler, tmp_path):
    path = tmp_path / "pictures.partwise"
    labeler.save(path)
    again = load(path)
    assert again.predict(TEST[0]) == labeler.predict(TEST[0])
    assert again.certificate_ == labeler.certificate_
    assert again.table_sizes(TEST[0]) == labeler.table_sizes(TEST[0])
    kinds = GraphLabeler(
        node_kind="k", costs={("x", "y"): 2.0}, class_weight={"x": 3.0}, C=5.0
    )
    graph = nx.Graph()
    graph.add_node(0, k="one", v=np.array([1.0, 0.0]))
    graph.add_node(1, k="two", words=["a", "b"])
    graph.add_edge(0, 1, length=2.5)
    kinds.fit([graph, graph], [["x", "y"], ["z", "y"]])
    kinds.save(path)
    again = load(path)
    assert again.predict([graph]) == kinds.predict([graph])
    assert again.class_weight == kinds.class_weight | {"y": 1.0, "z": 1.0}
    np.testing.assert_array_equal(again.costs, kinds._costs)


def test_graph_labeler_damaged_files_are_refused(labeler, tmp_path):
    from partwise import model_file

    path = tmp_path / "pictures.partwise"
    labeler.save(path)
    content = model_file.read(path, kind="model")
    for name, wrong in {
        "node_kinds": ["b", "a"],
        "joint_kinds": [["", "", "unknown"]],
        "directed": "no",
        "node": {"width": -1},
    }.items():
        model_file.write(
            path, dict(content.tensors), {**content.settings, name: wrong}, kind="model"
        )
        with pytest.raises(ModelFileError):
            load(path)


@pytest.mark.parametrize("version", [1])
def test_graph_labeler_files_of_every_version_still_load(version):
    path = GOLDEN / f"labeler-{version}.partwise"
    known = json.loads(path.with_suffix(".json").read_text())
    graphs = [GraphArrays(*graph) for graph in known["inputs"]]
    assert [list(own) for own in load(path).predict(graphs)] == known["predictions"]
    assert {label for own in known["predictions"] for label in own} == {"red", "blue"}


def test_graph_labeler_stops_early_on_development_data():
    labeler = GraphLabeler(tol=1e-9, max_iter=20, patience=2)
    labeler.fit(*TRAIN, dev=TEST)
    assert len(labeler.trace_) < 20
    assert np.nanmax(labeler.trace_["dev_score"]) == pytest.approx(labeler.score(*TEST))


GRAPH = nx.path_graph(3)


@pytest.mark.parametrize(
    ("graphs", "labels", "message"),
    [
        (GRAPH, [[0, 1, 0]], "graphs must be a list of graphs"),
        ([GRAPH], [[0, 1]], "graph 0: 2 labels for 3 nodes"),
        ([GRAPH], [{0: 0, 1: 1}], "graph 0: node 2 has no label"),
        ([GRAPH], [{0: 0, 1: 1, 2: 1, 7: 1}], "label for 7, which is not a node"),
        ([GRAPH], [[0, 0, 0]], "all nodes have the label 0"),
        ([GRAPH, GRAPH], [[0, 1, 0]], "2 graphs, but labels of 1"),
        ([GRAPH], [[0, "a", 0]], "all strings or all integers"),
        ([nx.Graph([(0, 0)])], [[0]], "leads from node 0 to itself"),
        ([(np.eye(2), [(0, 2)])], [[0, 1]], r"edge \(0, 2\) names node 2, but"),
        ([(np.eye(2), [(1, 1)])], [[0, 1]], "names a node twice"),
        ([(np.eye(2), [0, 1])], [[0, 1]], "edges must be pairs of node numbers"),
        ([(np.eye(2), [(0, 1)], np.eye(2))], [[0, 1]], "edge_features has 2 rows"),
        ([(np.array([[np.inf], [1]]), [])], [[0, 1]], "must be finite numbers"),
        ([GRAPH, nx.DiGraph(GRAPH)], [[0, 1, 0]] * 2, "graph 1 is directed, but"),
        (["abc"], [[0]], "graph 0 must be a networkx graph"),
        ([(np.eye(2), [(0, 2**70)])], [[0, 1]], "graph 0: edges must be pairs of"),
        ([(np.eye(2), [(0, np.nan)])], [[0, 1]], "graph 0: edges must be pairs of"),
        ([(np.array(3.0), [])], [[0]], "graph 0, nodes: expected rows, not a single"),
        ([(np.array([["a"], ["b"]]), [])], [[0, 1]], "graph 0: .* must be numbers"),
        ([nx.Graph()], [[]], "no nodes to learn from"),
    ],
)
def test_graph_labeler_refuses(graphs, labels, message):
    with pytest.raises(DataError, match=message):
        GraphLabeler().fit(graphs, labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoder": "greedy"}, "decoder must be 'exact' or 'relaxed'"),
        ({"decoder": "relaxed", "loss": "log_loss"}, "no probabilities"),
        ({"max_table": 0}, "max_table must be an integer"),
        ({"node_kind": 3}, "node_kind must be the name"),
        ({"dev_metric": "bleu"}, "unknown dev_metric"),
    ],
)
def test_graph_labeler_refuses_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        GraphLabeler(**settings).fit([GRAPH], [[0, 1, 0]])


def test_graph_labeler_counts_labels_that_a_kind_never_has_as_wrong():
    graph = nx.Graph()
    graph.add_node(0, k="one")
    graph.add_node(1, k="two")
    labels = [["a", "b"]]
    dev = ([graph], [["b", "a"]])
    labeler = GraphLabeler(node_kind="k", max_iter=3).fit([graph], labels)
    assert labeler.score(*dev) == 0.0
    assert labeler.predict([graph]) == [{0: "a", 1: "b"}]


def test_graph_labeler_says_what_it_learnt_on_the_command_line(tmp_path):
    from typer.testing import CliRunner

    from partwise.cli.app import app

    path = str(tmp_path / "molecules.partwise")
    graph = GraphArrays(
        np.ones((3, 1)), [(0, 1), (1, 2)], node_kinds=["atom", "ring", "atom"],
        edge_kinds=["in", "in"], cliques=[(0, 1, 2)],
    )  # fmt: skip
    labels = [["acid", "flat", "base"], ["base", "bent", "base"]]
    GraphLabeler(max_iter=2).fit([graph] * 2, labels).save(path)
    found = CliRunner().invoke(app, ["inspect", path, "--json"])
    graphs = json.loads(found.stdout)["graphs"]
    assert graphs["features"] == {"node": 1, "edge": 0, "clique": 0}
    assert graphs["node_kinds"] == [
        {"kind": "atom", "labels": ["acid", "base"], "weights": 4},
        {"kind": "ring", "labels": ["bent", "flat"], "weights": 4},
    ]
    joined = [["atom", "ring"], ["atom", "ring", "atom"]]
    assert graphs["edge_and_clique_kinds"] == [
        {"kind": "in", "node_kinds": joined[0], "weights": 4},
        {"kind": None, "node_kinds": joined[1], "weights": 8},
    ]
    shown = CliRunner().invoke(app, ["inspect", path])
    assert shown.exit_code == 0
    assert "atom - ring" in shown.stdout
    assert "objective" in shown.stdout
    refused = CliRunner().invoke(app, ["inspect", path, "--label", "acid"])
    assert refused.exit_code == 2
    assert "--label is for taggers" in refused.stderr


@pytest.mark.parametrize(
    ("kinds", "v"), [([1, 2, 1], 0), (np.arange(3), 0), (["a", None, "a"], 1),
                     (["a", "a", ["b"]], 2)],
)  # fmt: skip
def test_graph_labeler_refuses_kinds_that_are_no_strings(kinds, v):
    with pytest.raises(DataError, match=f"graph 0, node {v}: its kind must be a str"):
        GraphLabeler().fit([(np.eye(3), [], None, kinds)], [[0, 1, 0]])
    edges = [(0, 3), (1, 3), (2, 3)]
    with pytest.raises(DataError, match=f"graph 0, edge {v}-3: its kind must be a str"):
        GraphLabeler().fit([(np.eye(4), edges, None, None, kinds)], [[0, 1, 0, 1]])


def test_graph_labeler_takes_kinds_in_an_array(tmp_path):
    graph = GraphArrays(np.eye(2), [(0, 1)], node_kinds=np.array(["a", "b"]))
    labeler = GraphLabeler(max_iter=2).fit([graph], [[0, 1]])
    labeler.save(tmp_path / "kinds.partwise")
    assert load(tmp_path / "kinds.partwise").predict([graph]) == [[0, 1]]


@pytest.mark.parametrize(
    "cliques", [[(0.5, 1, 2)], [3], None, ["ab"], [None], [()], [{0: 1}], np.array(3)]
)
def test_graph_labeler_refuses_cliques_of_anything_but_node_numbers(cliques):
    graph = GraphArrays(np.eye(3), [], cliques=cliques)
    with pytest.raises(DataError, match=r"graph 0: clique.* must be a .*node numbers"):
        GraphLabeler().fit([graph], [[0, 1, 0]])


def pair_of_nodes(node=None, edge=None):
    graph = nx.Graph()
    graph.add_node("a")
    graph.add_node("b", **(node or {}))
    graph.add_edge("a", "b", **(edge or {}))
    return graph


NUMBERS = np.eye(2)
BAD = np.array([[0.0, 1.0], [np.nan, 0.0]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (pair_of_nodes({"x": np.nan}), "graph 1, node 'b': feature 'x' has the value"),
        (pair_of_nodes({"x": 1e200}), "graph 1, node 'b': its features must be finite"),
        (pair_of_nodes({"x": object}), "graph 1, node 'b': feature 'x' is of type"),
        (pair_of_nodes(edge={"x": [1]}), "graph 1, edge 'a'-'b': feature 'x' lists 1"),
        (([{}, 3], [(0, 1)]), "graph 1, node 1: features must be a dict"),
        (([{}, [3]], [(0, 1)]), "graph 1, node 1: the features list 3"),
    ],
)
def test_graph_labeler_says_where_a_feature_is_wrong(graph, message):
    with pytest.raises(DataError, match=f"^{message}"):
        GraphLabeler().fit([pair_of_nodes(), graph], [[0, 1]] * 2)


def test_graph_labeler_says_where_a_number_is_wrong():
    good = GraphArrays(NUMBERS, [(0, 1), (1, 0)], NUMBERS, directed=True)
    for place, bad in (
        ("node 1", good._replace(nodes=BAD)),
        ("edge 1-0", good._replace(edge_features=sparse.csr_array(BAD))),
        ("clique (1, 0)", good._replace(cliques=[(0, 1), (1, 0)], clique_features=BAD)),
    ):
        message = f"^graph 1, {re.escape(place)}: its features must be finite numbers"
        fine = good._replace(cliques=bad.cliques)
        with pytest.raises(DataError, match=message):
            GraphLabeler().fit([fine, bad], [[0, 1]] * 2)


def test_graph_labeler_trained_without_edges_takes_some():
    graph = pair_of_nodes({"x": 1.0})
    alone = nx.create_empty_copy(graph)
    labeler = GraphLabeler(max_iter=3).fit([alone], [[0, 1]])
    assert labeler.predict([graph]) == labeler.predict([alone])
    with pytest.raises(DataError, match="graph 0: its edge features are dicts, but"):
        labeler.predict([pair_of_nodes(edge={"x": 1.0})])


def test_graph_labeler_says_when_development_data_are_wrong():
    graphs, labels = TEST
    for dev, place in [
        ((["no graph", *graphs[1:]], labels), "dev graph 0"),
        ((graphs, [*labels[:-1], ["ink"]]), f"dev graph {len(graphs) - 1}"),
    ]:
        with pytest.raises(DataError, match=place):
            GraphLabeler().fit(*TRAIN, dev=dev)
