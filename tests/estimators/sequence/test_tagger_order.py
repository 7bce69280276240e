"""Taggers of second and third order: what they learn, answer, save and refuse."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from command_line import message, run
from partwise import Constraints, ModelFileError, SequenceTagger, load
from partwise.model_file import read, write

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
    hidden = [[None, *labels[1:]] for labels in Y]
    assert "complete labels" in said(order=2, y=hidden)
    dicts = [[{"a": "x"} for _ in x] for x in X]
    with pytest.raises(ValueError, match="transition_features"):
        SequenceTagger(order=2, transition_features=["a"]).fit(dicts, Y)
    for method in (tagger.predict_transitions, tagger.predict_span_marginals):
        with pytest.raises(ValueError, match="is for order=1"):
            method(X)
    with pytest.raises(ValueError, match="label tuples; train with order=1"):
        tagger._chain_model()


def test_train_tag_takes_the_order(tmp_path: Path) -> None:
    lines = ["".join(f"x {k}\n" for k in labels) + "\n" for labels in Y]
    (tmp_path / "t").write_text("".join(lines))
    base = ("train", "tag", tmp_path / "t", "-m", tmp_path / "m", "-q")
    run(*base, "--order", 2, "-C", 10, "--features", "words")
    assert load(tmp_path / "m").order == 2
    assert "order must be an integer from 1 to 3" in message(*base, "--order", 5)
