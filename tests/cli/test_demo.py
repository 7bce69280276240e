"""The demonstration: a model trained and shown, and data to go on with."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from partwise.cli.app import app
from partwise.data import read_columns
from partwise.synthetic import make_corpus

SMALL = ["demo", "--size", "150"]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def numbers() -> Any:
    return json.loads(run(*SMALL, "--json"))


def test_demo_learns_and_proves_it(numbers: Any) -> None:
    assert numbers["training"]["converged"]
    certificate = numbers["training"]["certificate"]
    assert 0 <= certificate["relative_gap"] <= 0.03
    assert certificate["lower_bound"] <= certificate["objective"]
    assert numbers["test"]["chunks"]["f1"] > 0.8


def test_demo_examples_have_a_margin_to_another_reading(numbers: Any) -> None:
    margins = [one["margin"] for one in numbers["examples"]]
    assert margins == sorted(margins, reverse=True)
    for one in numbers["examples"]:
        assert one["margin"] >= 0
        assert one["runner_up"] != one["predicted"]
        assert len(one["words"]) == len(one["predicted"]) == len(one["right"])


def test_demo_shows_the_same_numbers_to_people(numbers: Any) -> None:
    text = run(*SMALL)
    training, test = numbers["training"], numbers["test"]
    assert f"{training['features']:,}" in text
    assert f"{training['certificate']['objective']:.6g}" in text
    assert f"{100 * test['chunks']['f1']:.2f}%" in text
    assert "(the gap)" in text
    for one in numbers["examples"]:
        assert f"margin {one['margin']:.3f}" in text
    assert "partwise train tag demo/train.txt" in text


def test_demo_saves_its_data(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    paths = json.loads(run(*SMALL, "--save-data", folder, "--json"))
    sizes = {name: read_columns(path).n_sentences for name, path in paths.items()}
    assert sizes == {"train": 120, "dev": 15, "test": 15}
    words = [word for path in paths.values() for word in read_columns(path).columns[0]]
    corpus = make_corpus(150)
    assert words == [word for sentence in corpus for word in sentence.words]


def test_demo_seed_makes_another_corpus(tmp_path: Path) -> None:
    run(*SMALL, "--save-data", tmp_path / "a")
    run(*SMALL, "--save-data", tmp_path / "b", "--seed", 1)
    run(*SMALL, "--save-data", tmp_path / "c")
    a, b, c = (read_columns(tmp_path / name / "train.txt") for name in "abc")
    assert a == c
    assert a != b
