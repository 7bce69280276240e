"""Parsers of second order: what they answer, what pruning costs, what is refused."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from partwise import DependencyParser, ModelFileError, load
from partwise.data import Sentence
from partwise.errors import DataError, OutOfMemoryError
from partwise.estimators.dependency import second_order as of_second_order
from partwise.losses import LocalCertificate
from small_treebank import short_sentences

pytestmark = [
    problems.plain_only,
    pytest.mark.filterwarnings("ignore:stopped after"),
]

TRAIN = short_sentences(4)
TEST = short_sentences(2, seed=7)


def second(**settings: Any) -> DependencyParser:
    given = {"order": 2, "hash_bits": 10, "max_iter": 3, "crossing": "lift"}
    return DependencyParser(**given | settings)


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    return second(prune=0.05).fit(TRAIN, dev=TEST)


def answers(parser: DependencyParser) -> Any:
    """Return everything a parser says about some sentences."""
    return [
        parser.predict(TEST),
        parser.predict(TEST, decoding="minimum_risk"),
        parser.predict_kbest(TEST, 3),
        [mu.tolist() for mu in parser.predict_marginals(TEST)],
        str(parser.explain(TEST[0], 1)),
        parser.log_probability(TRAIN).tolist(),
    ]


def test_second_order_parser_is_the_same_in_a_file(
    parser: DependencyParser, tmp_path: Path
) -> None:
    path = tmp_path / "second.partwise"
    parser.save(path)
    again = load(path)
    assert answers(again) == answers(parser)
    assert again.pruning_ == parser.pruning_
    assert (again.order, again.prune) == (2, 0.05)


def test_second_order_answers_agree_with_each_other(parser: DependencyParser) -> None:
    best = parser.predict(TEST)
    for i, ranked in enumerate(parser.predict_kbest(TEST, 3)):
        assert ranked[0][0].heads == best[i].heads
        assert [score for _, score in ranked] == sorted(
            (score for _, score in ranked), reverse=True
        )
    for mu in parser.predict_marginals(TEST):
        np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0)
    for choice in parser.explain(TEST[0]):
        if choice.runner_up is not None:
            total = sum(one.value for one in choice.contributions)
            assert total == pytest.approx(choice.margin)
            assert choice.margin >= -1e-9


def test_pruning_says_what_it_costs(parser: DependencyParser) -> None:
    kept, dev = parser.pruning_["train"], parser.pruning_["dev"]
    n_words = sum(map(len, TEST))
    shares = [mu > 0 for mu in parser.predict_marginals(TEST)]
    assert dev.arcs_per_word <= sum(map(np.sum, shares)) / n_words + 1e-12
    right = sum(
        bool(share[head, m])
        for sentence, share in zip(TEST, shares, strict=True)
        for m, head in enumerate(sentence.heads or (), 1)
    )
    assert right <= dev.oracle_heads * n_words + 1e-9
    assert 0 < kept.oracle_heads <= 1 <= kept.arcs_per_word
    everything = second(prune=0.0, max_iter=1).fit(TRAIN[:1], dev=TEST)
    assert everything.pruning_["dev"].oracle_heads == 1.0
    assert everything.pruning_["dev"].arcs_per_word == pytest.approx(
        sum(len(s) ** 2 for s in TEST) / n_words
    )


def test_second_order_learns_siblings() -> None:
    """The first of two nouns is the subject, the second the object: order decides."""

    def sentence(*heads: int) -> Sentence:
        return Sentence.from_columns(
            forms=["a", "v", "b", "c"], upos=["N", "V", "N", "N"], heads=list(heads)
        )

    chain = sentence(2, 0, 2, 3)
    parser = second(labelled=False, max_iter=5).fit([chain])
    assert parser.predict([chain])[0].heads == (2, 0, 2, 3)
    names = [c.feature for c in parser.explain(chain, 4).contributions]
    assert any("sibling" in name for name in names)
    assert any("head's head" in name for name in names)


def test_second_order_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="order=2 is for projective trees"):
        second(projective=False).fit(TRAIN)
    with pytest.raises(ValueError, match="order"):
        second(order=3).fit(TRAIN)
    with pytest.raises(ValueError, match="prune"):
        second(prune=1.5).fit(TRAIN)
    with pytest.raises(DataError, match="no tree is known completely"):
        second().fit([one.without_heads([1]) for one in TRAIN])


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_second_order_learns_from_trees_known_in_part(loss: str) -> None:
    """What pruning leaves has the heads that are known, and any for the others."""
    some = [TRAIN[0].without_heads([1, 2]), TRAIN[1]]
    parser = second(loss=loss, prune=0.5, max_iter=2).fit(some)
    assert isinstance(parser.certificate_, LocalCertificate)
    assert parser.pruning_ is not None
    assert 0.0 < parser.pruning_["train"].oracle_heads <= 1.0
    assert np.isfinite(parser.certificate_.primal)


def test_second_order_calibrates() -> None:
    model = second(calibrate="temperature", max_iter=1).fit(TRAIN[:2], dev=TEST)
    assert model._calibration.scale > 0
    for sets, sentence in zip(model.predict_sets(TEST, 0.5), TEST, strict=True):
        assert len(sets) == len(sentence)


def test_damaged_pruners_are_refused(parser: DependencyParser, tmp_path: Path) -> None:
    model = second(max_iter=1).fit(TRAIN[:1])
    model._pruner = model._pruner._replace(least=2.0)
    path = tmp_path / "damaged.partwise"
    model.save(path)
    with pytest.raises(ModelFileError, match="pruning"):
        load(path)


def test_second_order_refuses_what_does_not_fit(
    parser: DependencyParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_second_order, "available_memory", lambda: 1000)
    with pytest.raises(OutOfMemoryError, match=r"after pruning.*larger prune"):
        parser.predict(TEST)


def test_parser_order_one_refuses_what_it_would_ignore() -> None:
    with pytest.raises(ValueError, match="is for order=2; set order=2"):
        DependencyParser(prune=0.5).fit(TRAIN)


@pytest.mark.filterwarnings("ignore:overflow")
def test_second_order_scores_that_overflow_are_refused(
    parser: DependencyParser,
) -> None:
    damaged = copy.copy(parser)
    damaged.weights_ = np.full_like(parser.weights_, 1e307)
    with pytest.raises(DataError, match="sentence 0: its score overflows"):
        damaged.predict(TEST)
