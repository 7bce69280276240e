"""The command line, used as people use it: files in, files and tables out."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import partwise
from command_line import run
from partwise.cli.app import app
from partwise.cli.certificates import in_numbers
from partwise.data import (
    ColumnData,
    read_columns,
    write_columns,
    write_crfsuite,
    write_svmhmm,
)
from partwise.metrics import chunk_scores, token_accuracy
from partwise.solvers.progress import ProgressBar
from partwise.synthetic import make_corpus

FEW = ["--max-iter", "5", "--quiet"]


def objects(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with train.txt, dev.txt and test.txt."""
    path = tmp_path_factory.mktemp("cli")
    run("demo", "--size", 200, "--save-data", path)
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "chunks.partwise"
    run("train", "tag", folder / "train.txt", "--model", path, *FEW)
    return path


@pytest.fixture(scope="module")
def held_out(folder: Path) -> ColumnData:
    return read_columns(folder / "test.txt")


# --- train ------------------------------------------------------------------------


def test_train_is_what_the_estimator_does(folder: Path, model: Path) -> None:
    data = read_columns(folder / "train.txt")
    tagger = partwise.SequenceTagger(template="default", max_iter=5)
    with pytest.warns(UserWarning, match="raise max_iter"):
        tagger.fit(data.without(-1), data.column_sequences(-1))
    assert np.array_equal(partwise.load(model).weights_, tagger.weights_)


def test_train_json_is_one_object_and_the_table_says_the_same(
    folder: Path, tmp_path: Path
) -> None:
    command = ["train", "tag", folder / "train.txt", "-m", tmp_path / "m", *FEW]
    (numbers,) = objects(run(*command, "--json").stdout)
    assert numbers["sentences"] == 160
    assert numbers["passes"] == 5
    assert not numbers["converged"]
    certificate = numbers["certificate"]
    assert 0 < certificate["lower_bound"] < certificate["objective"]
    table = run(*command, "--verbose").stdout
    assert f"{numbers['tokens']:,}" in table
    assert f"{certificate['objective']:.6g}" in table
    assert "raise max_iter or tol" in table
    assert "\x1b" not in table


def test_train_quiet_says_nothing(folder: Path, tmp_path: Path) -> None:
    result = run("train", "tag", folder / "train.txt", "-m", tmp_path / "m", *FEW)
    assert result.output == ""


def test_train_on_dev_data_certifies_the_weights_it_keeps(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m"
    command = ["train", "tag", folder / "train.txt", "-m", path, "--patience", 2]
    result = run(*command, "--dev", folder / "dev.txt", "--quiet", "--json")
    (numbers,) = objects(result.stdout)
    best = numbers["best_dev_pass"]
    assert best == numbers["passes"] - 2
    assert numbers["certificate"] == in_numbers(partwise.load(path).certificate_)
    assert f"keeps the weights of pass {best}," in run("inspect", path).stdout
    data = read_columns(folder / "dev.txt")
    predicted = partwise.load(path).predict(data)
    found = chunk_scores(data.column_sequences(-1), predicted).overall.f1
    assert found == pytest.approx(numbers["best_dev_score"])


def test_train_reads_gzip_from_standard_input(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    packed = gzip.compress((folder / "train.txt").read_bytes())
    run("train", "tag", "-", "-m", tmp_path / "m", *FEW, stdin=packed)
    found, expected = partwise.load(tmp_path / "m"), partwise.load(model)
    assert np.array_equal(found.weights_, expected.weights_)


def test_train_passes_every_setting_on(folder: Path, tmp_path: Path) -> None:
    template = tmp_path / "my.template"
    template.write_text("U:%x[0,0]\nU1:%x[0,1]\nB\n")
    options: dict[str, Any] = {
        "--template": template, "--C": 0.5, "--tol": 0.2, "--max-iter": 2,
        "--solver": "dcd-ssvm", "--loss": "squared_hinge", "--pairs": "observed",
        "--min-count": 2, "--constraints": "BIO", "--seed": 3, "--patience": 4,
    }  # fmt: skip
    flat = [part for pair in options.items() for part in pair]
    path = tmp_path / "m"
    run("train", "tag", folder / "train.txt", "-m", path, "-q", "--float32", *flat)
    tagger = partwise.load(path)
    params = tagger.get_params(deep=False)
    for name in ("C", "tol", "pairs", "constraints", "solver"):
        assert params[name] == options[f"--{name}"]
    assert (params["max_iter"], params["min_count"]) == (2, 2)
    assert (params["random_state"], params["patience"]) == (3, 4)
    assert np.array_equal(tagger.weights_, tagger.weights_.astype(np.float32))
    assert run("inspect", path, "--template").stdout == template.read_text()


def test_train_hash_bits_keep_no_vocabulary(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    run("train", "tag", folder / "train.txt", "-m", path, "--hash-bits", 12, *FEW)
    (found,) = objects(run("inspect", path, "--json").stdout)
    assert found["features"] == 2**12


def test_train_template_columns_are_those_of_the_file(
    folder: Path, model: Path, held_out: ColumnData, tmp_path: Path
) -> None:
    """With the labels in front, words are column 1; the model is the same."""
    for name in ("train", "test"):
        words, tags, labels = read_columns(folder / f"{name}.txt").columns
        ptr = read_columns(folder / f"{name}.txt").ptr
        moved = ColumnData([labels, words, tags], ptr, separator="\t")
        write_columns(tmp_path / f"{name}.tsv", moved)
    path = tmp_path / "m"
    tabs = ["--separator", "\\t"]
    run("train", "tag", tmp_path / "train.tsv", "-m", path, "--label-column", 0,
        *tabs, *FEW)  # fmt: skip
    usual = partwise.load(model).predict(held_out)
    run("predict", path, tmp_path / "test.tsv", "-o", tmp_path / "out", *tabs)
    assert read_columns(tmp_path / "out").column_sequences(-1) == usual
    command = ["evaluate", path, tmp_path / "test.tsv", *tabs]
    (scores,) = objects(run(*command, "--label-column", 0, "--json").stdout)
    assert scores["token_accuracy"] == token_accuracy(
        held_out.column_sequences(-1), usual
    )
    assert "--label-column" in run(*command, code=2).stderr


def test_train_columns_choose_what_the_default_template_reads(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m"
    run("train", "tag", folder / "train.txt", "-m", path, "--columns", "1", *FEW)
    template = run("inspect", path, "--template").stdout
    assert "%x[0,1.suffix2]" in template
    assert ",0" not in template


WRONG = {
    "no file": (["nowhere.txt"], "nowhere.txt: no such file"),
    "no folder": (["train.txt", "-m", "no/m"], "no/m: there is no folder no"),
    "C": (["train.txt", "--C", "-1"], "--C must be a positive number"),
    "tol": (["train.txt", "--tol", "0"], "--tol must be a positive number"),
    "penalty": (
        ["train.txt", "--loss", "squared_hinge", "--penalty", "l1", "--solver", "dcd"],
        "use proximal",
    ),
    "solver": (["train.txt", "--solver", "dcd-lite"], "did you mean 'dcd-light'"),
    "pairs": (
        ["train.txt", "--pairs", "some"],
        "--pairs must be 'all' or 'observed', not 'some'",
    ),
    "scheme": (["train.txt", "--constraints", "XYZ"], "unknown scheme 'XYZ'"),
    "label column": (["train.txt", "--label-column", "7"], "there is no column 7"),
    "template": (["train.txt", "--template", "nothing"], "nothing: No such file"),
    "labels": (["train.txt", "--template", "reads.labels"], "holds the labels"),
    "columns": (["train.txt", "--columns", "a"], "--columns must be numbers"),
    "column 9": (["train.txt", "--columns", "9"], "there is no column 9"),
    "twice": (["train.txt", "--columns", "0,0"], "a column twice"),
    "both": (["train.txt", "--columns", "0", "--template", "reads.labels"], "default"),
    "resume": (["train.txt", "--resume"], "--resume needs --checkpoint"),
    "encoding": (["train.txt", "--encoding", "utf-99"], "unknown encoding"),
    "ragged": (["ragged.txt"], "ragged.txt:2: expected 2 columns, found 1"),
    "bytes": (["latin.txt"], "latin.txt:2: byte 0xe9 is not valid UTF-8"),
    "empty": (["empty.txt"], "empty.txt: holds no tokens"),
    "narrow": (["narrow.txt"], "narrow.txt: has only one column"),
    "one label": (["same.txt"], "nothing to learn"),
    "format": (["train.txt", "--format", "crfsuite", "--template", "x"], "themselves"),
    "stdin twice": (["-", "--dev", "-"], "cannot both be standard input"),
}


@pytest.mark.parametrize("name", WRONG)
def test_train_errors_are_one_line_and_leave_the_old_model(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, message = WRONG[name]
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_bytes((folder / "train.txt").read_bytes())
    Path("ragged.txt").write_text("a X\nb\n")
    Path("latin.txt").write_bytes(b"a X\n\xe9 Y\n")
    Path("empty.txt").write_text("\n")
    Path("narrow.txt").write_text("a\nb\n")
    Path("same.txt").write_text("a X\nb X\n")
    Path("reads.labels").write_text("U:%x[0,2]\n")
    Path("m").write_text("an older model")
    target = [] if "-m" in arguments else ["-m", "m"]
    result = run("train", "tag", *arguments, *target, code=2, stdin="")
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert Path("m").read_text() == "an older model"


def test_train_debug_shows_the_traceback() -> None:
    for environment, options in (({}, ["--debug"]), ({"PARTWISE_DEBUG": "1"}, [])):
        arguments = [*options, "train", "tag", "nowhere.txt", "-m", "m"]
        result = CliRunner(env=environment).invoke(app, arguments)
        assert isinstance(result.exception, partwise.DataError)


def test_train_interrupted_saves_the_model_so_far(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_ctrl_c(bar: Any, row: Any, w: Any) -> None:
        if row.iteration == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "on_pass", press_ctrl_c)
    path = tmp_path / "m"
    command = ["train", "tag", folder / "train.txt", "-m", path]
    result = run(*command, code=130)
    assert "interrupted after 2 passes; the weights so far are kept" in result.stderr
    assert f"saved to {path}" in result.stderr
    monkeypatch.undo()
    run("train", "tag", folder / "train.txt", "-m", tmp_path / "n", "--max-iter", 2)
    two_passes = partwise.load(tmp_path / "n").weights_
    assert np.array_equal(partwise.load(path).weights_, two_passes)


# --- predict ----------------------------------------------------------------------


def test_predict_appends_the_labels(
    folder: Path, model: Path, held_out: ColumnData
) -> None:
    result = run("predict", model, folder / "test.txt")
    written = read_columns(folder / "test.txt")
    lines = result.stdout.splitlines()
    labels = [label for y in partwise.load(model).predict(written) for label in y]
    given = (folder / "test.txt").read_text().splitlines()
    filled = iter(labels)
    assert lines == [f"{line} {next(filled)}" if line else "" for line in given]


def test_predict_needs_no_label_column(
    folder: Path, model: Path, held_out: ColumnData, tmp_path: Path
) -> None:
    write_columns(tmp_path / "bare.txt", held_out.without(-1))
    with_labels = run("predict", model, folder / "test.txt").stdout
    without = run("predict", model, "-", stdin=(tmp_path / "bare.txt").read_text())
    last = [line.split()[-1:] for line in with_labels.splitlines()]
    assert [line.split()[-1:] for line in without.stdout.splitlines()] == last


def test_predict_says_which_column_is_missing(
    model: Path, held_out: ColumnData, tmp_path: Path
) -> None:
    write_columns(tmp_path / "words.txt", held_out.without(-1).without(-1))
    result = run("predict", model, tmp_path / "words.txt", code=2)
    assert "has 1 column, but the model reads column 1" in result.stderr


def test_predict_writes_a_file_complete_or_not_at_all(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt.gz"
    run("predict", model, folder / "test.txt", "-o", out)
    text = gzip.decompress(out.read_bytes()).decode()
    assert text == run("predict", model, folder / "test.txt").stdout
    bad = tmp_path / "ragged.txt"
    bad.write_text("a X O\n\nb\n")
    before = out.read_bytes()
    run("predict", model, bad, "-o", out, code=2)
    assert out.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [out, bad]


def test_predict_marginals_are_those_of_the_labels(
    folder: Path, model: Path, held_out: ColumnData
) -> None:
    result = run("predict", model, folder / "test.txt", "--marginals")
    rows = [line.split() for line in result.stdout.splitlines() if line]
    tagger = partwise.load(model)
    table = np.concatenate(tagger.predict_marginals(held_out))
    classes = tagger.classes_.tolist()
    expected = [table[t, classes.index(label)] for t, (*_, label, _) in enumerate(rows)]
    assert [float(row[-1]) for row in rows] == pytest.approx(expected, abs=1e-6)


def test_predict_kbest_writes_a_block_a_rank(
    folder: Path, model: Path, held_out: ColumnData
) -> None:
    lines = run("predict", model, folder / "test.txt", "--kbest", 3).stdout.split("\n")
    ranked = partwise.load(model).predict_kbest(held_out, 3)
    headers = [line for line in lines if line.startswith("# rank ")]
    assert headers == [
        f"# rank {rank} score {score:.6f}"
        for ranking in ranked
        for rank, (_, score) in enumerate(ranking, start=1)
    ]
    first = lines[1 : 1 + len(ranked[0][0].labels)]
    assert [line.split()[-1] for line in first] == ranked[0][0].labels


def test_predict_json_is_an_object_a_sentence(
    folder: Path, model: Path, held_out: ColumnData
) -> None:
    tagger = partwise.load(model)
    command = ["predict", model, folder / "test.txt"]
    labelled = objects(run(*command, "--json", "--marginals").stdout)
    assert [one["labels"] for one in labelled] == tagger.predict(held_out)
    assert [one["words"] for one in labelled] == held_out.column_sequences(0)
    assert all(0 < p <= 1 for one in labelled for p in one["probabilities"])
    chunks = objects(run(*command, "--spans").stdout)
    for one, spans in zip(chunks, tagger.predict_spans(held_out), strict=True):
        assert one["spans"] == [span._asdict() for span in spans]
    best = objects(run(*command, "--json", "--kbest", 2).stdout)
    assert [one["kbest"][0]["labels"] for one in best] == tagger.predict(held_out)


def test_predict_refuses_options_that_contradict(folder: Path, model: Path) -> None:
    command = ["predict", model, folder / "test.txt", "--marginals"]
    assert "--kbest" in run(*command, "--kbest", 2, code=2).stderr
    assert "--spans" in run(*command, "--spans", code=2).stderr


def test_predict_nothing_from_nothing(model: Path) -> None:
    assert run("predict", model, "-", stdin="").output == ""


@pytest.mark.parametrize("content", [b"", b"word tag label\n", b"\0" * 100])
def test_predict_refuses_what_is_no_model(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(content)
    result = run("predict", path, "-", code=2, stdin="")
    assert result.stderr.startswith(f"error: {path}: ")


def test_predict_refuses_a_classifier(tmp_path: Path) -> None:
    path = tmp_path / "m"
    fruit = partwise.MulticlassClassifier().fit([{"red": 1}, {"green": 1}], ["a", "b"])
    fruit.save(path)
    assert "load it in Python with" in run("predict", path, "-", code=2).stderr
    assert "MulticlassClassifier" in run("inspect", path).stdout


# --- other formats ----------------------------------------------------------------


def crfsuite(path: Path, data: ColumnData) -> None:
    X = [[[f"w={t[0]}", f"p={t[1]}"] for t in sentence] for sentence in data]
    write_crfsuite(path, X, data.column_sequences(-1))


def svmhmm(path: Path, data: ColumnData) -> None:
    """Number words by their length and tags by their letters."""
    X = [
        [{len(t[0]): 1.0, 100 + sum(map(ord, t[1])): 0.5} for t in sentence]
        for sentence in data
    ]
    write_svmhmm(path, X, data.column_sequences(-1))


@pytest.mark.parametrize("write", [crfsuite, svmhmm])
def test_formats_train_predict_and_evaluate(
    write: Callable[[Path, ColumnData], None],
    folder: Path,
    held_out: ColumnData,
    tmp_path: Path,
) -> None:
    train, test, path = (tmp_path / name for name in ("train", "test", "m"))
    write(train, read_columns(folder / "train.txt"))
    write(test, held_out)
    option = ["--format", write.__name__]
    run("train", "tag", train, "-m", path, *option, *FEW)
    sentences = run("predict", path, test, *option).stdout.strip().split("\n\n")
    predicted = [sentence.split("\n") for sentence in sentences]
    (scores,) = objects(run("evaluate", path, test, *option, "--json").stdout)
    gold = held_out.column_sequences(-1)
    assert scores["token_accuracy"] == token_accuracy(gold, predicted) > 0.6
    assert "--format crfsuite" in run("predict", path, test, code=2).stderr


def test_formats_crfsuite_without_labels(
    folder: Path, held_out: ColumnData, tmp_path: Path
) -> None:
    train, test, path = (tmp_path / name for name in ("train", "test", "m"))
    crfsuite(train, read_columns(folder / "train.txt"))
    crfsuite(test, held_out)
    run("train", "tag", train, "-m", path, "--format", "crfsuite", *FEW)
    labelled = run("predict", path, test, "--format", "crfsuite").stdout
    bare = "".join(
        line.partition("\t")[2] + "\n" for line in test.read_text().split("\n")
    )
    result = run(
        "predict", path, "-", "--format", "crfsuite", "--no-labels", stdin=bare
    )
    assert result.stdout == labelled


def test_formats_a_template_reads_columns_only(folder: Path, model: Path) -> None:
    command = ["predict", model, folder / "test.txt", "--format", "svmhmm"]
    assert "cannot read svmhmm files" in run(*command, code=2).stderr


# --- evaluate ---------------------------------------------------------------------


def test_evaluate_model_and_file_of_predictions_agree(
    folder: Path, model: Path, held_out: ColumnData, tmp_path: Path
) -> None:
    run("predict", model, folder / "test.txt", "-o", tmp_path / "out")
    options = ["--json", "--confusion"]
    (direct,) = objects(run("evaluate", model, folder / "test.txt", *options).stdout)
    (from_file,) = objects(run("evaluate", tmp_path / "out", *options).stdout)
    assert direct == from_file
    gold, predicted = (
        held_out.column_sequences(-1),
        partwise.load(model).predict(held_out),
    )
    assert direct["chunks"] == chunk_scores(gold, predicted).to_dict()
    assert np.sum(direct["confusion"]["counts"]) == held_out.n_tokens


def test_evaluate_shows_tables(folder: Path, model: Path) -> None:
    result = run("evaluate", model, folder / "test.txt", "--confusion")
    for word in ("token accuracy", "sentence accuracy", "NP", "all chunks", "B-VP"):
        assert word in result.stdout


def test_evaluate_scores_labels_that_are_no_chunks(tmp_path: Path) -> None:
    path = tmp_path / "tags.txt"
    path.write_text("a DT DT\nb NN NN\n\nc NN DT\n")
    (scores,) = objects(run("evaluate", path, "--json").stdout)
    assert scores["token_accuracy"] == pytest.approx(2 / 3)
    assert scores["sentence_accuracy"] == 0.5
    assert scores["labels"]["per_label"]["NN"]["recall"] == 0.5
    assert "DT" in run("evaluate", path).stdout


def test_evaluate_scheme_counts_well_formed_chunks_only(tmp_path: Path) -> None:
    path = tmp_path / "chunks.txt"
    path.write_text("a B-NP B-NP\nb O I-VP\n")
    (lenient,) = objects(run("evaluate", path, "--json").stdout)
    (strict,) = objects(run("evaluate", path, "--scheme", "IOB2", "--json").stdout)
    assert (lenient["chunks"]["precision"], strict["chunks"]["precision"]) == (0.5, 1.0)


def test_evaluate_a_model_alone_says_what_is_missing(model: Path) -> None:
    assert "is a model (give the labelled data" in run("evaluate", model, code=2).stderr


# --- inspect ----------------------------------------------------------------------


def test_inspect_json_is_what_the_model_says(model: Path) -> None:
    tagger = partwise.load(model)
    (found,) = objects(run("inspect", model, "--json", "--top", 3).stdout)
    assert found["labels"] == tagger.classes_.tolist()
    assert found["nonzero_weights"] == np.count_nonzero(tagger.weights_)
    assert found["certificate"]["objective"] == tagger.certificate_.primal
    assert len(found["trace"]["primal"]) == tagger.n_iter_ == found["passes"]
    for label, features in found["top_features"].items():
        expected = [(f, w) for f, _, w in tagger.top_features(3, label)]
        assert [(one["feature"], one["weight"]) for one in features] == expected
    weights = [one["weight"] for one in found["transitions"]]
    assert weights[0] == tagger.transitions_.max()
    assert weights[-1] == tagger.transitions_.min()
    assert len(weights) == 6


def test_inspect_one_label(model: Path) -> None:
    (found,) = objects(run("inspect", model, "--label", "B-NP", "--json").stdout)
    assert list(found["top_features"]) == ["B-NP"]
    assert (
        f"{model}: has no label 'B-XY'"
        in run("inspect", model, "--label", "B-XY", code=2).stderr
    )


def test_inspect_shows_the_c_that_was_used_and_no_empty_tables(tmp_path: Path) -> None:
    path = tmp_path / "m"
    partwise.SequenceTagger().fit([[["a"], ["b"]]], [["A", "B"]]).save(path)
    (found,) = objects(run("inspect", path, "--json").stdout)
    assert found["settings"]["C"] == 3.0
    assert "features with" in run("inspect", path).stdout
    assert "features with" not in run("inspect", path, "--top", 0).stdout


def test_inspect_shows_data_as_it_is(tmp_path: Path) -> None:
    """Brackets are no styles, and colons no emoji."""
    path = tmp_path / "m"
    X, y = [[["[bold]", ":smile:"], ["[/red]"]]] * 2, [["A", "B"]] * 2
    partwise.SequenceTagger(C=10.0).fit(X, y).save(path)
    table = run("inspect", path, "--trace").stdout
    assert all(name in table for name in ("[bold]", ":smile:", "[/red]", "primal"))


def test_inspect_template_of_a_model_without_one(tmp_path: Path) -> None:
    path = tmp_path / "m"
    partwise.SequenceTagger(C=10.0).fit([[["a"], ["b"]]], [["A", "B"]]).save(path)
    assert "without a template" in run("inspect", path, "--template", code=2).stderr


# --- the program ------------------------------------------------------------------


def test_program_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from partwise.cli.app import app\n"
        "try: app(['train', 'tag', '--help'])\n"
        "except SystemExit: pass\n"
        "print({'numba', 'sklearn', 'scipy', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "--checkpoint" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"


def test_program_shows_its_version() -> None:
    assert run("--version").stdout == f"partwise {partwise.__version__}\n"


def start(*arguments: object, **more: Any) -> subprocess.Popen[bytes]:
    """Start the program in a process of its own, its output buffered as usual."""
    command = [sys.executable, "-m", "partwise", *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, **more)


@pytest.mark.slow
def test_program_is_silent_when_the_reader_leaves(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "input.txt"
    path.write_text(make_corpus(1000).to_columns())
    table, text = ["inspect", model], ["inspect", model, "--template"]
    for command in (["predict", model, path], table, text):
        with start(*command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


LONG = ["--tol", "1e-12", "--max-iter", "30", "--quiet"]


def wait_for(path: Path, process: subprocess.Popen[bytes], changes: int) -> None:
    """Wait until a file has been written a few times."""
    seen: set[int] = set()
    while len(seen) < changes:
        assert process.poll() is None, "training ended before it could be stopped"
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.002)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "train.txt"
    path.write_text(make_corpus(600, noise=0.02).to_columns())
    return path


@pytest.mark.slow
def test_program_killed_and_resumed_ends_with_the_same_bits(
    corpus: Path, tmp_path: Path
) -> None:
    def command(name: str) -> Sequence[object]:
        files = ["-m", tmp_path / name, "--checkpoint", tmp_path / f"{name}.check"]
        return ["train", "tag", corpus, *files, *LONG]

    run(*command("whole"))
    for changes in (2, 4):  # killed twice, in different places
        with start(*command("broken"), "--resume") as process:
            wait_for(tmp_path / "broken.check", process, changes)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        assert not (tmp_path / "broken").exists()
    run(*command("broken"), "--resume")
    whole, broken = (partwise.load(tmp_path / name) for name in ("whole", "broken"))
    assert whole.n_iter_ == broken.n_iter_ == 30
    assert whole.weights_.tobytes() == broken.weights_.tobytes()
    assert whole.certificate_ == broken.certificate_


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_program_keeps_the_model_at_ctrl_c(corpus: Path, tmp_path: Path) -> None:
    path, check = tmp_path / "m", tmp_path / "check"
    files = ["-m", path, "--checkpoint", check]
    with start("train", "tag", corpus, *files, *LONG) as process:
        wait_for(check, process, 2)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        message = process.stderr.read().decode()
    assert process.returncode == 130
    assert message.startswith("interrupted after ")
    assert message.endswith(f"saved to {path}\n")
    assert 0 < partwise.load(path).n_iter_ < 30


def test_train_never_overwrites_what_it_reads(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "train.txt"
    data.write_bytes((folder / "train.txt").read_bytes())
    for option, message in (("--model", "--model"), ("--checkpoint", "--checkpoint")):
        command = ["train", "tag", data, "-m", tmp_path / "m", option, data, *FEW]
        result = run(*command, code=2)
        assert f"{message} and TRAIN are the same file" in result.output
        assert data.read_bytes() == (folder / "train.txt").read_bytes()


def test_checkpoint_never_overwrites_another_file(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    command = ["train", "tag", folder / "train.txt", "-m", tmp_path / "m", *FEW]
    result = run(*command, "--checkpoint", precious, code=2)
    assert "exists and is not a checkpoint" in result.output
    assert precious.read_text() == "mine"
