"""The examples of the documentation: they run, and print what the page says."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parent.parent / "docs" / "examples"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(path: Path) -> list[tuple[str, str]]:
    """Run the blocks of a page in order; return (printed, documented) pairs."""
    namespace: dict[str, object] = {"__name__": path.stem}
    pairs: list[tuple[str, str]] = []
    printed = ""
    for kind, text in BLOCK.findall(path.read_text(encoding="utf-8")):
        if kind == "text":
            pairs.append((printed, text))
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(text, str(path), "exec"), namespace)
        printed = output.getvalue()
    return pairs


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
