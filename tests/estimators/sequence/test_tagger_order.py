"""Taggers of second and third order: what they learn, answer, save and refuse."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from command_line import message, run
from partwise import Constraints, DataError, ModelFileError, SequenceTagger, load
from partwise.losses import LocalCertificate
from partwise.model_file import read, write
from partwise.structures import interface as waist
from partwise.structures.ngrams.known import possible_tuples
from partwise.structures.partial import best_completions, expected_completions

pytestmark = problems.plain_only

WORDS = ["bdabka", "kbadka", "dkabda", "bkakda"]
X = [[["x"] for _ in word] for word in WORDS]
Y = [["V" if letter == "a" else "C" for letter in word] for word in WORDS]


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(order=2, loss="log_loss", C=10.0).fit(X, Y)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_order_sees_what_one_label_does_not_tell(loss: str) -> None:
    first = SequenceTagger(loss=loss, C=10.0).fit(X, Y)
    second = SequenceTagger(loss=loss, C=10.0, order=2).fit(X, Y)
    assert first.score(X, Y) < 1.0
    assert second.score(X, Y) == 1.0
    assert second.certificate_.relative_gap <= second.tol


def test_order_two_answers_all_that_is_asked(tagger: SequenceTagger) -> None:
    [ranked] = tagger.predict_kbest(X[:1], 3)
    assert ranked[0].labels == Y[0]
    assert ranked[0].score >= ranked[-1].score
    [shares] = tagger.predict_marginals(X[:1])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    total = sum(np.exp(tagger.log_probability(X[:1], [r.labels]))[0] for r in ranked)
    assert 0.5 < total <= 1.0 + 1e-9
    assert [choice.label for choice in tagger.explain(X[0])] == Y[0]
    names = {c.feature for one in tagger.explain(X[0]) for c in one.contributions}
    assert "after C C" in names
    assert tagger.transitions_.shape == (2, 2)
    [drawn] = tagger.sample(X[:1], 2)
    assert all(len(labels) == 6 for labels in drawn)
    only = tagger.predict(X[:1], allowed=[[["C"], *[None] * 5]])
    assert only == Y[:1]


def test_order_obeys_constraints() -> None:
    rules = Constraints(transitions=[("V", "V")], end=["C"])
    tagger = SequenceTagger(order=3, C=10.0, constraints=rules).fit(X, Y)
    assert tagger.predict([X[0][:3]])[0][-1] == "V"


HIDDEN = [[None, *labels[1:3], {"C", "V"}, *labels[4:]] for labels in Y]


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_order_learns_from_labels_known_in_part(loss: str) -> None:
    tagger = SequenceTagger(loss=loss, C=10.0, order=2).fit(X + X, Y + HIDDEN)
    assert isinstance(tagger.certificate_, LocalCertificate)
    assert tagger.predict(X) == Y


def test_order_completions_are_all_that_agree() -> None:
    tagger = SequenceTagger(loss="log_loss", order=2, max_iter=1)
    s = tagger._prepare(X, HIDDEN).structure
    w = np.random.default_rng(0).normal(size=waist.n_weights(s))
    best = best_completions(s, w)
    _, entropies = expected_completions(s, w)
    theta = np.zeros(waist.n_parts(s, 0))
    ids, counts = np.zeros(20, np.int64), np.zeros(20)
    for i, labels in enumerate(HIDDEN):
        waist.part_scores(s, i, w, theta, waist.workspace(s, 1))
        sets = [["CV".index(k) for k in sorted(one or "CV")] for one in labels]
        every = np.array(list(product(*sets)), np.int32)
        assert len(every) == 4
        scores = []
        for y in every:
            found = waist.parts_of(s, i, y, ids, counts)
            scores.append(theta[ids[:found]].sum())
        p = np.exp(scores - np.logaddexp.reduce(scores))
        assert entropies[i] == pytest.approx(-p @ np.log(p))
        own = best.codes[best.code_ptr[i] : best.code_ptr[i + 1]]
        assert own.tolist() == every[int(np.argmax(scores))].tolist()


def test_order_predicts_tuples_it_has_not_seen(tagger: SequenceTagger) -> None:
    odd = [["V", "V", "V"]]
    assert tagger.predict(X[:1], allowed=[[["V"]] * 3 + [None] * 3])[0][:3] == odd[0]
    assert np.isfinite(tagger.log_probability([X[0][:3]], odd)).all()
    closed = SequenceTagger(order=2, loss="log_loss", transitions="observed", C=10.0)
    assert np.isneginf(closed.fit(X, Y).log_probability([X[0][:3]], odd)).all()
    with pytest.raises(DataError, match="no legal labels up to token 0"):
        closed.predict(X[:1], allowed=[[["V"], *[None] * 5]])


def test_order_says_which_token_contradicts_and_what_is_too_much() -> None:
    rules = Constraints(transitions=[("V", "V")])
    wrong = [[*HIDDEN[0][:3], {"V"}, *HIDDEN[0][4:]], *HIDDEN[1:]]
    with pytest.raises(DataError, match=r"sequence 0: .* up to token 3 \(V {'V'}\)"):
        SequenceTagger(order=2, constraints=rules).fit(X, wrong)
    with pytest.raises(DataError, match="more than 7 tuples of 3 of the 2 labels"):
        possible_tuples(np.zeros((3, 2), bool), [0, 3], 3, most=7)


def test_order_refuses_too_many_tuples_before_it_lists_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels = [f"L{k}" for k in range(60)]
    free: list[list[Any]] = [labels, [None] * 5]
    # No pattern alone is too much, but the labels known last tell them apart.
    ends: list[list[Any]] = [labels, *([None, None, None, k] for k in labels[:50])]
    monkeypatch.delattr("partwise.structures.ngrams.known.product")
    for y in (free, ends):
        x = [[["x"]] * len(own) for own in y]
        with pytest.raises(DataError, match="4,000,000 tuples of 4 of the 60 labels"):
            SequenceTagger(order=3).fit(x, y)


def test_order_is_saved_and_damage_is_found(
    tagger: SequenceTagger, tmp_path: Path
) -> None:
    path = tmp_path / "m"
    tagger.save(path)
    again = load(path)
    assert again.order == 2
    assert again.predict(X) == tagger.predict(X)
    content = read(path)
    for name in ("tuples.states", "tuples.weighted"):
        tensors = dict(content.tensors)
        tensors[name] = tensors[name] + 7
        write(path, tensors, content.settings, kind="model")
        with pytest.raises(ModelFileError):
            load(path)


def test_order_refuses_what_it_cannot_do(tagger: SequenceTagger) -> None:
    def said(**options: Any) -> str:
        y = options.pop("y", Y)
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            SequenceTagger(**options).fit(X, y)
        return str(caught.value)

    assert said(order=4) == "order must be an integer from 1 to 3, not 4"
    dicts = [[{"a": "x"} for _ in x] for x in X]
    with pytest.raises(ValueError, match="transition_features"):
        SequenceTagger(order=2, transition_features=["a"]).fit(dicts, Y)
    with pytest.raises(ValueError, match="label tuples; train with order=1"):
        tagger._chain_model()


def test_train_tag_takes_the_order(tmp_path: Path) -> None:
    lines = ["".join(f"x {k}\n" for k in labels) + "\n" for labels in Y]
    (tmp_path / "t").write_text("".join(lines))
    base = ("train", "tag", tmp_path / "t", "-m", tmp_path / "m", "-q")
    run(*base, "--order", 2, "-C", 10, "--features", "words")
    assert load(tmp_path / "m").order == 2
    assert "order must be an integer from 1 to 3" in message(*base, "--order", 5)
