"""Bayesian networks on the command line: tables in, models and tables out."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import partwise
import problems
from command_line import message, run
from lawn import GRAPH, lawn
from partwise.data import read_csv, write_csv
from partwise.errors import DataError

pytestmark = problems.plain_only


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bayesnet")
    for name, seed, separator in (("train.csv", 0, ","), ("test.tsv", 1, "\t")):
        rows = lawn(40, seed)
        cells = [list(row.values()) for row in rows]
        write_csv(path / name, list(rows[0]), cells, separator)
    edges = "\n".join(f"{parent} -> {child}" for parent, child in GRAPH)
    (path / "graph.txt").write_text(f"{edges}\n\n")
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "m.partwise"
    run("train", "bayesnet", folder / "train.csv", "--target", "rain", "-m", path, "-q")
    return path


def table(text: str, separator: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=separator))


def test_train_bayesnet_passes_every_setting_on(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    options = [
        *("--target", "rain", "--target", "hose", "--graph", folder / "graph.txt"),
        *("--reference", "uniform", "--smoothing", "0.5", "--structure", "naive"),
        *("--missing-values", "maximise", "--unseen", "error", "--C", "0.3"),
        *("--tol", "0.1", "--loss", "squared_hinge", "--seed", "7", "--json"),
    ]
    result = run("train", "bayesnet", folder / "train.csv", "-m", path, *options)
    numbers = json.loads(result.stdout)
    assert (numbers["rows"], numbers["columns"], numbers["edges"]) == (40, 4, 4)
    found = partwise.load(path).get_params()
    assert found["target"] == ["rain", "hose"]
    assert sorted(found["graph"]) == sorted(GRAPH)
    wanted = {
        "reference": "uniform",
        "smoothing": 0.5,
        "structure": "naive",
        "missing": "maximise",
        "unseen": "error",
        "C": 0.3,
        "tol": 0.1,
        "loss": "squared_hinge",
        "random_state": 7,
    }
    assert {name: found[name] for name in wanted} == wanted


def test_train_bayesnet_reads_what_mistakes_cost(folder: Path, tmp_path: Path) -> None:
    path, costs = tmp_path / "m", tmp_path / "costs"
    costs.write_text("yes no 5\n")
    command = ["train", "bayesnet", folder / "train.csv", "-m", path, "-q"]
    run(*command, "--target", "rain", "--costs", costs)
    assert partwise.load(path).costs.tolist() == [[0.0, 1.0], [5.0, 0.0]]
    both = ["--target", "rain", "--target", "grass", "--graph", folder / "graph.txt"]
    said = message(*command, *both, "--costs", costs)
    assert "grass" in said or "'yes'" in said
    assert "no such file" in message(*command, "--target", "rain", "--costs", "none")


def test_train_bayesnet_counts_and_shows_dev(folder: Path, tmp_path: Path) -> None:
    options = ["--target", "rain", "--objective", "likelihood"]
    files = [folder / "train.csv", "--dev", folder / "test.tsv", "-m", tmp_path / "m"]
    result = run("train", "bayesnet", *files, *options)
    assert "counted: this maximises the likelihood" in result.stdout
    assert result.stdout.count(" edges ") == 1
    accuracy = partwise.load(tmp_path / "m").score(read_csv(folder / "test.tsv"))
    assert f"{accuracy:.2%}" in result.stdout


def test_train_bayesnet_path_keeps_the_best(folder: Path, tmp_path: Path) -> None:
    files = [folder / "train.csv", "--dev", folder / "test.tsv", "-m", tmp_path / "m"]
    options = ["--target", "rain", "--C-path", "0.01,1", "--json", "-q"]
    numbers = json.loads(run("train", "bayesnet", *files, *options).stdout)
    best = max(numbers["C_path"], key=lambda row: row["dev_score"])
    assert numbers["C"] == best["C"] == partwise.load(tmp_path / "m").C


def test_predict_bayesnet_adds_columns(folder: Path, model: Path) -> None:
    fitted = partwise.load(model)
    text = (folder / "test.tsv").read_text()
    result = run("predict", model, folder / "test.tsv", "--marginals")
    rows, known = table(result.stdout, "\t"), table(text, "\t")
    expected = fitted.predict(known)
    shares = fitted.predict_proba(known)
    for row, old, value, share in zip(rows, known, expected, shares, strict=True):
        assert {name: row[name] for name in old} == old
        assert row["predicted rain"] == value
        assert float(row["P(rain=yes)"]) == pytest.approx(share[1], rel=1e-5)


def test_predict_bayesnet_of_other_columns_and_holes(model: Path) -> None:
    fitted = partwise.load(model)
    text = "grass,rain,season\nwet,yes,?\n,no,NA\n"
    options = ["--target", "hose", "--missing", "NA", "--json", "--marginals"]
    result = run("predict", model, "-", *options, stdin=text.replace("?", ""))
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    rows: list[Any] = [{"grass": "wet", "rain": "yes"}, {"rain": "no"}]
    expected = fitted.predict(rows, target="hose").tolist()
    assert [line["predicted"]["hose"] for line in lines] == expected
    share = fitted.predict_proba(rows, target="hose")[1].tolist()
    assert lines[1]["marginals"]["hose"] == dict(zip(["off", "on"], share, strict=True))


def test_evaluate_bayesnet_measures(folder: Path, model: Path) -> None:
    fitted = partwise.load(model)
    result = run("evaluate", model, folder / "test.tsv", "--json", "--confusion")
    scores = json.loads(result.stdout)
    assert scores["rows"] == 40
    accuracy = fitted.score(read_csv(folder / "test.tsv"))
    assert scores["accuracy"]["rain"] == pytest.approx(accuracy)
    shown = run("evaluate", model, folder / "test.tsv").stdout
    assert f"{accuracy:.2%}" in shown


def test_inspect_bayesnet_shows_graph_and_tables(model: Path) -> None:
    found = json.loads(run("inspect", model, "--json", "--top", "1").stdout)
    fitted = partwise.load(model)
    parents = {one["variable"]: one["parents"] for one in found["network"]["variables"]}
    assert parents == fitted.parents_
    (row,) = found["network"]["probabilities"]["rain"]
    best = fitted.probabilities_["rain"].max()
    assert row["probability"] == pytest.approx(best)
    shown = run("inspect", model).stdout
    assert "tables with names of columns" in shown
    assert "left for unknown" in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\nx,y\nx\n", ":3: expected 2 cells, found 1"),
        ("a,b\nx,y\n\nu,?\n", ":4: column 'b': the value is missing"),
        ("a,b\nx,y\nu,y\n", ": column 'b': all rows have the value 'y'"),
        ("a,a\nx,y\n", ":1: the first line should name the columns"),
        ("", "is empty"),
        ("a,b\n", ": there are no rows"),
        ("c,b\nx,y\n", ": there is no column 'a'"),
    ],
)
def test_train_bayesnet_bad_tables_are_refused(
    text: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text)
    files = [tmp_path / "t.csv", "-m", tmp_path / "m"]
    line = message("train", "bayesnet", *files, "--target", "a")
    assert line.startswith(f"error: {tmp_path / 't.csv'}")
    assert expected in line


def test_train_bayesnet_bad_graphs_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "g").write_text("rain -> grass\ngrass, rain\n")
    files = [folder / "train.csv", "-m", tmp_path / "m", "--graph", tmp_path / "g"]
    line = message("train", "bayesnet", *files, "--target", "rain")
    assert "cycle, rain -> grass -> rain" in line
    (tmp_path / "g").write_text("rain\n")
    line = message("train", "bayesnet", *files, "--target", "rain")
    assert f"{tmp_path / 'g'}:1: expected a parent and a child" in line


def test_bayesnet_commands_refuse_what_is_for_others(folder: Path, model: Path) -> None:
    data = folder / "test.tsv"
    assert "--kbest is for" in message("predict", model, data, "--kbest", "2")
    assert "--label is for" in message("inspect", model, "--label", "yes")
    assert "--scheme is for" in message("evaluate", model, data, "--scheme", "IOB2")
    other = message("predict", model, "-", stdin="moon\nfull\n")
    assert "none of its columns is a variable" in other
    lines = "rain,grass\nyes,wet\n?,dry\n"
    assert "<stdin>:3" in message("evaluate", model, "-", stdin=lines)


def test_read_csv_refuses_long_separators() -> None:
    with pytest.raises(ValueError, match="one character"):
        read_csv(io.StringIO("a||b\n"), separator="||")
    with pytest.raises(DataError, match="<input>:2: expected 2 cells"):
        read_csv(io.StringIO("a,b\n1,2,3\n"))
    assert read_csv(io.StringIO('a,b\n"x,y",2\n')).cells == [["x,y"], ["2"]]


@pytest.mark.parametrize("command", ["bayesnet", "hmm"])
def test_train_generative_help_names_what_there_is(command: str) -> None:
    shown = run("train", command, "--help").output
    assert "simplicial" in shown
    assert "dcd" not in shown
    assert "log_loss" not in shown


def test_train_bayesnet_shows_what_mistakes_cost_on_dev(
    folder: Path, tmp_path: Path
) -> None:
    files = (folder / "train.csv", "--dev", folder / "test.tsv", "--target", "rain")
    path = ("--C-path", "0.01,0.1", "--max-iter", "3", "--tol", "0.5")
    shown = run("train", "bayesnet", *files, *path, "-m", tmp_path / "m").output
    assert "dev cost" in shown
    assert "least dev cost" in shown
    assert "dev score" not in shown
