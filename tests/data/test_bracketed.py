"""Files of trees in brackets: layouts, mistakes, and the way back."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.constituents import Tree, words
from partwise.data import escape_brackets, iter_brackets, read_brackets, write_brackets
from partwise.data.bracketed import iter_placed
from partwise.errors import DataError

DOGS = "(S (NP (NNS Dogs)) (VP (VBP bark)))"


def read(text, **options):
    return read_brackets(io.StringIO(text), **options)


def test_read_brackets_takes_all_layouts(tmp_path):
    several = "( (S\n\t(NP-SBJ (NNS Dogs))\n (VP (VBP bark))))(UH Hush)\n\n"
    path = tmp_path / "trees.mrg"
    for content in (
        several.encode(),
        b"\xef\xbb\xbf" + several.replace("\n", "\r\n").encode(),
        gzip.compress(several.rstrip().encode()),
    ):
        path.write_bytes(content)
        assert [str(tree) for tree in read_brackets(path)] == [DOGS, "(UH Hush)"]


def test_read_brackets_keeps_escapes_and_other_blanks():
    (tree,) = read("(NP (-LRB- -LRB-) (CD 1\u00a0000) (NN d\u00e9j\u00e0) (# #))")
    assert words(tree) == ("-LRB-", "1\u00a0000", "d\u00e9j\u00e0", "#")


def test_read_brackets_cleans_if_asked():
    text = "(S-1 (NP-SBJ (-NONE- *)) (VP (VB go)))"
    assert str(read(text)[0]) == "(S (VP (VB go)))"
    assert str(read(text, clean=False)[0]) == text


def test_read_brackets_keeps_a_nameless_root_of_several():
    (tree,) = read("( (A a) (B b) )")
    assert tree.label == ""
    assert read(str(tree)) == [tree]


def test_iter_placed_names_the_first_line_of_each_tree():
    text = f"# a comment\n{DOGS}\n\n(S\n(A a)\n) (UH Hush)\n# rank 2\n{DOGS}\n"
    assert [placed.line for placed in iter_placed(io.StringIO(text))] == [2, 4, 6, 8]


def test_iter_brackets_does_not_wait_for_the_end():
    def lines():
        yield DOGS + "\n"
        raise AssertionError("the first tree is complete")

    class Pipe:
        name = "pipe"
        blocks = lines()

        def read(self, size):
            return next(self.blocks)

    assert str(next(iter_brackets(Pipe()))) == DOGS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A a)\n(S (A a)\n(B b)", "f.mrg:2: the tree that begins here is never"),
        ("\n(A a))", "f.mrg:2: a closing bracket that no opening"),
        ("(A a)\nDogs bark", 'f.mrg:2: "Dogs" is outside of all brackets'),
        ("(S (A a)\n (NP))", r'f.mrg:2: "\(NP\)" has nothing below it'),
        ("()", r'f.mrg:1: "\(\)" has nothing below it'),
        ("(S (A a)\n(NP the (NN dog)))", 'f.mrg:2: the word "the" in "\\(NP'),
        ("(NP the dog)", 'f.mrg:1: the word "the"'),
        ("(S (A a)\n ((B b) (C c)))", "f.mrg:2: a bracket within a tree has no label"),
        ("(A a)\n(S (-NONE- *))", "f.mrg:2: the tree has no words other than empty"),
    ],
)
def test_read_brackets_names_the_line_of_a_mistake(
    tmp_path, monkeypatch, text, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.mrg").write_text(text)
    with pytest.raises(DataError, match=message):
        read_brackets("f.mrg")


def test_read_brackets_takes_great_depth():
    depth = 10_000
    (tree,) = read("(X " * depth + "(A a)" + ")" * depth)
    assert str(tree).count("(X") == depth


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_write_brackets_is_read_again_or_refused(texts):
    tree = Tree("S", tuple(Tree(text, (text,)) for text in texts))
    out = io.StringIO()
    try:
        write_brackets(out, [tree])
    except DataError as error:
        assert "cannot stand in a tree in brackets" in str(error)  # noqa: PT017
        assert any(set(text) & set("() \t\n\r\f\v") for text in texts)
    else:
        assert read(out.getvalue(), clean=False) == [tree]


def test_write_brackets_takes_escaped_words(tmp_path):
    tree = Tree("S", (Tree("X", (escape_brackets("f(x)"),)),))
    write_brackets(tmp_path / "trees.mrg.gz", [tree, tree])
    assert read_brackets(tmp_path / "trees.mrg.gz") == [tree, tree]
