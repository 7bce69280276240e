"""Drawings of trees: the tree can be read off again, and nothing else gets in."""

import math
import random
import re
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from partwise.characters import cut, display_width, printable
from partwise.drawing import (
    draw_marginals_svg,
    draw_marginals_text,
    draw_svg,
    draw_svg_page,
    draw_text,
)
from partwise.drawing.layout import arc_levels, stems

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "&amp;",
    "]]>",
    '" onload="x',
    "\x1b[31mred",
    "\x00",
    "a\nb",
    "a\tb",
    "\u202eright to left",
    "\ud800",
    "\ufffe",
    "--><!--",
]


def any_tree(n: int, seed: int) -> list[int]:
    """Draw a tree, most often one that is not projective."""
    draw = random.Random(seed)
    order = draw.sample(range(1, n + 1), n)
    heads = [0] * n
    for place, m in enumerate(order[1:], start=1):
        # Several roots now and then.
        heads[m - 1] = draw.choice([*order[:place]] * 3 + [0])
    return heads


def projective_tree(n: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    heads = [0] * n

    def attach(first: int, last: int, head: int) -> None:
        if first > last:
            return
        cuts = draw.randint(first, last)
        m = draw.randint(first, cuts)
        heads[m - 1] = head
        attach(first, m - 1, m)
        attach(m + 1, cuts, m)
        attach(cuts + 1, last, head)

    attach(1, n, 0)
    return heads


def chain(n: int, seed: int) -> list[int]:
    return list(range(n))


TREES = {"any": any_tree, "projective": projective_tree, "chain": chain}

# What of a drawing goes on in the line above, and in the line below.
GOES_UP = set("│└├┴┼|'+")
GOES_DOWN = set("│┌├┬┼|.+")
PASSES = set("│|")
ACROSS = set("─-")
ROOT = set("●*")


def read_drawing(drawing: str) -> list[int]:
    """Read the heads off a drawing, by following its lines and nothing else."""
    gutters = [re.split("[►>]", line, maxsplit=1)[0] for line in drawing.split("\n")]
    # On the line of a word there are its place on its head's stem, from which the
    # line starts, and maybe its place on its own stem.
    corners = [
        [x for x, c in enumerate(row) if c not in PASSES | ACROSS | {" "}]
        for row in gutters
    ]
    assert all(1 <= len(found) <= 2 for found in corners)

    def end_of_stem(row: int, x: int, goes: set[str], step: int) -> int:
        while gutters[row][x] in goes:
            row += step
            back = GOES_UP if step > 0 else GOES_DOWN
            assert gutters[row][x] in back, "a line ends nowhere"
        return row

    heads = []
    for row, found in enumerate(corners):
        start = found[0]
        assert " " not in gutters[row][start:], "a line is broken"
        if gutters[row][start] in ROOT:
            heads.append(0)
            continue
        first = end_of_stem(row, start, GOES_UP, -1)
        last = end_of_stem(row, start, GOES_DOWN, +1)
        owners = [r for r in range(first, last + 1) if corners[r][1:] == [start]]
        assert len(owners) == 1, "two stems lie on each other"
        heads.append(owners[0] + 1)
    return heads


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("width", [None, 0], ids=["wide", "narrow"])
@pytest.mark.parametrize("kind", TREES)
def test_drawing_text_gives_the_tree_back(kind, width, ascii_only):
    for seed in range(60):
        n = 1 + seed % 20
        heads = TREES[kind](n, seed)
        forms = [f"w{m}" for m in range(n)]
        if width is not None:
            # Too narrow for the usual spacing by one column, wide enough without.
            n_columns = max(map(len, draw_text(forms, heads).split("\n")))
            width = n_columns - 1
        drawing = draw_text(forms, heads, width=width, ascii_only=ascii_only)
        if width is not None:
            assert max(map(len, drawing.split("\n"))) <= width
        assert read_drawing(drawing) == heads
        assert drawing.isascii() == ascii_only


@pytest.mark.parametrize("kind", TREES)
def test_drawing_text_long_sentences(kind):
    heads = TREES[kind](200, 3)
    drawing = draw_text(["word"] * 200, heads)
    assert read_drawing(drawing) == heads
    within = draw_text(["word"] * 200, heads, width=80)
    assert len(within.split("\n")) == 200
    assert max(map(len, within.split("\n"))) <= 80


def test_drawing_text_numbers_heads_where_arcs_do_not_fit():
    heads = chain(50, 0)
    lines = draw_text(["word"] * 50, heads, width=40).split("\n")
    assert [line.split()[0] for line in lines] == ["root", *map(str, heads[1:])]


def test_drawing_text_projective_lines_never_cross():
    for seed in range(60):
        heads = projective_tree(20, seed)
        drawing = draw_text(["w"] * 20, heads)
        assert not re.search("─│|│─", drawing)
    # A drawing where arcs do cross, so that the pattern is known to be seen.
    assert re.search("─│─", draw_text(list("abcd"), [3, 4, 0, 3]))


def test_drawing_text_shows_what_it_is_given():
    drawing = draw_text(
        ["Dogs", "bark"],
        np.array([2, 0]),
        labels=["nsubj", "root"],
        probabilities=np.array([0.875, 1.0]),
        tags=["NOUN", "VERB"],
    )
    first, second = drawing.split("\n")
    assert first.split() == ["┌─►", "1", "Dogs", "NOUN", "nsubj", "0.88"]
    assert second.split() == ["●─┴─►", "2", "bark", "VERB", "root", "1.00"]


def test_drawing_text_columns_are_aligned():
    forms = [
        "日本語",
        "cafe\u0301",
        "한국",
        "\u1112\u1161\u11ab",
        "\u0645\u06cc\u200c\u062e\u0648",
        "\u0301",
    ]
    drawing = draw_text(forms, [0, 1, 1, 1, 1, 1], labels=["X"] * len(forms))
    ends = {display_width(line.removesuffix("X")) for line in drawing.split("\n")}
    assert len(ends) == 1
    assert display_width("日本語") == 6
    assert display_width("cafe\u0301") == 4
    assert display_width("\u1112\u1161\u11ab") == 2


def test_drawing_text_fits_the_width():
    forms = ["Donaudampfschifffahrtsgesellschaft", "日本語日本語日本語日本語", "ok"]
    for width in range(20, 60):
        drawing = draw_text(forms, [2, 0, 2], ["a" * 30, "b", "c"], width=width)
        assert max(map(display_width, drawing.split("\n"))) <= width
        assert read_drawing(drawing) == [2, 0, 2]
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 4) == "日…"


@pytest.mark.parametrize("text", HOSTILE)
def test_drawing_text_hostile_words_are_escaped(text):
    drawing = draw_text([text, "b"], [2, 0], [text, "root"], tags=[text, text])
    assert drawing.replace("\n", "").isprintable()
    assert len(drawing.split("\n")) == 2
    table = draw_marginals_text([text, "b"], [[0, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert table.replace("\n", "").isprintable()
    assert len(table.split("\n")) == 2
    assert printable(text, ascii_only=True).isascii()


# ----------------------------------------------------------------------------- SVG


def arcs_of(drawing: str, kind: str = "arc") -> list[tuple[int, int]]:
    root = ET.fromstring(drawing)
    return [
        (int(g.get("data-head")), int(g.get("data-dependent")))
        for g in root.iter(f"{SVG}g")
        if g.get("class") == kind
    ]


def words_of(drawing: str) -> list[str]:
    groups = ET.fromstring(drawing).iter(f"{SVG}g")
    return [g.find(f"{SVG}text").text for g in groups if g.get("class") == "word"]


def boxes_of_labels(drawing: str) -> list[tuple[float, float, str]]:
    groups = ET.fromstring(drawing).iter(f"{SVG}g")
    texts = [g.find(f"{SVG}text") for g in groups if g.get("class") == "arc"]
    return [(float(t.get("x")), float(t.get("y")), t.text) for t in texts]


@pytest.mark.parametrize("kind", TREES)
def test_drawing_svg_has_every_word_and_arc(kind):
    for seed in range(20):
        n = 1 + seed
        heads = TREES[kind](n, seed)
        forms = [f"w{m}" for m in range(n)]
        drawing = draw_svg(forms, heads)
        assert words_of(drawing) == forms
        assert sorted(arcs_of(drawing), key=lambda arc: arc[1]) == [
            (head, m) for m, head in enumerate(heads, start=1)
        ]


def test_drawing_svg_arcs_end_where_their_words_are():
    heads = any_tree(12, 1)
    root = ET.fromstring(draw_svg([f"word{m}" for m in range(12)], heads))
    places = {
        int(g.get("data-word")): float(g.find(f"{SVG}text").get("x"))
        for g in root.iter(f"{SVG}g")
        if g.get("class") == "word"
    }
    for g in root.iter(f"{SVG}g"):
        if g.get("class") != "arc":
            continue
        line = g.find(f"{SVG}g/{SVG}path").get("d")
        tip = g.find(f"{SVG}g/{SVG}path[@class='arrow']").get("d")
        ends = {"data-dependent": float(re.match(r"M([\d.]+)", tip)[1])}
        if g.get("data-head") != "0":
            ends["data-head"] = float(re.match(r"M([\d.]+)", line)[1])
        for which, x in ends.items():
            word = int(g.get(which))
            assert min(places, key=lambda m: abs(places[m] - x)) == word


@pytest.mark.parametrize("kind", ["any", "projective"])
def test_drawing_svg_labels_never_overlap(kind):
    for seed in range(10):
        heads = TREES[kind](15, seed)
        labels = [f"label:{'x' * (m % 9)}" for m in range(15)]
        drawing = draw_svg(["a"] * 15, heads, labels)
        width = float(ET.fromstring(drawing).get("width"))
        boxes = boxes_of_labels(drawing)
        assert sorted(text for *_, text in boxes) == sorted(labels)
        halves = [0.3 * 12 * len(text) for *_, text in boxes]
        for a, (x, y, _) in enumerate(boxes):
            assert halves[a] <= x <= width - halves[a]
            for b, (other_x, other_y, _) in enumerate(boxes[:a]):
                apart = abs(x - other_x) - halves[a] - halves[b]
                assert apart >= 0 or abs(y - other_y) >= 12


@pytest.mark.parametrize("n", [1, 2, 30, 200])
def test_drawing_svg_stays_on_its_sheet(n):
    heads = any_tree(n, 5)
    mu = np.full((n + 1, n + 1), 1 / n)
    tree = draw_svg(["word"] * n, heads, ["label"] * n, [0.5] * n, ["TAG"] * n)
    for drawing in [tree, draw_marginals_svg(["word"] * n, mu)]:
        root = ET.fromstring(drawing)
        width, height = (float(root.get(side)) for side in ("width", "height"))
        assert [0, 0, width, height] == [float(x) for x in root.get("viewBox").split()]
        for path in root.iter(f"{SVG}path"):
            # What a curve is pulled to may lie outside, but not where it passes.
            d = re.sub(r"C\S+ \S+ \S+ \S+", "L", path.get("d"))
            for command, numbers in re.findall(r"([MLHVQ])([-\d. ]+)", d):
                values = [float(x) for x in numbers.split()]
                across = {"H": values, "V": []}.get(command, values[::2])
                along = {"H": [], "V": values}.get(command, values[1::2])
                assert all(0 <= x <= width for x in across)
                assert all(0 <= y <= height for y in along)
        for text in root.iter(f"{SVG}text"):
            assert 0 < float(text.get("x")) < width
            assert 0 < float(text.get("y")) < height


@pytest.mark.parametrize("text", HOSTILE)
def test_drawing_svg_hostile_words_are_escaped(text):
    mu = [[0, 0, 1], [0, 0, 0], [0, 1, 0]]
    drawings = [
        draw_svg([text, "b"], [2, 0], [text, text], tags=[text, text], title=text),
        draw_marginals_svg([text, "b"], mu, title=text),
    ]
    drawings.append(draw_svg_page(drawings, title=text))
    harmless = ET.fromstring(draw_svg(["a", "b"], [2, 0], ["a", "a"], tags=["a", "a"]))
    elements = [element.tag for element in harmless.iter()]
    assert [element.tag for element in ET.fromstring(drawings[0]).iter()] == elements
    for drawing in drawings:
        assert words_of(drawing)[0] == printable(text)
        assert drawing.encode("utf-8")
        attributes = {key for e in ET.fromstring(drawing).iter() for key in e.keys()}
        assert not attributes & {"onload", "href", "id", "style"}


def test_drawing_svg_shows_probabilities():
    drawing = draw_svg(["a", "b"], [2, 0], probabilities=[0.0, 1.0])
    groups = [g for g in ET.fromstring(drawing).iter(f"{SVG}g") if g.get("opacity")]
    weak, strong = (float(g.get("opacity")) for g in groups)
    assert 0 < weak < strong == 1
    assert [text for *_, text in boxes_of_labels(drawing)] == ["0.00", "1.00"]


def test_drawing_svg_can_be_read_aloud_and_in_the_dark():
    root = ET.fromstring(draw_svg(["Dogs", "bark"], [2, 0], ["nsubj", "root"]))
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "Dogs bark"
    assert root[1].tag == f"{SVG}desc"
    assert root[1].text == "Dogs <- bark, nsubj; bark <- the root, root"
    assert "@media (prefers-color-scheme: dark)" in root.find(f"{SVG}style").text


def test_drawing_svg_page_holds_all_drawings():
    drawings = [draw_svg(["w"] * n, [0] * n) for n in (1, 5, 3)]
    sizes = [ET.fromstring(drawing).attrib for drawing in drawings]
    page = ET.fromstring(draw_svg_page(drawings))
    inside = page.findall(f"{SVG}svg")
    heights = [float(size["height"]) for size in sizes]
    assert [float(e.get("y")) for e in inside] == [0, heights[0], sum(heights[:2])]
    assert float(page.get("height")) == pytest.approx(sum(heights))
    assert page.get("width") == sizes[1]["width"]
    again = draw_svg_page([draw_svg_page(drawings), drawings[0]])
    assert len(words_of(again)) == 10
    with pytest.raises(ValueError, match="drawing 2 was not made by draw_svg"):
        draw_svg_page([drawings[0], "<svg></svg>"])


# ----------------------------------------------------------------------- marginals


def test_drawing_marginals_svg_has_the_probable_arcs():
    mu = np.array(
        [[0, 0.005, 0.7, 0.3], [9, 9, 0.3, 0], [9, 0.2, 9, 0.7], [0, 0.795, 0, 9]]
    )
    drawing = draw_marginals_svg(["a", "b", "c"], mu)
    assert sorted(arcs_of(drawing)) == [(0, 2), (2, 3), (3, 1)]
    assert sorted(arcs_of(drawing, "arc alternative")) == [(0, 3), (1, 2), (2, 1)]
    assert drawing.rindex('class="arc alternative"') < drawing.index('class="arc"')
    # The tree that the caller chose is drawn, however improbable.
    chosen = draw_marginals_svg(["a", "b", "c"], mu, heads=[0, 1, 1])
    assert sorted(arcs_of(chosen)) == [(0, 1), (1, 2), (1, 3)]
    opacity = {
        (int(g.get("data-head")), int(g.get("data-dependent"))): g[1].get("opacity")
        for g in ET.fromstring(drawing).iter(f"{SVG}g")
        if g.get("data-head")
    }
    assert all(float(opacity[h, m]) == mu[h, m] for h, m in opacity)


def test_drawing_marginals_svg_best_heads_may_be_no_tree():
    mu = [[0, 0.4, 0.4], [0, 0, 0.6], [0, 0.6, 0]]
    assert sorted(arcs_of(draw_marginals_svg(["a", "b"], mu))) == [(1, 2), (2, 1)]


def test_drawing_marginals_text_ranks_heads():
    mu = np.array(
        [[0, 0.004, 0.6, 0.25], [0, 0, 0.4, 0.5], [0, 0.996, 0, 0.25], [0] * 4]
    )
    table = draw_marginals_text(["a", "b", "c"], mu, n_heads=2, ascii_only=True)
    assert [line.split() for line in table.split("\n")] == [
        ["1", "a", "2", "b", "1.00", "#" * 16],
        ["2", "b", "0", "root", "0.60", "#" * 10],
        ["1", "a", "0.40", "#" * 6],
        ["3", "c", "1", "a", "0.50", "#" * 8],
        ["0", "root", "0.25", "#" * 4],
    ]
    assert draw_marginals_text(["a"], [[0, 0.53], [0, 0]]).endswith("0.53  ████████▌")


# ------------------------------------------------------------------ what is refused


def test_drawing_empty_sentences():
    assert draw_text([], []) == "(no words)"
    assert draw_marginals_text([], [[0]]) == "(no words)"
    assert words_of(draw_svg([], [])) == ["(no words)"]
    assert words_of(draw_marginals_svg([], np.zeros((1, 1)))) == ["(no words)"]


@pytest.mark.parametrize("draw", [draw_text, draw_svg])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], [0]), "2 words and 1 heads"),
        ((["a", "b"], [0, 1], ["x"]), "2 words and 1 labels"),
        ((["a", "b"], [0, 1], None, [1.0]), "2 words and 1 probabilities"),
        ((["a", "b"], [0, 1], None, None, []), "2 words and 0 tags"),
        ((["a", "b"], [0, 3]), "word 2 has head 3"),
        ((["a", "b"], [0, -1]), "word 2 has head -1"),
        ((["a", "b"], [0, 2]), "word 2 has head 2"),
        ((["a", "b", "c", "d"], [2, 3, 2, 0]), "words 2 -> 3 -> 2 form a cycle"),
        ((["a"], [0], None, [math.nan]), "word 1 has a probability of nan"),
        ((["a"], [0], None, [1.5]), "word 1 has a probability of 1.5"),
    ],
)
def test_drawing_refuses_what_is_no_tree(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(*arguments)


@pytest.mark.parametrize("draw", [draw_marginals_text, draw_marginals_svg])
def test_drawing_refuses_what_are_no_marginals(draw):
    with pytest.raises(ValueError, match="must have 3 rows and columns"):
        draw(["a", "b"], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"word 1 has a probability of 2\.0"):
        draw(["a"], [[0, 2], [0, 0]])


def test_drawing_levels_of_overlapping_arcs_differ():
    for seed in range(30):
        heads = any_tree(15, seed)
        arcs = [(h, m) for m, h in enumerate(heads, start=1) if h]
        spans = [(min(arc), max(arc)) for arc in arcs]
        levels = arc_levels(arcs)
        for a, (start, end) in enumerate(spans):
            for b, (other_start, other_end) in enumerate(spans[:a]):
                if max(start, other_start) < min(end, other_end):
                    assert levels[a] != levels[b]
        placed = stems(heads)
        for m, stem in placed.items():
            head = heads[m - 1]
            assert not head or stem.level < placed[head].level


def test_drawing_a_thousand_words_takes_no_time():
    n = 1000
    heads = projective_tree(n, 2)
    start = time.process_time()
    draw_text(["word"] * n, heads, width=100)
    draw_svg(["word"] * n, heads, ["label"] * n)
    assert time.process_time() - start < 5
