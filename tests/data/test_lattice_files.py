"""Lattices in files and in drawings."""

import gzip
import io
import json
from xml.etree import ElementTree

import pytest

from partwise import LatticeInput
from partwise.data import iter_lattices, read_lattices, write_lattices
from partwise.drawing import draw_lattice_svg, draw_lattice_text
from partwise.errors import DataError
from partwise.synthetic import make_lattices

SMALL = LatticeInput(
    [
        ("a", "b", {"x": 0.5, "tag": "DT", "all": ["p", "q"]}, "the"),
        ("a", 7, ["p", "q"], ("New York", "")),
        ("b", 7, {}, (), 2.0),
    ],
    good=[[0, 2]],
    name="s1",
)


def lines_of(*lattices):
    out = io.StringIO()
    assert write_lattices(out, lattices) == len(lattices)
    return out.getvalue()


def test_lattice_files_give_back_what_was_written(tmp_path):
    made = make_lattices(5, 2)
    several = LatticeInput([(0, 1), (2, 3)], [0, 2], [1, 3], nodes=range(4))
    for name in ("l.jsonl", "l.jsonl.gz"):
        assert write_lattices(tmp_path / name, iter([*made, several])) == 6
        assert read_lattices(tmp_path / name) == [*made, several]
    assert gzip.decompress((tmp_path / "l.jsonl.gz").read_bytes()).count(b"\n") == 6
    [again] = iter_lattices(io.StringIO("\n" + lines_of(SMALL)))
    assert again.title == "<input>:2 (s1)"
    assert again.edges[1].words == ("New York", "")
    assert again.edges[2].cost == 2.0
    assert again.good == ((0, 2),)
    assert lines_of(again) == lines_of(SMALL)


def test_lattice_files_are_read_as_a_stream():
    """The first lattice comes before the second line is complete."""
    reader, writer = io.StringIO(lines_of(SMALL) + "{broken"), []
    lattices = iter_lattices(reader)
    writer.append(next(lattices))
    assert writer[0].name == "s1"
    with pytest.raises(DataError, match=r"<input>:2: is not valid JSON"):
        next(lattices)


def line(edges="[]", **more):
    shown = ", ".join(f'"{key}": {value}' for key, value in more.items())
    return f'{{"edges": {edges}{", " * bool(more)}{shown}}}'


ONE = '[{"from": 0, "to": 1}]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", 'expected an object with "edges"'),
        ("{}", 'expected an object with "edges"'),
        (line("{}"), '"edges" must be a list'),
        (line(), "it has no start and no edges"),
        (line('[{"from": 0}]'), 'edge 0: it must be an object with "from" and "to"'),
        (line('[{"from": 0, "to": 1.5}]'), "edge 0: a node is a string or a whole"),
        (line('[{"from": 0, "to": true}]'), "edge 0: a node is a string or a whole"),
        (line('[{"from": 0, "to": 1, "word": ""}]'), 'edge 0: unknown key "word"'),
        (line('[{"from": 0, "to": 1, "words": 3}]'), '"words" must be a string or a'),
        (line('[{"from": 0, "to": 1, "words": [3]}]'), "its words must be strings"),
        (line('[{"from": 0, "to": 1, "cost": "x"}]'), '"cost" must be a number'),
        (line('[{"from": 0, "to": 1, "features": 3}]'), '"features" must be an object'),
        (line('[{"from": 0, "to": 1, "cost": NaN}]'), "is not valid JSON .*NaN"),
        (line('[{"from": 0, "to": 1, "cost": -1}]'), "a number from 0 to 1e.* not -1"),
        (line('[{"from": 0, "to": 1, "cost": 1' + "0" * 400 + "}]"), "a number from 0"),
        (line('[{"from": 0, "to": 1, "words": "\\ud800"}]'), "is half a character"),
        (line(ONE + "\n"), "is not valid JSON .* a lattice is an object on one line"),
        (line(ONE, good="[[false]]"), "a path must be a list of numbers of edges"),
        (line(ONE, good="[[1]]"), "names edge 1, but there are 1"),
        (line(ONE, good="[0]"), '"good" must be a list of paths'),
        (line(ONE, nodes="[0]"), "edge 0 names node 1, which is not among"),
        (line(ONE, nodes="3"), '"nodes" must be a list of nodes'),
        (line(ONE, end="[4]"), "its end 4 is not one of its nodes"),
        (line(ONE, name="3"), '"name" must be a string'),
        (line(ONE, gold="[[0]]"), 'unknown key "gold"'),
    ],
)
def test_lattice_files_say_where_a_line_is_wrong(text, message, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(lines_of(SMALL) + text + "\n")
    with pytest.raises(DataError, match=rf"bad\.jsonl:2: .*{message}"):
        read_lattices(path)


def test_lattice_files_refuse_what_they_cannot_hold(tmp_path):
    path = tmp_path / "l.jsonl"
    pairs = LatticeInput([((0, "a"), 1)], name="L")
    with pytest.raises(DataError, match=r"L: node \(0, 'a'\) cannot be written"):
        write_lattices(path, [pairs])
    with pytest.raises(DataError, match="lattice 0, edge 0: a feature has the value"):
        write_lattices(path, [LatticeInput([(0, 1, {"x": float("nan")})])])
    assert not path.exists()
    json.loads(lines_of(SMALL))


# --- drawings ------------------------------------------------------------------------


def test_lattice_drawing_as_text_has_every_edge_after_its_source():
    [lattice] = make_lattices(1, 5, max_words=5)
    shown = draw_lattice_text(lattice, lattice.good[0]).split("\n")
    nodes = {v for edge in lattice.edges for v in edge[:2]}
    heads = [text for text in shown if "─" not in text]
    assert sorted(heads) == sorted(nodes)
    assert len(shown) == len(nodes) + len(lattice.edges)
    assert sum("●" in text for text in shown) == len(lattice.good[0])
    place = {node: heads.index(node) for node in nodes}
    assert all(place[edge.source] < place[edge.target] for edge in lattice.edges)


def test_lattice_drawing_as_text_is_cut_and_escaped():
    lattice = LatticeInput([(0, 1, {}, "caf\u00e9 \x1b[31m"), (0, 1, {}, "x" * 50)])
    shown = draw_lattice_text(lattice, probabilities=[1, 0], width=30, ascii_only=True)
    assert shown.isascii()
    assert max(map(len, shown.split("\n"))) <= 30
    assert "\\x1b" in shown


def test_lattice_drawing_as_svg_has_every_edge_and_node():
    [lattice] = make_lattices(1, 5, max_words=5)
    drawing = draw_lattice_svg(lattice, lattice.good[0], [0.5] * len(lattice.edges))
    root = ElementTree.fromstring(drawing)
    ns = "{http://www.w3.org/2000/svg}"
    groups = [g for g in root.iter(f"{ns}g") if "data-edge" in g.attrib]
    assert sorted(int(g.get("data-edge")) for g in groups) == list(
        range(len(lattice.edges))
    )
    chosen = {int(g.get("data-edge")) for g in groups if "chosen" in g.get("class")}
    assert chosen == set(lattice.good[0])
    places = {c.get("cx") + " " + c.get("cy") for c in root.iter(f"{ns}circle")}
    assert len(places) == len({v for edge in lattice.edges for v in edge[:2]})
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for text in root.iter(f"{ns}text"):
        assert 0 < float(text.get("x")) < width
        assert 0 < float(text.get("y")) < height


@pytest.mark.parametrize(
    ("lattice", "options", "message"),
    [
        (LatticeInput([(0, 1)]), {"probabilities": [2.0]}, "probability of 2.0"),
        (LatticeInput([(0, 1)]), {"probabilities": []}, "0 probabilities for 1 edges"),
        (LatticeInput([(0, 1)]), {"path": [1]}, "names edge 1"),
        (LatticeInput([(0, 1), (1, 1)], 0, 1), {}, "form a cycle"),
        (LatticeInput([(0, 1)] * 500), {}, "500 edges is too large to be drawn"),
    ],
)
def test_lattice_drawing_refuses(lattice, options, message):
    with pytest.raises(ValueError, match=message):
        draw_lattice_svg(lattice, **options)


def test_generated_lattices_are_the_same_for_a_seed():
    assert make_lattices(5, 3) == make_lattices(5, 3)
    assert make_lattices(5, 3) != make_lattices(5, 4)
    for lattice in make_lattices(20, 0):
        assert lattice.good[0] == lattice.check_path(lattice.good[0])
        words = lattice.words_of(lattice.good[0])
        assert lattice.words_of(lattice.find_path(words)) == words
    with pytest.raises(ValueError, match="n_alternatives must be at least 1"):
        make_lattices(1, n_alternatives=0)
