"""Taggers of CoNLL-U: labels go where they belong, and nothing else changes."""

import json
from pathlib import Path

import pytest

import partwise
from command_line import message, run
from partwise.data import read_trees

SENTENCE = """\
# text = The dogs' bark
# a comment
1\tThe\tthe\tDET\tDT\tPronType=Art\t4\tdet\t_\tNER=O
2-3\tdogs'\t_\t_\t_\t_\t_\t_\t_\t_
2\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t4\tnmod\t_\tNER=B-ANIMAL|Note=x
3\t'\t'\tPART\tPOS\t_\t2\tcase\t_\t_
3.1\tloud\tloud\tADJ\tJJ\t_\t_\t_\t4:amod\t_
4\tbark\tbark\tNOUN\tNN\tNumber=Sing\t0\troot\t_\tSpaceAfter=No

"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "train.conllu"
    path.write_text(SENTENCE * 3)
    return path


def train(treebank: Path, column: str, *options: object) -> Path:
    model = treebank.parent / f"{column}.partwise"
    run("train", "tag", treebank, "--predict", column, "-m", model, "-q", *options)
    return model


@pytest.mark.parametrize("column", ["upos", "xpos", "feats", "misc.NER"])
def test_conllu_tagger_changes_nothing_but_its_column(
    treebank: Path, column: str
) -> None:
    model = train(treebank, column)
    text = treebank.read_text()
    emptied = text.replace("NER=B-ANIMAL|", "").replace("NER=O", "_")
    emptied = emptied.replace("\tNOUN\t", "\tX\t").replace("\tDET\t", "\tX\t")
    source = treebank.parent / "new.conllu"
    source.write_text(emptied)
    written = run("predict", model, source).stdout
    expected = {
        "upos": emptied.replace("dog\tX", "dog\tNOUN")
        .replace("bark\tX", "bark\tNOUN")
        .replace("the\tX", "the\tDET"),
        "misc.NER": emptied.replace("Note=x", "Note=x|NER=B-ANIMAL"),
    }
    assert written == expected.get(column, emptied)


def test_conllu_tagger_is_drawn(treebank: Path) -> None:
    model = train(treebank, "upos")
    treebank.write_text("# nothing but words\n\n" + SENTENCE)
    shown = run("show", treebank, "-m", model).stdout.splitlines()
    assert shown[1:] == ["The   DET", "dogs  NOUN", "'     PART", "bark  NOUN"]


def test_conllu_tagger_knows_where_labels_are(treebank: Path) -> None:
    model = train(treebank, "upos", "--columns", "form,xpos")
    assert partwise.load(model).conllu_column == "upos"
    found = json.loads(run("evaluate", model, treebank, "--json").stdout)
    assert (found["tokens"], found["token_accuracy"]) == (12, 1.0)
    shown = run("predict", model, treebank, "--marginals").stdout
    assert shown.count("LabelProb=") == 12
    ranked = run("predict", model, treebank, "--kbest", 2).stdout
    assert ranked.count("# rank = 2") == ranked.count("# a comment") / 2 == 3
    (first, *_) = run("predict", model, treebank, "--json").stdout.splitlines()
    assert json.loads(first)["words"] == ["The", "dogs", "'", "bark"]


def test_conllu_tagger_reads_columns_if_told_to(treebank: Path) -> None:
    options = ["--separator", "\\t", "--comments", "#", "--label-column", 3]
    model = treebank.parent / "m"
    plain = "\n".join(
        line for line in treebank.read_text().split("\n") if "-" not in line[:4]
    )
    treebank.write_text(plain.replace("3.1\t", "5\t"))
    run("train", "tag", treebank, *options, "-m", model, "-q", "--columns", 1)
    assert partwise.load(model).conllu_column is None


def test_conllu_tagger_says_what_to_type(treebank: Path) -> None:
    model = treebank.parent / "m"
    command = ["train", "tag", treebank, "--model", model]
    assert "--predict upos" in message(*command)
    assert "no place for labels called 'pos'" in message(*command, "--predict", "pos")
    both = [*command, "--predict", "upos", "--label-column", 3]
    assert "not both" in message(*both)
    unknown = [*command, "--predict", "upos", "--columns", "word"]
    assert "there is no column 'word'" in message(*unknown)
    separated = [*command, "--predict", "upos", "--separator", ","]
    assert "layout of CoNLL-U is known" in message(*separated)


def test_parser_says_which_columns_it_reads(treebank: Path) -> None:
    text = treebank.read_text().replace("\tDT\t", "\t_\t").replace("NNS", "_")
    treebank.write_text(text.replace("POS", "_").replace("\tNN\t", "\t_\t"))
    assert {tag for one in read_trees(treebank) for tag in one.xpos} == {"_"}
    model = treebank.parent / "m"
    size = ["--hash-bits", 10, "--max-iter", 2]
    trained = run("train", "parse", treebank, "--model", model, *size)
    assert "form, lemma, upos, feats" in trained.stdout
    assert "reads lemma, upos and feats as " in trained.stderr
    found = json.loads(run("evaluate", model, treebank, "--json").stdout)
    assert found["reads"] == ["form", "lemma", "upos", "feats"]
