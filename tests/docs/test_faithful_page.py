"""The page about the papers names files, solvers and settings that exist."""

import re

import pytest
from test_architecture_page import PACKAGE, mentioned_paths

from partwise.solvers import ColumnGeneration, ExponentiatedGradient
from partwise.solvers.registry import make_solver
from places import ROOT

PAGE = (ROOT / "docs" / "faithful.md").read_text(encoding="utf-8")
SECTIONS = [text.split("\n## ")[0] for text in PAGE.split("\n## ")[1:]]


@pytest.mark.parametrize("path", mentioned_paths(PAGE))
def test_faithful_page_names_paths_that_exist(path: str) -> None:
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.split("\n")[0])
def test_faithful_page_says_of_each_thing_where_it_is_and_how_it_differs(section):
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("| "))]
        assert len(cells) == 3
        assert all(cells)
        # Every row leads to code, a test, a benchmark or a page.
        assert re.search(r"`\w|\]\(", cells[1]), row


def test_faithful_page_names_solvers_that_exist() -> None:
    names = {
        "eg",
        "eg-batch",
        "eg-primal",
        "eg-halving",
        "smo",
        "smo-eg",
        "lbfgs",
        "cg",
    }
    names.add("column-generation-printed")
    for name in names:
        assert f"`{name}`" in PAGE
        make_solver(name)


def test_faithful_page_names_settings_that_exist() -> None:
    assert ExponentiatedGradient(step="halving", order="cyclic", start_at="gold")
    assert ExponentiatedGradient(step="guaranteed")
    assert ColumnGeneration("extragradient", step="spectral", as_printed=True)
    assert ColumnGeneration("chambolle-pock")
    settings = 'step="halving"', 'step="guaranteed"', "as_printed=True"
    masters = 'master="extragradient"', 'master="chambolle-pock"', 'master="highs"'
    for text in (*settings, *masters, 'step="spectral"', 'start_at="gold"'):
        assert text in PAGE
