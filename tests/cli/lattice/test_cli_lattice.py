"""Lattice rankers on the command line: JSON lines in, models and paths out."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import partwise
import problems
from command_line import message, run
from partwise.cli.lattice.predict import BATCH, BATCH_EDGES, in_batches
from partwise.data import read_lattices, write_lattices
from partwise.data.lattice import LatticeInput
from partwise.synthetic import make_lattices

pytestmark = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lattices")
    write_lattices(path / "train.jsonl.gz", make_lattices(15, 0, max_words=3))
    write_lattices(path / "test.jsonl", make_lattices(4, 1, max_words=3))
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "m.partwise"
    run("train", "lattice", folder / "train.jsonl.gz", "-m", path, "--quiet")
    return path


def test_train_lattice_passes_every_setting_on(folder: Path, tmp_path: Path) -> None:
    path, train = tmp_path / "m", folder / "train.jsonl.gz"
    shown = run(
        *("train", "lattice", train, "-m", path, "--outputs", "words"),
        *("--hash-bits", 8, "--loss", "log_loss", "--C", 2),
        *("--dev", folder / "test.jsonl", "--dev-metric", "edge_f1", "--json", "-q"),
    )
    ranker = partwise.load(path)
    assert (ranker.outputs, ranker.hash_bits) == ("words", 8)
    assert (ranker.loss, ranker.C) == ("log_loss", 2.0)
    numbers = json.loads(shown.stdout)
    lattices = read_lattices(train)
    assert numbers["lattices"] == len(lattices)
    assert numbers["edges"] == sum(len(one.edges) for one in lattices)
    assert "labels" not in numbers
    assert 0 <= numbers["dev"]["good paths"] <= 1


def test_train_lattice_tries_several_C(folder: Path, tmp_path: Path) -> None:
    shown = run(
        *("train", "lattice", folder / "train.jsonl.gz", "-m", tmp_path / "m"),
        *(
            "--min-count",
            2,
            "--C-path",
            "0.01,1",
            "--dev",
            folder / "test.jsonl",
            "--json",
            "-q",
        ),
    )
    assert partwise.load(tmp_path / "m").min_count == 2
    assert [row["C"] for row in json.loads(shown.stdout)["C_path"]] == [0.01, 1.0]


def test_predict_lattices_writes_words(folder: Path, model: Path) -> None:
    lattices = read_lattices(folder / "test.jsonl")
    ranker = partwise.load(model)
    expected = [path.text for path in ranker.predict(lattices)]
    shown = run("predict", model, folder / "test.jsonl").stdout.splitlines()
    assert shown == expected
    piped = run("predict", model, "-", stdin=(folder / "test.jsonl").read_bytes())
    assert piped.stdout.splitlines() == expected
    sure = run("predict", model, folder / "test.jsonl", "--marginals").stdout
    assert [x for x in sure.splitlines() if x[0] != "#"] == expected
    assert sure.count("# edge ") == sum(
        len(path.edges) for path in ranker.predict(lattices)
    )


def test_predict_lattices_writes_json(folder: Path, model: Path) -> None:
    lattices = read_lattices(folder / "test.jsonl")
    ranker = partwise.load(model)
    shown = run("predict", model, folder / "test.jsonl", "--json", "--marginals")
    for line, lattice in zip(shown.stdout.splitlines(), lattices, strict=True):
        found = json.loads(line)
        [path] = ranker.predict([lattice])
        assert (found["name"], found["edges"]) == (lattice.name, list(path.edges))
        assert len(found["probabilities"]) == len(lattice.edges)
    ranked = run(
        *("predict", model, folder / "test.jsonl", "--kbest", 3, "--json"),
        *("--outputs", "words"),
    )
    for line, lattice in zip(ranked.stdout.splitlines(), lattices, strict=True):
        [best] = ranker.predict_kbest([lattice], 3, outputs="words")
        found = json.loads(line)["kbest"]
        assert [tuple(one["words"]) for one in found] == [path.words for path in best]
    text = run("predict", model, folder / "test.jsonl", "--kbest", 2).stdout
    assert text.count("# rank 1 score") == len(lattices)


def test_predict_lattices_without_words_writes_edges(
    model: Path, tmp_path: Path
) -> None:
    write_lattices(tmp_path / "l.jsonl", [LatticeInput([(0, 1), (1, 2)])])
    assert run("predict", model, tmp_path / "l.jsonl").stdout == "0 1\n"


def test_predict_lattices_writes_one_line_each(model: Path, tmp_path: Path) -> None:
    lattice = LatticeInput([(0, 1, {}, ["a\nb", "New York", "\U0001f642"])])
    write_lattices(tmp_path / "l.jsonl", [lattice])
    assert run("predict", model, tmp_path / "l.jsonl").stdout == (
        "a b New York \U0001f642\n"
    )


def test_lattices_are_read_a_few_at_a_time() -> None:
    small, large = LatticeInput([(0, 1)]), LatticeInput([(0, 1)] * BATCH_EDGES)
    read = []

    def stream() -> Iterator[LatticeInput]:
        for lattice in [small] * (BATCH + 1) + [large, large, small]:
            read.append(lattice)
            yield lattice

    sizes = []
    for batch in in_batches(stream()):
        sizes.append(len(batch))
        assert len(read) == sum(sizes)
    assert sizes == [BATCH, 2, 1, 1]


def test_train_lattice_shows_what_linear_programs_have(
    folder: Path, tmp_path: Path
) -> None:
    shown = run(
        *("train", "lattice", folder / "train.jsonl.gz", "-m", tmp_path / "m"),
        *("--loss", "hinge", "--penalty", "l1", "--margin", "unit", "--C", 5),
        *("--positive", "--compare", "worst"),
    ).stdout.split("\n")
    [line] = [text for text in shown if "not zero" in text]
    ranker = partwise.load(tmp_path / "m")
    assert int(line.split()[-1]) == (ranker.weights_ != 0).sum()
    inspected = run("inspect", tmp_path / "m", "--trace").stdout
    assert "triples of input, good and wrong output" in " ".join(inspected.split())
    last = inspected.rstrip().split("\n")[-1].split()
    assert int(last[5]) == ranker.trace_[-1].rows > 0


def test_evaluate_lattices_measures_paths_and_words(folder: Path, model: Path) -> None:
    shown = run("evaluate", model, folder / "test.jsonl", "--json").stdout
    ranker, lattices = partwise.load(model), read_lattices(folder / "test.jsonl")
    assert json.loads(shown)["good_paths"] == ranker.score(lattices)
    table = run("evaluate", model, folder / "test.jsonl").stdout
    assert "word error rate" in table


def test_inspect_lattice_ranker_shows_features(model: Path) -> None:
    found = json.loads(run("inspect", model, "--top", 2, "--json").stdout)
    ranker = partwise.load(model)
    expected = [name for name, _ in ranker.top_features(4)]
    assert [one["feature"] for one in found["top_features"]["edges"]] == expected
    shown = run("inspect", model).stdout
    assert "lattices, JSON lines" in shown
    assert expected[0] in shown


def test_show_lattices_draws_the_right_or_the_best_path(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    file = folder / "test.jsonl"
    [first, *_] = read_lattices(file)
    own = run("show", file, "--sentence", 1).stdout
    assert own.count("●") == len(first.good[0])
    best = run("show", file, "-m", model, "--marginals", "--limit", 1).stdout
    [path] = partwise.load(model).predict([first])
    assert best.count("●") == len(path.edges)
    assert (
        run("show", file, "-m", model, "--kbest", 2, "--sentence", 1).stdout.count(
            "rank"
        )
        == 2
    )
    run("show", file, "--svg", tmp_path / "l.svg", "--limit", 2)
    assert f"Lattices: {file}" in (tmp_path / "l.svg").read_text()
    assert (
        "there is no lattice 99" in run("show", file, "--sentence", 99, code=2).stderr
    )
    assert (tmp_path / "l.svg").read_text().count("<svg ") == 3
    (tmp_path / "l.txt").write_bytes(file.read_bytes())
    assert run("show", tmp_path / "l.txt", "--format", "lattices").stdout.count("(")


def test_lattice_commands_say_what_is_wrong(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    train = folder / "train.jsonl.gz"
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"edges": [{"from": 0, "to": 1}, {"from": 1, "to": 0}]}\n')
    for command in (["predict", model], ["evaluate", model]):
        assert "bad.jsonl:1: it has no start" in message(*command, bad)
    back = '{"from": 0, "to": 1}, {"from": 1, "to": 0}, {"from": 1, "to": 2}'
    bad.write_text(f'\n{{"start": 0, "end": 2, "edges": [{back}]}}\n')
    cycle = "bad.jsonl:2: its edges form a cycle: 0 -> 1 -> 0"
    assert cycle in message("predict", model, bad)
    bad.write_text('{"edges": [{"from": 0, "to": 1, "features": {"x": 1}}]}\n')
    command = ("train", "lattice", bad, "-m", tmp_path / "m")
    assert "bad.jsonl:1: it has no good path" in message(*command)
    assert "bad.jsonl:1: has no good path to" in message("evaluate", model, bad)
    bad.write_text('{"edges": [{"from": 0, "to": 1}], "good": [[0]]}\n')
    assert "no edge has a feature" in message(*command)
    bad.write_text("")
    assert "there are no lattices to learn from" in message(*command)
    assert "holds no lattices" in message("evaluate", model, bad)
    assert "no such file" in message("predict", model, tmp_path / "none.jsonl")
    test = folder / "test.jsonl"
    assert "--spans is for taggers" in message("predict", model, test, "--spans")
    assert "--outputs needs --kbest" in message(
        "predict", model, test, "--outputs", "words"
    )
    assert "--label is for tag" in message("inspect", model, "--label", "x")
    assert "--alternatives is for dependency parsers" in message(
        "show", test, "-m", model, "--alternatives"
    )
    assert "unknown encoding" in message(
        *("train", "lattice", train, "-m", tmp_path / "m", "--encoding", "klingon")
    )


def test_training_continues_from_a_model(folder: Path, model: Path) -> None:
    asked = "train", "lattice", folder / "test.jsonl", "--continue", model
    run(*asked, "-m", folder / "more", "-q", "--C", 3)
    before, after = partwise.load(model), partwise.load(folder / "more")
    n = len(before.feature_names_)
    assert after.feature_names_[:n] == before.feature_names_
    assert (after.C, after.min_count) == (3.0, before.min_count)
    both = message(*asked, "-m", folder / "no", "--C-path", "1,2", "--dev", model)
    assert "--C-path or --continue, not both" in both
