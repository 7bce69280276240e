"""What results look like in a notebook: drawn, and whatever they hold stays text."""

from xml.etree import ElementTree

import pytest

from partwise import SequenceTagger
from partwise._notebooks import Shown
from partwise.constituents.tree import Tree
from partwise.data import Sentence
from partwise.data.lattice import LatticeInput
from partwise.drawing import (
    draw_constituents_svg,
    draw_graph_svg,
    draw_labels_svg,
    draw_shares_svg,
    draw_spans_svg,
    draw_svg,
    draw_svg_page,
)
from partwise.estimators.explanation import Choice, Contribution, Explanation
from partwise.estimators.graph.inputs import GraphArrays
from partwise.estimators.sequence.answers import Span
from partwise.estimators.suspicion import Suspect, Suspects
from partwise.losses import Certificate
from partwise.pages import view_tags
from partwise.solvers.trace import Trace, TraceRow

NAN = float("nan")
HOSTILE = "<script>alert(1)</script>"


def trace_of(count: int) -> Trace:
    trace = Trace()
    for n in range(1, count + 1):
        trace.append(TraceRow(n, n, 0.1 * n, 10.0 / n + 1, 1 - 1 / n, 1 / n, True, NAN))
    return trace


def test_notebooks_draw_trees() -> None:
    tree = draw_svg(["a", "b"], [0, 1])
    brackets = draw_constituents_svg(Tree("S", (Tree("A", ("a",)),)))
    for drawing in (tree, brackets, draw_svg_page([tree, brackets])):
        assert drawing._repr_svg_() == drawing
        ElementTree.fromstring(drawing)


def test_notebooks_show_phrases_above_their_words() -> None:
    tree = Tree("S", (Tree("NP", (Tree("N", (HOSTILE,)),)), Tree("V", ("bark",))))
    shown = ElementTree.fromstring(tree._repr_html_().replace("<br>", "<br/>"))
    assert [node.text for node in shown.iter("span")] == ["S", "NP", "N", "V"]
    assert [node.tail for node in shown.iter("br")] == [None, None, HOSTILE, "bark"]


def test_notebooks_show_trees_of_any_depth() -> None:
    tree = Tree("N", ("dogs",))
    for _ in range(5000):
        tree = Tree("NP", (tree,))
    assert tree._repr_html_().count("<span") == 5001


def test_notebooks_show_spans() -> None:
    shown = Span(1, 3, HOSTILE, 0.25)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<td>1 to 2</td><td>25.0%</td>" in shown


def test_notebooks_show_what_estimators_predict() -> None:
    words, labels = [["He"], [HOSTILE]], ["O", "B-LOC"]
    tagger = SequenceTagger(pairs="all").fit([words], [labels])
    spans = tagger.predict_spans([words] * 30)
    assert spans[0] == [(1, 2, "LOC", spans[0][0].score)]
    shown = spans._repr_html_()  # type: ignore[attr-defined]
    assert shown.count("<td>LOC</td><td>1 to 1</td>") == 20
    assert shown.endswith("<div>and 10 more</div>")
    trees = Shown([Sentence.from_columns(forms=["a"], heads=[0]), Tree("N", ("b",))])
    shown = trees._repr_html_()
    assert "<svg" in shown
    assert "<span" in shown


def test_notebooks_unfold_estimators() -> None:
    shown = SequenceTagger(C=3.0)._repr_mimebundle_()
    assert shown["text/plain"] == "SequenceTagger(C=3.0)"
    assert "SequenceTagger" in shown["text/html"]


def test_notebooks_draw_sentences_lattices_and_graphs() -> None:
    edges = [(0, 1, {}, "a"), (0, 1, {}, HOSTILE)]
    sentence = Sentence.from_columns(forms=["a", HOSTILE], heads=[2, 0])
    lattice = LatticeInput(edges, good=[[1]])
    graph = GraphArrays([{}, {}, {}], [(0, 1), (1, 2)], directed=True)
    for one, elements in ((sentence, 2), (lattice, 2), (graph, 3)):
        drawing = one._repr_svg_()
        assert drawing is not None
        assert len(drawing.split("data-")) > elements
        assert "<script" not in drawing
        ElementTree.fromstring(drawing)
    # What would fill the screen is shown as text.
    assert Sentence.from_columns(forms=["a"])._repr_svg_() is None
    assert LatticeInput(edges * 100)._repr_svg_() is None
    assert GraphArrays([{}] * 1000, [])._repr_svg_() is None


def test_notebooks_show_suspects_as_text() -> None:
    one = Suspect(6, 0.5, view_tags([HOSTILE], ["N"], ["V"]))
    shown = Suspects("by their loss", (one,))._repr_html_()
    assert "<td>7</td><td>0.5</td>" in shown
    assert "<script" not in shown


def test_notebooks_draw_labels_spans_graphs_and_shares() -> None:
    drawn = [
        draw_labels_svg([HOSTILE, "b"], ["X", "O"]),
        draw_labels_svg([], []),
        draw_spans_svg(["a", "b", HOSTILE], [(0, 2, HOSTILE, 0.5)]),
        draw_graph_svg([HOSTILE, "b"], [(0, 1)], ["x", "y"], directed=True),
        draw_graph_svg([]),
        draw_shares_svg({HOSTILE: 0.25, "b": 0.75}),
        draw_shares_svg({}),
    ]
    for drawing in drawn:
        assert drawing._repr_svg_() == drawing
        assert "<script" not in drawing
        ElementTree.fromstring(drawing)
    with pytest.raises(ValueError, match="overlap"):
        draw_spans_svg(["a", "b"], [(0, 2, "X"), (1, 2, "Y")])
    with pytest.raises(ValueError, match="within the 2 words"):
        draw_spans_svg(["a", "b"], [(1, 3, "X")])
    with pytest.raises(ValueError, match="two of the 1 nodes"):
        draw_graph_svg(["a"], [(0, 1)])
    with pytest.raises(ValueError, match="between 0 and 1"):
        draw_shares_svg({"a": 1.5})


def test_notebooks_draw_traces() -> None:
    trace = trace_of(40)
    shown = trace._repr_html_()
    assert shown.count("<polyline") == 2
    assert 8 <= shown.count("<tr>") <= 12
    assert "<td>40</td>" in shown, "the last pass is always there"
    assert repr(trace) == "Trace of 40 passes: objective 1.25, gap 2.50%"


def test_notebooks_show_a_trace_without_passes() -> None:
    assert "<polyline" not in Trace()._repr_html_()
    assert repr(Trace()) == "Trace of no passes"


def test_notebooks_show_certificates() -> None:
    shown = Certificate(101.0, 100.0)._repr_html_()
    assert "<td>101</td><td>100</td><td>0.99%</td><td>exact</td>" in shown


def test_notebooks_show_explanations_as_text() -> None:
    reason = Contribution(HOSTILE, "N", 1.5)
    shown = Explanation([Choice(HOSTILE, "N", None, 2.0, [reason])])._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 2
