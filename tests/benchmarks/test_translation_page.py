"""The page that builds a translator runs, and prints what it says."""

import doctest
import os

import pytest

import problems
from pages import FLAGS, PAGES, run_page

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


def test_translation_page_prints_what_it_says(monkeypatch):
    monkeypatch.chdir(os.getcwd())  # the page goes elsewhere
    pairs = run_page(PAGES / "translation.md")
    assert len(pairs) >= 9
    for printed, documented in pairs:
        same = doctest.OutputChecker().check_output(documented, printed, FLAGS)
        assert same, f"the page says\n{documented}\nbut it is\n{printed}"
    drawn = (PAGES / "translation_lattice.svg").read_text(encoding="utf-8")
    with open("lattice.svg", encoding="utf-8") as file:
        assert file.read() == drawn
