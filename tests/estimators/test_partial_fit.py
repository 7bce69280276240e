"""Learning on: the model of all examples so far, whatever batches they came in."""

import io
from itertools import chain

import networkx as nx
import numpy as np
import pytest

import partwise
from partwise import (
    ConstituencyParser,
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
from partwise.errors import DataError
from problems import plain_only

pytestmark = plain_only

RNG = np.random.default_rng(0)
WORDS = [f"w{RNG.integers(12)}" for _ in range(60)]
X = [
    [{"w": WORDS[(5 * i + t) % 60], "t": t} for t in range(1 + i % 4)]
    for i in range(12)
]
y = [["AB"[hash_ % 2] for hash_ in [int(tok["w"][1:]) for tok in x]] for x in X]


def batches(n=3):
    return [(X[i::n], y[i::n]) for i in range(n)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "log_loss"},
        {"loss": "hinge"},
        {"solver": "perceptron", "max_iter": 5},
        {"min_count": 2},
    ],
    ids=str,
)
def test_partial_fit_is_the_model_of_all_examples(settings) -> None:
    tol = 1e-3
    model = SequenceTagger(tol=tol, C=1.0, **settings)
    for some in batches():
        assert model.partial_fit(*some) is model
    assert not model.warm_start
    together = [list(chain(*(some[k] for some in batches()))) for k in (0, 1)]
    whole = SequenceTagger(tol=tol, C=1.0, **settings).fit(*together)
    assert model.weights_.shape == whole.weights_.shape
    if whole.certificate_ is None:
        return
    mine, other = model.certificate_, whole.certificate_
    assert mine.relative_gap <= tol
    assert mine.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= mine.primal * (1 + 1e-9)


@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        ("squared_hinge", "dcd-ssvm"),
        ("squared_hinge", "cpd"),
        ("hinge", "frank-wolfe"),
        ("hinge", "smo"),
        ("hinge", "smo-eg"),
        ("hinge", "eg"),
        ("log_loss", "eg"),
        ("log_loss", "eg-batch"),
        ("log_loss", "sdca"),
    ],
)
def test_partial_fit_goes_on_from_the_dual_point_it_has(loss, solver) -> None:
    settings = {"loss": loss, "solver": solver, "C": 1.0, "tol": 0.05}
    model = SequenceTagger(**settings).partial_fit(X[:10], y[:10])
    before = model.certificate_.dual
    model.partial_fit(X[10:], y[10:])
    # The duals of before are feasible in the problem of all, and worth the same.
    duals = model.trace_["dual"]
    assert duals[np.isfinite(duals)][0] >= 0.99 * before
    whole = SequenceTagger(**settings).fit(X, y)
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)
    assert whole.certificate_.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.relative_gap <= 0.05


def test_partial_fit_gives_new_features_and_labels_weights() -> None:
    model = SequenceTagger().partial_fit([[["a"], ["b"]]], [["A", "B"]])
    model.partial_fit([[["c"], ["a"]]], [["0", "A"]])
    assert model.classes_.tolist() == ["0", "A", "B"]
    assert model.predict([[["c"], ["a"]]]) == [["0", "A"]]
    assert model.predict([[["a"], ["b"]]]) == [["A", "B"]]


def test_partial_fit_goes_on_with_labels_that_were_announced() -> None:
    a, b = ([[["a"], ["b"]]], [["A", "B"]]), ([[["c"], ["a"]]], [["0", "A"]])
    model = SequenceTagger("log_loss").partial_fit(*a, classes=["0", "A"])
    assert model.classes_.tolist() == ["0", "A", "B"]
    before = model.certificate_.dual
    model.partial_fit(*b)
    duals = model.trace_["dual"]
    assert duals[np.isfinite(duals)][0] >= 0.99 * before
    whole = SequenceTagger("log_loss").fit(a[0] + b[0], a[1] + b[1])
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)
    assert whole.certificate_.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.fit(*a).classes_.tolist() == ["A", "B"]


def test_partial_fit_after_fit_starts_with_its_own_examples() -> None:
    model = SequenceTagger().fit(X, y)
    with pytest.warns(UserWarning, match="starts anew with these"):
        model.partial_fit(X[:4], y[:4])
    alone = SequenceTagger().fit(X[:4], y[:4])
    assert model.weights_.shape == alone.weights_.shape
    assert model._input.names() == alone._input.names()


def test_partial_fit_refuses_other_kinds_of_features() -> None:
    model = SequenceTagger().partial_fit(X[:4], y[:4])
    before = model.weights_
    with pytest.raises(DataError, match="seen so far are dicts, these are numbers"):
        model.partial_fit([np.zeros((2, 3))], [["A", "B"]])
    with pytest.raises(DataError, match="y was given for some examples, but not"):
        model.partial_fit(X[:4])
    assert model.weights_ is before
    classes = MulticlassClassifier().partial_fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="X has 2 features, but Multiclass"):
        classes.partial_fit(np.eye(2), [0, 1])
    rows = MulticlassClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    with pytest.raises(DataError, match="X has 1 features"):
        rows.partial_fit([[1.0]], ["a"])


def test_partial_fit_weighs_examples_of_all_calls() -> None:
    a, b = np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]])
    model = MulticlassClassifier(loss="log_loss", tol=1e-6).partial_fit(a, [0, 1])
    model.partial_fit(b, [1, 0], sample_weight=[2.0, 0.5])
    rows = np.concatenate([a, b])
    whole = MulticlassClassifier(loss="log_loss", tol=1e-6)
    whole.fit(rows, [0, 1, 1, 0], [1, 1, 2, 0.5])
    np.testing.assert_allclose(model.weights_, whole.weights_, atol=1e-2)


@pytest.mark.parametrize(
    ("loss", "solver", "penalty"),
    [
        ("squared_hinge", "auto", "l2"),
        ("hinge", "frank-wolfe", "l2"),
        ("hinge", "smo", "l2"),
        ("log_loss", "eg", "l2"),
        ("log_loss", "sdca", "elasticnet"),
    ],
)
def test_forgetting_keeps_the_weights_of_what_is_gone(loss, solver, penalty) -> None:
    settings = {"loss": loss, "penalty": penalty, "tol": 1e-3, "C": 1.0}
    settings["l1_ratio"] = 0.1 if penalty == "elasticnet" else 0.0
    model = SequenceTagger(solver=solver, max_iter=500, **settings).fit(X[:8], y[:8])
    kept, before = model.weights_, model.predict(X)
    new_X, new_y = [[{"w": "w0"}, {"w": "new"}]], [["A", "C"]]
    model.partial_fit(new_X, new_y, forget=True)
    assert model.classes_.tolist() == ["A", "B", "C"]
    # More of what it knew is still known than new examples alone would teach.
    alone = SequenceTagger(solver=solver, max_iter=500, **settings).fit(new_X, new_y)
    old = list(chain(*before))
    same = [
        np.mean([a == b for a, b in zip(chain(*one.predict(X)), old, strict=True)])
        for one in (model, alone)
    ]
    assert same[0] > same[1]
    assert model.predict(new_X) == new_y
    assert 0.0 <= model.certificate_.relative_gap <= 1e-3
    # The objective is that of the new examples around the earlier weights.
    origin = model._start
    w0 = model._pull() if penalty == "l2" else None
    if w0 is not None:
        assert np.sort(w0[w0 != 0]).tolist() == np.sort(kept[kept != 0]).tolist()
        problem = problem_of(model, new_X, new_y)
        distance = 0.5 * float(np.sum((model.weights_ - w0) ** 2))
        primal = distance + float(problem.C @ problem.values(model.weights_))
        assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert origin._seen is None


def problem_of(model, X, y):
    from partwise.solvers.base import make_problem

    gold = model._labels.encode(list(chain(*y)), "y")
    corpus = model._chain(model._input.encode(X), gold)
    return make_problem(corpus, model._make_loss(corpus), model.C_)


def test_forgetting_nothing_new_changes_nothing() -> None:
    rows = np.eye(3)
    model = MulticlassClassifier(tol=1e-6).fit(rows, [0, 1, 2])
    kept = model.weights_
    model.partial_fit(rows[:1], [0], sample_weight=[1e-9], forget=True)
    np.testing.assert_allclose(model.weights_, kept, atol=1e-6)


def test_forgetting_twice_and_then_remembering() -> None:
    model = SequenceTagger().fit(X[:6], y[:6])
    for some in (slice(6, 8), slice(8, 10)):
        model.partial_fit(X[some], y[some], forget=True)
    model.partial_fit(X[10:], y[10:])
    assert len(model._seen.X) == 4
    assert model.score(X, y) > 0.8


def sentences(*rows):
    """Read trees off words with tags, heads and labels: ``dogs/N/2/s bark/V/0/r``."""
    lines = []
    for row in rows:
        for t, word in enumerate(row.split(), 1):
            form, tag, head, label = word.split("/")
            lines.append(f"{t}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_")
        lines.append("")
    return read_trees(io.StringIO("\n".join([*lines, ""])))


def brackets(*trees):
    return read_brackets(io.StringIO("\n".join(trees)))


def coloured(colours):
    """Return a path whose nodes have colours, and edges that of their second node."""
    graph = nx.path_graph(len(colours))
    nx.set_node_attributes(graph, dict(enumerate(colours)), "colour")
    edges = {(v, v + 1): colours[v + 1] for v in range(len(colours) - 1)}
    nx.set_edge_attributes(graph, edges, "to")
    return graph


def choices(*words):
    """Return a lattice of one edge for every word."""
    edges = [(0, 1, {"word": w, "length": len(w)}, w) for w in words]
    return LatticeInput(edges)


# For every kind: a model, examples to forget, and new ones with features and labels,
# rules or kinds that come before and after those of the old ones.
FORGETFUL = {
    "dicts": (
        SequenceTagger(),
        (X[:4], y[:4]),
        ([[{"w": "a"}, {"z": 1}]], [["0", "C"]]),
    ),
    "classes": (
        MulticlassClassifier(),
        ([["a"], ["b"], ["a", "c"]], ["x", "y", "z"]),
        ([["0"], ["d"]], ["a", "y"]),
    ),
    "arcs": (
        DependencyParser(hash_bits=8),
        (sentences("dogs/N/2/s bark/V/0/r", "see/V/0/r it/N/1/o"), None),
        (sentences("a/D/2/d dog/N/0/z"), None),
    ),
    "phrases": (
        ConstituencyParser(hash_bits=6),
        (
            brackets(
                "(S (NP (N a)) (VP (V b) (NP (N a) (PP (P c) (N a)))))",
                "(S (NP (N a)) (VP (V b) (NP (N d)) (PP (P c) (N d))))",
            ),
            None,
        ),
        (brackets("(S (ADV now) (NP (N d)) (VP (V b) (X (P c) (N a))))"), None),
    ),
    "segments": (
        SegmentTagger(template="words,neighbours:1"),
        (
            [list("thedog"), list("adog")],
            [[(0, 3, "M"), (3, 6, "N")], [(0, 1, "M"), (1, 4, "N")]],
        ),
        ([list("cats")], [[(0, 1, "A"), (1, 4, "N")]]),
    ),
    "nodes": (
        GraphLabeler(),
        ([coloured("bgb"), coloured("gr")], [list("mnm"), list("no")]),
        ([coloured("ab")], [list("am")]),
    ),
    "paths": (
        LatticeRanker(min_count=1),
        ([choices("the", "teh"), choices("of", "off", "fo")], [[0], [0]]),
        ([choices("a", "an", "the")], [[1]]),
    ),
}


@pytest.mark.parametrize("kind", FORGETFUL)
def test_every_kind_can_forget(kind, tmp_path) -> None:
    model, old, new = FORGETFUL[kind]
    model = model.set_params(tol=1e-3, C=1.0).fit(*old)
    before = [model.predict(old[0]), np.sort(model.weights_[model.weights_ != 0])]
    assert before[1].size
    model.save(tmp_path / "m.partwise")
    # New examples that hardly count leave old weights, which have new places by now.
    n_weights = model.weights_.size
    for one in (model, partwise.load(tmp_path / "m.partwise")):
        hardly = np.full(len(new[0]), 1e-12)
        one.partial_fit(*new, sample_weight=hardly, forget=True)
        assert one.weights_.size >= n_weights
        kept = np.sort(one._pull()[one._pull() != 0])
        np.testing.assert_array_equal(kept, before[1])
        for found, known in zip(one.predict(old[0]), before[0], strict=True):
            if kind == "paths":
                found, known = found.words, known.words
            assert found == known
    # Those that count are learnt, with a certificate.
    model.partial_fit(*new, forget=True)
    assert 0.0 <= model.certificate_.relative_gap <= 1e-3
    assert model.score(*(part for part in new if part is not None)) > 0.6


def test_what_cannot_forget_says_so() -> None:
    hmm = HiddenMarkovModel(objective="likelihood").fit([["a", "b"]], [["A", "B"]])
    with pytest.raises(ValueError, match="HiddenMarkovModel needs its examples"):
        hmm.partial_fit([["a"]], [["A"]], forget=True)
    trees = sentences("dogs/N/2/s bark/V/0/r")
    parser = DependencyParser(hash_bits=8).fit(trees)
    with pytest.raises(DataError, match="other features of arcs"):
        parser.set_params(hash_bits=9).partial_fit(trees, forget=True)
    with pytest.raises(DataError, match="weights for 'r', which its settings now"):
        parser.set_params(hash_bits=8, labelled=False).partial_fit(trees, forget=True)
    trees = brackets("(S (N a) (V b))")
    phrases = ConstituencyParser(hash_bits=6).fit(trees)
    with pytest.raises(DataError, match="other settings of horizontal"):
        phrases.set_params(vertical=2).partial_fit(trees, forget=True)
    cuts = SegmentTagger(pairs="observed").fit([[["a"]]], [[(0, 1, "A")]])
    with pytest.raises(ValueError, match="needs all examples"):
        cuts.partial_fit([[["a"]]], [[(0, 1, "A")]], forget=True)
    graphs = GraphLabeler().fit([coloured("ab")], [["A", "B"]])
    with pytest.raises(DataError, match="learnt from undirected graphs"):
        graphs.partial_fit([coloured("ab").to_directed()], [["A", "B"]], forget=True)
    model = SequenceTagger(loss="log_loss").fit(X, y)
    with pytest.raises(DataError, match="learnt from dicts, these are dense"):
        model.partial_fit([np.zeros((2, 3))], [["A", "B"]], forget=True)
    with pytest.raises(ValueError, match=r"lbfgs cannot learn on .* use eg"):
        model.set_params(solver="lbfgs").partial_fit(X, y, forget=True)
    with pytest.raises(ValueError, match="X has 2 features, but the model has learnt"):
        MulticlassClassifier().fit(np.eye(3), [0, 1, 2]).partial_fit(
            np.eye(2), [0, 1], forget=True
        )


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_fit_with_warm_start_goes_on_with_more_data(loss) -> None:
    settings = {"loss": loss, "C": 1.0}
    model = SequenceTagger(warm_start=True, **settings).fit(X[:10], y[:10])
    before = model.certificate_.dual
    model.fit(X, y)
    duals = model.trace_["dual"]
    assert duals[np.isfinite(duals)][0] >= 0.99 * before
    whole = SequenceTagger(**settings).fit(X, y)
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)
    assert model.weights_.shape == whole.weights_.shape
    # Other data is other data.
    model.fit(X[5:], y[5:])
    assert model._input.names() == SequenceTagger().fit(X[5:], y[5:])._input.names()


def test_partial_fit_of_parsers_joins_sentences() -> None:
    one = "1\tdogs\t_\tN\t_\t_\t2\ts\t_\t_\n2\tbark\t_\tV\t_\t_\t0\tr\t_\t_\n\n"
    other = "1\tdo\t_\tV\t_\t_\t0\tr\t_\t_\n2\tit\t_\tN\t_\t_\t1\to\t_\t_\n\n"
    trees = [read_trees(io.StringIO(text)) for text in (one, one, other)]
    parser = DependencyParser(hash_bits=10)
    for some in trees:
        parser.partial_fit(some)
    assert parser.classes_.tolist() == ["o", "r", "s"]
    assert parser.score(list(chain(*trees))) == 1.0


def test_partial_fit_joins_vectors_beside_words() -> None:
    words = [[["a"], ["b"]], [["c"]]]
    matrices = [np.eye(3)[:2], np.ones((1, 3))]
    labels = [["A", "B"], ["A"]]
    model = SequenceTagger(tol=1e-4)
    for i in range(2):
        model.partial_fit((words[i : i + 1], matrices[i : i + 1]), labels[i : i + 1])
    whole = SequenceTagger(tol=1e-4).fit((words, matrices), labels)
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)
    assert whole.certificate_.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.predict((words, matrices)) == labels
    with pytest.raises(DataError, match="a matrix was given for some"):
        model.partial_fit(words, labels)
    with pytest.raises(DataError, match="have 4 columns, expected 3"):
        model.partial_fit((words[:1], [np.ones((2, 4))]), labels[:1])
    rows = MulticlassClassifier()
    for some in (slice(2), slice(2, 3)):
        rows.partial_fit(([["a"], ["a"], ["a"]][some], np.eye(3)[some]), [*"xyx"][some])
    assert rows.predict(([["a"]] * 3, np.eye(3))).tolist() == ["x", "y", "x"]
