"""The dependency parser: what it learns, predicts and explains.

Parsers compile for long: nearly everything here runs in plain Python, once, from the
compiled suite.
"""

import copy
import functools
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import problems
from all_trees import all_trees, is_tree
from partwise import DependencyParser
from partwise.data import Sentence
from partwise.errors import PairingError
from partwise.estimators.dependency import parser as dependency_parser
from partwise.solvers import Perceptron
from partwise.trees import is_projective
from small_treebank import short_sentences

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

TRAIN, TEST = short_sentences(6), short_sentences(4, seed=7)
KINDS = [
    {"projective": projective, "single_root": single, "labelled": labelled}
    for projective, single, labelled in itertools.product([True, False], repeat=3)
]
kinds = pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: "-".join(k for k, on in kind.items() if on) or "any"
)


# What an arc looks at is for test_parser_features, and all of it for the pages; most of
# the time in plain Python would go into these sums.
FEW: dict[str, Any] = {"features": "tags"}


def quick(**changed: Any) -> DependencyParser:
    return DependencyParser(
        **FEW | {"solver": "perceptron", "max_iter": 3, "hash_bits": 12} | changed
    )


def exact(**changed: Any) -> DependencyParser:
    """Make a parser whose weights are those of the minimum."""
    how = {"loss": "log_loss", "solver": "lbfgs", "tol": 1e-9, "C": 0.5}
    return DependencyParser(
        **FEW | {"hash_bits": 10, "labelled": False} | how | changed
    )


def words(n: int, **columns: Any) -> Sentence:
    forms = [f"w{m}" for m in range(n)]
    tags = [("NOUN", "VERB", "DET")[m % 3] for m in range(n)]
    return Sentence.from_columns(forms=forms, upos=tags, **columns)


@functools.cache
def shown_two(**kind: bool) -> DependencyParser:
    return quick(max_iter=1, **kind).fit(TRAIN[:2])


def with_random_weights(
    kind: dict[str, bool], seed: int, scale: float = 1.0
) -> DependencyParser:
    """Make a parser that has learnt nothing in particular."""
    parser = copy.copy(shown_two(**kind))
    parser.weights_ = scale * np.random.default_rng(seed).normal(
        size=parser.weights_.size
    )
    return parser


def legal_trees(n: int, kind: dict[str, bool]) -> list[tuple[int, ...]]:
    return [
        tuple(heads)
        for heads in all_trees(n, kind["single_root"]).tolist()
        if not kind["projective"] or is_projective(heads)
    ]


# --- learning ---


@plain
@kinds
def test_parser_learns_what_it_was_shown(kind: dict[str, bool]) -> None:
    # Without averaging, it ends with weights that are right about every sentence.
    solver = Perceptron(averaging=False)
    parser = quick(solver=solver, max_iter=50, **kind).fit(TRAIN)
    assert parser.score(TRAIN) == 1.0
    if kind["labelled"]:
        assert parser.score(TRAIN, metric="las") == 1.0
        assert set(parser.classes_) == {label for s in TRAIN for label in s.labels}
    else:
        assert parser.classes_.size == 0
        assert parser.predict(TEST)[0].labels is None


@plain
def test_parser_does_better_on_new_sentences_than_before_training() -> None:
    parser = quick(max_iter=4).fit(short_sentences(20))
    learnt = parser.score(TEST)
    parser.weights_ = np.zeros_like(parser.weights_)
    assert learnt > parser.score(TEST) + 0.2


@plain
@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        *(("cpd", "squared_hinge"), ("dcd-light", "squared_hinge")),
        *(("frank-wolfe", "hinge"), ("cutting-plane", "hinge"), ("smo", "hinge")),
        *(("eg", "log_loss"), ("sdca", "log_loss"), ("lbfgs", "log_loss")),
        *(("cg", "log_loss"), ("sgd", "log_loss"), ("sgd", "hinge")),
        *(("mira", "hinge"), ("mira-kbest", "hinge"), ("eg", "hinge")),
        *(("eg-batch", "log_loss"), ("eg-primal", "log_loss")),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parser_goes_with_the_solver(solver: str, loss: str) -> None:
    how = {"C": 0.1, "tol": 0.1, "max_iter": 6}
    parser = quick(solver=solver, loss=loss, labelled=False, **how).fit(TRAIN[:2])
    assert parser.score(TRAIN[:2]) > 0.8


@plain
def test_parser_solvers_of_the_log_loss_find_the_same_weights() -> None:
    one = exact().fit(TRAIN[:3])
    other = exact(solver="eg", tol=1e-7, max_iter=500).fit(TRAIN[:3])
    assert other.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-6)
    assert_allclose(one.weights_, other.weights_, atol=2e-3)


@plain
def test_parser_refuses_a_solver_that_needs_scores_from_marginals() -> None:
    with pytest.raises(PairingError, match=r"gibbs_scores.*DependencyTrees"):
        quick(solver="smo-eg", loss="hinge").fit(TRAIN)


@plain
def test_parser_sample_weight_zero_leaves_out_and_two_repeats() -> None:
    a, b, c = TRAIN[:3]
    weighted = exact().fit([a, b, c], sample_weight=[2, 0, 1])
    repeated = exact().fit([a, a, c])
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-4)


@plain
def test_parser_costs_of_punctuation_can_be_nothing() -> None:
    heads = [2, 0, 2]
    tree = Sentence.from_columns(
        forms=["dogs", "bark", "."], upos=["NOUN", "VERB", "PUNCT"], heads=heads
    )
    corpus = quick(punctuation_weight=0.0)._prepare([tree]).structure
    assert corpus.word_weight.tolist() == [1.0, 1.0, 0.0]
    assert quick()._prepare([tree]).structure.word_weight.size == 0


@plain
def test_parser_stops_early_at_its_best_on_development_data() -> None:
    parser = quick(max_iter=50, patience=2).fit(TRAIN, dev=TEST)
    scores = parser.trace_["dev_score"]
    assert len(scores) < 50
    assert parser.score(TEST, metric="las") == max(scores) > min(scores)


@plain
def test_parser_development_score_is_the_metric_that_was_asked_for() -> None:
    seen = []

    def metric(gold: Any, found: Any) -> float:
        seen.append((gold, found))
        return float(len(seen))

    quick(dev_metric=metric).fit(TRAIN[:2], dev=TEST)
    gold, found = seen[-1]
    assert gold == TEST
    assert [s.forms for s in found] == [s.forms for s in TEST]
    for name in dependency_parser.MEASURES:
        quick(dev_metric=name, max_iter=1).fit(TRAIN[:2], dev=TEST)


@plain
def test_parser_warm_start_goes_on_where_it_was() -> None:
    cold = exact(tol=1e-6, solver="eg").fit(TRAIN[:3])
    warm = exact(tol=1e-6, solver="eg", warm_start=True).fit(TRAIN[:3])
    assert warm.n_iter_ == cold.n_iter_ > 3
    assert warm.fit(TRAIN[:3]).n_iter_ <= 2


@plain
def test_parser_learns_the_same_again_and_after_a_failure() -> None:
    one, two = quick().fit(TRAIN), quick().fit(iter(TRAIN))
    assert_array_equal(one.weights_, two.weights_)
    with pytest.raises(ValueError, match="heads"):
        two.fit([words(2)])
    assert two.predict(TEST) == one.predict(TEST)


@plain
def test_parser_is_an_estimator_as_scikit_learn_knows_them() -> None:
    parser = quick(suffix=2, projective=False)
    assert clone(parser).get_params() == parser.get_params()
    parser.set_params(hash_bits=11, suffix=4)
    assert parser.fit(TRAIN).weights_.size == parser._trees.n_weights(
        parser.classes_.size
    )
    copied = pickle.loads(pickle.dumps(parser))
    assert copied.predict(TEST) == parser.predict(TEST)
    assert repr(copied) == repr(parser)
    scores = cross_val_score(quick(max_iter=2), TRAIN, cv=2)
    assert ((scores > 0) & (scores <= 1)).all()


# --- predicting ---


@plain
@kinds
@given(
    lengths=st.lists(st.integers(0, 7), max_size=3),
    scale=st.sampled_from([0.0, 1.0, 1e3, 1e12]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=10)
def test_parser_predicts_trees(
    kind: dict[str, bool], lengths: list[int], scale: float, seed: int
) -> None:
    parser = with_random_weights(kind, seed, scale)
    given = [words(n) for n in lengths]
    trees = [
        *parser.predict(given),
        *parser.predict(given, decoding="minimum_risk"),
        *(tree for some in parser.predict_kbest(given, 3) for tree, _ in some),
    ]
    assert [s.forms for s in trees[: len(given)]] == [s.forms for s in given]
    for tree in trees:
        heads = np.array(tree.heads, int)
        assert not heads.size or is_tree(heads, kind["single_root"])
        assert not kind["projective"] or is_projective(tree.heads)
        if kind["labelled"]:
            assert set(tree.labels) <= set(parser.classes_)


@plain
@kinds
def test_parser_probabilities_agree_with_all_trees(kind: dict[str, bool]) -> None:
    """As the k best, which are all of them here, have them."""
    for n in (1, 2) if kind["labelled"] else (1, 2, 3, 4):
        parser, sentence = with_random_weights(kind, n, 0.3), words(n)
        n_trees = len(legal_trees(n, kind)) * max(parser.classes_.size, 1) ** n
        [found] = parser.predict_kbest([sentence], n_trees + 5)
        assert len(found) == n_trees
        scores = np.array([score for _, score in found])
        assert (np.diff(scores) <= 1e-12).all()
        p = np.exp(scores - scores.max())
        p /= p.sum()
        expected = np.zeros((n + 1, n + 1))
        for (tree, _), share in zip(found, p, strict=True):
            expected[tree.heads, range(1, n + 1)] += share
        [mu] = parser.predict_marginals([sentence])
        assert_allclose(mu, expected, atol=1e-9)
        assert_allclose(mu[:, 1:].sum(axis=0), 1.0, atol=1e-12)
        [best] = parser.predict([sentence])
        assert best == found[0][0]


@plain
@kinds
def test_parser_minimum_risk_is_the_best_sum_of_probabilities(
    kind: dict[str, bool],
) -> None:
    kind = kind | {"labelled": False}
    differ = 0
    for n, seed in itertools.product((1, 2, 3, 4), range(6)):
        parser, sentence = with_random_weights(kind, seed, 0.15), words(n)
        [mu] = parser.predict_marginals([sentence])
        worth = {
            heads: sum(mu[h, m] for m, h in enumerate(heads, 1))
            for heads in legal_trees(n, kind)
        }
        [tree] = parser.predict([sentence], decoding="minimum_risk")
        assert worth[tree.heads] == pytest.approx(max(worth.values()), abs=1e-9)
        differ += tree.heads != parser.predict([sentence])[0].heads
    if not kind["single_root"]:
        assert differ, "the two ways of decoding never differed"


@plain
def test_parser_minimum_risk_counts_labels_too() -> None:
    """The probability of head and label, summed over words, is the largest."""
    kind = {"projective": True, "single_root": True, "labelled": True}
    parser, sentence, n = with_random_weights(kind, 3, 0.15), words(2), 2
    classes = list(parser.classes_)
    [found] = parser.predict_kbest([sentence], 2 * len(classes) ** n)
    scores = np.array([score for _, score in found])
    p = np.exp(scores - scores.max())
    p /= p.sum()
    mu = np.zeros((n + 1, n + 1, len(classes)))
    for (tree, _), share in zip(found, p, strict=True):
        for m, (h, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
            mu[h, m, classes.index(label)] += share

    def worth(tree: Sentence) -> float:
        arcs = zip(tree.heads, range(1, n + 1), tree.labels, strict=True)
        return sum(mu[h, m, classes.index(label)] for h, m, label in arcs)

    [tree] = parser.predict([sentence], decoding="minimum_risk")
    assert worth(tree) == pytest.approx(max(worth(other) for other, _ in found))


@plain
@kinds
def test_parser_answers_do_not_depend_on_the_company(kind: dict[str, bool]) -> None:
    """Nor on sentences without words among them."""
    parser, none = with_random_weights(kind, 0), words(0)
    many = [none, *TEST, none, words(7), none]
    for one, tree in zip(many, parser.predict(many), strict=True):
        assert [tree] == parser.predict([one])
    for one, mu in zip(many, parser.predict_marginals(many), strict=True):
        assert_array_equal(mu, parser.predict_marginals([one])[0])
    for one, best in zip(many, parser.predict_kbest(many, 3), strict=True):
        assert best == parser.predict_kbest([one], 3)[0]
    assert parser.predict([none])[0].heads == ()
    assert parser.predict([]) == parser.predict_kbest([]) == []


@plain
def test_parser_writes_what_it_read_but_for_the_tree() -> None:
    parser = quick().fit(TRAIN)
    for sentence, tree in zip(TEST, parser.predict(TEST), strict=True):
        before, after = (s.to_text().splitlines() for s in (sentence, tree))
        for old, new in zip(before, after, strict=True):
            a, b = old.split("\t"), new.split("\t")
            assert a[:6] == b[:6]
            assert a[8:] == b[8:]


# --- threads ---


@plain
@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("projective", [True, False])
def test_parser_threads_give_the_same_answers(projective: bool) -> None:
    parser = quick(projective=projective).fit(TRAIN)
    alone = answers(parser)
    parser.n_jobs = 2
    assert_same(answers(parser), alone)
    parser.n_jobs = None
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: answers(parser), range(4)):
            assert_same(found, alone)


@plain
@pytest.mark.usefixtures("eager_threads")
def test_parser_learns_the_same_with_two_threads() -> None:
    one, two = exact().fit(TRAIN[:4]), exact(n_jobs=2).fit(TRAIN[:4])
    assert_allclose(one.weights_, two.weights_, atol=1e-5)
    again = exact(n_jobs=2).fit(TRAIN[:4])
    assert_array_equal(again.weights_, two.weights_)


def answers(parser: DependencyParser) -> list[Any]:
    return [
        parser.predict(TEST),
        parser.predict(TEST, decoding="minimum_risk"),
        parser.predict_kbest(TEST, 3),
        parser.predict_marginals(TEST),
    ]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    assert found[:3] == expected[:3]
    for a, b in zip(found[3], expected[3], strict=True):
        assert_array_equal(a, b)


# --- compiled ---


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="of compiled code")
def test_parser_compiled_answers_as_enumeration_does() -> None:
    """With the solver and the trees that the guide compiles as well."""
    parser = quick(solver="dcd", max_iter=20, features="all").fit(TRAIN)
    assert parser.score(TRAIN) == 1.0
    sentence = words(2)
    parser.weights_ = np.random.default_rng(0).normal(size=parser.weights_.size)
    [found] = parser.predict_kbest([sentence], 2 * parser.classes_.size**2 + 1)
    assert len(found) == 2 * parser.classes_.size**2
    assert parser.predict([sentence]) == [found[0][0]]
    p = np.exp([score - found[0][1] for _, score in found])
    of_first = sum(p[j] for j in range(len(found)) if found[j][0].heads == (0, 1))
    [mu] = parser.predict_marginals([sentence])
    assert mu[0, 1] == pytest.approx(of_first / p.sum())
    [long] = parser.predict([words(1000)])
    assert is_tree(np.array(long.heads), single_root=True)
