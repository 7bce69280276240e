"""The constituency parser: what it learns, predicts, refuses and saves.

Parsers compile for long: everything here runs in plain Python.
"""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import partwise
import problems
from corruption import corruptions
from partwise import ConstituencyParser, DataError, ModelFileError
from partwise.constituents import Bracket, Tree, spans, tags, words
from partwise.data import read_brackets
from partwise.estimators.constituency.grammar import read_grammar
from partwise.estimators.constituency.lexicon import learn_lexicon
from partwise.estimators.constituency.productions import (
    compile_grammar,
    read_productions,
)
from partwise.features.span_codes import encode_tokens, span_rows, split_rows
from partwise.metrics.brackets import bracket_scores
from places import GOLDEN

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)

TEXT = """
(S (NP (NNS dogs)) (VP (VBP bark)))
(S (NP (DT the) (NNS cats)) (VP (VBP see) (NP (NNS dogs))))
(S (VP (VB look)))
(S (NP (NNP Rex)) (ADVP (RB now)) (VP (VBZ sees) (NP (DT the) (JJ big) (NNS cats))))
(S (NP (DT the) (NNS dogs) (PP (IN in) (NP (NNP Rome)))) (VP (VBP bark)))
"""


def trees(text: str) -> list[Tree]:
    return read_brackets(io.StringIO(text))


TRAIN = trees(TEXT)
GRAMMAR = [
    "S -> NP VP | VP | NP ADVP VP",
    "NP -> NNS | NNP | DT NNS | DT JJ NNS | DT NNS PP",
    "VP -> VBP | VB | VBP NP | VBZ NP",
    "PP -> IN NP",
    "ADVP -> RB",
]


def quick(**changed: Any) -> ConstituencyParser:
    how = {"solver": "perceptron", "max_iter": 4, "hash_bits": 8}
    return ConstituencyParser(**how | changed)


def pairs(tree: Tree) -> list[tuple[str, str]]:
    return list(zip(words(tree), tags(tree), strict=True))


# --- training -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"given_tags": True},
        {"horizontal": None},
        {"horizontal": 0, "vertical": 2},
        {"grammar": GRAMMAR},
        {"grammar": "\n".join(GRAMMAR)},
    ],
    ids=str,
)
def test_constituency_parser_learns_what_it_was_shown(kind: dict[str, Any]) -> None:
    parser = quick(max_iter=10, **kind).fit(TRAIN)
    given = [pairs(t) if parser.given_tags else list(words(t)) for t in TRAIN]
    assert parser.predict(given) == TRAIN
    assert parser.predict(TRAIN) == TRAIN
    assert parser.score(TRAIN) == parser.score(TRAIN, metric="exact_match") == 1.0
    assert parser.classes_.tolist() == ["ADVP", "NP", "PP", "S", "VP"]
    assert parser.n_skipped_ == 0


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("dcd-ssvm", "squared_hinge"),
        ("eg", "hinge"),
        ("eg", "log_loss"),
        ("mira", "hinge"),
        ("frank-wolfe", "hinge"),
        ("sgd", "log_loss"),
        ("lbfgs", "log_loss"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constituency_parser_goes_with_the_solver(solver: str, loss: str) -> None:
    parser = quick(solver=solver, loss=loss, max_iter=3, C=1.0).fit(TRAIN[:2])
    assert parser.score(TRAIN[:2]) == 1.0


def test_constituency_parser_sample_weight_zero_leaves_out() -> None:
    how = {"solver": "lbfgs", "loss": "log_loss", "tol": 1e-8, "max_iter": 60}
    parser = quick(**how, C=0.1)
    # The tree of weight zero has no rule, word or symbol that the others do not have.
    double = [TRAIN[0], TRAIN[1], TRAIN[0]]
    weighted = clone(parser).fit(double[:2], sample_weight=[2.0, 1.0])
    assert_allclose(weighted.weights_, parser.fit(double).weights_, atol=1e-3)


def test_constituency_parser_stops_early_at_its_best_on_development_data() -> None:
    seen = []

    def metric(gold: Any, found: Any) -> float:
        seen.append(bracket_scores(gold, found).f1)
        return -float(len(seen))

    how = {"solver": "eg", "loss": "log_loss", "tol": 1e-9}
    parser = quick(max_iter=20, patience=2, dev_metric=metric, **how)
    parser.fit(TRAIN, dev=TRAIN[:2])
    assert len(parser.trace_) == 3
    assert seen[0] == 1.0  # the rehearsal, on right trees


def test_constituency_parser_is_an_estimator_as_scikit_learn_knows_them() -> None:
    parser = quick()
    assert clone(parser).get_params()["hash_bits"] == 8
    scores = cross_val_score(parser, TRAIN[:2] * 2, cv=2)
    assert scores.shape == (2,)
    parser.fit(TRAIN)
    again = pickle.loads(pickle.dumps(parser))
    assert again.predict(TRAIN) == TRAIN


def test_constituency_parser_costs_decide_what_is_learnt() -> None:
    """Where nothing costs anything, there is nothing to learn."""
    parser = ConstituencyParser(span_cost=0.0, word_cost=0.0, hash_bits=6)
    assert not parser.fit(TRAIN).weights_.any()
    parser = ConstituencyParser(span_cost=0.0, word_cost=1.0, hash_bits=6)
    assert parser.fit(TRAIN).weights_.any()


# --- predicting -----------------------------------------------------------------------


def test_constituency_parser_probabilities_are_those_of_all_trees() -> None:
    parser = quick(loss="log_loss", solver="lbfgs", max_iter=5, tol=0.5, C=0.1)
    parser.set_params(grammar=GRAMMAR).fit(TRAIN)
    sentence = ["the", "dogs", "see", "cats"]
    [ranked] = parser.predict_kbest([sentence], 2000)
    assert 5 < len(ranked) < 2000
    scores = np.array([score for _, score in ranked])
    assert (np.diff(scores) <= 0).all()
    assert parser.predict([sentence]) == [ranked[0][0]]
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    expected: dict[Bracket, float] = {}
    for (tree, _), share in zip(ranked, shares, strict=True):
        assert words(tree) == tuple(sentence)
        for bracket in spans(tree):
            expected[bracket] = expected.get(bracket, 0.0) + share
    [found] = parser.predict_marginals([sentence], at_least=0.0)
    assert_allclose(sum(found.values()), sum(expected.values()), rtol=1e-9)
    for bracket, share in expected.items():
        assert_allclose(found[bracket], share, atol=1e-9)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    [likely] = parser.predict_marginals([sentence], at_least=0.5)
    assert likely == {b: share for b, share in found.items() if share >= 0.5}


def test_constituency_parser_answers_do_not_depend_on_the_company(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser = quick().fit(TRAIN)
    together = parser.predict(TRAIN), parser.predict_marginals(TRAIN)
    monkeypatch.setattr("partwise.estimators.constituency.corpus.BATCH", 1)
    assert (parser.predict(TRAIN), parser.predict_marginals(TRAIN)) == together
    assert parser.predict(TRAIN[2:3]) == together[0][2:3]
    parser.n_jobs = 2
    assert parser.predict(TRAIN) == together[0]


def test_constituency_parser_gives_flat_trees_where_there_is_none() -> None:
    lexical = ["S -> NP VP", "NP -> 'dogs' | 'bark'", "VP -> 'bark'"]
    parser = quick(grammar=lexical).fit(trees("(S (NP dogs) (VP bark))"))
    none = ["dogs", "bark", "dogs"]
    with pytest.warns(UserWarning, match="1 of 2 sentences have no tree .* sentence 0"):
        flat, tree = parser.predict([none, ["dogs", "bark"]])
    assert str(tree) == "(S (NP dogs) (VP bark))"
    assert flat is not None
    assert (flat.label, words(flat), len(flat.phrases)) == ("S", tuple(none), 3)
    assert [one.label for one in flat.phrases[::2]] == ["NP", "NP"]
    with pytest.warns(UserWarning, match="None"):
        assert parser.predict([none], no_parse="none") == [None]
    assert parser.predict_marginals([none]) == [{}]
    assert parser.predict_kbest([none]) == [[]]
    with pytest.raises(ValueError, match="no_parse must be one of"):
        parser.predict([none], no_parse="tree")


def test_constituency_parser_flat_trees_keep_given_tags() -> None:
    parser = quick(given_tags=True).fit(TRAIN)
    with pytest.warns(UserWarning, match="no tree"):
        [flat] = parser.predict([[("dogs", "NNS"), ("odd", "NEW")]])
    assert str(flat) == "(S (NNS dogs) (NEW odd))"


def test_constituency_parser_knows_new_words_by_what_they_look_like() -> None:
    parser = quick(max_iter=10).fit(TRAIN)
    [tree] = trees(str(TRAIN[3]).replace("Rex", "Max").replace("big", "tall"))
    assert parser.predict([words(tree)]) == [tree]


# --- grammars -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["S -> NP VP", "NP -> S", "S -> NP"], "circle .* S -> NP -> S|NP -> S -> NP"),
        (["S -> A A", "A -> A"], "circle .* A -> A"),
        (
            ["S -> A A", "A -> 'a'", "S -> B", "B -> B A"],
            "S -> B is of no use: B never",
        ),
        (["S -> A A", "A -> 'a'", "X -> A"], "X -> A is of no use: nothing leads"),
        (["S -> A B", "A -> 'a'"], "none to B"),
        (["S -> 'a' B"], "line 1 .* a word stands next to other symbols"),
        (["S NP VP"], "line 1 of the grammar"),
        (["S -> A", "A -> 'a"], "line 2 .* the quote of 'a is not closed"),
        (["S -> NP VP . [1.0]"], r"line 1 .*: \[1.0\] is not a symbol"),
        (["S -> NP -> VP"], "line 1 .* second arrow"),
        (["S -> NP (PP)"], r"line 1 .* \(PP\) has a round bracket"),
        (["S -> 'a b'"], "line 1 .* 'a b' has a blank"),
        ([*GRAMMAR, "NP -> Z Z"], "NP -> Z Z is of no use: Z is .* no word"),
        (["S -> NP |"], "a side of | is empty"),
        ([], "no productions"),
    ],
)
def test_constituency_parser_refuses_the_grammar(
    lines: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        quick(grammar=lines).fit(TRAIN)


def test_constituency_parser_counts_trees_that_a_grammar_does_not_have() -> None:
    known = [*GRAMMAR[:1], "NP -> NNS | DT NNS", *GRAMMAR[2:3], "ADVP -> RB"]
    message = "does not derive 2 of 5 trees .*tree 3: .*NP"
    with pytest.raises(DataError, match=message):
        quick(grammar=known).fit(TRAIN)
    parser = quick(grammar=known, underivable="skip", max_iter=8)
    with pytest.warns(UserWarning, match=message):
        parser.fit(TRAIN, sample_weight=np.ones(5))
    assert parser.n_skipped_ == 2
    assert parser.predict(TRAIN[:3]) == TRAIN[:3]


def test_constituency_parser_says_which_word_no_rule_produces() -> None:
    lexical = ["S -> NP VP", "NP -> 'dogs' | 'Rex'", "VP -> 'bark'"]
    right = trees("(S (NP dogs) (VP bark))")
    with pytest.raises(DataError, match="has no production NP -> 'cats'"):
        quick(grammar=lexical).fit([*right, *trees("(S (NP cats) (VP bark))")])
    parser = quick(grammar=lexical).fit(right)
    assert str(parser.predict([["Rex", "bark"]])[0]) == "(S (NP Rex) (VP bark))"
    with pytest.warns(UserWarning, match="flat; no rule produces 'cats'$"):
        parser.predict([["cats", "bark"]])
    several = [["a", "b"], ["c", "d"], ["a", "bark"]]
    with pytest.warns(UserWarning, match="'a', 'b', 'c' and 1 other word$"):
        parser.predict(several)
    tagged = quick(grammar=lexical, given_tags=True).fit(right)
    with pytest.warns(UserWarning, match="no rule produces 'dogs/X'"):
        tagged.predict([[("dogs", "X"), ("bark", "VP")]])


def test_constituency_parser_flat_trees_have_no_word_for_punctuation() -> None:
    lexical = ["S -> NN VB .", "NN -> 'dogs' | 'Rex'", "VB -> 'bark'", ". -> '.'"]
    parser = quick(grammar=lexical).fit(trees("(S (NN dogs) (VB bark) (. .))"))
    parser.weights_[:] = 0.0
    with pytest.warns(UserWarning, match="'zebras'"):
        [flat] = parser.predict([["zebras", "bark", "."]])
    assert str(flat) == "(S (NN zebras) (VB bark) (. .))"


def test_constituency_parser_names_the_production_to_add() -> None:
    """Not the symbols that it is made binary with."""
    with pytest.raises(DataError, match=r"has no production S -> NP ADVP VP\)"):
        quick(grammar=["S -> NP VP | VP | ADVP", *GRAMMAR[1:]]).fit(TRAIN)
    with pytest.raises(DataError, match="its root is S, that of the grammar ROOT"):
        quick(grammar=["ROOT -> S", *GRAMMAR]).fit(TRAIN)


def test_constituency_parser_with_given_tags_takes_tags_it_has_not_seen() -> None:
    parser = quick(grammar=[*GRAMMAR, "NP -> FW"], given_tags=True).fit(TRAIN)
    [tree] = parser.predict([[("chats", "FW"), ("bark", "VBP")]])
    assert str(tree) == "(S (NP (FW chats)) (VP (VBP bark)))"


def test_productions_take_tags_of_quotes_and_words_with_brackets() -> None:
    read = read_productions(["S -> `` NP '' | N'", 'NP -> "(" | "\'"'])
    assert [str(one) for one in read] == [
        "S -> `` NP ''",
        "S -> N'",
        "NP -> '-LRB-'",
        'NP -> "\'"',
    ]


def test_productions_derive_what_trees_of_them_derive() -> None:
    """The grammar of some productions is that of all trees with one more word each."""
    tagged = [pair for tree in TRAIN for pair in pairs(tree)]
    grammar = compile_grammar(read_productions(GRAMMAR), tagged)
    from_trees = read_grammar(
        partwise.constituents.binarize(tree, horizontal=None) for tree in TRAIN
    )
    names = {tuple(grammar.symbols[a] for a in rule) for rule in grammar.rules}
    others = {tuple(from_trees.symbols[a] for a in rule) for rule in from_trees.rules}
    assert others <= names
    assert ("S", "NP+NNP", "VP+VBP") in names - others
    assert [grammar.symbols[a] for a in grammar.roots] == [
        "S",
        "S+VP",
        "S+VP+VB",
        "S+VP+VBP",
    ]


def test_lexicon_gives_rare_words_the_tags_of_new_ones() -> None:
    seen = [("the", "DT")] * 5 + [("dog", "NN"), ("bark", "VB"), ("bark", "NN")]
    lexicon = learn_lexicon(seen)
    assert lexicon.tags("the") == ("DT",)
    assert lexicon.tags("new") == ("NN",)
    assert lexicon.tags("bark") == ("NN", "VB")


# --- features -------------------------------------------------------------------------


def test_span_features_depend_on_the_sentence_alone() -> None:
    """And on it all: a sentence has the same rows in any company."""
    alone = encode_tokens([["the", "dogs", "bark", "now"]])
    both = encode_tokens([["Hush"], ["the", "dogs", "bark", "now"], ["a", "b"]])
    for rows, n_before, n in ((span_rows, 0, 6), (split_rows, 0, 10)):
        one, two = rows(alone, 12), rows(both, 12)
        size = int(one.ptr[1])
        mine = one.idx.reshape(-1, size)
        assert mine.shape[0] == n
        assert np.array_equal(mine, two.idx.reshape(-1, size)[n_before : n_before + n])
        assert len({tuple(row) for row in mine.tolist()}) == n


def test_span_shapes_are_those_of_the_words_in_it() -> None:
    """Equal sequences have equal shapes, wherever they are; others do not."""
    codes = encode_tokens([["Big", "dogs", "see", "Big", "dogs", "9"]])
    rows = span_rows(codes, 20)
    size = int(rows.ptr[1])
    shape = rows.idx.reshape(-1, size)[:, 2]
    every = [(a, b) for a in range(6) for b in range(a + 2, 7)]
    of = dict(zip(every, shape.tolist(), strict=True))
    assert of[0, 2] == of[3, 5]
    assert len({of[0, 2], of[1, 3], of[0, 3], of[4, 6], of[0, 6]}) == 5


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizontal": -1}, "horizontal must be an integer"),
        ({"vertical": 0}, "vertical must be an integer"),
        ({"hash_bits": 40}, "hash_bits must be an integer"),
        ({"given_tags": "yes"}, "given_tags must be True or False"),
        ({"underivable": "ignore"}, "underivable must be 'refuse' or 'skip'"),
        ({"span_cost": -1.0}, "span_cost must be a number"),
        ({"dev_metric": "f2"}, "unknown dev_metric 'f2'; choose from f1"),
        ({"C": 0.0}, "C must be a positive number"),
    ],
)
def test_constituency_parser_refuses_settings(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**settings).fit(TRAIN)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no trees"),
        (TRAIN[0], "must be a list of Tree, not Tree"),
        (["(S (NN a))"], "number 0 is a str"),
        ([TRAIN[0], Tree("NN", ("a b",))], "number 1: the word 'a b' cannot stand"),
        ([Tree("NN", ("(",))], r"number 0: the word '\(' cannot stand"),
    ],
)
def test_constituency_parser_refuses_training_data(given: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick().fit(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["dogs bark"], "number 0 is 'dogs bark', not a list of words"),
        ([["dogs"], []], "number 1 has no words"),
        ([[("dogs", "NNS")]], "the parser finds tags itself"),
        ([["dogs", 3]], "3 is neither a word nor a pair"),
        ([["dogs", ("bark", "VBP")]], "some words have tags"),
        ("dogs", "must be a list of sentences"),
        ([["dogs"], ["dogs", ""]], "number 1: the word '' at position 1 is empty"),
        ([["dogs bark"]], "number 0: the word 'dogs bark' at position 0 has a blank"),
        ([Tree("NN", ("",))], "number 0: the word '' cannot stand"),
    ],
)
def test_constituency_parser_refuses_sentences(given: Any, message: str) -> None:
    parser = quick(max_iter=1).fit(TRAIN)
    with pytest.raises(DataError, match=message):
        parser.predict(given)


def test_constituency_parser_predicts_trees_that_can_be_written() -> None:
    parser = quick(max_iter=1).fit(TRAIN)
    sentence = " ".join(words(TRAIN[3])).replace("Rex", "(Rex)").split()
    [tree] = parser.predict([sentence])
    assert tree is not None
    assert trees(str(tree)) == [tree]
    assert words(tree) == ("-LRB-Rex-RRB-", *sentence[1:])


def test_constituency_parser_with_given_tags_wants_tags() -> None:
    parser = quick(max_iter=1, given_tags=True).fit(TRAIN)
    with pytest.raises(DataError, match="words without tags"):
        parser.predict([["dogs", "bark"]])


# --- files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [{}, {"given_tags": True, "horizontal": None}, {"grammar": GRAMMAR}],
    ids=["words", "tags", "grammar"],
)
def test_constituency_parser_loaded_is_the_same(
    kind: dict[str, Any], tmp_path: Path
) -> None:
    parser, path = quick(**kind).fit(TRAIN), tmp_path / "a.partwise"
    parser.save(path)
    loaded = partwise.load(path)
    assert type(loaded) is ConstituencyParser
    assert loaded.predict(TRAIN) == parser.predict(TRAIN)
    assert loaded.predict_marginals(TRAIN) == parser.predict_marginals(TRAIN)
    assert np.array_equal(loaded.weights_, parser.weights_)
    assert loaded.classes_.tolist() == parser.classes_.tolist()
    for name in ("given_tags", "horizontal", "hash_bits"):
        assert getattr(loaded, name) == getattr(parser, name)
    assert read_productions(loaded.grammar or "X -> X") == read_productions(
        parser.grammar or "X -> X"
    )
    loaded.save(path)
    assert partwise.load(path).predict(TRAIN) == parser.predict(TRAIN)


def test_constituency_parser_damaged_files_fail_cleanly(tmp_path: Path) -> None:
    path = tmp_path / "a.partwise"
    quick(max_iter=1).fit(TRAIN).save(path)
    data = path.read_bytes()
    for damaged in corruptions(data, 60, seed=0):
        path.write_bytes(damaged)
        try:
            loaded = partwise.load(path)
        except ModelFileError:
            continue
        found = loaded.predict_kbest([["dogs", "bark"], ["new", "words", "here"]], 2)
        assert len(found) == 2


@pytest.mark.parametrize("version", [1])
def test_constituency_parser_files_of_every_version_still_load(version: int) -> None:
    path = GOLDEN / f"constituency-{version}.partwise"
    known = json.loads(path.with_suffix(".json").read_text())
    found = partwise.load(path).predict(known["inputs"])
    assert [str(tree) for tree in found] == known["predictions"]
    assert len(set(known["predictions"])) > 1
