"""Constituency trees: binarisation, its undoing, cleaning, and great depth."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.constituents import (
    Bracket,
    Tree,
    binarize,
    clean,
    read_symbol,
    restore,
    spans,
    subtrees,
    tags,
    words,
)
from partwise.data.bracketed import read_brackets
from partwise.errors import DataError
from partwise.metrics.brackets import bracket_scores

MARKS = st.text("AB+|^\\", max_size=4)
WORDS = st.sampled_from(["a", "b", ")", "+"])


def make_trees(labels):
    return st.recursive(
        st.builds(lambda tag, word: Tree(tag, (word,)), labels, WORDS),
        lambda below: st.builds(
            lambda label, children: Tree(label, tuple(children)),
            labels,
            st.lists(below, min_size=1, max_size=5),
        ),
        max_leaves=12,
    )


TREES = make_trees(MARKS)
HORIZONTAL = st.sampled_from([0, 1, 2, None])
VERTICAL = st.integers(1, 4)


def from_text(text):
    (tree,) = read_brackets(io.StringIO(text), clean=False)
    return tree


def is_binary(tree):
    return all(node.is_tag or len(node.phrases) == 2 for node in subtrees(tree))


@given(TREES, HORIZONTAL, VERTICAL)
def test_restore_undoes_binarize(tree, horizontal, vertical):
    binary = binarize(tree, horizontal=horizontal, vertical=vertical)
    assert is_binary(binary)
    assert words(binary) == words(tree)
    assert restore(binary) == tree


@given(TREES, TREES, st.data())
def test_restore_takes_any_arrangement_of_symbols(first, second, data):
    """A parser may put symbols where no tree of its treebank had them."""
    known = {n.label for tree in (first, second) for n in subtrees(binarize(tree))}
    symbols = st.sampled_from(sorted(known))
    pairs = st.recursive(
        st.builds(lambda tag, word: Tree(tag, (word,)), symbols, WORDS),
        lambda below: st.builds(lambda s, a, b: Tree(s, (a, b)), symbols, below, below),
        max_leaves=8,
    )
    output = data.draw(pairs)
    restored = restore(output)
    assert words(restored) == words(output)
    labels = {n.label for tree in (first, second) for n in subtrees(tree)}
    assert {node.label for node in subtrees(restored)} <= labels


@given(st.text())
def test_read_symbol_takes_every_string(symbol):
    assert read_symbol(symbol).labels


def test_binarize_remembers_as_much_as_asked():
    tree = from_text("(S (VP (A a) (B b) (NP (C c)) (D d) (E e)))")
    found = {
        h: [n.label for n in subtrees(binarize(tree, horizontal=h)) if "|" in n.label]
        for h in (0, 1, 2, None)
    }
    assert found == {
        0: ["VP|"] * 3,
        1: ["VP|A", "VP|B", "VP|NP"],
        2: ["VP|A", "VP|A|B", "VP|B|NP"],
        None: ["VP|A", "VP|A|B", "VP|A|B|NP"],
    }
    third = binarize(tree, horizontal=0, vertical=3)
    assert [n.label for n in subtrees(third)] == (
        ["S+VP", "A", "VP|^S", "B", "VP|^S", "NP+C^VP^S", "VP|^S", "D", "E"]
    )


def test_binarize_refuses_wrong_settings():
    tree = Tree("A", ("a",))
    with pytest.raises(ValueError, match="horizontal=-1 is below 0"):
        binarize(tree, horizontal=-1)
    with pytest.raises(ValueError, match="vertical=0 is below 1"):
        binarize(tree, vertical=0)


def test_restore_makes_a_phrase_of_a_rest_at_the_root():
    a = Tree("A", ("a",))
    assert str(restore(Tree("S|X", (a, a)))) == "(S (A a) (A a))"
    assert str(restore(Tree("S|X", ("a",)))) == "(S a)"


def test_tree_functions_take_great_depth():
    tree = Tree("A", ("a",))
    for i in range(10_000):
        below = (Tree("B", ("b",)), tree, tree) if i == 0 else (tree,)
        tree = Tree("X", below if i % 2 == 0 else (*below, Tree("B", ("b",))))
    copy = from_text(str(tree))
    assert copy == tree
    assert hash(copy) == hash(tree)
    assert restore(binarize(tree, vertical=2)) == tree == clean(tree)
    assert len(spans(tree)) == 10_000


def test_tree_equality_sees_words_labels_and_shape():
    trees = [
        *("(S (A a) (B b))", "(S (A a) (B c))", "(S (A a) (C b))"),
        *("(T (A a) (B b))", "(S (X (A a)) (B b))", "(S (X (A a) (B b)))"),
    ]
    assert len({from_text(text) for text in trees * 2}) == len(trees)
    assert from_text(trees[0]) != trees[0]


def test_tree_refuses_what_is_none():
    word = Tree("A", ("a",))
    for children in ((), (word, "b"), ("a", "b"), (1,)):
        with pytest.raises(ValueError, match="'S' has"):
            Tree("S", children)
    with pytest.raises(TypeError, match=r'as in \("dogs",\)'):
        Tree("S", "dogs")
    with pytest.raises(ValueError, match="not the tag of a word"):
        _ = Tree("S", (word,)).word


def test_spans_leave_tags_out():
    tree = from_text("(S (NP (NP (A a) (B b))) (C c) (VP (D d)))")
    assert spans(tree) == (
        Bracket("S", 0, 4),
        Bracket("NP", 0, 2),
        Bracket("NP", 0, 2),
        Bracket("VP", 3, 4),
    )
    assert tags(tree) == ("A", "B", "C", "D")


def test_clean_removes_traces_and_functions():
    tree = from_text(
        "(S-TPC-1 (NP-SBJ=2 (PRP-X it) (-LRB- -LRB-)) (VP (V is) (SBAR (-NONE- 0) "
        "(S (-NONE- *T*-1)))) (-RRB- -RRB-))"
    )
    assert str(clean(tree)) == (
        "(S (NP (PRP-X it) (-LRB- -LRB-)) (VP (V is)) (-RRB- -RRB-))"
    )
    with pytest.raises(ValueError, match="no words other than empty elements"):
        clean(Tree("S", (Tree("-NONE-", ("*",)),)))


def test_tree_label_is_text():
    with pytest.raises(TypeError, match="the label of a tree is text, not None"):
        Tree(None, ("a",))


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (["x"], ["x"], "gold: number 0 is 'x', not a Tree"),
        ([from_text("(A a)")], ["x"], "predicted: number 0 is 'x', not a Tree"),
        ([None], [None], "gold: number 0 is None"),
        (from_text("(A a)"), [], "gold must be a list of Tree, not Tree"),
        ([], "x", "predicted must be a list of Tree, not str"),
    ],
)
def test_bracket_scores_refuse_what_is_no_tree(gold, predicted, message):
    with pytest.raises(DataError, match=message):
        bracket_scores(gold, predicted)
