"""Parsers with `prune`: what a coarser grammar leaves, and the best of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from command_line import run
from partwise import ConstituencyParser, DataError, load
from partwise.constituents import KnownBrackets, binarize, spans, words
from partwise.constituents.binary import without_memory
from partwise.data import read_brackets
from partwise.estimators.constituency.coarse import coarse_grammar

pytestmark = problems.plain_only

TREES = """
(S (NP (N I)) (VP (V see) (NP (NP (D a) (N dog)) (PP (P in) (NP (N Rome))))))
(S (NP (N I)) (VP (V see) (NP (N dogs)) (PP (P in) (NP (N Rome)))))
(S (NP (D the) (J big) (N dog)) (VP (V sees) (NP (D a) (J big) (N dog))))
"""
TRAIN = read_brackets(io.StringIO(TREES))
CHOSEN: dict[str, Any] = {"loss": "log_loss", "hash_bits": 6, "tol": 0.5}


@pytest.mark.parametrize(
    "settings", [{"horizontal": None, "vertical": 2}, {"states": 2}]
)
def test_coarse_grammar_has_the_symbols_that_remember_nothing(settings: Any) -> None:
    parser = ConstituencyParser(**CHOSEN, **settings).fit(TRAIN)
    fine, coarse = parser._grammar, coarse_grammar(parser._grammar)
    coarsest = [binarize(tree, horizontal=0, vertical=1) for tree in TRAIN]
    for tree in coarsest:
        assert coarse.derivation(tree)
    assert set(coarse.symbols) == {without_memory(one) for one in fine.symbols}
    assert len(coarse.symbols) < len(fine.symbols)


@pytest.mark.parametrize("settings", [{}, {"states": 2}])
def test_pruning_leaves_all_or_the_best_of_what_it_leaves(settings: Any) -> None:
    whole = ConstituencyParser(**CHOSEN, random_state=0, **settings).fit(TRAIN)
    same = ConstituencyParser(**CHOSEN, random_state=0, **settings, prune=1e-300)
    same.fit(TRAIN)
    np.testing.assert_allclose(same.weights_, whole.weights_, rtol=1e-6, atol=1e-9)
    assert same.predict(TRAIN) == whole.predict(TRAIN)
    few = ConstituencyParser(**CHOSEN, **settings, prune=0.3).fit(TRAIN)
    few.weights_ = np.random.default_rng(1).normal(size=few.weights_.size)
    one = words(TRAIN[1])
    [table] = [few._trained_model(None).corpus(few._encode([one])).allowed.table]
    assert 0 < table.sum() < table.size
    pruner, few._pruner = few._pruner, None
    every = few.predict_kbest([one], 2_000)[0]
    few._pruner = pruner
    assert pruner is not None
    places = [(a, b) for a in range(len(one)) for b in range(a + 2, len(one) + 1)]
    number = {name: k for k, name in enumerate(pruner.grammar.span_classes)}

    def is_left(tree: Any) -> bool:
        binary = binarize(tree, horizontal=0, vertical=1)
        return all(
            table[places.index((start, end)), number[label]]
            for label, start, end in spans(binary)
        )

    left = [(tree, score) for tree, score in every if is_left(tree)]
    assert 0 < len(left) < len(every) < 2_000
    [best] = few.predict_kbest([one], 1)
    assert best[0][0] == left[0][0]
    assert best[0][1] == pytest.approx(left[0][1])
    lost = next(tree for tree, _ in every if not is_left(tree))
    assert few.log_probability([lost])[0] == -np.inf
    assert np.isfinite(few.log_probability([left[0][0]])[0])


def test_pruning_is_counted_kept_and_reached_by_commands(tmp_path: Path) -> None:
    (tmp_path / "train").write_text(TREES)
    args = ["train", "constituency", tmp_path / "train", "--model", tmp_path / "m"]
    args += ["--dev", tmp_path / "train", "--states", 2, "--prune", 0.01]
    said = run(*args, "--hash-bits", 6, "--tol", 1)
    assert "of the right brackets are among them" in said.stdout + said.stderr
    model = load(tmp_path / "m")
    assert model.prune == 0.01
    assert set(model.pruning_) == {"train", "dev"}
    assert 0.0 < model.pruning_["dev"].phrases < 1.0
    assert 0.0 < model.pruning_["dev"].oracle_brackets <= 1.0
    assert "may be phrases" in run("inspect", tmp_path / "m").stdout
    model.save(tmp_path / "again")
    again = load(tmp_path / "again")
    assert again.pruning_ == model.pruning_
    assert again.predict_kbest(TRAIN, 3) == model.predict_kbest(TRAIN, 3)


def test_pruning_puts_what_is_known_back() -> None:
    """With so much pruned, nothing else would be left of what is to be learnt."""
    known = KnownBrackets(words(TRAIN[0]), (("NP", 2, 4), ("VP", 1, 6)))
    for examples in (TRAIN, [*TRAIN, known]):
        parser = ConstituencyParser(**CHOSEN, prune=1.0).fit(examples)
        assert np.isfinite(parser.certificate_.primal)
        assert parser.pruning_ is not None
        assert parser.pruning_["train"].phrases < 0.6


def test_pruning_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="prune"):
        ConstituencyParser(prune=1.5).fit(TRAIN)
    with pytest.raises(ValueError, match="prune does not go with rule_features"):
        ConstituencyParser(**CHOSEN, prune=0.1).fit(
            TRAIN, rule_features=lambda words, application: ["one"]
        )
    grammar = "S -> NP VP\nNP -> N\nVP -> V NP"
    known = KnownBrackets(("I", "see", "dogs"), (("VP", 1, 3),), ("N", "V", "N"))
    with pytest.raises(DataError, match="prune learns from whole trees"):
        ConstituencyParser(**CHOSEN, grammar=grammar, prune=0.1).fit([known])
    parser = ConstituencyParser(**CHOSEN, prune=0.1).fit(TRAIN)
    with pytest.raises(ValueError, match="needs prune=0"):
        parser.partial_fit(TRAIN, forget=True)
