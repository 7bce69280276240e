"""The examples of the documentation: they run, and print what the page says."""

import doctest
from pathlib import Path

import pytest

from pages import FLAGS, PAGES, run_page


@pytest.mark.parametrize("page", ["addresses", "handwriting"])
def test_example_prints_what_the_page_says(page: str) -> None:
    pairs = run_page(PAGES / f"{page}.md")
    assert len(pairs) >= 5
    for printed, documented in pairs:
        same = doctest.OutputChecker().check_output(documented, printed, FLAGS)
        assert same, f"the page says\n{documented}\nbut it is\n{printed}"


def test_example_runner_sees_a_difference(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    assert run_page(page) == [("1\n", "2\n")]
