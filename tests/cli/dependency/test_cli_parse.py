"""Parsers on the command line: treebanks in, models, treebanks and drawings out."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import partwise
import problems
from command_line import message, run
from partwise.data import Sentence, read_trees, write_trees
from partwise.drawing import draw_text
from partwise.metrics.attachment import attachment_scores
from small_treebank import rows, short_sentences

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

# In plain Python most of the time would go into the sums over all features.
FEW = ["--max-iter", "2", "--hash-bits", "10", "--features", "tags"]
TREE, CROSSED, TWO_ROOTS = [2, 0], [3, 4, 0, 3], [0, 0]


@pytest.mark.skipif(problems.PLAIN_PYTHON, reason="too much for plain Python")
def test_parse_demo_learns_and_draws() -> None:
    shown = run("demo", "--trees", "--size", 150).stdout
    (share,) = [line.split()[-1] for line in shown.splitlines() if "test UAS" in line]
    assert float(share.rstrip("%")) > 70
    assert "●" in shown
    assert "partwise show demo/test.conllu" in shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a few small treebanks."""
    path = tmp_path_factory.mktemp("parse")
    write_trees(path / "train.conllu", short_sentences(4))
    write_trees(path / "dev.conllu", short_sentences(3, seed=1))
    write_trees(path / "test.conllu", short_sentences(3, seed=2))
    (path / "crossed.conllu").write_text(rows(TREE) + rows(CROSSED))
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "trees.partwise"
    run("train", "parse", folder / "train.conllu", "-m", path, *FEW, "--quiet")
    return path


@plain
def test_parse_of_second_order_says_what_pruning_leaves(folder: Path) -> None:
    path, files = folder / "second.partwise", [folder / "train.conllu", "-m"]
    options = ["--order", "2", "--prune", "0.1", "--dev", folder / "dev.conllu"]
    shown = run("train", "parse", *files, path, *FEW, *options).stdout
    assert shown.count("heads a word; the right one is among them for") == 2
    assert "pruned dev" in run("inspect", path).stdout
    assert "UAS" in run("evaluate", path, folder / "test.conllu").stdout
    output = folder / "second.conllu"
    run("predict", path, folder / "test.conllu", "--output", output)
    heads = [sentence.heads for sentence in read_trees(output)]
    model = partwise.load(path)
    test = model.predict(read_trees(folder / "test.conllu"))
    assert heads == [sentence.heads for sentence in test]
    wrong = ["--order", 2, "--nonprojective"]
    said = message("train", "parse", *files, folder / "no.partwise", *FEW, *wrong)
    assert "projective trees" in said


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tagger") / "tags.partwise"
    partwise.SequenceTagger(template="default").fit(
        [[("a", "X"), ("b", "Y")]], [["P", "Q"]]
    ).save(path)
    return path


@pytest.fixture(scope="module")
def held_out(folder: Path) -> list[Sentence]:
    return read_trees(folder / "test.conllu")


# --- train ------------------------------------------------------------------------


@plain
@pytest.mark.filterwarnings("ignore:stopped after")
def test_train_parse_is_what_the_estimator_does(folder: Path, model: Path) -> None:
    parser = partwise.DependencyParser(max_iter=2, hash_bits=10, features="tags")
    parser.fit(read_trees(folder / "train.conllu"))
    assert np.array_equal(partwise.load(model).weights_, parser.weights_)


@plain
def test_train_parse_dev_scores_are_those_of_the_model(
    folder: Path, tmp_path: Path
) -> None:
    path, dev = tmp_path / "m", folder / "dev.conllu"
    command = ["train", "parse", folder / "train.conllu", "-o", path, *FEW, "--dev"]
    numbers = json.loads(run(*command, dev, "--json", "--quiet").stdout)
    right = read_trees(dev)
    scores = attachment_scores(right, partwise.load(path).predict(right))
    assert numbers["dev"] == {"uas": scores.uas, "las": scores.las}
    assert numbers["best_dev_score"] == scores.las
    assert numbers["words"] == sum(map(len, read_trees(folder / "train.conllu")))
    table = run(*command, dev).stdout
    assert f"{scores.uas:.2%}" in table
    assert f"{scores.las:.2%}" in table
    assert "no weights have one below" in table


@plain
def test_train_parse_passes_every_setting_on(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "--C": 0.5, "--tol": 0.2, "--solver": "perceptron", "--loss": "hinge",
        "--suffix": 2, "--head-cost": 2.0, "--label-cost": 0.5, "--seed": 3,
        "--punctuation-weight": 0.25, "--patience": 4, "--crossing": "skip",
    }  # fmt: skip
    flat = [part for pair in options.items() for part in pair]
    flags = ["--nonprojective", "--multiple-roots", "--unlabelled", "--float32", "-q"]
    path = tmp_path / "m"
    run("train", "parse", folder / "train.conllu", "-m", path, *FEW, *flat, *flags)
    params = partwise.load(path).get_params(deep=False)
    for name, value in options.items():
        key = name[2:].replace("-", "_").replace("seed", "random_state")
        assert params[key] == value
    assert (params["hash_bits"], params["max_iter"]) == (10, 2)
    assert not params["projective"]
    assert not params["single_root"]
    assert params["labelled"] is False
    assert partwise.load(path).classes_.size == 0


@plain
def test_train_parse_reads_every_format(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    train = read_trees(folder / "train.conllu")
    write_trees(tmp_path / "train.txt", train, "heads")
    command = ["train", "parse", tmp_path / "train.txt", "-m", tmp_path / "m", *FEW]
    run(*command, "--format", "heads", "--quiet")
    assert partwise.load(tmp_path / "m").classes_.size == 0
    packed = gzip.compress((folder / "train.conllu").read_bytes())
    run("train", "parse", "-", "-m", tmp_path / "p", *FEW, "--quiet", stdin=packed)
    weights = partwise.load(tmp_path / "p").weights_
    assert np.array_equal(weights, partwise.load(model).weights_)


@plain
def test_train_parse_c_path_keeps_the_best_on_dev(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    options = ["--dev", folder / "dev.conllu", "--C-path", "0.1,0.001"]
    command = ["train", "parse", folder / "train.conllu", "-m", path, *FEW, *options]
    numbers = json.loads(run(*command, "--json", "--quiet").stdout)
    tried = {row["C"]: row["dev_score"] for row in numbers["C_path"]}
    assert list(tried) == [0.001, 0.1]
    assert tried[numbers["C"]] == max(tried.values())
    assert partwise.load(path).C_ == numbers["C"]


@plain
def test_train_parse_resumes_to_the_same_bits(folder: Path, tmp_path: Path) -> None:
    command = ["train", "parse", folder / "train.conllu", "-q", "--hash-bits", 10, "-m"]
    run(*command, tmp_path / "whole", "--max-iter", 3)
    saved = ["--checkpoint", tmp_path / "c"]
    run(*command, tmp_path / "begun", "--max-iter", 1, *saved)
    run(*command, tmp_path / "ended", "--max-iter", 3, *saved, "--resume")
    whole, ended = (partwise.load(tmp_path / name) for name in ("whole", "ended"))
    assert np.array_equal(whole.weights_, ended.weights_)


@plain
def test_train_parse_crossing_trees_are_refused_until_the_user_picks(
    folder: Path, tmp_path: Path
) -> None:
    command = ["train", "parse", folder / "crossed.conllu", "-m", tmp_path / "m", *FEW]
    said = message(*command, "--quiet")
    assert "1 of 2 trees have crossing arcs" in said
    assert "crossed.conllu:4, at word 2" in said
    for flag in ("--crossing lift", "--crossing skip", "--nonprojective"):
        assert flag in said
    assert not (tmp_path / "m").exists()
    for choice, done in (("lift", "lifted"), ("skip", "left out")):
        shown = run(*command, "--crossing", choice).stderr
        assert f"warning: 1 of 2 trees have crossing arcs and were {done}" in shown
        assert "UserWarning" not in shown
        assert run(*command, "--crossing", choice, "--quiet").output == ""
    run(*command, "--nonprojective", "--quiet")
    assert not partwise.load(tmp_path / "m").projective


LABELLED_AND_NOT = rows(TREE) + rows(TREE, labels="_")
BAD_FILES: dict[str, tuple[str, list[str]]] = {
    "head out of range": (rows([2, 7]), ["bad.conllu:2: head 7 is out of range"]),
    "head of itself": (rows([1]), ["bad.conllu:1: head 1 is the word itself"]),
    "cycle": (rows([0, 3, 2]), ["bad.conllu:1", '2 "b", 3 "c"', "circle"]),
    "two roots": (rows(TWO_ROOTS), ["bad.conllu:1", "2 words", "--multiple-roots"]),
    "no label": (LABELLED_AND_NOT, ["bad.conllu:4: the labels", "--unlabelled"]),
    "no heads": (rows(["_", "_"]), ["bad.conllu:1", "heads"]),
    "some heads": (rows([2, "_"]), ["bad.conllu:2: the word has no head"]),
    "empty": ("", ["bad.conllu: holds no words"]),
    "comments alone": ("# nothing\n\n", ["bad.conllu: holds no words"]),
    "columns": ("Dogs NNS B-NP\n\n", ["bad.conllu:1: expected 10 columns"]),
    "no numbers": ("a\t" * 9 + "a\n", ['bad.conllu:1: expected word 1, found "a"']),
}


@plain
@pytest.mark.parametrize("what", BAD_FILES)
def test_train_parse_bad_files_are_refused(what: str, tmp_path: Path) -> None:
    text, parts = BAD_FILES[what]
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    said = message("train", "parse", path, "-m", tmp_path / "m", *FEW, "--quiet")
    for part in parts:
        assert part in said
    for setting in ["crossing", "projective", "single_root", "labelled"]:
        assert f"{setting}=" not in said
    assert not (tmp_path / "m").exists()


@plain
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["dev.conllu: holds no words"]),
        (rows(["_"]), ["dev.conllu:1: the heads are not given", "--dev needs trees"]),
        (rows(TREE, labels="_"), ["dev.conllu:1: the labels", "--dev-metric uas"]),
        (rows([0, 3, 2]), ["dev.conllu:1", "circle"]),
    ],
)
def test_train_parse_dev_without_trees_is_refused(
    folder: Path, tmp_path: Path, text: str, parts: list[str]
) -> None:
    (tmp_path / "dev.conllu").write_text(text)
    command = ["train", "parse", folder / "train.conllu", "-m", tmp_path / "m", *FEW]
    said = message(*command, "--quiet", "--dev", tmp_path / "dev.conllu")
    for part in parts:
        assert part in said


@plain
@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--resume"], "--resume needs --checkpoint"),
        (["--hash-bits", "40"], "--hash-bits must be an integer from 8 to 30"),
        (["--C-path", "1,2"], "--C-path needs --dev"),
        (["--dev-metric", "f1"], "unknown dev_metric 'f1'"),
        (["--solver", "eg", "--loss", "squared_hinge"], "cannot minimise"),
        (["--encoding", "utf-99"], "unknown encoding"),
        (["--punctuation-weight", "-1"], "--punctuation-weight must be a number >= 0"),
        (["--format", "heads"], "train.conllu:1: expected 3 columns"),
    ],
)
def test_train_parse_option_mistakes_say_what_to_do(
    folder: Path, tmp_path: Path, options: list[str], part: str
) -> None:
    command = ["train", "parse", folder / "train.conllu", "-m", tmp_path / "m"]
    assert part in message(*command, *options)


@plain
def test_train_parse_never_overwrites_what_it_reads(folder: Path) -> None:
    path = folder / "train.conllu"
    before = path.read_bytes()
    assert "the same file" in message("train", "parse", path, "-m", path)
    assert path.read_bytes() == before


@plain
def test_train_parse_demo_data_is_a_treebank(tmp_path: Path) -> None:
    shown = run("demo", "--trees", "--size", 20, "--save-data", tmp_path).stdout
    assert f"train parse --crossing lift {tmp_path / 'train.conllu'}" in shown
    sizes = [len(read_trees(tmp_path / f"{n}.conllu")) for n in ("train", "dev")]
    assert sizes == [16, 2]


# --- predict ----------------------------------------------------------------------

ODD = (
    "\ufeff# newdoc\n# text = Don't bark\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tx=y\r\n"
    "1\tDo\tdo\tAUX\tVB\t_\t_\t_\t_\tA=b|HeadProb=9\n"
    "2\tn't\tnot\tPART\tRB\t_\t_\t_\t_\t_\n2.1\te\t_\t_\t_\t_\t_\t_\t0:r\t_\n"
    "3\tbark\tbark\tVERB\tVB\t_\t_\t_\t_\tSpaceAfter=No\n\n\n# alone\n\n"
    "1\tHush\thush\tINTJ\tUH\t_\t9\told\t_\t_"
).replace("\t9\told", "\t0\told")


def blanked(text: str, *columns: int) -> list[list[str]]:
    """Return the cells of all lines, some columns of words left out."""
    table = [line.split("\t") for line in text.split("\n")]
    for row in table:
        if len(row) == 10 and row[0].lstrip("\ufeff").isdecimal():
            for column in columns:
                row[column] = ""
    return table


@plain
def test_predict_parse_changes_heads_and_labels_only(
    model: Path, tmp_path: Path
) -> None:
    (tmp_path / "odd.conllu").write_bytes(ODD.encode())
    run("predict", model, tmp_path / "odd.conllu", "-o", tmp_path / "out.conllu")
    text = (tmp_path / "out.conllu").read_bytes().decode()
    assert blanked(text, 6, 7) == blanked(ODD, 6, 7)
    predicted = partwise.load(model).predict(read_trees(io.StringIO(ODD)))
    found = read_trees(io.StringIO(text))
    assert [s.heads for s in found] == [s.heads for s in predicted]
    assert [s.labels for s in found] == [s.labels for s in predicted]


@plain
def test_predict_parse_streams_standard_input(
    folder: Path, model: Path, held_out: list[Sentence]
) -> None:
    text = (folder / "test.conllu").read_bytes()
    printed = run("predict", model, "-", stdin=text).stdout
    expected = partwise.load(model).predict(held_out)
    assert printed == "".join(sentence.to_text() for sentence in expected)
    assert run("predict", model, "-", stdin="").stdout == ""
    assert run("predict", model, "-", "--json", stdin="").stdout == ""


@plain
def test_predict_parse_answers_a_pipe_while_it_is_open(model: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "partwise", "predict", str(model), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for form in ("Dogs", "Cats"):
            process.stdin.write(f"1\t{form}\t_\tNOUN\tNNS\t_\t_\t_\t_\t_\n\n")
            process.stdin.flush()
            assert process.stdout.readline().split("\t")[1] == form
            assert process.stdout.readline() == "\n"
        process.stdin.close()
        assert process.wait() == 0


@plain
def test_predict_parse_kbest_ranks_in_comments(
    folder: Path, model: Path, held_out: list[Sentence]
) -> None:
    printed = run("predict", model, folder / "test.conllu", "--kbest", 2).stdout
    found = read_trees(io.StringIO(printed))
    rankings = partwise.load(model).predict_kbest(held_out, 2)
    assert found == [tree for ranking in rankings for tree, _ in ranking]
    first = found[0].to_text().splitlines()
    assert first[0].startswith("# sent_id")
    assert first[2:4] == ["# rank = 1", f"# score = {rankings[0][0][1]:.6f}"]


@plain
def test_predict_parse_kbest_keeps_odd_files_readable(model: Path) -> None:
    printed = run("predict", model, "-", "--kbest", 2, stdin=ODD.encode()).stdout
    found = read_trees(io.StringIO(printed))
    assert [len(sentence) for sentence in found] == [3, 3, 0, 1, 1]
    assert printed.count("\ufeff") == 1
    assert printed.startswith("\ufeff# newdoc")


@plain
def test_predict_parse_marginals_are_entries_of_misc(
    folder: Path, model: Path, held_out: list[Sentence]
) -> None:
    result = run("predict", model, "-", "--marginals", stdin=ODD.encode())
    printed = result.stdout_bytes.decode()
    misc = [row[9] for row in blanked(printed) if row[0] in ("1", "2", "3")]
    names = [[entry.partition("=")[0] for entry in cell.split("|")] for cell in misc]
    assert names == [["A", "HeadProb"], ["HeadProb"], ["SpaceAfter", "HeadProb"],
                     ["HeadProb"]]  # fmt: skip
    assert blanked(printed, 6, 7, 9) == blanked(ODD, 6, 7, 9)
    command = ["predict", model, folder / "test.conllu", "--marginals", "--json"]
    objects = [json.loads(line) for line in run(*command).stdout.splitlines()]
    marginals = partwise.load(model).predict_marginals(held_out)
    for one, sentence, mu in zip(objects, held_out, marginals, strict=True):
        assert one["words"] == list(sentence.forms)
        assert len(one["labels"]) == len(sentence)
        shares = [mu[head, word] for word, head in enumerate(one["heads"], 1)]
        assert one["probabilities"] == pytest.approx(shares)


@plain
def test_predict_parse_minimum_risk_is_that_of_the_parser(
    folder: Path, model: Path, held_out: list[Sentence]
) -> None:
    command = ["predict", model, folder / "test.conllu", "--decoding", "minimum-risk"]
    found = read_trees(io.StringIO(run(*command).stdout))
    expected = partwise.load(model).predict(held_out, decoding="minimum_risk")
    assert found == expected


@plain
def test_predict_parse_formats_without_room_say_so(
    model: Path, tmp_path: Path, held_out: list[Sentence]
) -> None:
    path = tmp_path / "test.txt"
    write_trees(path, held_out, "heads")
    found = read_trees(io.StringIO(run("predict", model, path).stdout))
    expected = partwise.load(model).predict(read_trees(path))
    assert [s.heads for s in found] == [s.heads for s in expected]
    for options in (["--kbest", 2], ["--marginals"]):
        assert "--json" in message("predict", model, path, *options)
        assert run("predict", model, path, *options, "--json").stdout
    assert "columns" in message("predict", model, path, "--format", "columns")


@plain
@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--spans"], "--spans is for taggers"),
        (["--separator", ","], "--separator is for taggers, segment taggers, hidden"),
        (["--comments", "#", "--skip-docstart"], "--comments, --skip-docstart are for"),
        (["--no-labels"], "--no-labels is for taggers"),
        (["--kbest", "2", "--marginals"], "give --kbest or --marginals, not both"),
        (["--kbest", "2", "--decoding", "minimum-risk"], "leave --decoding out"),
        (["--format", "crfsuite"], "--format crfsuite is for taggers, but"),
        (["--format", "crfsuite"], "parser; use --format conllu, conllx or heads"),
    ],
)
def test_predict_parse_options_of_taggers_are_refused(
    folder: Path, model: Path, options: list[str], part: str
) -> None:
    assert part in message("predict", model, folder / "test.conllu", *options)


@plain
def test_parse_options_with_a_tagger_are_refused(folder: Path, tagger: Path) -> None:
    file = folder / "test.conllu"
    said = message("predict", tagger, file, "--decoding", "best")
    assert "--decoding is for dependency parsers and hidden Markov models" in said
    assert f"but {tagger} is a tagger; leave it out" in said
    said = message("predict", tagger, file, "--format", "conllu")
    assert "was not trained with --predict" in said
    assert "--no-subtypes is for" in message("evaluate", tagger, file, "--no-subtypes")


# --- evaluate ---------------------------------------------------------------------


@plain
def test_evaluate_parse_model_and_two_files_agree(
    folder: Path, model: Path, tmp_path: Path, held_out: list[Sentence]
) -> None:
    gold, path = folder / "test.conllu", tmp_path / "out.conllu"
    run("predict", model, gold, "-o", path)
    first = json.loads(run("evaluate", model, gold, "--json").stdout)
    second = json.loads(run("evaluate", gold, path, "--json").stdout)
    found = read_trees(path)
    expected = attachment_scores(held_out, found).to_dict()
    bare = attachment_scores(held_out, found, punctuation=False).to_dict()
    assert first.pop("reads") == ["form", "upos", "xpos"]
    assert first == second == {**expected, "without_punctuation": bare}


@plain
def test_evaluate_parse_shows_tables(folder: Path, model: Path) -> None:
    gold = folder / "test.conllu"
    shown = run("evaluate", gold, gold).stdout
    assert "100.00%" in shown
    for part in ("UAS", "LAS", "without punctuation", "complete trees", "by length",
                 "by distance", "arcs by label", "nsubj"):  # fmt: skip
        assert part in shown


@plain
def test_evaluate_parse_without_labels_has_no_las(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(rows(TREE, labels="_"))
    shown = run("evaluate", tmp_path / "a.conllu", tmp_path / "a.conllu").stdout
    assert "UAS" in shown
    assert "LAS" not in shown
    assert "None" not in shown


@plain
def test_evaluate_parse_subtypes_count_unless_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(rows(TREE, labels="acl:relcl"))
    (tmp_path / "b").write_text(rows(TREE, labels="acl"))
    command = ["evaluate", tmp_path / "a", tmp_path / "b", "--json"]
    assert json.loads(run(*command).stdout)["las"] == 0.0
    assert json.loads(run(*command, "--no-subtypes").stdout)["las"] == 1.0


@plain
def test_evaluate_parse_mistakes_say_what_to_do(folder: Path, model: Path) -> None:
    gold = folder / "test.conllu"
    assert "give it first" in message("evaluate", gold, model)
    assert "give the labelled data" in message("evaluate", model)
    assert "in predicted" in message("evaluate", gold, folder / "train.conllu")
    said = message("evaluate", gold, gold, "--decoding", "best")
    assert "--decoding is for dependency parsers" in said
    assert "but no model was given" in said
    said = message("evaluate", gold, gold, "--format", "columns")
    assert f"but {gold} is read as dependency trees; use --format conllu," in said


# --- inspect ----------------------------------------------------------------------


@plain
def test_inspect_parse_says_what_is_in_the_model(model: Path) -> None:
    parser = partwise.load(model)
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["kind"] == "DependencyParser"
    assert found["labels"] == parser.classes_.tolist()
    assert found["weights"] == parser.weights_.size
    assert found["trees"]["hash_bits"] == found["settings"]["hash_bits"] == 10
    assert found["certificate"]["objective"] == parser.certificate_.primal
    shown = run("inspect", model, "--trace").stdout
    for part in ("treebanks", "projective, one root", "nsubj", "training"):
        assert part in shown
    assert "--label is for taggers" in message("inspect", model, "--label", "nsubj")
    assert "--template is for taggers and segment taggers, but" in message(
        "inspect", model, "--template"
    )


# --- show -------------------------------------------------------------------------


def drawn(sentence: Sentence, number: int, shares: Any = None) -> str:
    tree = draw_text(
        sentence.forms, sentence.heads or (), sentence.labels, shares, sentence.upos
    )
    return f"sentence {number} ({sentence.place})\n{tree}\n"


@plain
def test_show_draws_the_trees_of_the_file(
    folder: Path, held_out: list[Sentence]
) -> None:
    path = folder / "test.conllu"
    expected = [drawn(tree, number) for number, tree in enumerate(held_out, 1)]
    assert run("show", path).stdout == "\n".join(expected)
    assert run("show", path, "--sentence", 2).stdout == expected[1]
    assert run("show", path, "--limit", 2).stdout == "\n".join(expected[:2])
    run("show", path, "--ascii").stdout.encode("ascii")


@plain
def test_show_draws_what_the_parser_says(
    folder: Path, model: Path, held_out: list[Sentence]
) -> None:
    parser = partwise.load(model)
    command = ["show", folder / "test.conllu", "--model", model, "--sentence", 2]
    [tree] = parser.predict(held_out[1:2])
    [mu] = parser.predict_marginals(held_out[1:2])
    shares = [mu[head, word] for word, head in enumerate(tree.heads or (), 1)]
    assert run(*command).stdout == drawn(tree, 2)
    assert run(*command, "--marginals").stdout == drawn(tree, 2, shares)
    ranked = run(*command, "--kbest", 2).stdout
    assert ranked.index("rank 1, score") < ranked.index("rank 2, score")
    table = run(*command, "--alternatives").stdout
    assert "█" in table
    assert f"{mu[:, 1].max():.2f}" in table


@plain
def test_show_writes_svg(folder: Path, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "trees.svg"
    command = ["show", folder / "test.conllu", "--svg", path]
    for options, n_drawings in (
        ([], 3),
        (["--sentence", 1], 1),
        (["--model", model, "--sentence", 1, "--kbest", 2], 2),
        (["--model", model, "--alternatives"], 3),
    ):
        assert run(*command, *options).stdout == ""
        text = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        # A page of several drawings is one more.
        assert text.count("<svg") == n_drawings + (n_drawings > 1)
    assert "the same file" in message(
        "show", folder / "test.conllu", "--svg", folder / "test.conllu"
    )


@plain
def test_show_stops_after_a_few_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "many.conllu"
    path.write_text("# alone\n\n" + 12 * rows(TREE))
    result = run("show", path)
    assert result.stdout.count("sentence ") == 10
    assert "--limit N shows more" in result.stderr
    assert run("show", path, "--limit", 12).stdout.count("sentence ") == 12
    assert "sentence 12" in run("show", path, "--sentence", 12).stdout


@plain
@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        (rows(TREE), ["--sentence", "9"], "has 1 sentences to draw; there is no"),
        (rows(TREE), ["--sentence", "1", "--limit", "1"], "--sentence or --limit"),
        (rows(TREE), ["--kbest", "2"], "give a model as well"),
        (rows(TREE), ["--marginals"], "give a model as well"),
        (rows([0, 3, 2]), [], 'words 2 "b", 3 "c" are each other\'s heads'),
        (rows(["_"]), [], "a.conllu:1: the sentence has no heads (give --model"),
        ("", [], "holds no trees to draw"),
    ],
)
def test_show_mistakes_say_what_to_do(
    tmp_path: Path, text: str, options: list[str], part: str
) -> None:
    (tmp_path / "a.conllu").write_text(text)
    assert part in message("show", tmp_path / "a.conllu", *options)


@plain
def test_show_of_a_model_says_what_is_missing(model: Path) -> None:
    assert "give it as --model" in message("show", model)


@plain
def test_evaluate_parse_confusion_counts_every_word(folder: Path, model: Path) -> None:
    gold = folder / "test.conllu"
    found = json.loads(run("evaluate", model, gold, "--json", "--confusion").stdout)
    n_words = sum(map(len, read_trees(gold)))
    for table in ("labels", "heads"):
        assert np.sum(found["confusion"][table]["counts"]) == n_words
    assert "no mistakes: heads" in run("evaluate", gold, gold, "--confusion").stdout


@plain
def test_show_two_treebanks_says_what_differs(folder: Path, tmp_path: Path) -> None:
    gold = read_trees(folder / "test.conllu")
    turned = gold[-1].with_tree([0, *range(1, len(gold[-1]))], gold[-1].labels)
    write_trees(tmp_path / "found.conllu", [*gold[:-1], turned])
    files = (folder / "test.conllu", tmp_path / "found.conllu")
    shown = run("show", *files).stdout
    assert shown.startswith(f"sentence {len(gold)} ")
    assert "predicted <- ROOT" in shown
    run("show", *files, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "the same sentences" in message("show", files[0], folder / "train.conllu")
    assert "need a second file" in message("show", files[0], "--min-length", "3")


@plain
def test_report_and_suspects_of_a_parser(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    train, page = folder / "train.conllu", tmp_path / "report.html"
    run("report", model, folder / "test.conllu", "--train", train, "-o", page)
    assert '"suspects":{"by":"by the least probable part' in page.read_text()
    found = json.loads(run("suspects", model, train, "--top", "2", "--json").stdout)
    assert len(found["suspects"]) == 2
    scores = [one["score"] for one in found["suspects"]]
    assert scores == sorted(scores, reverse=True)
    said = message("report", model, folder / "test.conllu", "-o", model)
    assert "are the same file" in said


def test_training_continues_from_a_model(folder: Path, model: Path) -> None:
    (folder / "new.conllu").write_text(rows(TREE))
    asked = "train", "parse", folder / "new.conllu", "--continue", model
    run(*asked, "-m", folder / "more", "-q", "--C", 2)
    before, after = partwise.load(model), partwise.load(folder / "more")
    assert {*before.classes_} <= {*after.classes_}
    assert (after.C, after.hash_bits) == (2.0, 10)
    segments = message(
        "train",
        "segments",
        folder / "new.conllu",
        "--continue",
        model,
        "-m",
        folder / "no",
    )
    assert "--continue needs a SegmentTagger" in segments
