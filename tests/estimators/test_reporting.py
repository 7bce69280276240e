"""Every kind of model has a report and suspects."""

import io
import json
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest

import partwise
import problems
from partwise import C_path, DataError, LatticeInput
from partwise.data import Sentence, read_brackets
from partwise.pages import score_all, score_labels, view_tags

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

WORDS = [["the", "dog"], ["a", "cat", "sleeps"], ["the", "dog"]]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "V"]]
TOKENS = [[[word] for word in sentence] for sentence in WORDS]
LOSS = "by their loss"
MASS = "by the mass of their dual variables"
SURPRISE = "by how improbable the model finds them"


def _graphs() -> tuple[Any, Any]:
    one, other = nx.path_graph(3), nx.path_graph(3)
    one.nodes[0]["colour"], other.nodes[2]["colour"] = "blue", "brown"
    return [one, other], [["sea"] * 3, ["land", "sea", "land"]]


def _cases() -> dict[str, Any]:
    dogs = Sentence.from_columns(
        forms=["Dogs", "bark"], upos=["N", "V"], heads=[2, 0], labels=["nsubj", "root"]
    )
    turned = dogs.with_tree([0, 1], ["root", "x"])
    trees = read_brackets(io.StringIO("(S (NP (NNS dogs)) (VP (VBP bark)))"))
    edges = [(0, 1, {"x": 2}, "a"), (0, 1, {"x": 1}, "b"), (1, 2, {}, "c")]
    lattices = [LatticeInput(edges, good=[[1, 2]]), LatticeInput(edges, good=[[0, 2]])]
    rows = [{"sky": "grey", "wet": "y"}, {"sky": "blue", "wet": "n"}] * 2
    X = np.array([[0.0], [0.1], [2.0], [2.1], [0.05]])
    low, high = "low", "high"
    return {
        "log": (partwise.SequenceTagger(loss="log_loss"), (TOKENS, TAGS), MASS),
        "hinge": (partwise.SequenceTagger(loss="hinge"), (TOKENS, TAGS), LOSS),
        "hmm": (
            partwise.HiddenMarkovModel(objective="likelihood"),
            (WORDS, TAGS),
            SURPRISE,
        ),
        "arcs": (partwise.DependencyParser(hash_bits=8), ([dogs, dogs, turned],), MASS),
        "brackets": (partwise.ConstituencyParser(hash_bits=8), (trees * 2,), MASS),
        "segments": (
            partwise.SegmentTagger(loss="log_loss", template="words"),
            (WORDS, [[(0, 2, "NP")], [(0, 2, "NP"), (2, 3, "VP")], []]),
            MASS,
        ),
        "graph": (partwise.GraphLabeler(C=1.0), _graphs(), MASS),
        "lattice": (partwise.LatticeRanker(C=1.0), (lattices,), MASS),
        "network": (partwise.BayesianNetworkClassifier(target="wet"), (rows,), LOSS),
        "classes": (
            partwise.MulticlassClassifier(),
            (X, [low, low, high, high, high]),
            MASS,
        ),
    }


def read_data(page: Any) -> dict[str, Any]:
    """Return the data inside a page."""
    text = re.search(r'id="data">(.*?)</script>', page.html, re.DOTALL)
    assert text is not None
    found: dict[str, Any] = json.loads(text[1])
    return found


@plain
@pytest.mark.parametrize("name", list(_cases()))
def test_report_says_what_the_model_scores(name: str) -> None:
    model, data, by = _cases()[name]
    model.fit(*data)
    page = model.report(*data, train=data if len(data) > 1 else data[0])
    found = read_data(page)
    assert len(found["examples"]) == len(data[0])
    assert found["suspects"]["by"] == by
    assert found["calibration"]["error"] >= 0.0
    assert found["certificate"]
    measures = {"token accuracy", "node accuracy", "accuracy"}
    if name == "segments":  # whose score is the F1
        measures = {"chunk F1"}
    for rate in measures & found["scores"].keys():
        expected = model.score(*data)
        assert found["scores"][rate][0] == pytest.approx(expected, abs=1e-3)
    if name == "arcs":
        assert found["scores"]["LAS"][0] == pytest.approx(
            model.score(*data, metric="las"), abs=1e-3
        )
    suspects = model.suspects(*data, n=2)
    scores = [one.score for one in suspects]
    assert scores == sorted(scores, reverse=True)
    assert len(str(suspects).splitlines()) == 1 + len(suspects)


@plain
def test_report_shows_a_path() -> None:
    tagger = partwise.SequenceTagger()
    path = C_path(tagger, TOKENS, TAGS, [0.1, 1.0], dev=(TOKENS, TAGS))
    found = read_data(path[0].estimator.report(TOKENS, TAGS, path=path))
    assert [point["C"] for point in found["path"]] == [0.1, 1.0]


@plain
def test_suspects_are_of_the_data_that_was_trained_on() -> None:
    tagger = partwise.SequenceTagger().fit(TOKENS, TAGS)
    suspects = tagger.suspects(TOKENS, TAGS, n=1)
    assert suspects[0].view.mistakes <= 1
    with pytest.raises(DataError, match="the data that it was trained on"):
        tagger.suspects(TOKENS[:1], TAGS[:1])


def test_scores_have_intervals_that_hold_them() -> None:
    rng = np.random.default_rng(0)
    views = [
        view_tags(["w"] * 4, rng.choice(["A", "B"], 4), ["A", "A", "B", "B"])
        for _ in range(40)
    ]
    for row in score_labels(views):
        for score in row[1:4]:
            assert score.low <= score.value <= score.high
            assert score.low < score.high
    whole = score_all(views)["token accuracy"]
    right = sum(view.size - view.mistakes for view in views)
    assert whole.value == right / 160
    # Of 160 tokens, half of them right: the standard error is 1/25.
    assert 0.08 < whole.high - whole.low < 0.24
