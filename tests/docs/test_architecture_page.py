"""The page and the picture of the architecture name files and folders that exist."""

import re
from pathlib import Path

import pytest

import partwise
from places import ROOT

PACKAGE = Path(partwise.__file__).parent
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "architecture.svg"


def mentioned_paths(text: str) -> list[str]:
    """Return the files and folders between backticks, each once, in order."""
    found = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    return list(dict.fromkeys(found))


def rooms_in_the_picture(floor: str) -> set[str]:
    """Return the labels of the boxes between the comment of a floor and the next."""
    _, *pieces = re.split(r"<!-- (.*?) -->", PICTURE.read_text(encoding="utf-8"))
    floors = dict(zip(pieces[::2], pieces[1::2], strict=True))
    return set(re.findall(r'class="label"[^>]*>([^<]+)<', floors[floor]))


def folders(path: str) -> set[str]:
    return {
        folder.name
        for folder in (PACKAGE / path).iterdir()
        if (folder / "__init__.py").exists()
    }


@pytest.mark.parametrize("path", mentioned_paths(PAGE.read_text(encoding="utf-8")))
def test_architecture_page_names_paths_that_exist(path: str) -> None:
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


def test_architecture_page_walks_through_many_files() -> None:
    _, *walks = PAGE.read_text(encoding="utf-8").split("\n## Walk ")
    assert len(walks) == 3
    for walk in walks:
        steps = walk.split("\n## ")[0]
        assert len(mentioned_paths(steps)) >= 10


@pytest.mark.parametrize("floor", ["cli", "estimators", "solvers"])
def test_architecture_picture_shows_every_room(floor: str) -> None:
    hidden = {"generative"}  # what two rooms of estimators share
    assert rooms_in_the_picture(floor) == folders(floor) - hidden


def test_architecture_picture_shows_structures_that_exist() -> None:
    found = {path.stem for path in (PACKAGE / "structures").iterdir()}
    shown = rooms_in_the_picture("structures")
    assert shown
    assert shown <= found


def test_architecture_picture_shows_every_loss() -> None:
    from partwise.losses import LOSSES

    assert rooms_in_the_picture("losses") == {*LOSSES, "set_hinge"}
