from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from partwise import Constraints, DataError, SequenceTagger
from tagging_data import CHUNKS, TEST_WORDS, WORDS, NoTraining, strings


def to_scheme(labels: list[str], scheme: str) -> list[str]:
    """Write BIO labels in another scheme."""
    result = []
    for t, label in enumerate(labels):
        prefix, _, kind = label.partition("-")
        if prefix == "O" or scheme == "BIO":
            result.append(label)
            continue
        goes_on = labels[t + 1 : t + 2] == [f"I-{kind}"]
        if scheme == "IOB1":
            before = labels[t - 1].partition("-")[2] if t else ""
            prefix = "B" if prefix == "B" and before == kind else "I"
        elif scheme == "IOBES":
            prefix = {"BT": "B", "BF": "S", "IT": "I", "IF": "E"}[
                prefix + "FT"[goes_on]
            ]
        elif scheme == "BILOU":
            prefix = {"BT": "B", "BF": "U", "IT": "I", "IF": "L"}[
                prefix + "FT"[goes_on]
            ]
        result.append(f"{prefix}-{kind}")
    return result


def is_legal(labels: list[str], scheme: str) -> bool:
    """Say whether a sequence is well formed, written down rule by rule."""
    for before, after in pairwise(["O", *labels, "O"]):
        was, _, was_kind = before.partition("-")
        now, _, now_kind = after.partition("-")
        same = was_kind == now_kind
        if scheme == "BIO" and now == "I" and not (was in "BI" and same):
            return False
        if scheme == "IOB1" and now == "B" and not (was in "BI" and same):
            return False
        if scheme in ("IOBES", "BILOU"):
            last = "E" if scheme == "IOBES" else "L"
            must_go_on, goes_on = was in "BI", now in f"I{last}"
            if must_go_on != goes_on or (goes_on and not same):
                return False
    return True


@pytest.mark.parametrize("scheme", ["BIO", "IOB1", "IOBES", "BILOU"])
def test_constraints_by_name_hold_in_every_answer(scheme: str) -> None:
    y = [to_scheme(labels, scheme) for labels in CHUNKS[:30]]
    assert all(is_legal(labels, scheme) for labels in y)
    # Hardly any features: without constraints, this model breaks them.
    X, unseen = (
        [[[w[-1:]] for w in words] for words in s] for s in (WORDS, TEST_WORDS)
    )
    free = SequenceTagger(C=0.01, tol=0.1).fit(X[:30], y)
    bound = SequenceTagger(C=0.01, tol=0.1, constraints=scheme).fit(X[:30], y)
    kbest = [r.labels for ranked in free.predict_kbest(unseen, 20) for r in ranked]
    assert not all(is_legal(labels, scheme) for labels in kbest)
    kbest = [r.labels for ranked in bound.predict_kbest(unseen, 20) for r in ranked]
    assert all(is_legal(labels, scheme) for labels in kbest)
    assert all(is_legal(labels, scheme) for labels in bound.predict(unseen))
    if scheme == "BIO":
        first = bound.predict_marginals(unseen)[0][0]
        np.testing.assert_array_equal(first > 0, [k[0] != "I" for k in bound.classes_])


def test_constraints_of_ones_own_hold() -> None:
    rules = Constraints(transitions=[("P", "Q")], start=["Q"], end=["R"])
    X = [[["a"], ["b"], ["c"]], [["b"], ["a"]]]
    y = [["P", "R", "Q"], ["R", "P"]]
    tagger = SequenceTagger(constraints=rules).fit(X, y)
    (ranked,) = tagger.predict_kbest([[["a"], ["a"], ["a"]]], k=100)
    expected = {
        labels
        for labels in product("PQR", repeat=3)
        if labels[0] != "Q" and labels[-1] != "R" and ("P", "Q") not in pairwise(labels)
    }
    assert {tuple(r.labels) for r in ranked} == expected


def test_constraints_name_the_sentence_that_breaks_them() -> None:
    X, y = strings(WORDS[:3]), [list(labels) for labels in CHUNKS[:3]]
    y[1][0] = "I-NP"
    tagger = SequenceTagger(constraints="BIO", callbacks=[NoTraining()])
    with pytest.raises(DataError, match=r"labels of sequence 1 at token 0 \(I-NP\)"):
        tagger.fit(X, y)


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        ("BOI", ValueError, "unknown scheme 'BOI'"),
        (["BIO"], TypeError, "constraints must be None, the name of a scheme"),
        (Constraints(start=["X"]), DataError, "start: 'X' is not a label"),
        ("IOBES", DataError, "the constraints forbid the labels of sequence 0"),
    ],
)
def test_constraints_that_make_no_sense_are_explained(
    constraints: Any, error: type[Exception], message: str
) -> None:
    tagger = SequenceTagger(constraints=constraints, callbacks=[NoTraining()])
    with pytest.raises(error, match=message):
        tagger.fit(strings(WORDS[:3]), CHUNKS[:3])


def test_constraints_refuse_labels_of_another_kind() -> None:
    with pytest.raises(ValueError, match="'NN' does not belong to the scheme IOB2"):
        SequenceTagger(constraints="BIO").fit([[["a"], ["b"]]], [["NN", "O"]])


# Allowed labels


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger().fit(strings(WORDS[:30]), CHUNKS[:30])


def test_allowed_labels_hold_in_every_answer(tagger: SequenceTagger) -> None:
    X = strings(TEST_WORDS)
    allowed: list[Any] = [None] * len(X)
    allowed[2] = [None] * len(X[2])
    allowed[2][1] = ["B-VP", "I-VP"]
    free = tagger.predict(X)
    assert free[2][1] not in allowed[2][1]
    bound = tagger.predict(X, allowed=allowed)
    assert bound[2][1] in allowed[2][1]
    assert bound[:2] + bound[3:] == free[:2] + free[3:]
    marginals = tagger.predict_marginals(X, allowed=allowed)[2][1]
    assert set(tagger.classes_[marginals > 0]) == set(allowed[2][1])
    ranked = tagger.predict_kbest(X, 10, allowed=allowed)[2]
    assert all(r.labels[1] in allowed[2][1] for r in ranked)
    assert tagger.predict_spans(X, allowed=allowed)[2] != tagger.predict_spans(X)[2]


def test_allowed_labels_without_a_choice_are_explained(tagger: SequenceTagger) -> None:
    X = strings(TEST_WORDS[:2])
    allowed: list[Any] = [None, [[]] * len(X[1])]
    for method in ("predict", "predict_kbest", "predict_marginals", "predict_spans"):
        with pytest.raises(DataError, match="sequence 1, token 0: no label at all"):
            getattr(tagger, method)(X, allowed=allowed)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([None], "X has 2 examples, but allowed has 1"),
        ([None, [["O"]]], "allowed, sequence 1: 1 entries for"),
        (
            [[["X"]] * len(TEST_WORDS[0]), None],
            "sequence 0, token 0: 'X' is not a label",
        ),
    ],
)
def test_allowed_labels_that_do_not_fit_are_explained(
    tagger: SequenceTagger, allowed: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        tagger.predict(strings(TEST_WORDS[:2]), allowed=allowed)


def test_allowed_labels_in_training_must_allow_the_right_ones() -> None:
    X, y = [[["a"], ["b"]], [["c"]]], [["P", "Q"], ["P"]]
    tagger = SequenceTagger(C=10.0)
    with pytest.raises(DataError, match="labels of sequence 1 at token 0"):
        tagger.fit(X, y, allowed=[None, [["Q"]]])
    # Where only the right label is allowed, there is nothing to learn but this.
    tagger.fit(X, y, allowed=[[["P"], ["Q"]], [["P"]]])
    assert not tagger.weights_.any()


# Costs


def test_costs_in_every_form_are_the_same() -> None:
    X = [[["a"], ["b"], ["c"]], [["a"], ["c"]]]
    y = [["P", "Q", "R"], ["Q", "R"]]
    matrix = np.array([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    pairs = {("P", "Q"): 5.0, ("Q", "P"): 2.0}
    nested = {"P": {"Q": 5.0}, "Q": {"P": 2.0}}
    first, *others = [
        SequenceTagger(costs=costs).fit(X, y).weights_
        for costs in (matrix, matrix.tolist(), pairs, nested)
    ]
    for weights in others:
        np.testing.assert_array_equal(weights, first)
    plain = SequenceTagger().fit(X, y).weights_
    assert not np.array_equal(plain, first)


def test_costs_make_expensive_mistakes_rare() -> None:
    X, y = [[["a"]]] * 10, [["P"]] * 6 + [["Q"]] * 4
    assert SequenceTagger().fit(X, y).predict([[["a"]]]) == [["P"]]
    dear = SequenceTagger(costs={("Q", "P"): 10.0}).fit(X, y)
    assert dear.predict([[["a"]]]) == [["Q"]]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({("P", "X"): 1.0}, "costs: 'X' is not a label of the training data"),
        ({"P": {"X": 1.0}}, "costs: 'X' is not a label of the training data"),
        ({"P": 1.0}, r"keyed by \(right, predicted\) pairs"),
        (np.ones((3, 3)), r"shape \(3, 3\), but 2 labels need \(2, 2\)"),
        ({("P", "Q"): -1.0}, "finite and not negative"),
        ({("P", "Q"): float("nan")}, "finite and not negative"),
        ({("P", "P"): 1.0}, "diagonal"),
    ],
)
def test_costs_that_make_no_sense_are_explained(costs: Any, message: str) -> None:
    tagger = SequenceTagger(costs=costs, callbacks=[NoTraining()])
    with pytest.raises(ValueError, match=message):
        tagger.fit([[["a"], ["b"]]], [["P", "Q"]])
