"""The lattice ranker: what it learns, takes, refuses, and saves."""

import contextlib
import copy
import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import problems
from corruption import corruptions, join, split
from partwise import LatticeEdge, LatticeInput, LatticePath, LatticeRanker, load
from partwise.data import read_lattices
from partwise.errors import DataError, ModelFileError
from partwise.metrics.lattices import edit_distance, lattice_scores
from partwise.structures.lattice import ordering
from partwise.structures.lattice.ordering import order_corpus
from partwise.synthetic import make_lattices
from places import GOLDEN

# Compiled, one example each in the docstrings and the guide: see there.
pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

TRAIN = make_lattices(24, 0, max_words=3)
TEST = make_lattices(20, 1, max_words=3)
EDGES = [(0, 1, {"x": 1.0}, "a"), (0, 1, {"y": 1.0}, "b"), (1, 2, {"z": 1.0}, "c")]
TWO = LatticeInput(EDGES)


@pytest.fixture(scope="module")
def ranker():
    return LatticeRanker(C=1.0).fit(TRAIN)


def path_score(ranker, lattice, path):
    """Score a path by the names of its features."""
    weight = dict(zip(ranker.feature_names_, ranker.weights_, strict=True))
    total = 0.0
    for e in path:
        for name, value in lattice.edges[e].features.items():
            if isinstance(value, list):
                total += sum(weight.get(f"{name}={one}", 0.0) for one in value)
            else:
                total += float(value) * weight.get(name, 0.0)
    return total


def test_ranker_learns_what_sound_and_tags_say(ranker):
    assert ranker.score(TRAIN) > 0.9
    by_sound = LatticeRanker().fit([_only_sound(one) for one in TRAIN])
    alone = by_sound.score([_only_sound(one) for one in TEST])
    assert ranker.score(TEST) > alone + 0.1
    assert ranker.certificate_.relative_gap <= 0.01


def _only_sound(lattice):
    edges = [e._replace(features={"sound": e.features["sound"]}) for e in lattice.edges]
    return LatticeInput(edges, *lattice.starts, *lattice.ends, good=lattice.good)


def test_ranker_predicts_the_path_with_the_highest_score(ranker):
    for lattice, path in zip(TEST, ranker.predict(iter(TEST)), strict=True):
        assert lattice.check_path(path.edges) == path.edges
        assert lattice.words_of(path.edges) == path.words
        assert path.score == pytest.approx(path_score(ranker, lattice, path.edges))
        assert path.score >= path_score(ranker, lattice, lattice.good[0]) - 1e-9


def test_ranker_ranks_different_paths_or_different_words(ranker):
    for lattice in TEST:
        [paths] = ranker.predict_kbest([lattice], 20)
        [words] = ranker.predict_kbest([lattice], 20, outputs="words")
        for ranking, key in ((paths, "edges"), (words, "words")):
            assert len({getattr(path, key) for path in ranking}) == len(ranking)
            scores = [path.score for path in ranking]
            assert scores == sorted(scores, reverse=True)
        # The first path with any words is the best one that yields them.
        first = {}
        for path in paths:
            first.setdefault(path.words, path.score)
        for path, (sequence, score) in zip(words, first.items(), strict=False):
            assert path.words == sequence
            assert path.score == pytest.approx(score)
    assert any(
        len({p.words for p in ranking}) < len(ranking)
        for ranking in ranker.predict_kbest(TEST, 20)
    )


def test_ranker_marginals_are_those_of_the_paths(ranker):
    [lattice] = make_lattices(1, 3, max_words=3, n_alternatives=1)
    [paths] = ranker.predict_kbest([lattice], 1000)
    assert len(paths) < 1000
    p = np.exp([path.score for path in paths])
    expected = np.zeros(len(lattice.edges))
    for path, share in zip(paths, p / p.sum(), strict=True):
        expected[list(path.edges)] += share
    [marginals] = ranker.predict_marginals([lattice])
    np.testing.assert_allclose(marginals, expected, atol=1e-10)


def test_ranker_reads_streams_once(ranker):
    seen = []

    def stream():
        for lattice in TRAIN:
            seen.append(lattice.name)
            yield lattice

    again = LatticeRanker(C=1.0).fit(stream(), (one.good for one in TRAIN))
    assert seen == [lattice.name for lattice in TRAIN]
    np.testing.assert_array_equal(again.weights_, ranker.weights_)


def test_ranker_can_be_cross_validated():
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    good = [list(lattice.good) for lattice in TRAIN]
    scores = cross_val_score(LatticeRanker(C=1.0), TRAIN, good, cv=2)
    assert scores.shape == (2,)
    assert scores.min() > 0.2
    settings = LatticeRanker(C=3.0, outputs="words", compare="closest").get_params()
    assert clone(LatticeRanker(**settings)).get_params() == settings


def test_ranker_takes_networkx_graphs():
    graph = nx.MultiDiGraph()
    for source, target, features, words in EDGES:
        graph.add_edge(source, target, features=features, words=words)
    ranker = LatticeRanker(C=1.0).fit([graph], [[1, 2]])
    assert ranker.predict([graph]) == ranker.predict([TWO])
    assert ranker.predict([graph])[0].text == "b c"
    with pytest.raises(DataError, match="lattice 0: the edges of a lattice are direct"):
        ranker.predict([nx.MultiGraph(graph)])


def test_ranker_learns_from_paths_that_were_predicted(ranker):
    """What is closest to the truth among the best is a good path to learn from."""
    ranked = ranker.predict_kbest(TEST, 3)
    again = LatticeRanker(C=1.0).fit(TEST, ranked)
    same = [replace(one, good=paths) for one, paths in zip(TEST, ranked, strict=True)]
    np.testing.assert_array_equal(
        LatticeRanker(C=1.0).fit(same).weights_, again.weights_
    )
    first = LatticeRanker(C=1.0).fit(TEST, ranker.predict(TEST))
    assert first.score(TEST, [path.edges for path in ranker.predict(TEST)]) > 0.9


def test_lattice_input_with_tuples_for_nodes_is_replaced():
    edges = [((0, "a"), (1, "b")), ((0, "c"), (1, "b"))]
    for lattice in (
        LatticeInput(edges, end=(1, "b")),
        LatticeInput(edges[:1], (0, "a"), (1, "b")),
        LatticeInput([(0, 1), (0, 2)]),
    ):
        assert replace(lattice) == lattice
        assert replace(lattice, good=[[0]]).good == ((0,),)


def test_ranker_joins_several_starts_and_ends():
    edges = [
        *[("a", "m", {"a": 1.0}, "a"), ("b", "m", {"b": 1.0}, "b")],
        *[("m", "x", {"x": 1.0}, "x"), ("m", "y", {"y": 1.0}, "y")],
        ("x", "z", {"z": 1.0}, "z"),
    ]
    lattice = LatticeInput(edges, ["a", "b"], ["x", "y", "z"])
    for good in ([1, 2], [0, 2, 4], [1, 3]):
        ranker = LatticeRanker(C=10.0).fit([lattice], [good])
        [path] = ranker.predict([lattice])
        assert path.edges == tuple(good)
        [paths] = ranker.predict_kbest([lattice], 100)
        assert len(paths) == 6
        assert ranker.weights_.size == 5
        [marginals] = ranker.predict_marginals([lattice])
        assert marginals.shape == (5,)
        assert marginals[0] + marginals[1] == pytest.approx(1.0)


def test_ranker_sorts_every_edge_once(ranker, monkeypatch):
    n_sorted = []

    def count(ptr, n_nodes, source, *rest):
        n_sorted.append(source.size)
        return order_corpus(ptr, n_nodes, source, *rest)

    monkeypatch.setattr(ordering, "order_corpus", count)
    ranker.predict(TEST)
    assert sum(n_sorted) == sum(len(lattice.edges) for lattice in TEST)


def test_ranker_costs_are_those_of_edges():
    """A costly edge must be farther from the right one than a cheap one."""
    edges = [(0, 1, {name: 1.0}) for name in "abc"]
    costs = [None, 1.0, 5.0]
    lattice = LatticeInput(
        [LatticeEdge(*edge, cost=cost) for edge, cost in zip(edges, costs, strict=True)]
    )
    ranker = LatticeRanker(loss="hinge", C=100.0, tol=1e-6, max_iter=1000)
    ranker.fit([lattice], [[0]])
    margins = ranker.weights_[0] - ranker.weights_[1:]
    np.testing.assert_allclose(margins, [2.5, 5.0], atol=0.02)


def test_ranker_by_words_takes_all_paths_with_good_words_for_good():
    """The right path is worse than another one with the same words, which is fine."""
    edges = [(0, 1, {"x": 1.0}, "a"), (0, 1, {"y": 1.0}, "a"), (0, 1, {}, "b")]
    lattice = LatticeInput(edges, good=[[0], [1]])
    by_words = LatticeRanker(C=1.0, outputs="words").fit([lattice])
    assert by_words.score([lattice], [[1]]) == 1.0
    ranking = by_words.predict_kbest([lattice])
    assert [path.text for path in ranking[0]] == ["a", "b"]


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        *(("dcd-light", "squared_hinge"), ("eg", "log_loss"), ("lbfgs", "log_loss")),
        *(("frank-wolfe", "hinge"), ("sgd", "hinge"), ("mira-kbest", "hinge")),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ranker_trains_with_solvers_by_name(solver, loss):
    ranker = LatticeRanker(loss, C=1.0, solver=solver, max_iter=10).fit(TRAIN[:8])
    assert ranker.score(TRAIN[:8]) > 0.5


@pytest.mark.parametrize("compare", ["worst", "closest"])
def test_ranker_separates_sets_of_good_paths_by_linear_programs(compare):
    """Every good path scores more than every bad one, with few weights."""
    chosen, good = [], []
    for lattice in TRAIN[:10]:
        [paths] = LatticeRanker.with_weights({}).predict_kbest([lattice], 1000)
        right = lattice.words_of(lattice.good[0])
        same = [path.edges for path in paths if path.words == right]
        good.append([lattice.good[0], *(e for e in same if e != lattice.good[0])])
        chosen.append(lattice)
    assert max(map(len, good)) > 1
    ranker = LatticeRanker(
        "hinge", C=10.0, penalty="l1", margin="unit", compare=compare, tol=1e-3
    ).fit(chosen, good)
    assert ranker.certificate_.relative_gap <= 1e-3
    assert np.count_nonzero(ranker.weights_) < ranker.weights_.size / 2
    if compare == "worst":
        for paths, right in zip(ranker.predict_kbest(chosen, 1000), good, strict=True):
            scores = {path.edges: path.score for path in paths}
            worst = min(scores.pop(path) for path in right)
            assert worst >= max(scores.values()) + 0.99


def test_ranker_stops_by_development_data(ranker):
    fitted = LatticeRanker(C=1.0, max_iter=8, tol=1e-9, patience=8)
    with pytest.warns(UserWarning, match="stopped after"):
        fitted.fit(TRAIN, dev=TEST)
    scores = fitted.trace_["dev_score"]
    assert fitted.score(TEST) == pytest.approx(scores.max())
    seen = []

    def minus_errors(good, predicted):
        seen.append(predicted)
        pairs = zip(good, predicted, strict=True)
        return -float(sum(edit_distance(g[0].words, p.words) for g, p in pairs))

    LatticeRanker(C=1.0, tol=0.5, dev_metric=minus_errors).fit(
        TRAIN, dev=(TEST, [one.good for one in TEST])
    )
    assert all(isinstance(path, LatticePath) for path in seen[-1])


def test_ranker_takes_weights_that_are_known(ranker, tmp_path):
    names = ranker._encoder._nodes.keys_by_id()
    weights = {
        name if value is None else (name, value): weight
        for (name, value), weight in zip(names, ranker.weights_, strict=True)
    }
    given = LatticeRanker.with_weights(weights)
    assert given.predict(TEST) == ranker.predict(TEST)
    given.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(TEST) == given.predict(TEST)
    for lattice, path in zip(TEST, given.predict(TEST), strict=True):
        by_name = dict(zip(ranker.feature_names_, ranker.weights_, strict=True))
        features = lattice.features_of(path.edges)
        score = sum(x * by_name.get(name, 0.0) for name, x in features.items())
        assert score == pytest.approx(path.score)


@pytest.mark.parametrize(
    ("weights", "settings", "message"),
    [
        ({"x": np.nan}, {}, "the weight of 'x' must be finite"),
        ({3: 1.0}, {}, "3 is neither a name"),
        (["x"], {}, "weights must be a dict by names"),
        ({"x": 1.0}, {"hash_bits": 8}, "hash_bits"),
    ],
)
def test_ranker_refuses_weights(weights, settings, message):
    with pytest.raises(ValueError, match=message):
        LatticeRanker.with_weights(weights, **settings)


# --- what is refused -----------------------------------------------------------------

CYCLE = LatticeInput([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")], "a", "d")


@pytest.mark.parametrize(
    ("lattices", "good", "message"),
    [
        ([], [], "there are no lattices to learn from"),
        (TWO, [[0, 2]], "lattices must be a list of lattices, not LatticeInput"),
        ([42], [[0]], "lattice 0: expected a LatticeInput or a networkx"),
        ([TWO], None, r"lattice 0: it has no good path \(give it one"),
        ([TWO], [[]], "lattice 0: it has no good path"),
        ([TWO], [], "lattice 0: there are good paths for only 0 lattices"),
        ([TWO], [[0, 2], [0, 2]], "there are 1 lattices, but good paths for more"),
        ([TWO], [[0, 2], None], "there are 1 lattices, but good paths for more"),
        ([TWO], [None], "lattice 0: good paths must be lists of numbers"),
        ([TWO], 5, "good paths must be a list, with those of every lattice, not 5"),
        (["02"], [[0]], "lattice 0: expected a LatticeInput or a networkx"),
        ([TWO], ["02"], "lattice 0: good paths must be lists of numbers"),
        (
            [TWO],
            [[0, 1]],
            r"path \[0, 1\] is broken: edge 0 leads to 1, but edge 1 b",
        ),
        ([TWO], [[2]], r"lattice 0: path \[2\] begins at 1, which is not a start"),
        ([TWO], [[0]], r"lattice 0: path \[0\] ends at 1, which is not an end"),
        ([TWO], [[0, 7]], "names edge 7, but there are 3, counted from 0"),
        ([TWO], [[[0, 2], [1, 2]]], "lattice 0: all its paths are good"),
        ([CYCLE], [[0, 1, 3]], "lattice 0: its edges form a cycle: 'b' -> 'c' -> 'b'"),
        (
            [LatticeInput([(0, 1, {"x": 1}), (2, 3)], 0, 3)],
            [[0]],
            r"lattice 0: path \[0\] ends at 1, which is not an end",
        ),
        (
            [LatticeInput([(0, 1, {"x": np.nan}), (0, 1)])],
            [[0]],
            "lattice 0, edge 0: feature 'x' has the value nan",
        ),
        (
            [LatticeInput([(0, 1, {"x": 1e300}), (0, 1)])],
            [[0]],
            "lattice 0, edge 0: its features must be finite numbers",
        ),
        ([LatticeInput([(0, 1), (0, 1)])], [[0]], "no edge has a feature"),
        (
            [LatticeInput([(0, 1, {"x": 1}), (0, 1, {}, (), 0.0)])],
            [[0]],
            "no edge costs anything",
        ),
        (
            [LatticeInput([(0, 1, {"x": 1}, (), 2.0), (0, 1)], name="s7")],
            [[0]],
            "s7: edge 0 lies on the right path",
        ),
    ],
)
def test_ranker_refuses(lattices, good, message):
    with pytest.raises(DataError, match=message):
        LatticeRanker().fit(lattices, good)


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ([(0, 1)], {"end": 5}, "its end 5 is not one of its nodes"),
        ([(0, 1)], {"nodes": [0]}, "edge 0 names node 1, which is not among its 1 no"),
        ([(0, 1), (1, 0)], {}, "it has no start: its edges form a cycle"),
        ([], {}, "it has no start and no edges"),
        ([(0,)], {}, "edge 0 must be a LatticeEdge or a tuple"),
        ([(0, 1, {}, [3])], {}, "edge 0: its words must be strings, not 3"),
        ([(0, 1, {}, 3)], {}, "edge 0: its words must be a string or a list, not 3"),
        ([(0, 1, {}, None)], {}, "edge 0: its words must be a string or a list"),
        ([(0, 1, {}, "a", -1)], {}, r"edge 0: its cost must be a number from 0 to 1e"),
        ([(0, 1, {}, "a", "x")], {}, "edge 0: its cost must be a number .* not 'x'"),
        ([(0, 1, {}, "a", 10**400)], {}, "edge 0: its cost must be a number"),
        ([(0, 1, {}, "a", np.nan)], {}, "edge 0: its cost must be a number .* not nan"),
        ([(0, 1)], {"nodes": [0, [1]]}, r"\[1\] cannot be a node"),
        ([(0, 1)], {"nodes": 2}, "its nodes must be a list of nodes, not 2"),
        ([(0, 1)], {"start": {"a": 0}}, "{'a': 0} cannot be a node"),
        ([(0, 1)], {"end": ([1], 2)}, r"\(\[1\], 2\) cannot be a node"),
        ([(0, 1)], {"start": ()}, "it has no start"),
        ([(0, 1)], {"good": 0}, "its good paths must be a list of paths, not 0"),
        ([(0, 1)] * 2, {"good": [[True]]}, "a path must be a list of numbers of edges"),
        (None, {}, "its edges must be a list of edges, not None"),
        ([(0, [1])], {}, r"edge 0: \[1\] cannot be a node"),
        ([(0, float("nan"))], {}, "edge 0: nan cannot be a node"),
        ([(0, 1)], {"good": [["a"]]}, "a path must be a list of numbers of edges"),
        ("abc", {}, "its edges must be a list"),
    ],
)
def test_lattice_input_refuses(edges, options, message):
    with pytest.raises(DataError, match=f"^L: {message}"):
        LatticeInput(edges, name="L", **options)


@pytest.mark.parametrize(
    ("edges", "start", "end", "message"),
    [
        ([(0, 1), (2, 3)], 0, 3, "no path leads to its end: 0 -> 3"),
        ([(0, 1), (2, 3)], [0], [1, 3], "no path leads to its end 3"),
        ([(0, 1), (2, 3)], [0, 2], [1], "no path leads from its start 2 to an end"),
    ],
)
def test_ranker_refuses_ends_that_no_path_reaches(ranker, edges, start, end, message):
    with pytest.raises(DataError, match=f"lattice 0: {message}"):
        ranker.predict([LatticeInput(edges, start, end)])


PROGRAM = {"loss": "hinge", "penalty": "l1"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"outputs": "edges"}, "outputs must be 'paths' or 'words', not 'edges'"),
        ({"dev_metric": "good_path"}, "did you mean 'good_paths'"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"solver": "eg", "loss": "squared_hinge"}, "squared_hinge"),
        ({"compare": "closest"}, "compare='closest' is for loss='hinge' with penalty="),
        (
            {**PROGRAM, "compare": "closest", "outputs": "words"},
            "is for outputs='paths",
        ),
        ({**PROGRAM, "compare": "best"}, "compare must be 'worst' or 'closest'"),
        ({**PROGRAM, "distance": "far"}, "distance must be 'parts', 'features' or"),
        ({**PROGRAM, "solver": "mira"}, "mira cannot minimise 'hinge' with penalty="),
        ({"positive": True}, "positive=True is for loss='hinge' with penalty='l1'"),
        ({"margin": "unit"}, "margin='unit' is for loss='hinge' with penalty='l1'"),
    ],
)
def test_ranker_refuses_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        LatticeRanker(**settings).fit(TRAIN)


def test_ranker_refuses_to_predict_nothing_known(ranker):
    with pytest.raises(ValueError, match="not fitted yet"):
        LatticeRanker().predict(TEST)
    with pytest.raises(ValueError, match="outputs must be"):
        ranker.predict_kbest(TEST, outputs="words?")
    with pytest.raises(ValueError, match="k must be an integer"):
        ranker.predict_kbest(TEST, 0)
    with pytest.raises(ValueError, match="k must be an integer"):
        ranker.predict_kbest(TEST, True)
    assert ranker.predict([]) == []


# --- saving --------------------------------------------------------------------------


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_ranker_is_saved_and_loaded(tmp_path, hash_bits):
    ranker = LatticeRanker(outputs="words", hash_bits=hash_bits).fit(TRAIN)
    ranker.save(tmp_path / "r.partwise")
    again = load(tmp_path / "r.partwise")
    assert again.predict(TEST) == ranker.predict(TEST)
    assert again.outputs == "words"
    assert again.certificate_ == ranker.certificate_
    assert pickle.loads(pickle.dumps(again)).predict(TEST) == ranker.predict(TEST)
    assert copy.deepcopy(TEST) == TEST


@pytest.mark.parametrize("version", [1])
def test_ranker_files_of_every_version_still_load(version):
    path = GOLDEN / f"ranker-{version}.partwise"
    ranker = load(path)
    lattices = read_lattices(path.with_suffix(".jsonl"))
    ranked = ranker.predict_kbest(lattices, 3)
    assert [tuple(p.edges for p in best) for best in ranked] == [
        lattice.good for lattice in lattices
    ]
    assert 0 < np.count_nonzero(ranker.weights_) < ranker.weights_.size / 2
    assert ranker.bound_ > 0


def test_ranker_says_when_all_weights_are_zero():
    ranker = LatticeRanker(**PROGRAM, C=1e-3).fit(TRAIN[:4])
    assert not ranker.weights_.any()
    assert "are not zero; C may be too small" in ranker.status_


def test_ranker_refuses_damaged_files(ranker, tmp_path):
    path = tmp_path / "r.partwise"
    ranker.save(path)
    whole = path.read_bytes()
    for damaged in corruptions(whole, 60, seed=0):
        path.write_bytes(damaged)
        # What was forged may make sense: another number, say.
        with contextlib.suppress(ModelFileError):
            assert len(load(path).predict(TEST[:2])) == 2
    header, body = split(whole)
    header["partwise"]["settings"]["params"]["outputs"] = "pathz"
    path.write_bytes(join(header, body))
    with pytest.raises(ModelFileError, match="outputs must be 'paths' or 'words'"):
        load(path)


# --- metrics -------------------------------------------------------------------------


def test_edit_distance_is_the_fewest_changes():
    """By its definition, for all pairs of short sequences and one long pair."""

    def fewest(a, b):
        if not a or not b:
            return len(a) + len(b)
        other = fewest(a[1:], b[1:]) + (a[0] != b[0])
        return min(other, fewest(a[1:], b) + 1, fewest(a, b[1:]) + 1)

    rng = np.random.default_rng(0)
    for _ in range(40):
        a, b = (rng.choice(["x", "y", "z"], rng.integers(0, 5)).tolist() for _ in "ab")
        assert edit_distance(a, b) == fewest(a, b)
    words = [str(n) for n in rng.integers(0, 9, 3000)]
    assert edit_distance(words[1:], [*words[:-3], "!"]) == 4


def test_lattice_scores_compare_with_the_closest_good_path():
    good = [
        [LatticePath((0, 1), ("a", "b")), LatticePath((2,), ("a", "c"))],
        [LatticePath((5, 6, 7), ("x", "y", "z"))],
    ]
    found = [LatticePath((2,), ("a", "c")), LatticePath((5, 8), ("x", "w"))]
    scores = lattice_scores(good, found)
    assert (scores.good_paths, scores.good_words) == (0.5, 0.5)
    assert scores.word_error_rate == pytest.approx(2 / 5)
    assert scores.edge_precision == pytest.approx(2 / 3)
    assert scores.edge_recall == pytest.approx(2 / 4)
    assert scores.edge_f1 == pytest.approx(4 / 7)
    without = lattice_scores([[LatticePath((0,), ())]], [LatticePath((0,), ())])
    assert without.word_error_rate is None
    with pytest.raises(DataError, match="good paths of 1 lattices, but 2"):
        lattice_scores(good[:1], found)
