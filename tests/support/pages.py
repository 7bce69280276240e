"""Pages of the documentation whose blocks run."""

import contextlib
import doctest
import io
import re
from pathlib import Path

from places import ROOT

PAGES = ROOT / "docs" / "examples"
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
