"""Drawings of constituency trees: what must be on paper, and where."""

import io
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.characters import display_width
from partwise.constituents import Tree, spans, subtrees, words
from partwise.data import read_brackets
from partwise.drawing import (
    draw_constituents_svg,
    draw_constituents_text,
    draw_svg_page,
)

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """
S─┬─NP─┬─NP───NNS     Dogs
  │    └─PP─┬─IN      of
  │         └─NP─┬─,  ,
  │              └─X  war
  └─VP───VP───VBP     bark
"""
ASCII = """
S-.-NP-.-NP---NNS     Dogs
  |    '-PP-.-IN      of
  |         '-NP-.-,  ,
  |              '-X  war
  '-VP---VP---VBP     bark
"""
DOWN = """
S
├─NP
│ ├─NP
│ │ └─NNS  Dogs
│ └─PP
│   ├─IN  of
│   └─NP
│     ├─,  ,
│     └─X  war
└─VP
  └─VP
    └─VBP  bark
"""

LABELS = st.sampled_from(["S", "NP", "日本", "-LRB-", "", "e\u0301", "\x1b[31m"])
TREES = st.recursive(
    st.builds(lambda tag: Tree(tag, ("w",)), LABELS),
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        LABELS,
        st.lists(below, min_size=1, max_size=4),
    ),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def tree():
    (found,) = read_brackets(
        io.StringIO(
            "(S (NP (NP (NNS Dogs)) (PP (IN of) (NP (, ,) (X war)))) "
            "(VP (VP (VBP bark))))"
        )
    )
    return found


def test_draw_constituents_text_shows_the_tree(tree):
    assert draw_constituents_text(tree) == TEXT.strip("\n")
    assert draw_constituents_text(tree, ascii_only=True) == ASCII.strip("\n")
    assert draw_constituents_text(tree, width=26) == TEXT.strip("\n")
    assert draw_constituents_text(tree, width=25) == DOWN.strip("\n")


def test_draw_constituents_text_writes_probabilities_at_their_brackets(tree):
    shares = {("NP", 0, 4): 0.25, ("NP", 2, 4): 1.0, ("IN", 1, 2): 0.0, ("X", 0, 4): 1}
    drawn = draw_constituents_text(tree, shares)
    assert [line.count("0.25") for line in drawn.splitlines()] == [1, 0, 0, 0, 0]
    assert "NP 0.25─┬─NP─" in drawn
    assert "IN 0.00" in drawn
    assert "NP 1.00" in drawn
    with pytest.raises(ValueError, match=r"'NP' has a probability of 1\.5"):
        draw_constituents_text(tree, {("NP", 0, 4): 1.5})


@given(TREES, st.integers(6, 40))
def test_draw_constituents_text_keeps_to_the_width(tree, width):
    whole = draw_constituents_text(tree)
    assert len(whole.splitlines()) == len(words(tree))
    # Words are below each other, whatever room the labels take.
    places = {display_width(line) for line in whole.splitlines()}
    assert len(places) == 1
    narrow = draw_constituents_text(tree, width=width).splitlines()
    assert max(map(display_width, narrow)) <= width
    assert len(narrow) in (len(words(tree)), len(list(subtrees(tree))))


def test_draw_constituents_svg_has_every_node_and_word(tree):
    shares = {bracket: 0.5 for bracket in spans(tree)}
    root = ElementTree.fromstring(draw_constituents_svg(tree, shares, "a title"))
    assert root.find(f"{SVG}title").text == "a title"
    groups = {
        kind: [g for g in root.iter(f"{SVG}g") if g.get("class") == kind]
        for kind in ("node", "node tag", "word", "branch")
    }
    assert {kind: len(found) for kind, found in groups.items()} == {
        "node": 7, "node tag": 5, "word": 5, "branch": 11,
    }  # fmt: skip
    found = [
        (g.find(f"{SVG}text").text, int(g.get("data-start")), int(g.get("data-end")))
        for g in groups["node"]
    ]
    assert found == [(f"{b.label} 0.50", b.start, b.end) for b in spans(tree)]
    assert [g.find(f"{SVG}text").text for g in groups["word"]] == list(words(tree))


@given(TREES)
def test_draw_constituents_svg_labels_never_touch(tree):
    root = ElementTree.fromstring(draw_constituents_svg(tree))
    width = float(root.get("width"))
    rows = {}
    for group in root.iter(f"{SVG}g"):
        text = group.find(f"{SVG}text")
        if text is not None and text.text:
            # Less than what is planned for a letter: fonts differ.
            room = 0.55 * (16 if group.get("class") == "word" else 14)
            half = display_width(text.text) * room / 2
            x = float(text.get("x"))
            rows.setdefault(text.get("y"), []).append((x - half, x + half))
    for row in rows.values():
        row.sort()
        ends = [0.0, *(end for _, end in row)]
        assert all(end <= start for end, (start, _) in zip(ends, row, strict=False))
        assert ends[-1] <= width


@given(TREES)
def test_draw_constituents_svg_lines_cross_no_label(tree):
    root = ElementTree.fromstring(draw_constituents_svg(tree))
    labels = []
    for group in root.iter(f"{SVG}g"):
        text = group.find(f"{SVG}text")
        if text is not None and text.text:
            half = display_width(text.text) * 0.5 * 14 / 2
            labels.append((float(text.get("x")), float(text.get("y")), half))
    for path in root.iter(f"{SVG}path"):
        x, top, turn, end, foot = map(float, re.findall(r"[\d.]+", path.get("d")))
        assert top < turn < foot
        for at, base, half in labels:
            # Letters stand on their base, about ten pixels high.
            assert not (abs(at - end) < half and turn < base - 5 < foot)
            if base - 10 < turn < base:
                assert at + half < min(x, end) or max(x, end) < at - half


def test_draw_constituents_svg_goes_onto_pages(tree):
    page = draw_svg_page([draw_constituents_svg(tree)] * 2)
    assert len(list(ElementTree.fromstring(page).iter(f"{SVG}svg"))) == 3
