"""What commands ask of a tagger besides its best labels, and learning on from one."""

import json
from pathlib import Path

import numpy as np
import pytest

import partwise
from command_line import message, run
from partwise import SequenceTagger

TEXT = "the D\ndog N\nbarks V\n\na D\ncat N\n\n"
X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]]]
y = [["D", "N", "V"], ["D", "N"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answers")
    tagger = SequenceTagger("log_loss", template="U0:%x[0,0]\nU1:%x[-1,0]")
    tagger.fit(X, y).save(path / "m.partwise")
    (path / "data.txt").write_text(TEXT)
    return path


def test_predict_sample_draws_from_the_model(folder: Path) -> None:
    asked = "predict", folder / "m.partwise", folder / "data.txt", "--sample", 40
    lines = run(*asked, "--seed", 3).stdout.splitlines()
    marks = [line for line in lines if line.startswith("# sample")]
    assert marks == 2 * [f"# sample {r}" for r in range(1, 41)]
    drawn = [line.split()[-1] for line in lines if line.startswith("cat")]
    model = partwise.load(folder / "m.partwise")
    share = model.predict_marginals(X)[1][1, 1]
    assert np.mean([label == "N" for label in drawn]) == pytest.approx(share, abs=0.25)
    assert run(*asked, "--seed", 3).stdout.splitlines() == lines
    assert run(*asked, "--seed", 4).stdout.splitlines() != lines


def test_show_draws_labels_and_what_is_predicted(folder: Path) -> None:
    data, asked = folder / "data.txt", ("show", folder / "data.txt")
    own = run(*asked).stdout
    assert own.startswith("sentence 1\nthe    D\ndog    N\nbarks  V\n")
    model = partwise.load(folder / "m.partwise")
    best = model.predict(X)
    drawn = run(*asked, "-m", folder / "m.partwise", "--sentence", 2).stdout
    assert drawn == f"sentence 2\na    {best[1][0]}\ncat  {best[1][1]}\n"
    shares = model.predict_marginals(X)[1].max(axis=1)
    sure = run(*asked, "-m", folder / "m.partwise", "--marginals").stdout
    assert sure.split()[-1] == f"{shares[1]:.2f}"
    ranked = run(*asked, "-m", folder / "m.partwise", "--kbest", 3).stdout
    assert ranked.count("rank 3, score") == 2
    run(*asked, "-m", folder / "m.partwise", "--svg", folder / "l.svg", "--limit", 1)
    assert (folder / "l.svg").read_text().count("<rect") >= 3
    (folder / "words.txt").write_text("the\ndog\n\n")
    unlabelled = "show", folder / "words.txt", "--format", "columns"
    assert "only one column" in message(*unlabelled)
    assert run("show", folder / "words.txt", "-m", folder / "m.partwise").stdout
    assert data.read_text() == TEXT


def test_show_draws_what_has_no_words(tmp_path: Path) -> None:
    tagger = SequenceTagger().fit([[["a"], ["b"]]], [["A", "B"]])
    tagger.save(tmp_path / "m")
    (tmp_path / "d").write_text("A\ta\nB\tb\n\n")
    asked = ("show", tmp_path / "d", "--format", "crfsuite", "-m", tmp_path / "m")
    assert run(*asked).stdout.split()[3::2] == ["A", "B"]


def test_evaluate_shows_the_mean_log_probability(folder: Path) -> None:
    asked = "evaluate", folder / "m.partwise", folder / "data.txt"
    scores = json.loads(run(*asked, "--log-probability", "--json").stdout)
    expected = partwise.load(folder / "m.partwise").log_probability(X, y).mean()
    assert scores["log_probability"] == pytest.approx(expected, abs=1e-6)
    assert "mean log-probability" in run(*asked, "--log-probability").stdout


@pytest.mark.parametrize(
    ("sign", "low", "high"), [("negative", -9, 0), ("positive", 0, 9)]
)
def test_inspect_shows_weights_of_one_sign(folder: Path, sign, low, high) -> None:
    asked = "inspect", folder / "m.partwise", "--sign", sign, "--top", 4, "--json"
    shown = json.loads(run(*asked).stdout)["top_features"]
    assert list(shown) == ["D", "N", "V"]
    weights = [one["weight"] for own in shown.values() for one in own]
    assert len(weights) > 6
    assert all(low < weight < high for weight in weights)


def test_training_continues_from_a_model(folder: Path) -> None:
    (folder / "new.txt").write_text("the D\nbird N\nsings V\nloudly ADV\n\n")
    asked = "train", "tag", folder / "new.txt", "--continue", folder / "m.partwise"
    run(*asked, "-m", folder / "more.partwise", "-q", "--tol", "0.001")
    before = partwise.load(folder / "m.partwise")
    after = partwise.load(folder / "more.partwise")
    assert after.classes_.tolist() == ["ADV", "D", "N", "V"]
    assert (after.loss, after.tol, after.C) == (before.loss, 0.001, before.C)
    assert after.predict(X) == y
    assert after.predict([[["the"], ["bird"]]]) == [["D", "N"]]


def test_continuing_refuses_what_cannot_be(folder: Path) -> None:
    asked = "train", "tag", folder / "data.txt", "--continue", folder / "m.partwise"
    assert "are the same file" in message(*asked, "-m", folder / "m.partwise")
    other = "-m", folder / "other.partwise"
    assert "leave out --template" in message(*asked, *other, "--features", "pos")
    assert "use eg" in message(*asked, *other, "--solver", "lbfgs")
    assert "not a Partwise file" in message(
        "train", "tag", folder / "data.txt", "--continue", folder / "data.txt", *other
    )
