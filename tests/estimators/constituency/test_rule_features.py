"""Features of whole rule applications: learnt, predicted with, stored, refused."""

import io
import warnings
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from all_derivations import all_derivations
from partwise import ConstituencyParser, load
from partwise.constituents import words
from partwise.data import read_brackets
from partwise.errors import DataError, OutOfMemoryError
from partwise.estimators.constituency import rule_features
from partwise.structures import interface as waist

# Whether A comes before B or after it is decided by the first and the last word
# together, and by neither alone: only a feature of S -> A B over its span sees it.
TREES = """
(S (A (X a) (X c) (X c)) (B (X c) (X c) (X d)))
(S (B (X a) (X c) (X c)) (A (X c) (X c) (X e)))
(S (B (X b) (X c) (X c)) (A (X c) (X c) (X d)))
(S (A (X b) (X c) (X c)) (B (X c) (X c) (X e)))
"""
SETTINGS = {"hash_bits": 10, "C": 10.0, "tol": 0.05, "max_iter": 60}


def outer_words(sentence, application):
    """Name an application by its rule, the words at its borders and its split."""
    parent, left, right, start, split, end = application
    return [
        f"{parent} {left} {right} {sentence[start]} {sentence[end - 1]} {split - start}"
    ]


def the_trees():
    return read_brackets(io.StringIO(TREES))


@cache
def fitted(rule_features=None):
    return fit(the_trees(), rule_features=rule_features)


def fit(trees, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ConstituencyParser("squared_hinge", **SETTINGS).fit(trees, **options)


def test_rule_features_lower_the_objective_and_are_used_by_all_predictions():
    trees = the_trees()
    plain, own = fitted(), fitted(outer_words)
    assert own.certificate_.primal < 0.5 * plain.certificate_.dual
    assert plain.score(trees, metric="exact_match") < 1.0
    assert own.score(trees, metric="exact_match", rule_features=outer_words) == 1.0
    [[(best, score), *_]] = own.predict_kbest(trees[:1], 3, rule_features=outer_words)
    assert own.predict(trees[:1], rule_features=outer_words) == [best]
    [brackets] = own.predict_marginals(trees[:1], rule_features=outer_words)
    assert max(brackets.values()) <= 1.0 + 1e-9
    assert np.isfinite(score)


def test_rule_features_by_matrices_are_those_of_the_function():
    trees = the_trees()
    by_function = fitted(outer_words)
    charts = ConstituencyParser(**SETTINGS).rule_applications(trees)
    number: dict[str, int] = {}
    columns = [
        [
            number.setdefault(outer_words(words(tree), one)[0], len(number))
            for one in applications
        ]
        for tree, applications in zip(trees, charts, strict=True)
    ]
    matrices = [
        csr_array((np.ones(len(own)), (range(len(own)), own)), (len(own), len(number)))
        for own in columns
    ]
    by_matrices = fit(trees, rule_features=matrices)
    np.testing.assert_allclose(by_matrices.weights_, by_function.weights_, atol=1e-12)
    found = by_matrices.predict(trees, rule_features=matrices)
    assert found == by_function.predict(trees, rule_features=outer_words)


def test_rule_applications_are_all_that_derivations_have():
    """The chart lists just those that some output of a sentence has."""
    trees = the_trees()
    parser = fitted()
    charts = parser.rule_applications(trees)
    for tree, applications in zip(trees, charts, strict=True):
        assert len(set(applications)) == len(applications)
        corpus = parser._settings.structure(
            parser._grammar, parser._encode([words(tree)])
        )
        n, seen = len(words(tree)), set()
        symbols = [corpus.sentences.symbol[t : t + 1].tolist() for t in range(n)]
        for y in all_derivations(corpus.grammar, symbols):
            for m in range(1, n):
                rule = parser._grammar.rules[y[m - 1]]
                names = (parser._grammar.symbols[a] for a in rule)
                seen.add((*names, y[n + m - 2], m, y[2 * n + m - 3]))
        assert set(map(tuple, applications)) == seen


def test_rule_features_are_kept_in_the_model_file(tmp_path):
    trees = the_trees()
    parser = fitted(outer_words)
    parser.save(tmp_path / "own.partwise")
    again = load(tmp_path / "own.partwise")
    assert again.predict(trees, rule_features=outer_words) == parser.predict(
        trees, rule_features=outer_words
    )
    with pytest.raises(DataError, match=r"trained with rule_features.*a function"):
        again.predict(trees)
    fitted().save(tmp_path / "plain.partwise")
    with pytest.raises(DataError, match="trained without rule_features"):
        load(tmp_path / "plain.partwise").predict(trees, rule_features=outer_words)


def test_rule_features_stop_early_on_development_data():
    trees = the_trees()
    parser = fit(trees, rule_features=outer_words, dev=trees)
    best = max(row.dev_score for row in parser.trace_)
    assert parser.score(trees, rule_features=outer_words) == best > 0.5
    with pytest.raises(ValueError, match="no dev trees"):
        fit(trees, dev_rule_features=[])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "a function, or a list of sparse matrices"),
        ([], "0 matrices for 4 sentences"),
        ([np.zeros((3, 2))] * 4, "not a sparse matrix"),
        ([csr_array((1, 2))] * 4, r"the shape is \(1, 2\), expected"),
        (lambda words, application: [3], "rule_features returned"),
    ],
)
def test_rule_features_refuse(given, message):
    with pytest.raises(DataError, match=message):
        fit(the_trees(), rule_features=given)


def test_rule_features_that_do_not_fit_are_refused_before_they_are_asked_for(
    monkeypatch,
):
    monkeypatch.setattr(rule_features, "available_memory", lambda: 1000)
    asked = []

    def ask(words, application):
        asked.append(tuple(words))
        return ["one", "two"]

    with pytest.raises(OutOfMemoryError, match=r"rule applications.* MiB.* free"):
        fit(the_trees(), rule_features=ask)
    assert len(set(asked)) == 1  # one sentence says how many features there are


def test_rule_features_take_the_memory_that_is_documented():
    trees = the_trees()
    parser = ConstituencyParser("squared_hinge", **SETTINGS)
    data = parser._prepare(trees, rule_features=outer_words)
    listed = data.structure.applications
    charts = parser.rule_applications(trees)
    assert listed.rule.size == sum(map(len, charts))
    assert listed.rule.nbytes + listed.rows.ptr.nbytes == 16 * listed.rule.size + 8
    assert listed.ptr.size == data.structure.sentences.split_ptr[-1] + 1
    assert waist.n_weights(data.structure) == data.structure.layout.n_weights
