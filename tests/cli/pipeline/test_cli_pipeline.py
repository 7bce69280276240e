"""Pipelines on the command line."""

import json
from pathlib import Path

import pytest

from command_line import message, run
from partwise import Pipeline
from partwise.cli.pipeline.inspect import describe, show
from partwise.data import Sentence
from tiny_treebank import tiny_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipeline")
    (path / "train.conllu").write_text(tiny_text() * 3)
    (path / "dev.conllu").write_text(tiny_text())
    (path / "text.txt").write_text("The dogs bark. Cats don't bark!\n\nHush.\n")
    options = ["--folds", 1, "--dev", path / "dev.conllu"]
    result = run(
        *("train", "pipeline", path / "train.conllu"),
        *("--model", path / "m.partwise", *options),
    )
    assert "SequenceTagger" in result.stdout
    return path


def test_pipeline_predicts_trees_from_text(folder: Path) -> None:
    model, text = folder / "m.partwise", folder / "text.txt"
    written = run("predict", model, text).stdout
    assert "2-3\tdon't\t_" in written
    assert "# text = Cats don't bark!" in written
    piped = run("predict", model, "-", stdin=text.read_text()).stdout
    assert piped == written == run("predict", model, text, "--jobs", 2).stdout
    tokens = run(
        "predict", model, "-", "--format", "tokens", stdin="Cats don't bark !\n"
    )
    assert "3\tn't\tnot\tPART" in tokens.stdout
    kept = run("predict", model, folder / "dev.conllu", "--keep", "upos,feats").stdout
    assert kept == (folder / "dev.conllu").read_text()


@pytest.mark.parametrize("start", ["text", "tokens", "gold"])
def test_pipeline_is_evaluated_from_anywhere(folder: Path, start: str) -> None:
    command = ["evaluate", folder / "m.partwise", folder / "dev.conllu"]
    found = json.loads(run(*command, "--from", start, "--json").stdout)
    assert found["tokens"]["f1"] == found["las"]["f1"] == found["mlas"]["f1"] == 1.0
    assert "BLEX" in run(*command, "--from", start).stdout


def test_pipeline_shows_its_steps(folder: Path) -> None:
    found = json.loads(run("inspect", folder / "m.partwise", "--json").stdout)
    assert {one["step"] for one in found["steps"]} == {
        *("tokens", "words", "upos", "feats", "xpos", "lemmas", "trees")
    }
    assert all(one["certificate"]["relative_gap"] < 1 for one in found["steps"])
    assert found["dev"]["upos"] == 1.0
    assert "DependencyParser" in run("inspect", folder / "m.partwise").stdout


def test_pipeline_says_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    model, train = folder / "m.partwise", folder / "train.conllu"
    assert "--keep is for CoNLL-U" in message(
        "predict", model, folder / "text.txt", "--keep", "upos"
    )
    command = ["train", "pipeline", train, "--model"]
    assert "the same file" in message(*command, train)
    assert "there is no step 'tags'" in message(
        *command, tmp_path / "m", "--steps", "tags"
    )
    broken = tmp_path / "broken.conllu"
    broken.write_text(tiny_text().replace("\n3\t", "\n7\t"))
    said = message("train", "pipeline", broken, "--model", tmp_path / "m")
    assert "expected word 3" in said
    assert "broken.conllu:" in said
    assert "--from is for pipelines" not in said
    empty = tmp_path / "empty.conllu"
    empty.write_text("# nothing\n\n")
    new = ["--model", tmp_path / "m"]
    for command in (
        ["train", "pipeline", empty, *new],
        ["train", "pipeline", train, "--dev", empty, *new],
        ["evaluate", model, empty],
    ):
        assert "empty.conllu: holds no words" in message(*command)


def test_pipeline_learns_names_from_a_second_corpus(
    folder: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.txt"
    names.write_text(
        "Ada B-PER\nLovelace I-PER\nslept O\n\nParis B-LOC\nslept O\n\n" * 3
    )
    model = tmp_path / "m.partwise"
    run(
        *("train", "pipeline", folder / "train.conllu", "--entities", names),
        *("--steps", "tokens,upos", "--folds", 1, "--model", model),
    )
    assert "NER=I-PER" in run("predict", model, "-", stdin="Ada Lovelace slept").stdout
    command = ["evaluate", model, names, "--of", "entities"]
    found = json.loads(run(*command, "--json").stdout)
    assert found["f1"] == found["per_type"]["LOC"]["f1"] == 1.0
    assert "LOC" in run(*command).stdout
    gold = tmp_path / "gold.conllu"
    gold.write_text(run("predict", model, "-", stdin="Ada Lovelace slept").stdout)
    whole = json.loads(run("evaluate", model, gold, "--json").stdout)
    assert whole["entities"]["f1"] == 1.0
    assert "no step for chunks" in message("evaluate", model, names, "--of", "chunks")
    assert "predicts no trees" in message("show", folder / "text.txt", "--model", model)


def test_pipeline_is_drawn_and_reported(folder: Path, tmp_path: Path) -> None:
    model = folder / "m.partwise"
    shown = run("show", folder / "text.txt", "--model", model, "--ascii").stdout
    assert "nsubj" in shown
    page = tmp_path / "report.html"
    run("report", model, folder / "dev.conllu", "--output", page)
    assert "Lovelace" not in page.read_text()
    assert "nsubj" in page.read_text()


def test_inspect_tells_of_steps_without_a_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Lemmas that are all made in one way need none, and yet they are a step."""
    treebank = [
        Sentence.from_columns(
            forms=[a, b], lemmas=[a, b], upos=["N", "V"], heads=[2, 0]
        )
        for a, b in zip("abcd", "efgh", strict=True)
    ]
    pipeline = Pipeline(steps="upos,lemmas", folds=1).fit(treebank)
    assert pipeline.steps_["lemmas"].models == {}
    found = describe(pipeline)
    assert list(found["tables"]) == ["lemmas"]
    show(found)
    assert "lemmas  by heart" in capsys.readouterr().out
