"""Pages in a real browser: they filter, search and draw, and nothing leaves them."""

import io
import os
from pathlib import Path
from typing import Any

import pytest

from partwise.constituents import Tree
from partwise.data import Sentence
from partwise.pages import (
    examples_page,
    report_page,
    view_arcs,
    view_brackets,
    view_graph,
    view_path,
    view_tags,
)
from partwise.pages.contents import suspect_data
from watching import assert_quiet, violations

HOSTILE = "<script>alert(1)</script>"
HEBREW = ["שלום", "עולם"]
SCREENSHOTS = "PARTWISE_SCREENSHOTS"
"""Where to write pictures for the documentation, if anywhere."""


def tagged() -> list[Any]:
    classes = ["B-LOC", "I-LOC", "O"]
    sure = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.0, 0.1, 0.9]]
    some = view_tags(
        ["New", "York", HOSTILE],
        ["B-LOC", "O", "O"],
        ["B-LOC", "I-LOC", "O"],
        chunks=True,
        probabilities=sure,
        classes=classes,
    )
    right = view_tags(["in", "Paris"], ["O", "B-LOC"], ["O", "B-LOC"], chunks=True)
    hebrew = view_tags(HEBREW, ["O", "B-LOC"], ["O", "O"], chunks=True)
    return [some, right, hebrew]


def report() -> str:
    views = tagged()
    numbers = [1.0, 2.0, 3.0]
    trace = {
        "iteration": numbers,
        "seconds": [0.1, 0.5, 2.0],
        "primal": [100.0, 20.0, 11.0],
        "dual": [1.0, 8.0, 10.0],
        "relative_gap": [0.99, 0.6, 0.09],
        "dev_score": [0.5, 0.6, 0.7],
    }
    return report_page(
        views,
        title=f"A tagger {HOSTILE}",
        subtitle="A tagger of places",
        facts=[("labels", "3")],
        certificate="Proved.",
        note="Probabilities are not calibrated.",
        trace=trace,
        path=[{"C": 1.0, "dev_score": 0.5, "gap": 0.1, "passes": 3.0, "seconds": 0.1}],
        weights=[("B-LOC", [("U1:Paris", 2.0), (HOSTILE, -1.0)])],
        transitions=(["B-LOC", "O"], [[0.5, -2.0], [1.0, 0.0]]),
        suspects=suspect_data(views[:1], [7], [0.9], "by mass"),
    )


def open_page(driver: Any, html: str, folder: Path) -> None:
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    driver.get_log("browser"), driver.get_log("performance")  # of the page before
    driver.get(path.as_uri())


def seconds_of_work(driver: Any) -> float:
    """Return how long the page has computed, whatever else the machine did."""
    measured = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float({one["name"]: one["value"] for one in measured}["TaskDuration"])


def count(driver: Any) -> str:
    return str(driver.find_element("css selector", ".count").text)


def look_at_examples(driver: Any) -> None:
    """Scroll to the examples, which are drawn when they are in sight."""
    driver.execute_script("document.getElementById('examples').scrollIntoView()")
    driver.execute_async_script("setTimeout(arguments[0], 100)")


def test_report_filters_and_searches(driver: Any, tmp_path: Path) -> None:
    open_page(driver, report(), tmp_path)
    assert count(driver) == "3 of 3"
    search = driver.find_element("css selector", "input[type=search]")
    search.send_keys("paris")
    assert count(driver) == "1 of 3"
    assert "Paris" in driver.find_element("css selector", "#examples .example").text
    search.clear()
    search.send_keys("nowhere")
    assert count(driver) == "0 of 3"
    search.clear()
    search.send_keys(" ")
    driver.find_element("css selector", "input[type=checkbox]").click()
    assert count(driver) == "2 of 3"
    driver.find_element("css selector", "input[type=checkbox]").click()
    cell = driver.find_element(
        "css selector",
        "[aria-label^='I-LOC predicted as O']",
    )
    driver.execute_script("arguments[0].click()", cell)
    assert count(driver) == "1 of 3"
    driver.find_element("css selector", "[aria-label='show all again']").click()
    assert count(driver) == "3 of 3"
    for name, expected in (("fewest words", "1 of 3"), ("most words", "0 of 3")):
        field = driver.find_element("css selector", f"[aria-label='{name}']")
        field.send_keys("3" if name == "fewest words" else "2")
        assert count(driver) == expected
    assert_quiet(driver)


def test_report_text_stays_text(driver: Any, tmp_path: Path) -> None:
    open_page(driver, report(), tmp_path)
    # An alert would make every later command fail.
    assert HOSTILE in driver.find_element("tag name", "h1").text
    look_at_examples(driver)
    assert HOSTILE in driver.find_element("id", "examples").text
    assert len(driver.find_elements("tag name", "script")) == 2
    hebrew = driver.find_element("css selector", ".line[dir=rtl] .word")
    assert hebrew.text == HEBREW[0]
    assert_quiet(driver)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_report_contrast_suffices(driver: Any, tmp_path: Path, theme: str) -> None:
    open_page(driver, report(), tmp_path)
    driver.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
    assert violations(driver) == []


def test_report_keyboard_works(driver: Any, tmp_path: Path) -> None:
    open_page(driver, report(), tmp_path)
    body = driver.find_element("tag name", "body")
    body.send_keys("j")
    assert driver.switch_to.active_element.get_attribute("aria-posinset") == "1"
    driver.switch_to.active_element.send_keys("j")
    assert driver.switch_to.active_element.get_attribute("aria-posinset") == "2"
    driver.switch_to.active_element.send_keys("k")
    assert driver.switch_to.active_element.get_attribute("aria-posinset") == "1"
    driver.switch_to.active_element.send_keys("/")
    assert driver.switch_to.active_element.get_attribute("type") == "search"
    for _ in range(40):  # everything that can be used is reached by the tab key
        driver.switch_to.active_element.send_keys("\ue004")
        if driver.switch_to.active_element.tag_name == "summary":
            break
    summary = driver.execute_script(
        "return document.querySelectorAll('summary').length"
    )
    assert summary == 0 or driver.switch_to.active_element.tag_name == "summary"


def test_arcs_join_heads_and_words(driver: Any, tmp_path: Path) -> None:
    forms = ["The", "old", "dog", "barks", "loudly"]
    gold = Sentence.from_columns(
        forms=forms, upos=["DET", "ADJ", "NOUN", "VERB", "ADV"],
        heads=[3, 3, 4, 0, 4], labels=["det", "amod", "nsubj", "root", "advmod"],
    )  # fmt: skip
    found = gold.with_tree([2, 3, 4, 0, 3], ["det", "amod", "nsubj", "root", "x"])
    open_page(driver, examples_page([view_arcs(found, gold)], "Trees"), tmp_path)
    places = driver.execute_script(
        """const at = {}; document.querySelectorAll("[data-word]").forEach((t) =>
        { at[t.dataset.word] = +t.getAttribute("x"); });
        return [at, [...document.querySelectorAll("g.arc")].map((g) =>
        [g.getAttribute("class").trim(), +g.dataset.head, +g.dataset.dependent,
        +g.querySelector("path").dataset.start,
        +g.querySelector("path").dataset.end])]"""
    )
    at, arcs = places
    expected = [("arc", h, m) for m, h in enumerate(found.heads or (), 1)]
    drawn = [(kind.split()[0], h, m) for kind, h, m, *_ in arcs if "right" not in kind]
    assert drawn == expected
    # The right heads of the words that have wrong ones.
    assert [(h, m) for kind, h, m, *_ in arcs if "right" in kind] == [(3, 1), (4, 5)]
    assert [m for kind, _, m, *_ in arcs if "wrong" in kind] == [1, 5]
    for _, head, word, start, end in arcs:
        assert abs(end - at[str(word)]) < 8
        assert abs(start - at[str(head or word)]) < 8
    assert_quiet(driver)


def test_all_drawings_draw(driver: Any, tmp_path: Path) -> None:
    from partwise import LatticeInput

    verb, noun = Tree("VBP", ("bark",)), Tree("NNS", ("dogs",))
    tree = Tree("S", (Tree("NP", (noun,)), Tree("VP", (verb,))))
    flat = Tree("S", (Tree("NX", (noun,)), verb))
    lattice = LatticeInput([(0, 1, {}, "a"), (0, 1, {}, "the"), (1, 2, {}, "dog")])
    pages = {
        "g.node.wrong": view_brackets(flat, tree),
        "path.edge.wrong": view_path(lattice, [0, 2], [[1, 2]]),
        "svg g.node": view_graph(["a", "b"], [(0, 1)], ["x", "y"], ["x", "x"]),
        ".token .chip.right": view_tags(["a", HOSTILE], ["X", "Y"], ["X", "X"]),
        "g.arc": view_arcs(Sentence.from_columns(forms=["Go"], heads=[0])),
    }
    for selector, view in pages.items():
        open_page(driver, examples_page([view], "Drawings"), tmp_path)
        assert driver.find_elements("css selector", selector), selector
        assert violations(driver) == []
        driver.execute_script("document.documentElement.dataset.theme = 'dark'")
        assert violations(driver) == []
        # On paper there is the drawing, in dark letters on white, and no controls.
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        ground, controls = driver.execute_script(
            """return [getComputedStyle(document.body).backgroundColor,
            [...document.querySelectorAll(".controls")].filter((c) =>
            c.offsetParent !== null).length]"""
        )
        drawn = driver.find_element("css selector", selector)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        assert (ground, controls) == ("rgb(255, 255, 255)", 0), selector
        assert drawn.is_displayed()
        assert_quiet(driver)


def test_examples_of_ten_thousand_open_quickly(driver: Any, tmp_path: Path) -> None:
    words = [f"word{t}" for t in range(24)]
    labels = ["B-NP", "I-NP", "O"] * 8
    wrong = ["O", *labels[1:]]
    views = [view_tags(words, labels, wrong, chunks=True)] * 10_000
    html = examples_page(views, "Ten thousand")
    assert len(html.encode()) < 20e6
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    open_page(driver, html, tmp_path)
    assert count(driver) == "10,000 of 10,000"
    assert seconds_of_work(driver) < 2
    filled = "return document.querySelectorAll('.example > header').length"
    assert 0 < driver.execute_script(filled) < 200
    for _ in range(10):  # rows that come into sight grow, so the end moves
        driver.execute_script("scrollTo(0, document.body.scrollHeight)")
        driver.execute_async_script("setTimeout(arguments[0], 100)")
    last = "return document.querySelector('.example:last-child').textContent"
    assert "#10,000" in driver.execute_script(last)
    assert 0 < driver.execute_script(filled) < 200


def demo_report(size: int) -> str:
    """Return the report of a tagger trained on the demo's sentences."""
    from partwise import SequenceTagger
    from partwise.data import read_columns
    from partwise.synthetic import make_corpus

    text = io.StringIO(make_corpus(size, random_state=0).to_columns())
    data = read_columns(text)
    sentences, labels = list(data.without(-1)), data.column_sequences(-1)
    cut = size * 2 // 3
    train = sentences[:cut], labels[:cut]
    tagger = SequenceTagger(loss="log_loss", C=1.0).fit(*train)
    page = tagger.report(sentences[cut:], labels[cut:], train=train, title="Chunks")
    return page.html


@pytest.mark.skipif(SCREENSHOTS not in os.environ, reason="no pictures are asked for")
def test_screenshots_of_the_report(driver: Any, tmp_path: Path) -> None:
    """Take the pictures of the documentation."""
    open_page(driver, demo_report(600), tmp_path)
    folder = Path(os.environ[SCREENSHOTS])
    for name, height, section in (
        ("report.png", 1150, "overview"),
        ("examples.png", 800, "examples"),
    ):
        driver.set_window_size(1120, height)
        driver.execute_script(f"document.getElementById('{section}').scrollIntoView()")
        if section == "overview":
            driver.execute_script("scrollTo(0, 0)")
        driver.execute_async_script("setTimeout(arguments[0], 300)")
        assert driver.save_screenshot(str(folder / name))


def test_names_of_edges_do_not_cover_each_other(driver: Any, tmp_path: Path) -> None:
    from partwise import LatticeInput

    # Every state of a layer has an edge to every state of the next.
    edges = [
        (3 * layer + a - 2 * (layer > 0), 3 * layer + b + 1, {}, f"word{a}{b}")
        for layer in range(3)
        for a in range(3 if layer else 1)
        for b in range(3)
    ]
    view = view_path(LatticeInput(edges), (0, 3, 12), [(1, 7, 15)])
    open_page(driver, examples_page([view], "Lattices"), tmp_path)
    boxes = driver.execute_script(
        """return [...document.querySelectorAll("svg text")].map((t) => {
        const b = t.getBBox();
        return [t.textContent, b.x, b.y, b.width, b.height]; })"""
    )
    names = [name for name, *_ in boxes]
    assert len(edges) > len(names) >= 6  # those of the two paths are there
    for i, (_, x, y, width, height) in enumerate(boxes):
        for _, x2, y2, width2, _ in boxes[:i]:
            assert abs(y - y2) > height / 2 or x > x2 + width2 or x2 > x + width
    assert_quiet(driver)
