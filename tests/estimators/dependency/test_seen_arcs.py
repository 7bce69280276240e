"""Parsers that look only at arcs like those they have seen (``reach="seen"``)."""

from pathlib import Path
from typing import Any

import pytest

from partwise import DependencyParser, ModelFileError, load, model_file
from partwise.data import Sentence


def tree(words: str, heads: list[int], labels: str) -> Sentence:
    forms, names = words.split(), labels.split()
    tags = ["X"] * len(forms)
    return Sentence.from_columns(forms=forms, upos=tags, heads=heads, labels=names)


ALONE = [tree("bark", [0], "root")] * 9
TREES = [*ALONE, tree("bark dogs", [0, 1], "root obj")]
NEW = [Sentence.from_columns(forms=["dogs", "bark"], upos=["X", "Z"]), *TREES]


def fitted(trees: list[Sentence]) -> DependencyParser:
    return DependencyParser(reach="seen", loss="log_loss", max_iter=5).fit(trees)


def labels_of_others(found: list[Sentence]) -> set[Any]:
    return {
        label
        for one in found
        for head, label in zip(one.heads or (), one.labels or (), strict=True)
        if head
    }


@pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")
def test_only_roots_are_labelled_as_roots(tmp_path: Path) -> None:
    parser = fitted(TREES)
    for threads in (1, 2):
        found = parser.set_params(n_jobs=threads).predict(NEW)
        assert labels_of_others(found) == {"obj"}
        roots = [(one.heads or ()).index(0) for one in found]
        labels = [one.labels or () for one in found]
        assert {own[i] for i, own in zip(roots, labels, strict=True)} == {"root"}
    path = tmp_path / "model"
    parser.save(path)
    assert load(path).predict(NEW) == found
    # It is this rule that makes the difference; files of the first version have none.
    content = model_file.read(path)
    settings = dict(content.settings)
    assert settings.pop("root_label") == "root"
    model_file.write(path, content.tensors, settings, kind="model")
    assert "root" in labels_of_others(load(path).predict(NEW))
    for label in ("nsubj", 3):
        settings["root_label"] = label
        model_file.write(path, content.tensors, settings, kind="model")
        with pytest.raises(ModelFileError, match="root"):
            load(path)


@pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")
def test_a_label_of_roots_that_others_have_is_free() -> None:
    other = tree("bark bark", [0, 1], "root root")
    assert labels_of_others(fitted([*TREES, other]).predict([other])) == {"root"}
    # With no other label, there would be no tree of two words.
    assert labels_of_others(fitted(ALONE).predict([other])) == {"root"}
    # Nor is one label of the root's known where it has several.
    parser = fitted([*TREES, tree("dogs", [0], "x")])
    assert parser._reach is not None
    assert parser._reach.root is None
