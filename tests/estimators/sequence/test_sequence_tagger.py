import copy
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from partwise import DualCoordinateDescent, SequenceTagger, metrics
from partwise.data import ColumnData
from partwise.features import Template
from tagging_data import (
    CHUNKS,
    FORMS,
    TAGS,
    TEMPLATE,
    TEST_CHUNKS,
    TEST_WORDS,
    WORDS,
    InterruptAfter,
    NoTraining,
    arrays,
    brute_force,
    columns,
    dicts,
    strings,
)


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(C=1.0).fit(dicts(WORDS), CHUNKS)


@pytest.fixture(scope="module")
def margin_tagger() -> SequenceTagger:
    return SequenceTagger("squared_hinge", C=1.0).fit(dicts(WORDS), CHUNKS)


@pytest.fixture(scope="module")
def tiny() -> tuple[SequenceTagger, np.ndarray]:
    """A tagger of three labels, and a sequence short enough to enumerate."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(t, 2)) for t in (4, 1, 3, 5)]
    y = [[("B-X", "I-X", "O")[int(2 * abs(v)) % 3] for v in x[:, 0]] for x in X]
    return SequenceTagger("squared_hinge", C=2.0, tol=1e-2, max_iter=2000).fit(X, y), X[
        0
    ]


# Inputs


@pytest.mark.parametrize("form", FORMS)
def test_sequence_tagger_learns_from_every_input(form: str) -> None:
    make, settings = FORMS[form]
    tagger = SequenceTagger(max_iter=500, **settings).fit(make(WORDS), CHUNKS)
    assert tagger.certificate_.relative_gap <= tagger.tol
    assert tagger.status_.startswith("converged")
    counts: dict[str, int] = {}
    for labels in TEST_CHUNKS:
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
    most_common = max(counts.values()) / sum(counts.values())
    assert tagger.score(make(TEST_WORDS), TEST_CHUNKS) > most_common + 0.15


def test_sequence_tagger_nested_dicts_are_prefixed_names() -> None:
    nested = [[{"a": {"b": "x", "c": 2.0}}, {"a": {"b": "y"}}]]
    flat = [[{"a:b": "x", "a:c": 2.0}, {"a:b": "y"}]]
    taggers = [SequenceTagger().fit(X, [["P", "Q"]]) for X in (nested, flat)]
    assert taggers[0].top_features() == taggers[1].top_features()
    np.testing.assert_array_equal(taggers[0].weights_, taggers[1].weights_)


@pytest.mark.parametrize("make", [dicts, strings], ids=["dicts", "strings"])
def test_sequence_tagger_reads_generators_at_both_levels(make: Any) -> None:
    X = make(WORDS[:10])
    lists = SequenceTagger().fit(X, CHUNKS[:10])
    streams = SequenceTagger().fit(
        (iter(sequence) for sequence in X), (iter(labels) for labels in CHUNKS[:10])
    )
    np.testing.assert_array_equal(lists.weights_, streams.weights_)
    assert streams.predict(iter(sequence) for sequence in X) == lists.predict(X)


def test_sequence_tagger_dense_lists_are_arrays() -> None:
    X = arrays(WORDS[:10])
    from_arrays = SequenceTagger().fit(X, CHUNKS[:10])
    from_lists = SequenceTagger().fit([x.tolist() for x in X], CHUNKS[:10])
    np.testing.assert_array_equal(from_arrays.weights_, from_lists.weights_)


def test_sequence_tagger_takes_a_template_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "chunks.template"
    path.write_text(TEMPLATE)
    forms = [TEMPLATE, path, str(path), Template.parse(TEMPLATE)]
    X = columns(WORDS[:10])
    data = ColumnData.from_sentences(X)
    first, *others = [
        SequenceTagger(template=form).fit(source, CHUNKS[:10]).weights_
        for form in forms
        for source in (X, data)
    ]
    for weights in others:
        np.testing.assert_array_equal(weights, first)


def test_sequence_tagger_b_lines_are_features_of_transitions() -> None:
    """In this task only the transition, seen together with the word, decides."""
    X = [[("p",), ("flip",)], [("q",), ("flip",)], [("p",), ("stay",)]]
    X += [[("q",), ("stay",)]]
    y = [["P", "Q"], ["Q", "P"], ["P", "P"], ["Q", "Q"]]
    with_edges = SequenceTagger(C=10.0, template="U:%x[0,0]\nB:%x[0,0]").fit(X, y)
    without = SequenceTagger(C=10.0, template="U:%x[0,0]").fit(X, y)
    assert with_edges.predict(X) == y
    assert without.predict(X) != y
    named = [[{"w": word} for (word,) in x] for x in X]
    by_name = SequenceTagger(C=10.0, transition_features=["w"]).fit(named, y)
    assert by_name.predict(named) == y
    assert with_edges.certificate_.primal == pytest.approx(
        by_name.certificate_.primal, rel=0.02
    )


def test_sequence_tagger_boundaries_decide_what_is_outside() -> None:
    X, y = columns(WORDS[:5]), CHUNKS[:5]
    names = {
        kind: [
            name
            for name in SequenceTagger(template="U:%x[-1,0]", boundaries=kind)
            .fit(X, y)
            ._input.names()
            if name.startswith("U:_B")
        ]
        for kind in ("numbered", "single", "none")
    }
    assert names == {"numbered": ["U:_B-1"], "single": ["U:_B"], "none": []}


def test_sequence_tagger_min_count_drops_rare_features() -> None:
    X = [[{"w": "often"}, {"w": "once"}], [{"w": "often"}, {"w": "never"}]]
    tagger = SequenceTagger(min_count=2).fit(X, [["P", "Q"], ["P", "Q"]])
    assert {name for name, _, _ in tagger.top_features()} == {"w=often"}


def test_sequence_tagger_observed_pairs_are_those_of_the_data() -> None:
    X, y = [[{"w": "p"}, {"w": "q"}, {"w": "q"}]], [["P", "Q", "P"]]
    tagger = SequenceTagger(pairs="observed", C=10.0).fit(X, y)
    pairs = {(name, label) for name, label, _ in tagger.top_features()}
    assert pairs <= {("w=p", "P"), ("w=q", "P"), ("w=q", "Q")}
    everything = SequenceTagger(pairs="all", C=10.0).fit(X, y)
    assert tagger.weights_.size == everything.weights_.size - 1


def test_sequence_tagger_hashing_has_the_size_asked_for() -> None:
    tagger = SequenceTagger(hash_bits=6).fit(strings(WORDS[:5]), TAGS[:5])
    K = len(tagger.classes_)
    assert tagger.weights_.size == 64 * K + K * K + 2 * K
    assert all(name.startswith("#") for name, _, _ in tagger.top_features())


def test_sequence_tagger_empty_sequences_and_tokens_are_allowed() -> None:
    X = [[], [{}, {"w": "a"}], [{"w": "b"}], []]
    tagger = SequenceTagger().fit(X, [[], ["O", "O"], ["B-P"], []])
    assert [len(labels) for labels in tagger.predict(X)] == [0, 2, 1, 0]
    assert tagger.predict([]) == []
    assert tagger.predict([[]]) == [[]]
    assert tagger.predict_marginals([[]])[0].shape == (0, 2)
    assert [ranked.labels for ranked in tagger.predict_kbest([[]])[0]] == [[]]
    assert tagger.predict_spans([[]]) == [[]]
    assert list(tagger.explain([])) == []
    assert len(tagger.predict([[{}, {"unseen": True}]])[0]) == 2


def test_sequence_tagger_dense_empty_sequences_are_allowed() -> None:
    X = [np.zeros((0, 2)), np.eye(2), []]
    tagger = SequenceTagger().fit(X, [[], ["P", "Q"], []])
    assert tagger.predict([*X, []]) == [[], ["P", "Q"], [], []]


# Labels


def test_sequence_tagger_classes_are_sorted_and_of_one_type() -> None:
    X = strings(WORDS[:10])
    tagger = SequenceTagger().fit(X, TAGS[:10])
    assert tagger.classes_.tolist() == sorted({t for tags in TAGS[:10] for t in tags})
    codes = {label: 10 - 3 * i for i, label in enumerate(tagger.classes_)}
    numbers = [np.array([codes[tag] for tag in tags]) for tags in TAGS[:10]]
    by_number = SequenceTagger().fit(X, numbers)
    assert by_number.classes_.tolist() == sorted(codes.values())
    predicted = by_number.predict(X)
    assert all(type(label) is int for labels in predicted for label in labels)
    accuracy = metrics.token_accuracy(predicted, numbers)
    assert accuracy == by_number.score(X, numbers)
    # The order of the classes is another: the optimum is the same all the same.
    assert by_number.certificate_.primal == pytest.approx(
        tagger.certificate_.primal, rel=0.02
    )


def test_sequence_tagger_numpy_strings_are_plain_strings() -> None:
    X, y = strings(WORDS[:3]), [np.array(tags) for tags in TAGS[:3]]
    tagger = SequenceTagger().fit(X, y)
    assert all(type(label) is str for labels in tagger.predict(X) for label in labels)


# Predicting


def test_predict_marginals_agree_with_enumeration(tiny: Any) -> None:
    tagger, x = tiny
    scores = brute_force(tagger, x)
    weights = {y: np.exp(score) for y, score in scores.items()}
    expected = np.zeros((len(x), len(tagger.classes_)))
    for y, weight in weights.items():
        for t, k in enumerate(y):
            expected[t, k] += weight / sum(weights.values())
    np.testing.assert_allclose(tagger.predict_marginals([x])[0], expected, atol=1e-12)


def test_predict_kbest_agrees_with_enumeration(tiny: Any) -> None:
    tagger, x = tiny
    scores = brute_force(tagger, x)
    (ranked,) = tagger.predict_kbest([x], k=1000)
    assert len(ranked) == len(scores) == 81
    best = sorted(scores.values(), reverse=True)
    np.testing.assert_allclose([r.score for r in ranked], best, atol=1e-12)
    for labels, score in ranked:
        codes = tuple(tagger.classes_.tolist().index(label) for label in labels)
        assert score == pytest.approx(scores[codes])


def test_predict_spans_needs_labels_that_spell_chunks() -> None:
    tagger = SequenceTagger(tol=0.1).fit([[["a"], ["b"]]], [["P", "Q"]])
    with pytest.raises(ValueError, match="do not spell chunks"):
        tagger.predict_spans([[["a"]]])


def test_predict_spans_scores_are_sums_over_all_labellings(tiny: Any) -> None:
    tagger, x = tiny
    (ranked,) = tagger.predict_kbest([x], k=1000)
    weights = np.exp([r.score for r in ranked])
    (found,) = tagger.predict_spans([x])
    assert found
    best = ranked[0].labels
    for start, end, _, score in found:
        same = [r.labels[start:end] == best[start:end] for r in ranked]
        assert score == pytest.approx(weights[same].sum() / weights.sum())


def test_predict_marginals_are_distributions(tagger: SequenceTagger) -> None:
    X = dicts(TEST_WORDS)
    for x, marginals in zip(X, tagger.predict_marginals(X), strict=True):
        assert marginals.shape == (len(x), len(tagger.classes_))
        assert (marginals >= 0).all()
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)


def test_predict_kbest_is_sorted_distinct_and_starts_with_predict(
    tagger: SequenceTagger,
) -> None:
    X = dicts(TEST_WORDS)
    ranked = tagger.predict_kbest(X, k=4)
    assert [best[0].labels for best in ranked] == tagger.predict(X)
    for best in ranked:
        assert len({tuple(r.labels) for r in best}) == len(best) == 4
        assert all(a.score >= b.score for a, b in pairwise(best))


def test_predict_spans_are_those_of_the_labels(tagger: SequenceTagger) -> None:
    X = dicts(TEST_WORDS)
    found = tagger.predict_spans(X)
    expected = [metrics.spans(labels) for labels in tagger.predict(X)]
    assert [[span[:3] for span in spans] for spans in found] == expected
    assert all(0 < span.score <= 1 for spans in found for span in spans)
    strict = tagger.predict_spans(X, scheme="IOB2")
    expected = [metrics.spans(labels, "IOB2") for labels in tagger.predict(X)]
    assert [[span[:3] for span in spans] for spans in strict] == expected


def test_score_is_the_share_of_right_tokens(tagger: SequenceTagger) -> None:
    X, y = dicts(TEST_WORDS), TEST_CHUNKS
    predicted = tagger.predict(X)
    assert tagger.score(X, y) == metrics.token_accuracy(y, predicted)
    weight = np.zeros(len(y))
    weight[3] = 2.0
    alone = metrics.token_accuracy([y[3]], [predicted[3]])
    assert tagger.score(X, y, sample_weight=weight) == pytest.approx(alone)


def test_predict_from_several_threads_gives_the_same_answers(
    tagger: SequenceTagger,
) -> None:
    X = dicts(TEST_WORDS)
    alone = tagger.predict(X), tagger.predict_kbest(X), tagger.predict_spans(X)
    marginals = tagger.predict_marginals(X)

    def work(_: int) -> bool:
        same = alone == (
            tagger.predict(X),
            tagger.predict_kbest(X),
            tagger.predict_spans(X),
        )
        again = tagger.predict_marginals(X)
        return same and all(map(np.array_equal, marginals, again))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_marginals", "predict_kbest", "predict_spans", "explain"],
)
def test_sequence_tagger_unfitted_says_so(method: str) -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        getattr(SequenceTagger(), method)([[{"w": "a"}]])
    with pytest.raises(NotFittedError, match="call fit first"):
        SequenceTagger().top_features(label="O")
    assert not hasattr(SequenceTagger(), "transitions_")


# Training


def test_fit_sample_weight_is_repetition() -> None:
    X, y = dicts(WORDS[:8]), CHUNKS[:8]
    weighted = SequenceTagger(tol=1e-5, max_iter=500).fit(X, y, [3, 1, 0, 1] * 2)
    kept = [0, 0, 0, 1, 3, 4, 4, 4, 5, 7]
    repeated = SequenceTagger(tol=1e-5, max_iter=500).fit(
        [X[i] for i in kept], [y[i] for i in kept]
    )
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=1e-4
    )


def test_fit_without_start_and_end_has_no_such_weights() -> None:
    X, y = dicts(WORDS[:5]), CHUNKS[:5]
    both = SequenceTagger().fit(X, y)
    neither = SequenceTagger(start=False, end=False).fit(X, y)
    K = len(both.classes_)
    assert both.weights_.size == neither.weights_.size + 2 * K


def fit_to_ten(**how: Any) -> SequenceTagger:
    tagger = SequenceTagger(solver="dcd-ssvm", tol=1e-4, max_iter=500, **how)
    return tagger.fit(dicts(WORDS[:10]), CHUNKS[:10])


@pytest.fixture(scope="module")
def fitted_to_ten() -> SequenceTagger:
    return fit_to_ten()


@pytest.mark.parametrize("seed", [7, np.int64(7), np.random.RandomState(7), None])
def test_fit_random_state_changes_the_way_not_the_goal(
    seed: Any, fitted_to_ten: SequenceTagger
) -> None:
    zero, other = fitted_to_ten, fit_to_ten(random_state=seed)
    assert not np.array_equal(zero.weights_, other.weights_)
    assert other.certificate_.primal == pytest.approx(
        zero.certificate_.primal, rel=2e-4
    )


def test_fit_same_seed_gives_the_same_weights() -> None:
    X, y = dicts(WORDS[:10]), CHUNKS[:10]
    fits = [SequenceTagger(random_state=5).fit(X, y).weights_ for _ in range(2)]
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize(
    "solver", ["dcd", "dcd-light", "cpd", DualCoordinateDescent(sweeps=2)], ids=repr
)
def test_fit_solvers_agree(solver: Any, margin_tagger: SequenceTagger) -> None:
    other = SequenceTagger(C=1.0, solver=solver, max_iter=500)
    other.fit(dicts(WORDS), CHUNKS)
    assert other.certificate_.primal == pytest.approx(
        margin_tagger.certificate_.primal, rel=0.02
    )


def test_fit_warm_start_needs_fewer_passes_to_the_same_optimum() -> None:
    X, y = dicts(WORDS), CHUNKS
    cold = SequenceTagger(C=0.12, tol=1e-3).fit(X, y)
    warm = SequenceTagger(C=0.1, tol=1e-3, warm_start=True).fit(X, y)
    warm.set_params(C=0.12).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-3)


def test_fit_warm_start_begins_anew_on_other_data() -> None:
    other = dicts(WORDS[10:20]), CHUNKS[10:20]
    warm = SequenceTagger(warm_start=True).fit(dicts(WORDS[:10]), CHUNKS[:10])
    warm.fit(*other)
    np.testing.assert_array_equal(warm.weights_, SequenceTagger().fit(*other).weights_)


def test_fit_dev_keeps_the_best_weights_and_stops_early() -> None:
    X, y = dicts(WORDS[:20]), CHUNKS[:20]
    dev = dicts(TEST_WORDS), TEST_CHUNKS
    tagger = SequenceTagger(C=10.0, tol=1e-12, patience=2, max_iter=1000)
    tagger.fit(X, y, dev=dev)
    scores = tagger.trace_["dev_score"]
    assert len(scores) == int(np.argmax(scores)) + 1 + 2
    assert metrics.chunk_f1(dev[1], tagger.predict(dev[0])) == scores.max()
    assert "development" in tagger.status_


@pytest.mark.parametrize(
    ("metric", "measure"),
    [
        ("accuracy", metrics.token_accuracy),
        ("chunk_f1", metrics.chunk_f1),
        (metrics.sequence_accuracy, metrics.sequence_accuracy),
    ],
)
def test_fit_dev_metric_is_the_one_asked_for(metric: Any, measure: Any) -> None:
    X, y = dicts(WORDS[:10]), CHUNKS[:10]
    tagger = SequenceTagger(dev_metric=metric, max_iter=30).fit(X, y, dev=(X, y))
    assert measure(y, tagger.predict(X)) == tagger.trace_["dev_score"].max()


def test_fit_interrupted_keeps_the_model_so_far() -> None:
    X, y = dicts(WORDS), CHUNKS
    tagger = SequenceTagger("hinge", tol=1e-9, callbacks=[InterruptAfter(2)])
    with pytest.warns(ConvergenceWarning, match="interrupted after 2 passes"):
        tagger.fit(X, y)
    assert tagger.status_.startswith("interrupted")
    assert tagger.n_iter_ == 2
    assert tagger.certificate_ is not None
    assert tagger.score(X, y) > 0.7


def test_fit_interrupted_keeps_the_model_when_warnings_are_errors() -> None:
    tagger = SequenceTagger(tol=1e-9, callbacks=[InterruptAfter(1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            tagger.fit(dicts(WORDS), CHUNKS)
    assert tagger.score(dicts(WORDS), CHUNKS) > 0.5


def test_fit_unfinished_warns_and_says_what_to_do() -> None:
    tagger = SequenceTagger(tol=1e-9, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as caught:
        tagger.fit(dicts(WORDS[:5]), CHUNKS[:5])
    assert caught[0].filename == __file__


def test_fit_verbose_draws_a_bar_on_a_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partwise._screen.is_terminal", lambda: True)
    SequenceTagger(verbose=1).fit(dicts(WORDS[:5]), CHUNKS[:5])
    shown = capfd.readouterr()
    assert shown.out == ""
    assert re.search(r"\rpass 1 \[[#.]{12}\]", shown.err)
    assert "goal 0.03" in shown.err
    assert shown.err.endswith("\r")  # nothing is left of it


def test_fit_verbose_writes_lines_to_a_log(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partwise._screen.EVERY", 0.0)
    SequenceTagger(verbose=1).fit(dicts(WORDS[:5]), CHUNKS[:5])
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "\r" not in shown.err
    assert "pass 1 [" in shown.err.splitlines()[-1] or "pass 2 [" in shown.err


def test_fit_that_fails_loses_nothing(tagger: SequenceTagger) -> None:
    model = copy.deepcopy(tagger)
    X = dicts(TEST_WORDS)
    before = model.predict(X)
    model.set_params(callbacks=[NoTraining()])
    bad_fits: list[dict[str, Any]] = [
        {"X": [[{"w": "a"}, {"w": "b"}]], "y": [["P"]]},
        {"X": strings(WORDS), "y": TAGS, "sample_weight": [1.0]},
        {"X": [[{"w": "a"}]], "y": [["P"]]},
        {"X": arrays(WORDS), "y": TAGS, "dev": ([np.eye(3)], [["P"] * 3])},
        {"X": strings(WORDS), "y": TAGS, "allowed": [["P"]]},
    ]
    for arguments in bad_fits:
        with pytest.raises(ValueError):  # noqa: PT011 - what it says is tested elsewhere
            model.fit(**arguments)
        assert model.predict(X) == before
    assert model.classes_.tolist() == tagger.classes_.tolist()


def test_fit_checkpoint_resumes(tmp_path: Path) -> None:
    X, y = dicts(WORDS[:20]), CHUNKS[:20]
    path = tmp_path / "run.checkpoint"
    whole = SequenceTagger(tol=1e-4, max_iter=300).fit(X, y)
    broken = SequenceTagger(
        tol=1e-4, max_iter=300, checkpoint=path, callbacks=[InterruptAfter(3)]
    )
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        broken.fit(X, y)
    resumed = SequenceTagger(tol=1e-4, max_iter=300, checkpoint=path, resume=True)
    resumed.fit(X, y)
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)


# Copies


@pytest.mark.parametrize("form", FORMS)
def test_sequence_tagger_copies_predict_the_same(form: str) -> None:
    make, settings = FORMS[form]
    tagger = SequenceTagger(max_iter=1, tol=1.0, warm_start=True, **settings)
    tagger.fit(make(WORDS[:10]), CHUNKS[:10])
    X = make(TEST_WORDS)
    for model in (pickle.loads(pickle.dumps(tagger)), copy.deepcopy(tagger)):
        assert model.predict(X) == tagger.predict(X)
    blank = clone(tagger)
    assert not hasattr(blank, "weights_")
    assert str(blank.get_params()) == str(tagger.get_params())
