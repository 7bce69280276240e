"""Hidden Markov models on the command line: columns in, models and labels out."""

import json
from pathlib import Path

import pytest

import problems
from command_line import message, run
from hidden_markov_data import noisy
from partwise import load

pytestmark = problems.plain_only

FAST = ["--max-iter", "50", "--tol", "0.1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hmm")
    for seed, (name, count) in enumerate({"train": 12, "test": 4}.items()):
        lines = []
        for symbols, states in zip(*noisy(count, seed, 0.2), strict=True):
            lines += [f"{x} - {y}\n" for x, y in zip(symbols, states, strict=True)]
            lines.append("\n")
        (path / name).write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "m.partwise"
    train = ("train", "hmm", folder / "train", "-m", path, "--objective", "margin")
    run(*train, "--costs", "ring", "-q", *FAST)
    return path


# --- training


def test_train_hmm_passes_every_setting_on(folder: Path, tmp_path: Path) -> None:
    costs, path = tmp_path / "costs", tmp_path / "m"
    costs.write_text("0 1 5\n2 1 0.5\n")
    arguments = ("train", "hmm", folder / "train", "-m", path, *FAST, "--costs", costs)
    options = "--objective margin --reference uniform --smoothing 2 -C 0.5 --cv 3"
    result = run(*arguments, *options.split(), "--loss", "squared_hinge", "--json")
    found = json.loads(result.stdout)
    assert (found["trained_for"], found["reference"]) == ("margin", "uniform")
    assert (found["sentences"], found["tokens"], found["symbols"]) == (12, 48, 3)
    assert found["certificate"]["relative_gap"] <= 0.1
    fitted = load(path)
    assert (fitted.loss, fitted.C, fitted.smoothing) == ("squared_hinge", 0.5, 2.0)
    assert fitted._costs.tolist() == [[0, 5, 1], [1, 0, 1], [1, 0.5, 0]]


def test_train_hmm_auto_shows_what_it_tried(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    train = ("train", "hmm", folder / "train", "-m", path, *FAST, "--cv", 2, "-C", 0.1)
    shown = run(*train).stdout
    assert "tried on held-out sequences" in shown
    assert "trained for" in shown
    found = json.loads(run(*train, "--json", "--dev", folder / "test").stdout)
    assert [one["reference"] for one in found["candidates"]] == [
        None, "likelihood", "uniform",
    ]  # fmt: skip
    assert load(path).objective == "auto"


def test_train_hmm_likelihood_only_counts(folder: Path, tmp_path: Path) -> None:
    train = ("train", "hmm", folder / "train", "-m", tmp_path / "m")
    result = run(*train, "--objective", "likelihood", "--json")
    found = json.loads(result.stdout)
    assert found["C"] is found["solver"] is found["certificate"] is None
    assert found["converged"]
    assert "counted" in found["status"]


def test_train_hmm_path_of_C_keeps_the_best(folder: Path, tmp_path: Path) -> None:
    train = ("train", "hmm", folder / "train", "-m", tmp_path / "m", *FAST)
    path = ("--C-path", "0.01,0.1", "--dev", folder / "test", "--json")
    assert "--objective margin" in message(*train, *path)
    found = json.loads(run(*train, *path, "--objective", "margin").stdout)
    assert [one["C"] for one in found["C_path"]] == [0.01, 0.1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--symbol-column", "2"], "both symbols and states"),
        (["--symbol-column", "7"], "there is no column 7"),
        (["--costs", "nowhere"], "nowhere: no such file"),
        (["--costs", "TRAIN"], "is 'x', not a number"),
        (["--smoothing", "-1"], "--smoothing must be"),
        (["--loss", "log_loss"], "--loss must be 'hinge' or"),
        (["-C", "0"], "--C must be a positive number"),
        (["--solver", "frank-wolfe"], "use simplicial, simplicial-coordinate or"),
    ],
)
def test_train_hmm_wrong_options_are_one_line(
    options: list[str], expected: str, folder: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    bad.write_text("0 1 x\n")
    given = [str(bad) if option == "TRAIN" else option for option in options]
    train = ("train", "hmm", folder / "train", "-m", tmp_path / "m")
    assert expected in message(*train, *given)
    assert not (tmp_path / "m").exists()


# --- its models


def test_hmm_model_predicts_columns(model: Path, folder: Path) -> None:
    fitted, symbols = load(model), noisy(4, 1, 0.2)[0]
    lines = run("predict", model, folder / "test").stdout.splitlines()
    labels = [line.split()[-1] for line in lines if line]
    assert labels == [label for row in fitted.predict(symbols) for label in row]
    first = json.loads(
        run("predict", model, folder / "test", "--json").stdout.split("\n")[0]
    )
    assert first == {"words": symbols[0], "labels": labels[:4]}
    shares = run("predict", model, folder / "test", "--marginals").stdout.split("\n")
    assert 0.0 < float(shares[0].split()[-1]) <= 1.0
    ranked = run("predict", model, folder / "test", "--kbest", 2).stdout
    assert ranked.count("# rank 2") == 4


def test_hmm_model_is_refused_where_it_has_nothing_to_say(
    model: Path, folder: Path
) -> None:
    said = message("show", folder / "test", "--model", model)
    assert "is a hidden Markov model; partwise show is for taggers, segment" in said


def test_hmm_model_chooses_states_of_least_cost(model: Path, folder: Path) -> None:
    how = ("--decoding", "minimum-risk")
    lines = run("predict", model, folder / "test", *how).stdout.splitlines()
    expected = load(model).predict(noisy(4, 1, 0.2)[0], decoding="minimum_risk")
    assert [line.split()[-1] for line in lines if line] == [
        label for row in expected for label in row
    ]
    scores = json.loads(run("evaluate", model, folder / "test", *how, "--json").stdout)
    assert scores["tokens"] == 16
    both = (*how, "--kbest", 2)
    assert "goes with neither" in message("predict", model, folder / "test", *both)


def test_hmm_model_is_evaluated(model: Path, folder: Path) -> None:
    scores = json.loads(run("evaluate", model, folder / "test", "--json").stdout)
    assert scores["token_accuracy"] == pytest.approx(
        load(model).score(*noisy(4, 1, 0.2))
    )


def test_hmm_model_shows_its_probabilities(model: Path) -> None:
    found = json.loads(run("inspect", model, "--json", "--top", 2).stdout)
    assert found["kind"] == "HiddenMarkovModel"
    assert found["labels"] == ["0", "1", "2"]
    p = load(model).probabilities_
    own = found["probabilities"]
    assert own["emissions"]["1"][0]["probability"] == p.emissions[1].max()
    assert own["next_states"]["2"][0]["probability"] == p.transitions[2].max()
    shown = run("inspect", model, "--label", "1").stdout
    assert "most probable symbols" in shown
    assert "has no label 'x'" in message("inspect", model, "--label", "x")


def test_hmm_model_refuses_what_it_cannot_read(model: Path, tmp_path: Path) -> None:
    assert "is a hidden Markov model; use --format columns" in message(
        "predict", model, tmp_path / "x", "--format", "crfsuite"
    )
    assert "leave it out" in message("predict", model, "x", "--keep-functions")
