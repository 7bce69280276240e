"""Log-probabilities and samples of estimators: those of all outputs add up to one."""

import io
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from partwise import (
    BayesianNetworkClassifier,
    ConstituencyParser,
    DataError,
    DependencyParser,
    GraphLabeler,
    HiddenMarkovModel,
    LatticeInput,
    LatticeRanker,
    MulticlassClassifier,
    SegmentTagger,
    SequenceTagger,
)
from partwise.data import read_brackets, read_trees
from partwise.metrics import spans
from problems import PLAIN_PYTHON, plain_only

CONLLU = """
1\tbig\t_\tADJ\t_\t_\t2\tmod\t_\t_
2\tdogs\t_\tNOUN\t_\t_\t3\tsubj\t_\t_
3\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_

1\tcats\t_\tNOUN\t_\t_\t2\tsubj\t_\t_
2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_
"""
BRACKETS = "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))"


def tagger(**options):
    X = [[{"w": "a"}, {"w": "b"}, {"w": "c"}], [{"w": "b"}, {"w": "a"}]]
    y = [["B-X", "I-X", "O"], ["O", "B-X"]]
    return SequenceTagger(loss="log_loss", C=1.0, **options).fit(X, y), X[:1]


def cutter(**options):
    X = [[["a"], ["b"], ["c"]], [["b"], ["a"]]]
    y = [[(0, 2, "X")], [(1, 2, "Y")]]
    model = SegmentTagger(loss="log_loss", C=1.0, max_length=2, **options)
    return model.fit(X, y), X[:1]


def classifier():
    X = [[0.0], [1.0], [2.0]]
    return MulticlassClassifier(loss="log_loss").fit(X, ["a", "b", "c"]), X[:1]


def parser(**options):
    trees = read_trees(io.StringIO(CONLLU))
    model = DependencyParser(loss="log_loss", C=0.5, hash_bits=10, **options)
    return model.fit(trees), trees[:1]


def crossing_parser():
    return parser(projective=False, labelled=False)


def labeler():
    graph = nx.path_graph(3)
    graph.nodes[0]["colour"] = "blue"
    other = nx.path_graph(2)
    labels = [{0: "sea", 1: "sea", 2: "land"}, ["land", "land"]]
    return GraphLabeler(loss="log_loss").fit([graph, other], labels), [graph]


def ranker():
    edges = [(0, 1, {"x": 1}, "a"), (0, 1, {"y": 1}, "b"), (1, 2, {"x": 2}, "c")]
    lattice = LatticeInput([*edges, (0, 2, {"z": 1}, "d")])
    return LatticeRanker(loss="log_loss").fit([lattice], [[0, 2]]), [lattice]


def states():
    X, y = [["u", "v", "u"], ["v", "v"]], [["p", "q", "p"], ["q", "q"]]
    return HiddenMarkovModel(C=1.0).fit(X, y), X[:1]


LOCAL = (tagger, classifier)
OTHERS = (parser, crossing_parser, labeler, ranker, states, cutter)
MODELS = OTHERS if PLAIN_PYTHON else LOCAL


@pytest.mark.parametrize("make", MODELS)
def test_distribution_of_all_outputs_adds_up_to_one(make) -> None:
    model, X = make()
    ranked = model.predict_kbest(X, 400)[0]
    outputs = [one if make is ranker else one[0] for one in ranked]
    p = np.exp(model.log_probability(X * len(outputs), outputs))
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    assert (np.diff(p) <= 1e-12).all()
    drawn = getattr(model, "sample_given", getattr(model, "sample", None))
    samples = drawn(X, n=300, random_state=0)[0]
    share = np.mean([one == outputs[0] for one in samples])
    assert share == pytest.approx(p[0], abs=4.5 * np.sqrt(p[0] * (1 - p[0]) / 300))
    assert all(one in outputs for one in samples)
    again = drawn(X, n=300, random_state=0)[0]
    assert again == samples


@plain_only
def test_distribution_of_constituency_trees_knows_all_derivations() -> None:
    trees = read_brackets(io.StringIO(f"{BRACKETS}\n(S (NP (N cats)) (VP (V ran)))"))
    model = ConstituencyParser(loss="log_loss", hash_bits=10).fit(trees)
    ranked = model.predict_kbest(trees[:1], 400)[0]
    p = np.exp(model.log_probability([tree for tree, _ in ranked]))
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    samples = model.sample(trees[:1], n=20, random_state=0)[0]
    assert {*samples} <= {tree for tree, _ in ranked}
    other = read_brackets(io.StringIO("(X (Y the) (Z dog))"))
    assert model.log_probability(other).tolist() == [-np.inf]


@plain_only
def test_distribution_of_networks_conditions_on_the_rest() -> None:
    rows = [
        {"rain": "yes", "grass": "wet"},
        {"rain": "no", "grass": "wet"},
        {"rain": "no", "grass": "dry"},
    ]
    model = BayesianNetworkClassifier([("rain", "grass")], target="rain").fit(rows)
    known = [{"grass": "wet"}, {"grass": "wet"}]
    p = np.exp(model.log_probability(known, ["yes", "no"]))
    expected = model.predict_proba(known[:1])[0]
    assert p.tolist() == pytest.approx(expected[[1, 0]].tolist())
    drawn = model.sample_given(known[:1], n=200, random_state=0)[0]
    assert drawn.count("yes") / 200 == pytest.approx(p[0], abs=0.15)


def test_distribution_gives_outputs_that_are_ruled_out_no_probability() -> None:
    model, X = tagger(constraints="BIO")
    wrong, right = ["O", "I-X", "O"], ["O", "B-X", "O"]
    found = model.log_probability(X * 2, [wrong, right])
    assert found[0] == -np.inf
    assert np.isfinite(found[1])
    with pytest.raises(ValueError, match="n must be an integer >= 1, not 0"):
        model.sample(X, 0)


def test_distribution_expects_as_many_transitions_as_there_are() -> None:
    model, X = tagger()
    counts = model.expected_counts(X)
    pairs = model.predict_transitions(X)[0]
    K = len(model.classes_)
    assert pairs.shape == (2, K, K)
    np.testing.assert_allclose(pairs.sum(axis=2), model.predict_marginals(X)[0][:2])
    at = counts.size - K * K - 2 * K
    np.testing.assert_allclose(counts[at : at + K * K], pairs.sum(axis=0).ravel())


@pytest.mark.parametrize("scheme", [None, "IOB2"])
def test_distribution_of_chunks_sums_over_all_ways_to_spell_them(scheme) -> None:
    model, X = tagger()
    expected: dict = {}
    for labels, _ in model.predict_kbest(X, 27)[0]:
        p = float(np.exp(model.log_probability(X, [labels]))[0])
        for span in spans(labels, scheme):
            expected[span] = expected.get(span, 0.0) + p
    found = model.predict_span_marginals(X, at_least=0.0, scheme=scheme)[0]
    assert {one[:3]: pytest.approx(one.score) for one in found} == expected
    assert [one.score for one in found] == sorted(o.score for o in found)[::-1]


@plain_only
@pytest.mark.parametrize(
    "settings",
    [{}, {"constraints": "BIO"}, {"order": 3}, {"transitions": "observed"}],
    ids=str,
)
def test_distribution_of_higher_order_sums_over_tuples(settings: Any) -> None:
    X = [[{"w": w} for w in words] for words in ("abca", "bb", "a", "")]
    y = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["O"], []]
    model = SequenceTagger("log_loss", **{"order": 2, **settings}).fit(X, y)
    allowed = [[None, ["I-X", "O"], None, None], None, None, None]
    ranked = model.predict_kbest(X, 256, allowed=allowed)
    pairs = model.predict_transitions(X, allowed=allowed)
    spans_of = model.predict_span_marginals(X, at_least=0.0, allowed=allowed)
    classes = model.classes_.tolist()
    for i, ranking in enumerate(ranked):
        scores = np.array([one.score for one in ranking])
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        counts = np.zeros((max(len(X[i]) - 1, 0), len(classes), len(classes)))
        chunks: dict = {}
        for p, (labels, _) in zip(chances, ranking, strict=True):
            codes = [classes.index(label) for label in labels]
            for t, pair in enumerate(pairwise(codes)):
                counts[t][pair] += p
            for span in spans(labels):
                chunks[span] = chunks.get(span, 0.0) + p
        np.testing.assert_allclose(pairs[i], counts, atol=1e-12)
        found = {one[:3]: pytest.approx(one.score) for one in spans_of[i]}
        assert found == chunks
    if "constraints" in settings:
        stuck = [[["O"], ["I-X"]], None]
        with pytest.raises(DataError, match=r"sequence 0: .* labels up to token 1;"):
            model.predict_transitions(X[1:3], allowed=stuck)


@plain_only
def test_distribution_of_segments_knows_what_is_impossible() -> None:
    model, X = cutter()
    possible = [(0, 1, "X"), (1, 3, "Y")]
    long, both = [(0, 3, "X")], [possible, [(0, 3, "X")]]
    found = model.log_probability(X * 2, both)
    assert found[0] > -np.inf
    assert found[1] == -np.inf
    known = model.log_probability(X, [possible], known=[[(0, 1, "X")]])
    assert found[0] < known[0] <= 0.0
    assert long not in model.sample(X, n=50, random_state=1)[0]
