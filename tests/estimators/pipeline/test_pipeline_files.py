"""Pipelines in files made to do harm: refused before anything is used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partwise import (
    ModelFileError,
    MulticlassClassifier,
    SequenceTagger,
    load,
    model_file,
)
from places import GOLDEN

Settings = dict[str, Any]


def parsed() -> model_file.Content:
    data = (GOLDEN / "pipeline-1.partwise").read_bytes()
    return model_file.container.parse(data, "pipeline")


def put(step: str, value: Any, *keys: Any) -> Callable[[Settings], None]:
    """Return an edit that puts a value somewhere into a step."""

    def edit(settings: Settings) -> None:
        place = settings[f"step {step}"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return edit


def swap_classes(settings: Settings) -> None:
    step = settings["step tokens"]
    step["sentences"] = settings["step lemmas"]["lemmas"]


def nest(settings: Settings) -> None:
    settings["step trees"]["trees"] = {"estimator": "Pipeline"}


HOSTILE = [
    (put("upos", ["upos", "upos"], "models"), "unknown names|there twice"),
    (put("upos", ["other"], "models"), "unknown names"),
    (put("tokens", [], "models"), "a model is missing"),
    (put("trees", [[]], "models"), "unknown names"),
    (swap_classes, "should be a SequenceTagger"),
    (nest, "should be a DependencyParser"),
    (put("feats", [1, 2], "bundles", "groups"), "groups of attributes are damaged"),
    (put("feats", [], "bundles", "groups"), "not at all"),
    (put("feats", [["Case"], ["Case"]], "bundles", "groups"), "there twice"),
    (put("xpos", [["0"], [str(10**9)]], "bundles", "groups"), "positions are damaged"),
    (put("xpos", "whole", "bundles", "kind"), "have no attributes"),
    (put("xpos", ["1=x"], "constant"), "number of parts"),
]


@pytest.mark.parametrize(("edit", "said"), HOSTILE, ids=[said for _, said in HOSTILE])
def test_pipeline_file_with_wrong_settings_is_refused(
    edit: Callable[[Settings], None], said: str, tmp_path: Path
) -> None:
    content = parsed()
    settings: Any = content.settings
    edit(settings)
    path = tmp_path / "model"
    model_file.write(path, content.tensors, settings, kind="model")
    with pytest.raises(ModelFileError, match=said):
        load(path)


@pytest.mark.parametrize(
    ("table", "said"), [("lemmas.seen", "a lemma is"), ("words.seen", "a script is")]
)
def test_pipeline_file_with_lines_in_its_cells_is_refused(
    table: str, said: str, tmp_path: Path
) -> None:
    content = parsed()
    tensors = dict(content.tensors)
    name = f"step {table}.values.bytes"
    tensors[name] = tensors[name].copy()
    tensors[name][1] = ord("\n")
    path = tmp_path / "model"
    model_file.write(path, tensors, content.settings, kind="model")
    with pytest.raises(ModelFileError, match=said):
        load(path)


def test_pipeline_file_with_models_of_other_inputs_is_refused(tmp_path: Path) -> None:
    numbers = np.eye(2)
    few: dict[str, Any] = {"solver": "perceptron", "max_iter": 1}
    path = tmp_path / "pipeline.partwise"
    taggers = [
        SequenceTagger(**few).fit([x], [["END", "IN"]])
        for x in ([{"w": "a"}, {"w": "b"}], numbers)
    ]
    classifier = MulticlassClassifier(**few).fit(numbers, ["-", "0"])
    for step, name, model in (
        *(("tokens", "tokens", tagger) for tagger in taggers),
        ("lemmas", "lemmas", classifier),
    ):
        pipeline = load(GOLDEN / "pipeline-1.partwise")
        pipeline.steps_[step].models[name] = model
        pipeline.save(path)
        with pytest.raises(ModelFileError, match="something else than words"):
            load(path)
