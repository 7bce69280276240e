"""Reports, suspects and differences on the command line."""

import json
from pathlib import Path

import pytest

from command_line import message, run
from partwise import HiddenMarkovModel, SequenceTagger

GOLD = "the D\ndog N\n\na D\ncat N\nsleeps V\n\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.txt"
    path.write_text(GOLD)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    X = [[["the"], ["dog"]], [["a"], ["cat"], ["sleeps"]]] * 3
    y = [["D", "N"], ["D", "N", "V"]] * 2 + [["D", "V"], ["D", "N", "V"]]
    path = tmp_path / "tags.partwise"
    tagger = SequenceTagger("squared_hinge", template="U00:%x[0,0]", C=1.0)
    tagger.fit(X, y).save(path)
    return path


def test_show_two_files_puts_the_worst_first(gold: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.txt"
    found.write_text(GOLD.replace("sleeps V", "sleeps N"))
    shown = run("show", gold, found).stdout
    assert shown.startswith("sentence 2: 1 wrong of 3\n")
    assert "sleeps  V  predicted N" in shown
    assert shown.count("sentence ") == 2
    assert run("show", gold, found, "--with-label", "V").stdout.count("sentence ") == 1
    assert run("show", gold, found, "--max-length", 2).stdout.count("sentence ") == 1
    run("show", gold, found, "-o", tmp_path / "page.html")
    assert '"wrong":1' in (tmp_path / "page.html").read_text()
    assert "no sentence is left" in message("show", gold, found, "--min-length", 9)


def test_show_two_files_must_fit(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("the D\ndog N\n\n")
    assert "gold.txt has 2 sentences" in message("show", gold, tmp_path / "short.txt")
    (tmp_path / "other.txt").write_text("the D\n\na D\ncat N\nsleeps V\n\n")
    assert "sentence 1 has 2 tokens" in message("show", gold, tmp_path / "other.txt")


def test_report_is_one_page(gold: Path, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run("report", model, gold, "-o", page, "--title", "Animals & <more>")
    text = page.read_text()
    assert "<title>Animals &amp; &lt;more&gt;</title>" in text
    assert "src=" not in text
    assert "not calibrated" in text  # the loss is for margins


def test_report_of_states_reads_the_column_of_symbols(
    gold: Path, tmp_path: Path
) -> None:
    path, page = tmp_path / "states.partwise", tmp_path / "report.html"
    model = HiddenMarkovModel("likelihood").fit([["the", "dog"]], [["D", "N"]])
    model.save(path)
    run("report", path, gold, "--train", gold, "-o", page)
    assert '"words":["the","dog"]' in page.read_text()


def test_show_two_trees_names_the_words_of_brackets(tmp_path: Path) -> None:
    right, found = tmp_path / "right.mrg", tmp_path / "found.mrg"
    right.write_text("(S (NP (D the) (N dog)) (VP (V barks)))\n")
    found.write_text("(S (D the) (VP (N dog) (V barks)))\n")
    shown = run("show", right, found).stdout
    assert "the dog    NP      predicted (none)" in shown
    assert "dog barks  (none)  predicted VP" in shown


def test_suspects_find_the_label_that_others_contradict(
    model: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.txt"
    train.write_text(GOLD * 2 + GOLD.replace("dog N", "dog V"))
    found = json.loads(run("suspects", model, train, "--top", "1", "--json").stdout)
    assert found["by"].startswith("by the least probable part")
    assert found["suspects"][0]["example"] == 5
    assert found["suspects"][0]["differences"] == ["dog: V, N"]
    shown = run("suspects", model, train).stdout
    assert shown.startswith("suspects, by the least probable part")
    gone = tmp_path / "other.txt"
    gone.write_text("x A\ny B\nz C\n\n")
    assert "that it was trained on" in message("suspects", model, gone)
