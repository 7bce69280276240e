"""Benchmarks that tune and race choose, stop and check as they say."""

import gzip
import math
from types import SimpleNamespace

import pytest
from benchmarks import defaults, ocr_margin
from benchmarks.harness import tagging, tuned
from benchmarks.harness.report import Curve
from benchmarks.harness.tagging import SOURCES, Corpus
from benchmarks.harness.tagging_task import TaggingTask
from benchmarks.harness.tuned import Budget, Method

from partwise.data import ColumnData
from partwise.features import TokenFeatures

CONLLU = """\
# sent_id = 1
# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

1\t#\t#\tSYM\tNFP\t_\t0\troot\t_\t_
"""


@pytest.fixture
def corpus():
    known = ColumnData.from_sentences(
        [[("In", "IN", "O"), ("Rome", "NP", "B-LOC")], [("Hush", "UH", "O")]]
    )
    unseen = ColumnData.from_sentences([[("Rome", "NP", "B-LOC"), ("is", "V", "B-X")]])
    return Corpus(known, known, unseen)


def test_benchmark_tasks_conllu_has_words_only(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(CONLLU.encode()))
    (ewt,) = [source for source in SOURCES if source.name.startswith("EWT")]
    assert list(ewt.read(path)) == [
        [("Do", "AUX"), ("n't", "PART"), ("go", "VERB")],
        [("#", "SYM")],
    ]


def test_benchmark_tasks_every_corpus_has_own_features():
    assert len({source.name for source in SOURCES}) == 4
    for source in SOURCES:
        assert len(source.files) == len(tagging.PARTS)
        TokenFeatures(source.own).template(2 if source.measure == "F1" else 1)


def test_benchmark_tasks_peer_gets_the_encoded_attributes(corpus):
    blocks = "words:1,suffixes:2,tags:1"
    task = TaggingTask(corpus, blocks, "F1")
    sentences = [[token[:2] for token in sentence] for sentence in corpus.train]
    expected = TokenFeatures(blocks).strings(sentences)
    found = list(task.strings("train"))
    assert [[set(token) for token in s] for s in found] == [
        [set(token) for token in s] for s in expected
    ]
    # What was not seen in training tells nobody anything.
    (first, _) = next(task.strings("test"))
    assert "U:word=Rome" in first
    assert not any("is" in name for name in first)


def test_benchmark_tasks_labels_never_seen_count_as_errors(corpus):
    task = TaggingTask(corpus, "words", "accuracy")
    assert task.labels == ["B-LOC", "O"]
    assert task.parts["test"].gold.tolist() == [0, -1]
    assert task.score_labels([["B-LOC", "O"]], "test") == 50.0


def test_benchmark_tasks_tune_on_development_data(monkeypatch):
    trained = []

    class Task:
        """Development data likes C = 0.1, test data likes C = 1."""

        def score(self, w, part):
            C, _, seed = w
            best = {"dev": 0.1, "test": 1.0}[part]
            return 100 - abs(C - best) + 0.001 * seed

    def train(task, method, C, passes, seed=0, watch=()):
        trained.append((C, passes, seed))
        for callback in watch:
            callback.on_start(None, None, passes)
            callback.on_pass(SimpleNamespace(seconds=2.0), (C, passes, seed))
        return SimpleNamespace(w=(C, passes, seed), certificate=None)

    monkeypatch.setattr(tuned, "train", train)
    budget = Budget([0.01, 0.1, 1.0], 8, 25, [0, 1])
    found = tuned.tune(Task(), Method("m", "mira", "hinge"), budget)
    assert found.C == 0.1
    assert set(found.search) == {0.01, 0.1, 1.0}
    assert sorted(trained) == sorted(
        [(0.01, 8, 0), (0.1, 8, 0), (1.0, 8, 0), (0.1, 25, 0), (0.1, 25, 1)]
    )
    assert found.tests == pytest.approx([99.1, 99.101])
    assert found.test == pytest.approx(99.1005)
    assert found.seconds >= 2.0
    assert math.isnan(found.gap)

    trained.clear()
    plain = Method("p", "perceptron", "hinge", uses_C=False, one_seed=True)
    found = tuned.tune(Task(), plain, budget)
    assert found.C is None
    assert trained == [(1.0, 25, 0)]


def make_run(primal, dual, seconds=1.0):
    return ocr_margin.Run(seconds, 3, 9, primal, dual, 20.0, Curve("", [1], [1]))


def test_benchmark_tasks_a_gap_not_proved_has_no_time():
    assert make_run(100.0, 99.1, 2.0).time_to_goal == 2.0
    assert make_run(100.0, 98.9, 2.0).time_to_goal == math.inf


def test_benchmark_tasks_false_bounds_are_found():
    runs = {
        ("fold 0", 0.1, "smo"): [make_run(100.0, 99.0)],
        ("fold 0", 0.1, "eg"): [make_run(101.0, 98.0)],
        ("fold 0", 0.1, "dcd-ssvm"): [make_run(500.0, 400.0)],  # another objective
        ("fold 0", 1.0, "smo"): [make_run(300.0, 299.0)],  # another problem
    }
    assert ocr_margin._overlap(runs) < 0
    runs["fold 0", 0.1, "cutting-plane"] = [make_run(104.0, 102.0)]
    assert ocr_margin._overlap(runs) == pytest.approx(0.02)


def test_defaults_are_chosen_by_score_then_time_then_calibration():
    def measured(score, ece, seconds):
        return defaults.Measured(score, ece, seconds, 1)

    best, quick, sure, worse, late = (
        defaults.Candidate("hinge", C, 0.1) for C in (1.0, 2.0, 3.0, 4.0, 5.0)
    )
    found = {
        best: measured(90.0, 50.0, 10.0),
        quick: measured(89.9, 50.0, 1.0),
        sure: measured(89.9, 5.0, 1.2),
        worse: measured(89.0, 1.0, 0.1),
    }
    assert defaults.choose([found, found]) == sure
    # Who is not in time on some data is out, however good elsewhere.
    assert defaults.choose([found | {late: measured(90.0, 0.0, 0.1)}, found]) == sure
    assert defaults.choose([{best: found[best]}, {quick: found[quick]}]) is None
