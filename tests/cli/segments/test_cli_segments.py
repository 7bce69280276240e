"""``partwise train segments``, and what other commands do with its models."""

import json
from pathlib import Path

import pytest

import problems
from command_line import message, run
from partwise import load

pytestmark = problems.plain_only

DATA = """Ada B-PER
Lovelace I-PER
met O
Alan B-PER

in O
New B-LOC
York I-LOC

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segments")
    (path / "train").write_text(DATA * 3)
    (path / "places").write_text("LOC\tNew York\n")
    (path / "words").write_text("t B\nh I\ne I\nd B\no I\ng I\n\na B\nd B\no I\ng I\n")
    (path / "other").write_text("x y\n")
    train = ("train", "segments", path / "train", "-m", path / "m", "-q")
    options = "-C 10 --tol 0.1 --max-length PER=3 --segment-cost 1 --no-end"
    places = ("--gazetteer", path / "places", "--dev", path / "train")
    run(*train, *options.split(), "--whole-min-count", 1, *places)
    return path


def test_train_segments_passes_every_setting_on(folder: Path) -> None:
    model = load(folder / "m")
    assert (model.C, model.segment_cost, model.whole_min_count) == (10.0, 1.0, 1)
    assert model.limits_ == {"LOC": 2, "O": 1, "PER": 3}
    assert (model.start, model.end) == (True, False)
    assert model.gazetteers[0].types == ("LOC",)


def test_train_segments_takes_costs(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "costs").write_text("PER LOC 4\n")
    train = ("train", "segments", folder / "train", "-m", tmp_path / "m", "-q")
    run(*train, "--costs", tmp_path / "costs", "--class-weight", "PER=2,O=0.5")
    model = load(tmp_path / "m")
    assert model.costs.tolist() == [[0, 1, 1], [1, 0, 1], [4, 1, 0]]
    assert model.class_weight == {"LOC": 1.0, "O": 0.5, "PER": 2.0}
    (tmp_path / "costs").write_text("PER FOO 4\n")
    said = message(*train, "--costs", tmp_path / "costs")
    assert "FOO" in said
    tag = (
        "train",
        "tag",
        folder / "train",
        "-m",
        tmp_path / "t",
        "-q",
        "--max-iter",
        1,
    )
    (tmp_path / "costs").write_text("B-PER O 4\n")
    run(*tag, "--costs", tmp_path / "costs")
    assert load(tmp_path / "t").costs.max() == 4.0


def test_predict_spells_segments(folder: Path) -> None:
    out = run("predict", folder / "m", folder / "train").stdout
    rows = [line.split() for line in out.splitlines() if line]
    assert all(row[1] == row[2] for row in rows)
    shares = run("predict", folder / "m", folder / "train", "--marginals").stdout
    assert 0.5 < float(shares.split()[3]) <= 1.0
    ranked = run("predict", folder / "m", folder / "train", "--kbest", 2).stdout
    assert ranked.startswith("# rank 1 score")
    drawn = run("predict", folder / "m", folder / "train", "--sample", 1).stdout
    assert drawn.startswith("# sample 1")
    lines = run("predict", folder / "m", folder / "train", "--spans").stdout
    first = json.loads(lines.splitlines()[0])["spans"]
    assert [one["label"] for one in first] == ["PER", "PER"]
    assert 0.0 < first[0]["score"] <= 1.0


def test_show_draws_segments(folder: Path) -> None:
    asked = "show", folder / "train", "-m", folder / "m", "--sentence", 2
    assert run(*asked).stdout.splitlines()[2:] == ["New   B-LOC", "York  I-LOC"]
    [model, words] = load(folder / "m"), [["in"], ["New"], ["York"]]
    share = model.predict_marginals([words])[0][1][model.classes_.tolist().index("LOC")]
    sure = run(*asked, "--marginals").stdout.splitlines()
    assert sure[2] == f"New   B-LOC  {share:.2f}"
    assert run(*asked, "--kbest", 2).stdout.count("rank") == 2
    run(*asked, "--svg", folder / "s.svg")
    assert "LOC: New York" in (folder / "s.svg").read_text()


def test_evaluate_counts_segments(folder: Path) -> None:
    asked = "evaluate", folder / "m", folder / "train", "--json", "--log-probability"
    found = json.loads(run(*asked).stdout)
    assert found["chunks"]["f1"] == 1.0
    assert found["log_probability"] < 0.0
    assert "impossible" not in found
    assert "PER" in run("evaluate", folder / "m", folder / "train").stdout


def test_evaluate_counts_what_the_model_cannot_give(folder: Path) -> None:
    (folder / "long").write_text("New B-LOC\nYork I-LOC\nCity I-LOC\n\n" + DATA)
    asked = "evaluate", folder / "m", folder / "long", "--log-probability"
    assert json.loads(run(*asked, "--json").stdout)["impossible"] == 1
    assert "impossible to the model" in run(*asked).stdout


def test_inspect_shows_features_of_segments(folder: Path) -> None:
    shown = run("inspect", folder / "m", "--top", 100).stdout
    assert "length=2" in shown
    assert "whole gazetteer:LOC" in shown


def test_train_segments_cuts_words_without_types(folder: Path) -> None:
    path = folder / "w"
    train = ("train", "segments", folder / "words", "-m", path, "-q", "-C", 10)
    run(*train, "--features", "words,neighbours:1")
    predicted = run("predict", path, folder / "words").stdout.split()
    assert predicted[1::3] == predicted[2::3]
    assert json.loads(run("evaluate", path, folder / "words", "--json").stdout)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-length", "x"), "--max-length must be a number"),
        (("--max-length", "PER=x"), "--max-length must be a number"),
        (("--max-length", "1"), "more than max_length=1 allows"),
        (("--template", "t", "--features", "ner"), "not both"),
        (("--template", "t", "--columns", "0"), "--columns is for the default"),
        (("--ignore-case",), "--ignore-case is for"),
    ],
)
def test_train_segments_refuses_bad_options(
    options: tuple[str, ...], words: str, folder: Path, tmp_path: Path
) -> None:
    train = ("train", "segments", folder / "train", "-m", tmp_path / "m")
    assert words in message(*train, *options)


def test_predict_abstains_at_a_risk(folder: Path) -> None:
    (folder / "dev").write_text(DATA * 30)
    train = ("train", "segments", folder / "train", "-m", folder / "c", "-q")
    options = ("--calibrate", "temperature", "--dev", folder / "dev", "-C", 10)
    run(*train, *options)

    def predicted(risk: float) -> set[str]:
        out = run("predict", folder / "c", folder / "train", "--risk", risk).stdout
        return {line.split()[-1] for line in out.splitlines() if line}

    assert predicted(0.2) >= {"B-LOC", "I-LOC"}
    assert predicted(0.001) == {"?"}  # so much cannot be promised: all is disputed
    both = ("--risk", 0.2, "--spans")
    assert "goes with none" in message("predict", folder / "c", folder / "train", *both)


def test_evaluate_refuses_labels_that_are_no_segments(folder: Path) -> None:
    assert "choose another" in message("evaluate", folder / "m", folder / "other")


def test_report_and_suspects_know_segments(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run("report", folder / "m", folder / "train", "-o", page)
    assert "<title>A segment tagger" in page.read_text()
    shown = run("suspects", folder / "m", folder / "train", "--top", 2).output
    assert shown.startswith("suspects")


def test_training_continues_from_a_model(folder: Path) -> None:
    (folder / "new").write_text("to O\nAda B-SHIP\nLovelace I-SHIP\nII I-SHIP\n\n")
    asked = "train", "segments", folder / "new", "--continue", folder / "m"
    run(*asked, "-m", folder / "more", "-q", "--max-length", "SHIP=4")
    model = load(folder / "more")
    assert model.limits_ == {"LOC": 2, "O": 1, "PER": 3, "SHIP": 4}
    assert (model.C, model.whole_min_count) == (10.0, 1)
    refused = message(*asked, "-m", folder / "no", "--features", "pos")
    assert "leave out --template" in refused
