"""Options of ``partwise train tag``: C, class weights, metrics, what auto picked."""

import json
from pathlib import Path

import pytest

import partwise
from command_line import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("options")
    run("demo", "--size", 60, "--save-data", path)
    return path


def command(folder: Path, path: Path) -> list[object]:
    return ["train", "tag", folder / "train.txt", "--model", path, "--tol", 0.1]


def test_train_says_which_c_and_solver_and_why(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    numbers = json.loads(run(*command(folder, path), "--quiet", "--json").stdout)
    assert (numbers["C"], numbers["solver"]) == (3.0, "eg")
    assert numbers["solver_reason"] == "the default for the log loss"
    shown = run(*command(folder, path), "--solver", "dcd-light", "--C", 0.5).stdout
    assert "dcd-light" in shown
    assert "the default for" not in shown
    assert partwise.load(path).C_ == 0.5


def test_train_c_path_keeps_the_best_on_dev(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    options = ["--dev", folder / "dev.txt", "--C-path", "1,0.01,0.1"]
    metric = ["--dev-metric", "sequence_accuracy"]
    result = run(*command(folder, path), *options, *metric, "--quiet", "--json")
    numbers = json.loads(result.stdout)
    tried = numbers["C_path"]
    assert [row["C"] for row in tried] == [0.01, 0.1, 1.0]
    best = max(tried, key=lambda row: row["dev_score"])
    assert numbers["C"] == partwise.load(path).C_ == best["C"]
    assert numbers["best_dev_score"] == best["dev_score"]
    shown = run(*command(folder, path), *options).stdout
    assert "tried" in shown
    assert "dev score" in shown


def test_train_class_weight_is_that_of_the_tagger(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    run(*command(folder, path), "-q", "--class-weight", "B-NP=2,O=0.5")
    weights = partwise.load(path).class_weight
    assert {k: v for k, v in weights.items() if v != 1.0} == {"B-NP": 2.0, "O": 0.5}
    run(*command(folder, path), "-q", "--class-weight", "balanced")
    assert partwise.load(path).class_weight == "balanced"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--C-path", "1,2"], "--C-path needs --dev"),
        (["--C-path", "1,x", "--dev", "dev.txt"], "--C-path must be numbers"),
        (["--C-path", "0", "--dev", "dev.txt"], "every C must be a positive number"),
        (["--C-path", "1", "--C", "2", "--dev", "dev.txt"], "not both"),
        (
            ["--C-path", "1", "--checkpoint", "c", "--dev", "dev.txt"],
            "cannot be used with --checkpoint",
        ),
        (["--class-weight", "B-NP"], "--class-weight must be 'balanced' or factors"),
        (["--class-weight", "B-NP=two"], "--class-weight must be 'balanced' or"),
        (["--class-weight", "X=2"], "'X' is not a label of the training data"),
        (["--class-weight", "O=-2"], "class_weight['O'] must be a finite number"),
        (["--dev", "dev.txt", "--dev-metric", "acuracy"], "did you mean 'accuracy'"),
        (["--jobs", "0"], "n_jobs must be an integer >= 1"),
    ],
)
def test_train_option_mistakes_say_what_to_do(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    result = run(*command(folder, tmp_path / "m"), *options, code=2)
    assert message in " ".join(result.stderr.split())
