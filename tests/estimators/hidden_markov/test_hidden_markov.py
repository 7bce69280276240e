"""Hidden Markov models: probabilities, predictions, references, files, bad input."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks

import problems
from corruption import corruptions
from hidden_markov_data import X, Y
from partwise import C_path, HiddenMarkovModel, ModelFileError, load
from partwise.data import ColumnData
from partwise.errors import DataError, PairingError
from partwise.solvers import RestrictedSimplicialDecomposition
from partwise.structures.hidden_markov import (
    Probabilities,
    from_weights,
    make_hidden_markov,
    to_weights,
    with_unknown,
)
from partwise.structures.interface import distribution_of
from places import GOLDEN

# What is compiled is the chain's, and the solver's; both are tested elsewhere.
pytestmark = problems.plain_only


def joint(p: Probabilities, states: Any, symbols: Any) -> float:
    """Return ``P(states, symbols)``, factor by factor."""
    value = p.initial[states[0]] * p.emissions[states[0], symbols[0]]
    for t in range(1, len(states)):
        value *= p.transitions[states[t - 1], states[t]]
        value *= p.emissions[states[t], symbols[t]]
    return float(value)


# --- the likelihood ---


def test_hidden_markov_likelihood_is_counting() -> None:
    model = HiddenMarkovModel("likelihood", smoothing=0.0).fit(X, Y)
    p = model.probabilities_
    assert model.classes_.tolist() == ["rain", "sun"]
    assert model.symbols_.tolist() == ["clean", "shop", "walk"]
    np.testing.assert_allclose(p.initial, [1 / 3, 2 / 3])
    np.testing.assert_allclose(p.transitions, [[1 / 2, 1 / 2], [1 / 3, 2 / 3]])
    expected = np.array([[1.0, 0.0, 0.0], [0.0, 0.4, 0.6]])
    np.testing.assert_allclose(p.emissions, expected, atol=1e-90)
    assert model.certificate_ is None


def test_hidden_markov_smoothing_is_added_to_the_counts() -> None:
    p = HiddenMarkovModel("likelihood", smoothing=0.5).fit(X, Y).probabilities_
    np.testing.assert_allclose(p.emissions[0], np.array([3.5, 0.5, 0.5]) / 4.5)


def test_hidden_markov_weights_of_sequences_count() -> None:
    weighted = HiddenMarkovModel("likelihood").fit(X, Y, [2.0, 1.0, 0.0])
    repeated = HiddenMarkovModel("likelihood").fit(
        [X[0], X[0], X[1]], [Y[0], Y[0], Y[1]]
    )
    np.testing.assert_allclose(weighted.weights_, repeated.weights_)


def test_hidden_markov_answers_are_those_of_enumeration() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    p = model.probabilities_
    symbols = [2, 0, 1, 0]
    words = [model.symbols_[s] for s in symbols]
    paths = list(itertools.product(range(2), repeat=4))
    mass = np.array([joint(p, path, symbols) for path in paths])
    best = paths[int(np.argmax(mass))]
    assert model.predict([words]) == [[model.classes_[s] for s in best]]
    assert model.log_likelihood([words])[0] == pytest.approx(np.log(mass.sum()))
    expected = np.zeros((4, 2))
    for path, share in zip(paths, mass / mass.sum(), strict=True):
        expected[range(4), path] += share
    np.testing.assert_allclose(model.predict_marginals([words])[0], expected)
    assert model.score([words], [[model.classes_[s] for s in best]]) == 1.0


def test_hidden_markov_best_paths_are_those_of_enumeration() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    symbols = [2, 0, 1]
    paths = itertools.product(range(2), repeat=3)
    scores = sorted(joint(model.probabilities_, p, symbols) for p in paths)[::-1]
    (found,) = model.predict_kbest([[model.symbols_[s] for s in symbols]], k=99)
    np.testing.assert_allclose([one.score for one in found], np.log(scores))
    assert len({tuple(one.labels) for one in found}) == 8


def test_hidden_markov_least_risk_is_that_of_the_marginals() -> None:
    costs = {("sun", "rain"): 0.1}
    model = HiddenMarkovModel("likelihood", costs=costs).fit(X, Y)
    words = [["walk", "unknown"], []]
    first, _ = model.predict_marginals(words)
    cost = np.array([[0.0, 1.0], [0.1, 0.0]])  # rain, sun
    expected = [model.classes_[j] for j in (first @ cost).argmin(axis=1)]
    assert model.predict(words, decoding="minimum_risk") == [expected, []]
    # Rain costs little where it does not fall, so it is predicted where it may.
    assert model.predict(words) == [["sun", "sun"], []]
    assert expected == ["rain", "rain"]


def test_hidden_markov_chunks_have_probabilities() -> None:
    labels = [["B-NP", "I-NP", "O"], ["O", "O", "B-NP"], ["B-NP", "O"]]
    model = HiddenMarkovModel("likelihood").fit(X, labels)
    found = model.predict_spans(X)[0]
    assert [span[:3] for span in found] == [(0, 2, "NP")]
    assert 0.0 < found[0].score < 1.0


def test_hidden_markov_reads_a_column() -> None:
    rows = [[("-", s, "label") for s in row] for row in X]
    data = ColumnData.from_sentences(rows)
    by_columns = HiddenMarkovModel("likelihood", column=1).fit(data, Y)
    np.testing.assert_array_equal(
        by_columns.weights_, HiddenMarkovModel("likelihood").fit(X, Y).weights_
    )
    assert by_columns.predict(data) == by_columns.predict(X)
    with pytest.raises(DataError, match="there is no column 3"):
        HiddenMarkovModel(column=3).fit(data, Y)


def test_hidden_markov_samples_follow_the_model() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    symbols, states = model.sample(4000, 2, random_state=0)
    again = model.sample(4000, 2, random_state=0)
    assert (symbols, states) == again
    p = model.probabilities_
    first = np.mean([row[0] == "sun" for row in states])
    assert first == pytest.approx(p.initial[1], abs=0.03)
    both = np.mean([row == ["sun", "sun"] for row in states])
    assert both == pytest.approx(p.initial[1] * p.transitions[1, 1], abs=0.03)
    seen = np.mean(
        [x[0] == "walk" for x, y in zip(symbols, states, strict=True) if y[0] == "sun"]
    )
    assert seen == pytest.approx(p.emissions[1, 2], abs=0.03)


# --- margins ---


def test_hidden_markov_margin_separates_what_can_be_separated() -> None:
    model = HiddenMarkovModel(C=10.0).fit(X, Y)
    assert model.predict(X) == Y
    assert model.certificate_ is not None
    assert model.certificate_.relative_gap <= 1e-3
    for distribution in model.probabilities_:
        assert distribution.sum(axis=-1).max() <= 1.0 + 1e-9
    for missing in model.missing_:
        assert missing.min() >= 0.0


def test_hidden_markov_default_C_suits_the_data(tmp_path: Path) -> None:
    model, dear = HiddenMarkovModel().fit(X, Y), HiddenMarkovModel(costs=_tenfold)
    # Both are rounded to two digits.
    assert model.C_ == pytest.approx(10 * dear.fit(X, Y).C_, rel=0.1)
    twice = HiddenMarkovModel().fit(2 * X, 2 * Y)
    assert model.C_ == pytest.approx(2 * twice.C_, rel=0.1)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").C_ == model.C_


def _tenfold(right: str, predicted: str) -> float:
    return 10.0


def test_hidden_markov_small_C_stays_at_the_reference() -> None:
    own: dict[str, Any] = {
        "initial": [0.3, 0.7],
        "transitions": [[0.6, 0.4], [0.2, 0.8]],
        "emissions": [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]],
    }
    model = HiddenMarkovModel(C=1e-9, reference=own, tol=1e-6).fit(X, Y)
    for name, given in own.items():
        np.testing.assert_allclose(
            getattr(model.probabilities_, name), given, atol=1e-3
        )
    counted = HiddenMarkovModel("likelihood").fit(X, Y)
    near = HiddenMarkovModel(C=1e-9, reference="likelihood", tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(near.weights_, counted.weights_, atol=1e-2)


def test_hidden_markov_unknown_symbols_have_the_missing_mass() -> None:
    w = to_weights(
        Probabilities(
            np.array([0.5, 0.5]),
            np.full((2, 2), 0.5),
            np.array([[0.5, 0.3], [0.6, 0.4]]),
        )
    )
    extended = from_weights(np.exp(with_unknown(np.log(w), 2, 2)), 2, 3)
    np.testing.assert_allclose(extended.emissions[:, 2], [0.2, 1e-9])
    np.testing.assert_allclose(extended.transitions, 0.5)
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    # Nothing is missing anywhere: the unknown symbol tells nothing.
    (one,) = model.predict_marginals([["never seen"]])
    np.testing.assert_allclose(one[0], model.probabilities_.initial)


def test_hidden_markov_costs_change_what_is_learnt() -> None:
    dear = HiddenMarkovModel(C=0.05, costs={("rain", "sun"): 20.0}).fit(X, Y)
    plain = HiddenMarkovModel(C=0.05).fit(X, Y)
    (words,) = [["walk", "walk", "walk"]]
    assert (
        dear.predict_marginals([words])[0][:, 0].sum()
        > plain.predict_marginals([words])[0][:, 0].sum()
    )


@pytest.mark.parametrize("integers", [True, False])
def test_hidden_markov_ring_costs_are_distances(integers: bool) -> None:
    states: Any = [[1, 2], [3, 12], [5, 9]]
    if not integers:
        states = [[str(state) for state in row] for row in states]
    model = HiddenMarkovModel("likelihood", costs="ring")
    model.fit([["a", "b"], ["b", "a"], ["a", "a"]], states)
    order = [int(state) for state in model.classes_]
    for i, j in itertools.product(range(6), repeat=2):
        apart = abs(order[i] - order[j])
        assert model._costs[i, j] == min(apart, 12 - apart)


def test_hidden_markov_dev_data_keeps_the_best() -> None:
    model = HiddenMarkovModel(C=1.0).fit(X, Y, dev=(X, Y))
    path = C_path(HiddenMarkovModel(), X, Y, [1e-4, 10.0], dev=(X, Y))
    assert path.best.dev_score == 0.0  # it costs nothing
    assert model.predict(X) == path.best_estimator.predict(X) == Y


# --- files ---


@pytest.mark.parametrize("integers", [False, True])
def test_hidden_markov_file_gives_the_same_model(
    tmp_path: Path, integers: bool
) -> None:
    x = [[len(symbol) for symbol in row] for row in X] if integers else X
    model = HiddenMarkovModel(C=0.1, costs=lambda a, b: 2.0).fit(x, Y)
    model.save(tmp_path / "model")
    same = load(tmp_path / "model")
    np.testing.assert_array_equal(same.weights_, model.weights_)
    assert same.symbols_.tolist() == model.symbols_.tolist()
    assert same.predict(x) == model.predict(x)
    assert same.certificate_ == model.certificate_
    np.testing.assert_array_equal(same.costs, [[0.0, 2.0], [2.0, 0.0]])


def test_hidden_markov_file_keeps_the_reference(tmp_path: Path) -> None:
    counted = HiddenMarkovModel("likelihood").fit(X, Y)
    counted.save(tmp_path / "counted")
    assert load(tmp_path / "counted").predict(X) == counted.predict(X)
    model = HiddenMarkovModel(reference=counted.probabilities_).fit(X, Y)
    model.save(tmp_path / "model")
    for ours, theirs in zip(
        load(tmp_path / "model").reference, counted.probabilities_, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("version", [1])
def test_hidden_markov_files_of_every_version_still_load(version: int) -> None:
    path = GOLDEN / f"hidden_markov-{version}.partwise"
    known = json.loads(path.with_suffix(".json").read_text())
    assert load(path).predict(known["inputs"]) == known["predictions"]
    assert len({state for own in known["predictions"] for state in own}) > 3


def test_hidden_markov_damaged_files_are_refused_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "model"
    own = HiddenMarkovModel("likelihood").fit(X, Y).probabilities_
    HiddenMarkovModel(C=0.1, reference=own, costs="hamming").fit(X, Y).save(path)
    data, refused = path.read_bytes(), 0
    for damaged in corruptions(data, 60, seed=0):
        path.write_bytes(damaged)
        try:
            model = load(path)
        except ModelFileError:
            refused += 1
        else:
            assert {state for row in model.predict(X) for state in row} <= set(
                model.classes_
            )
    assert refused > 40


# --- the structure ---


def test_hidden_markov_distributions_are_rows_of_probabilities() -> None:
    s = make_hidden_markov([0, 1], [0, 2], [0, 1], n_states=2, n_symbols=3)
    of = distribution_of(s)
    p = from_weights(of.astype(float), 2, 3)
    assert p.emissions.tolist() == [[0.0] * 3, [1.0] * 3]
    assert p.transitions.tolist() == [[2.0] * 2, [3.0] * 2]
    assert p.initial.tolist() == [4.0] * 2
    np.testing.assert_array_equal(to_weights(p), of)


# --- scikit-learn ---


@pytest.mark.parametrize(
    "name",
    [
        "check_parameters_default_constructible",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_valid_tag_types",
    ],
)
def test_hidden_markov_passes_the_checks_that_need_no_matrix(name: str) -> None:
    getattr(estimator_checks, name)("HiddenMarkovModel", HiddenMarkovModel())


def test_hidden_markov_is_searched_over() -> None:
    grid = GridSearchCV(HiddenMarkovModel(C=1.0), {"smoothing": [0.5, 2.0]}, cv=2)
    assert grid.fit(2 * X, 2 * Y).best_score_ == 1.0


# --- bad input ---


@pytest.mark.parametrize(
    ("x", "y", "match"),
    [
        ([["a", 1]], [["s", "t"]], "different alphabets"),
        ([["a"], [1]], [["s"], ["t"]], "different alphabets"),
        ([["a", 1.5]], [["s", "t"]], "position 1: a symbol is a string"),
        ([["a", "b"]], [["s"]], "2 tokens, but 1 labels"),
        (["ab"], [["s", "t"]], "expected a list of symbols"),
        ("ab", [["s", "t"]], "X must be a list"),
        ([["a", "b"]], [["s", "s"]], "at least two states"),
        ([], [], "no sequences"),
        ([[], []], [[], []], "all sequences are empty"),
    ],
)
def test_hidden_markov_bad_data_is_refused(x: Any, y: Any, match: str) -> None:
    with pytest.raises(DataError, match=match):
        HiddenMarkovModel().fit(x, y)


def test_hidden_markov_other_alphabet_is_refused_when_predicting() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    with pytest.raises(DataError, match="another kind"):
        model.predict([[1, 2]])


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"objective": "both"}, "objective must be"),
        ({"reference": "flat"}, "reference must be"),
        ({"reference": {"initial": [1.0]}}, "a mapping with the keys"),
        ({"smoothing": -1.0}, "smoothing must be"),
        ({"reference": "likelihood", "smoothing": 0.0}, "needs smoothing"),
        ({"loss": "log_loss"}, "loss must be"),
        ({"C": 0.0}, "C must be"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": 2.5}, "cv must be an integer"),
        ({"column": "first"}, "column must be an integer"),
        ({"costs": "rign"}, "costs must be"),
        ({"costs": "ring"}, "needs labels that are integers"),
    ],
)
def test_hidden_markov_bad_settings_are_refused(settings: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        HiddenMarkovModel(**settings).fit(X, Y)


@pytest.mark.parametrize(
    ("row", "match"),
    [([0.5, 0.6], "add up to 1"), ([0.0, 1.0], "positive"), ([1.0], "shape")],
)
def test_hidden_markov_reference_must_be_distributions(row: Any, match: str) -> None:
    own = HiddenMarkovModel("likelihood").fit(X, Y).probabilities_
    with pytest.raises(ValueError, match=match):
        HiddenMarkovModel(reference=own._replace(initial=np.array(row))).fit(X, Y)


def test_hidden_markov_empty_sequences_are_fine_among_others() -> None:
    model = HiddenMarkovModel(C=10.0).fit([*X, []], [*Y, []])
    assert model.predict([[], *X]) == [[], *Y]
    assert model.predict_marginals([[]])[0].shape == (0, 2)
    assert model.log_likelihood([[]]).tolist() == [0.0]


def test_hidden_markov_new_states_of_development_data_are_left_out() -> None:
    dev = [["walk", "clean"], ["walk"]], [["sun", "snow"], ["snow"]]
    model = HiddenMarkovModel(C=10.0).fit(X, Y, dev=dev)
    assert np.nanmax(model.trace_["dev_score"]) == 0.0
    with pytest.raises(DataError, match="none of its states"):
        HiddenMarkovModel().fit(X, Y, dev=(X, [["snow"] * len(row) for row in X]))


def test_hidden_markov_decoding_must_be_known() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    with pytest.raises(ValueError, match="decoding must be one of"):
        model.predict(X, decoding="viterbi")


def test_hidden_markov_gamma_must_be_positive() -> None:
    with pytest.raises(ValueError, match="gamma must be positive"):
        HiddenMarkovModel(solver=RestrictedSimplicialDecomposition(gamma=0.0))


def test_hidden_markov_other_solvers_are_refused() -> None:
    with pytest.raises(PairingError, match="use simplicial"):
        HiddenMarkovModel(solver="frank-wolfe").fit(X, Y)
