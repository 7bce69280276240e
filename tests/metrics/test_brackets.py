"""Bracket scores, against numbers computed by hand and those of EVALB."""

import io

import pytest

from partwise.constituents import Tree
from partwise.data import read_brackets
from partwise.errors import DataError
from partwise.metrics.brackets import bracket_scores

GOLD = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
# Trees for this sentence, with the row that EVALB prints for each: recall, precision,
# matched, gold, predicted and crossing brackets, words and right tags.
EVALB = [
    (GOLD, 100.00, 100.00, 4, 4, 4, 0, 4, 4),
    ("(S (A (P this)) (B (Q is) (C (R a) (T test))))", 75.0, 75.0, 3, 4, 4, 0, 4, 4),
    ("(S (A (P this)) (B (Q is) (A (R a) (U test))))", 100.0, 100.0, 4, 4, 4, 0, 4, 3),
    ("(S (C (P this)) (B (Q is) (A (R a) (U test))))", 75.0, 75.0, 3, 4, 4, 0, 4, 3),
    ("(S (A (P this)) (B (Q is) (R a) (A (T test))))", 75.0, 75.0, 3, 4, 4, 0, 4, 4),
    ("(S (A (P this) (Q is)) (A (R a) (T test)))", 50.0, 66.67, 2, 4, 3, 1, 4, 4),
    ("(S (P this) (Q is) (R a) (T test))", 25.0, 100.0, 1, 4, 1, 0, 4, 4),
    ("( (P this) (Q is) (R a) (T test))", 0.0, 0.0, 0, 4, 0, 0, 4, 4),
    (f"(S (A (P this)) (B (Q is) {'(A ' * 2}(R a) (T test){')' * 4}",
     100.0, 80.0, 4, 4, 5, 0, 4, 4),
    (f"(S (A (P this)) (B (Q is) {'(A ' * 5}(R a) (T test){')' * 7}",
     100.0, 50.0, 4, 4, 8, 0, 4, 4),
    (f"(TOP {GOLD})", 100.0, 100.0, 4, 4, 4, 0, 4, 4),
    (GOLD.replace("A (P", "A-SBJ-1 (P").replace("B", "B=2"),
     100.0, 100.0, 4, 4, 4, 0, 4, 4),
    (f"{GOLD[:-1]} (X (-NONE- *)))", 100.0, 100.0, 4, 4, 4, 0, 4, 4),
]  # fmt: skip


def tree(text):
    (found,) = read_brackets(io.StringIO(text), clean=False)
    return found


@pytest.mark.parametrize("row", EVALB, ids=range(len(EVALB)))
def test_bracket_scores_agree_with_evalb_on_a_sentence(row):
    text, recall, precision, matched, gold, predicted, crossing, n_words, n_tags = row
    found = bracket_scores([tree(GOLD)], [tree(text)]).overall
    assert round(100 * found.recall, 2) == recall
    assert round(100 * found.precision, 2) == precision
    assert (found.n_matched, found.n_gold, found.n_predicted) == (
        matched, gold, predicted,
    )  # fmt: skip
    assert found.crossing == crossing
    assert found.n_words == n_words
    assert found.tagging_accuracy == n_tags / n_words
    assert found.exact_match == (matched == gold == predicted)


def test_bracket_scores_agree_with_evalb_on_a_corpus():
    """The summary that EVALB prints for trees like these, one of 44 words."""
    gold = [tree(GOLD)] * 16
    predicted = [tree(row[0]) for row in EVALB] + [tree(GOLD)] * 3
    long = tree(f"(S {GOLD[3:-1]}{' ' + GOLD[3:-1]} {' '.join([GOLD[3:-1]] * 9)})")
    scores = bracket_scores(
        [*gold, tree(GOLD), tree(GOLD), long], [*predicted, None, None, long]
    )
    whole, short = scores.overall, scores.short
    assert (whole.n_sentences, whole.n_failed, short.n_sentences) == (19, 2, 18)
    assert round(100 * whole.recall, 2) == 87.76  # 86 of 98
    assert round(100 * whole.precision, 2) == 90.53  # 86 of 95
    assert round(100 * whole.exact_match, 2) == 52.94
    assert round(whole.crossing, 2) == 0.06
    assert round(100 * whole.no_crossing, 2) == 94.12
    assert whole.two_or_less_crossing == 1.0
    assert round(100 * whole.tagging_accuracy, 2) == 98.15
    assert round(100 * short.recall, 2) == 81.25
    assert round(100 * short.precision, 2) == 85.25
    assert short.exact_match == 0.5
    assert round(100 * short.tagging_accuracy, 2) == 96.88


def test_bracket_scores_leave_punctuation_out_of_spans():
    gold = tree("(S (NP (N a) (, ,) (N b)) (VP (V c)) (X (. .)))")
    guess = tree("(S (NP (N a) (NN ,)) (NP (N b)) (VP (V c) (, .)))")
    found = bracket_scores([gold], [guess]).overall
    # Of S 0-3, NP 0-2, VP 2-3 and S 0-3, NP 0-1, NP 1-2, VP 2-3; X holds nothing.
    assert (found.n_gold, found.n_predicted, found.n_matched) == (3, 4, 2)
    assert (found.n_words, found.tagging_accuracy) == (3, 1.0)


def test_bracket_scores_count_a_sentence_with_its_punctuation_as_long():
    words = " ".join(["(A a)"] * 39)
    at_40 = tree(f"(S {words} (. .) (-NONE- *))")
    at_41 = tree(f"(S {words} (, ,) (. .))")
    scores = bracket_scores([at_40, at_41], [at_40, at_41])
    assert (scores.overall.n_sentences, scores.short.n_sentences) == (2, 1)
    assert bracket_scores([at_40], [at_40], cutoff=39).short.n_sentences == 0


def test_bracket_scores_take_particles_for_adverbs():
    gold, guess = tree("(S (V go) (PRT (R on)))"), tree("(S (V go) (ADVP (R on)))")
    scores = bracket_scores([gold], [guess])
    assert scores.f1 == scores.exact_match == 1.0
    assert scores.per_label["ADVP"].support == 1


def test_bracket_scores_count_crossing_by_predicted_bracket():
    gold = tree("(S (A (X a) (X b)) (B (X c) (X d)))")
    guess = tree("(S (X a) (C (C (X b) (X c))) (X d))")
    found = bracket_scores([gold], [guess]).overall
    assert (found.crossing, found.no_crossing, found.two_or_less_crossing) == (2, 0, 1)
    more = tree("(S (X a) (C (C (C (X b) (X c)))) (X d))")
    assert bracket_scores([gold], [more]).overall.two_or_less_crossing == 0.0


def test_bracket_scores_name_the_labels():
    gold, guess = tree("(S (NP (N a)) (VP (V b)))"), tree("(S (NP (N a)) (PP (V b)))")
    per_label = bracket_scores([gold], [guess]).per_label
    assert list(per_label) == ["NP", "PP", "S", "VP"]
    assert per_label["NP"] == (1.0, 1.0, 1.0, 1)
    assert per_label["PP"] == (0.0, 0.0, 0.0, 0)
    assert per_label["VP"] == (0.0, 0.0, 0.0, 1)


def test_bracket_scores_of_nothing_are_zero():
    for scores in (bracket_scores([], []), bracket_scores([tree(GOLD)], [None])):
        plain = scores.to_dict()
        assert plain["f1"] == plain["short"]["crossing"] == plain["exact_match"] == 0.0
        assert plain["tagging_accuracy"] == plain["n_gold"] == 0
        assert plain["per_label"] == {}


def test_bracket_scores_refuse_other_words():
    other, shorter = tree(GOLD.replace(" is", " was")), Tree("P", ("this",))
    with pytest.raises(DataError, match=r"tree 1 \(f:9\): word 2 is 'is' in gold, but"):
        bracket_scores([tree(GOLD)] * 2, [tree(GOLD), other], places=["f:1", "f:9"])
    with pytest.raises(DataError, match="tree 0 has 4 words in gold, but 1"):
        bracket_scores([tree(GOLD)], [shorter])
    with pytest.raises(DataError, match="gold has 1 trees, but predicted has 2"):
        bracket_scores([tree(GOLD)], [tree(GOLD)] * 2)
