"""The benchmarks run anywhere, and their results can be relied on to have a shape."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.harness import catalogue, crfsuite
from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.child import run_in_child
from benchmarks.harness.chunking import (
    NUMBERED,
    SINGLE,
    TEMPLATE,
    feature_dicts,
    feature_strings,
)
from benchmarks.harness.files import write_report
from benchmarks.harness.report import Curve, Figure, Plot, Report, Table
from benchmarks.harness.watched import run_solver, time_to

from partwise.data import ColumnData
from partwise.features import TemplateEncoder
from partwise.losses import get_loss
from partwise.solvers import make_problem
from partwise.structures import make_dense_rows, make_multiclass
from places import ROOT

WORDS, TAGS = ["He", "reckons", "so"], ["PRP", "VBZ", "RB"]


def run_benchmarks(*arguments, data):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        env={**os.environ, "PARTWISE_DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path / "no data"))
    return Bench("encoding", quick=False, out=tmp_path / "out", scratch=tmp_path)


def test_benchmarks_list_names_every_one(tmp_path):
    done = run_benchmarks("list", data=tmp_path)
    assert done.returncode == 0, done.stderr
    named = {line.split()[0] for line in done.stdout.splitlines()}
    assert named >= {
        "conll2000_crf",
        "conll2000_margin",
        "mnist_multiclass",
        "encoding",
        "tagging_speed",
        "usaddress",
        "ocr_letters",
        "ocr_margin",
        "observed_pairs",
        "table1_ner_pos",
        "defaults",
        "solver_race",
        "scaling",
        "parse_slovene",
        "parse_speed",
        "parse_table1",
        "pipeline",
        "dcd_rates",
        "mrf",
        "ring_tracking",
        "translation_table2",
        "wcfg",
        "connect4",
        "medpost_table1",
        "lp_certificate",
        "startup",
        "hostile",
        "vectors",
        "many_labels",
    }
    assert all(len(line.split()) > 3 for line in done.stdout.splitlines())


def test_benchmarks_without_data_are_skipped_with_advice(tmp_path):
    done = run_benchmarks("run", "encoding", "--out", str(tmp_path), data="/nowhere")
    assert done.returncode == 1
    assert "PARTWISE_DATA" in done.stderr
    assert "--quick" in done.stderr
    assert not list(tmp_path.iterdir())


def test_benchmarks_quick_run_writes_the_figures(tmp_path):
    pytest.importorskip("pycrfsuite")
    done = run_benchmarks(
        "run", "encoding", "--quick", "--out", str(tmp_path), data="/nowhere"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "encoding.json").read_text())
    assert result["quick"] is True
    assert "generated" in result["data"]["chunking"]
    assert {"machine", "versions", "seeds", "settings"} <= set(result)
    assert len(result["figures"]) == 6
    for figure in result["figures"]:
        assert set(figure) == {"name", "value", "unit", "goal", "met"}
        # Memory comes in pages: so little may need none.
        assert figure["value"] > 0 or "memory added" in figure["name"]
        assert figure["met"] is None  # a quick run judges nothing
    assert "quick run" in (tmp_path / "encoding.md").read_text()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".md"]


QUICK = {"qp"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.bench)
        for name in sorted(set(catalogue.summaries()) - {"encoding"})
    ],
)
def test_benchmarks_all_run_without_data(name, tmp_path):
    pytest.importorskip("pycrfsuite")
    pytest.importorskip("matplotlib")
    done = run_benchmarks(
        "run", name, "--quick", "--out", str(tmp_path), data="/nowhere"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / f"{name}.json").read_text())
    assert result["figures"]


def test_benchmarks_report_missed_goals(bench):
    pytest.importorskip("matplotlib")
    figures = [
        Figure("good", 2.0, "x", at_least=1),
        Figure("bad", 2.0, "x", at_most=1),
        Figure("unknown", float("inf"), "x", at_most=1),
        Figure("free", 2.0, "x"),
    ]
    report = Report(
        figures,
        settings={},
        tables=[Table("Table", ["a"], [[float("nan")]])],
        plots=[Plot("plot", "x", "y", [Curve("c", [1, 2], [3, 4])])],
    )
    page = write_report(bench, report, 1.0)
    result = json.loads((bench.out / "encoding.json").read_text())
    assert [f["met"] for f in result["figures"]] == [True, False, False, None]
    assert [f["goal"] for f in result["figures"]] == [">= 1", "<= 1", "<= 1", None]
    assert result["figures"][2]["value"] is None
    assert page.read_text().count("**no**") == 2
    assert (bench.out / "encoding-plot.png").stat().st_size > 1000


def test_benchmarks_full_run_needs_real_data(bench):
    with pytest.raises(Skip, match="PARTWISE_DATA"):
        bench.data("text", ["a.txt"], lambda path: path, lambda: "generated")


def test_benchmarks_peer_gets_the_same_features():
    data = ColumnData.from_sentences([list(zip(WORDS, TAGS, strict=True))])
    for boundaries, edges in (("numbered", NUMBERED), ("single", SINGLE)):
        encoder = TemplateEncoder(TEMPLATE, boundaries=boundaries)
        nodes = encoder.fit_encode(data).nodes
        names = encoder.attribute_names()
        ours = [
            {names[k] for k in nodes.idx[nodes.ptr[t] : nodes.ptr[t + 1]]}
            for t in range(3)
        ]
        assert ours == [set(x) for x in feature_strings(WORDS, TAGS, edges)]
    as_dicts = [
        {f"{name}:{value}" for name, value in token.items()}
        for token in feature_dicts(WORDS, TAGS)
    ]
    assert as_dicts == [set(x) for x in feature_strings(WORDS, TAGS)]


def test_benchmarks_peer_objective_can_be_recomputed(tmp_path):
    pytest.importorskip("pycrfsuite")
    X = [feature_strings(WORDS, TAGS)] * 3
    y = [["B", "O", "B"], ["B", "O", "O"], ["B", "B", "O"]]
    path = tmp_path / "model"
    for algorithm in ("lbfgs", "l2sgd"):
        trainer = crfsuite.make_trainer(X, y)
        trained = crfsuite.train(trainer, path, algorithm, c2=0.5, max_iterations=30)
        account = trained.account
        assert len(set(map(len, account))) == 1  # one number an iteration
        assert len(account.losses) == trained.n_iterations
        objective = 0.5 * account.norms[-1] ** 2 - crfsuite.log_likelihood(path, X, y)
        # What SGD reports is the loss of an epoch while the weights change.
        within = 1e-4 if algorithm == "lbfgs" else 0.1
        assert objective == pytest.approx(account.losses[-1], abs=within)


def test_benchmarks_watch_measures_off_the_clock():
    rows = make_dense_rows([[1.0, 0.0], [0.0, 1.0]])
    structure = make_multiclass(rows, [0, 1], 2)

    now = [0.0]

    def clock():
        now[0] += 0.001
        return now[0]

    class SlowToScore:
        def problem(self):
            return make_problem(structure, get_loss("log_loss"))

        def score(self, w):
            now[0] += 1e6
            return float(w[0])

    run = run_solver(SlowToScore(), "lbfgs", 0, 1e-6, 50, 60.0, every=2, clock=clock)
    assert len(run.points) == run.passes // 2 >= 1
    assert 0.0 < run.seconds < 1e6
    assert all(point.seconds <= run.seconds for point in run.points)
    assert run.primal == min(point.primal for point in [*run.points, run])
    assert time_to(run, "primal", run.points[0].primal) == run.points[0].seconds
    assert time_to(run, "score", np.inf) == np.inf


def test_benchmarks_child_memory_is_its_own():
    ballast = bytearray(256 << 20)
    for at in range(0, len(ballast), 4096):
        ballast[at] = 1
    result = run_in_child("benchmarks.harness.machine", "versions")
    assert "python" in result
    assert 1 < result["peak_mib"] < 128
