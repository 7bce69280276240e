"""Parsers that learn from some brackets, or have hidden states: against enumeration."""

import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import problems
from command_line import message, run
from partwise import ConstituencyParser, DataError, load
from partwise.constituents import KnownBrackets, Tree, spans, tags, words
from partwise.data import read_brackets
from partwise.losses import LocalCertificate
from partwise.structures import interface as waist

pytestmark = problems.plain_only

# A sentence may be read in two ways: where the PP belongs is not told by its rules.
WHOLE = """
(S (NP (N I)) (VP (V see) (NP (NP (D a) (N dog)) (PP (P in) (NP (N Rome))))))
(S (NP (N I)) (VP (V see) (NP (N dogs)) (PP (P in) (NP (N Rome)))))
"""
SOME = r"""
(? I see (NP a dog in Rome))
(S (? I) (VP see (NP (? dogs)) (PP (P in) (? Rome))))
"""


def read(text: str) -> list[Any]:
    return read_brackets(io.StringIO(text), partial=True)


TRAIN = read(WHOLE + SOME)


def test_known_brackets_are_read_from_trees_with_question_marks() -> None:
    assert [type(one).__name__ for one in TRAIN] == ["Tree"] * 2 + ["KnownBrackets"] * 2
    assert TRAIN[2] == KnownBrackets(
        ("I", "see", "a", "dog", "in", "Rome"),
        ((None, 0, 6), ("NP", 2, 6)),
        (None,) * 6,
    )
    assert TRAIN[3].tags == (None, None, None, "P", None)
    [literal] = read(r"(S (\? what) (N dogs))")
    assert tags(literal) == ("?", "N")


@functools.cache
def with_random_weights(**settings: Any) -> ConstituencyParser:
    parser = ConstituencyParser("log_loss", hash_bits=5, tol=1.0, **settings)
    parser.fit(TRAIN)
    parser.weights_ = np.random.default_rng(0).normal(size=parser.weights_.size)
    return parser


class Derivations:
    """All derivations of a sentence, with their scores under random weights."""

    def __init__(self, example: Any, **settings: Any) -> None:
        self.parser = with_random_weights(**settings)
        w, model = self.parser.weights_, self.parser._trained_model(None)
        corpus = model.corpus(self.parser._encode([example]))
        self.codes = list(problems._legal(corpus, 0))
        self.trees = [self.tree(y, example) for y in self.codes]
        diff, theta = waist.make_diff(corpus), np.zeros(waist.n_parts(corpus, 0))
        waist.part_scores(corpus, 0, w, theta, waist.workspace(corpus, 1))
        self.scores = np.zeros(len(self.codes))
        for j, y in enumerate(self.codes):
            own = np.array(y, np.int32)
            found = waist.parts_of(corpus, 0, own, diff.ids, diff.counts)
            self.scores[j] = theta[diff.ids[:found]] @ diff.counts[:found]

    def tree(self, codes: Any, example: Any) -> Tree:
        from partwise.constituents import restore

        own = example.words if isinstance(example, KnownBrackets) else words(example)
        return restore(self.parser._grammar.tree(codes, own))

    def log_share(self, agrees: list[bool]) -> float:
        some = self.scores[np.array(agrees)]
        return float(logsumexp(some) - logsumexp(self.scores))


def agrees(tree: Tree, known: KnownBrackets) -> bool:
    """Say whether a tree has all that is known."""
    places = {(start, end) for _, start, end in spans(tree)}
    labelled = set(spans(tree))
    return all(
        (end - start == 1 and label is None)
        or (label is None and (start, end) in places)
        or (label, start, end) in labelled
        for label, start, end in known.brackets
    ) and all(
        tag in (None, own)
        for tag, own in zip(known.tags or (), tags(tree), strict=bool(known.tags))
    )  # fmt: skip


@pytest.mark.parametrize("states", [1, 2])
@pytest.mark.parametrize(
    "known",
    [
        TRAIN[2],
        TRAIN[3],
        KnownBrackets(("I", "see", "a", "dog", "in", "Rome")),
        KnownBrackets(("I", "see", "dogs", "in", "Rome"), ((None, 1, 5), (None, 3, 5))),
        KnownBrackets(("I", "see", "dogs", "in", "Rome"), (("NP", 2, 3), ("NP", 4, 5))),
    ],
)
def test_known_brackets_leave_the_derivations_that_have_them(
    known: KnownBrackets, states: int
) -> None:
    every = Derivations(known, states=states)
    meant = [agrees(tree, known) for tree in every.trees]
    assert any(meant)
    found = every.parser.log_probability([known])[0]
    assert found == pytest.approx(every.log_share(meant), abs=1e-9)


@pytest.mark.parametrize("settings", [{}, {"vertical": 2}, {"horizontal": None}])
def test_known_trees_leave_the_derivations_of_all_hidden_states(settings: Any) -> None:
    every = Derivations(TRAIN[0], states=2, **settings)
    meant = [tree == TRAIN[0] for tree in every.trees]
    assert sum(meant) > 1
    found = every.parser.log_probability([TRAIN[0]])[0]
    assert found == pytest.approx(every.log_share(meant), abs=1e-9)
    best = every.trees[int(every.scores.argmax())]
    assert every.parser.predict([words(TRAIN[0])]) == [best]
    shares = every.parser.predict_marginals([words(TRAIN[0])], at_least=0.0)[0]
    p = np.exp(every.scores - logsumexp(every.scores))
    for bracket, share in shares.items():
        own = np.array([spans(tree).count(bracket) for tree in every.trees])
        assert share == pytest.approx(p @ own)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_known_brackets_are_learnt_from(loss: str) -> None:
    parser = ConstituencyParser(loss, C=10.0, hash_bits=6).fit(TRAIN)
    assert isinstance(parser.certificate_, LocalCertificate)
    [found] = parser.predict([TRAIN[2].words])
    assert agrees(found, TRAIN[2])


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_known_brackets_that_say_all_of_a_tree_are_that_tree(loss: str) -> None:
    whole, chosen = TRAIN[:2], {"hash_bits": 6, "tol": 1e-3}
    same = [KnownBrackets(words(one), spans(one), tags(one)) for one in whole]
    known = ConstituencyParser(loss, C=1.0, **chosen).fit([*whole, *same])
    assert known.log_probability(same) == pytest.approx(known.log_probability(whole))
    twice = ConstituencyParser(loss, C=2.0, **chosen).fit(whole)
    objectives = known.certificate_.primal, twice.certificate_.primal
    assert objectives[0] == pytest.approx(objectives[1], rel=0.01)


def alternating(n: int) -> str:
    """Return a tree whose tags alternate, which no rule and no word tells."""
    text = ""
    for t in reversed(range(n)):
        text = f"(X ({'TU'[t % 2]} x) {text})" if text else f"(X ({'TU'[t % 2]} x))"
    return text


@pytest.mark.filterwarnings("ignore:stopped after")
def test_hidden_states_of_symbols_learn_what_labels_alone_cannot(
    tmp_path: Path,
) -> None:
    trees = read(alternating(4) + alternating(5))
    chosen: dict[str, Any] = {"C": 100.0, "hash_bits": 6, "tol": 0.02, "max_iter": 40}
    parser = ConstituencyParser("log_loss", states=2, random_state=3, **chosen)
    parser.fit(trees)
    assert parser.predict(trees) == trees
    without = ConstituencyParser("log_loss", **chosen).fit(trees)
    assert without.predict(trees) != trees
    assert "local optimum" in parser.status_
    parser.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict(trees) == trees
    assert again._grammar == parser._grammar
    assert "2 states of each symbol" in run("inspect", tmp_path / "m").stdout
    drawn = parser.sample([words(trees[0])], 3, random_state=0)[0]
    assert all(words(tree) == words(trees[0]) for tree in drawn)


def test_known_brackets_are_reached_by_commands(tmp_path: Path) -> None:
    (tmp_path / "train").write_text(WHOLE + SOME)
    args = ["train", "constituency", tmp_path / "train", "--model", tmp_path / "m"]
    small = ["--hash-bits", 6, "--quiet"]
    assert "has no tag of its own" in message(*args, *small)
    run(*args, *small, "--partial", "--states", 2, "--tol", 1)
    assert load(tmp_path / "m").states == 2


def test_known_brackets_that_do_not_fit_are_refused() -> None:
    def refusal(*more: Any, **settings: Any) -> str:
        with pytest.raises(DataError) as caught:
            ConstituencyParser(hash_bits=5, **settings).fit([*TRAIN[:2], *more])
        return str(caught.value)

    own = ("I", "see", "dogs")
    crossing = KnownBrackets(own, (("NP", 0, 2), ("VP", 1, 3)))
    assert "number 2: the brackets ('NP', 0, 2) and ('VP', 1, 3) cross" in refusal(
        crossing
    )
    outside = KnownBrackets(own, (("NP", 0, 4),))
    assert "is no bracket" in refusal(outside)
    assert "2 tags for 3 words" in refusal(KnownBrackets(own, (), ("N", "V")))
    new = KnownBrackets(own, (("XP", 0, 2),))
    said = refusal(new)
    assert "tree 2: the label of the bracket ('XP', 0, 2) is new" in said
    never = KnownBrackets(own, (("VP", 0, 2),))
    assert "tree 2: no derivation has all of its brackets" in refusal(never)
    skipping = ConstituencyParser(hash_bits=5, underivable="skip")
    with pytest.warns(UserWarning, match="they were left out"):
        skipping.fit([*TRAIN[:2], never])
    assert skipping.n_skipped_ == 1
    with pytest.raises(DataError, match="no tree is known completely"):
        ConstituencyParser().fit(TRAIN[2:])
    given = ConstituencyParser(hash_bits=5, given_tags=True)
    with pytest.raises(DataError, match="a word without a tag"):
        given.fit(TRAIN)


def test_known_brackets_are_enough_with_a_grammar() -> None:
    grammar = "S -> NP VP\nNP -> N | NP PP\nVP -> V NP | VP PP\nPP -> P NP"
    known = [
        KnownBrackets(
            ("I", "see", "dogs", "in", "Rome"),
            (("NP", 2, 5),),
            ("N", "V", "N", "P", "N"),
        )
    ]
    parser = ConstituencyParser("log_loss", C=10.0, grammar=grammar, hash_bits=6)
    assert agrees(parser.fit(known).predict([known[0].words])[0], known[0])
