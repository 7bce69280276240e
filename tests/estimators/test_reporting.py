"""Every kind of model has a report and suspects."""

import json
import re
from typing import Any

import numpy as np
import pytest

import partwise
import problems
from partwise import C_path, DataError
from partwise.pages import score_all, score_labels, view_tags
from tiny_models import TAGS, TOKENS, tiny_cases

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")


def read_data(page: Any) -> dict[str, Any]:
    """Return the data inside a page."""
    text = re.search(r'id="data">(.*?)</script>', page.html, re.DOTALL)
    assert text is not None
    found: dict[str, Any] = json.loads(text[1])
    return found


@plain
def test_reports_of_generative_models_speak_of_probabilities() -> None:
    model = partwise.HiddenMarkovModel(objective="likelihood").fit(
        [["a", "b"]], [[0, 1]]
    )
    found = read_data(model.report([["a", "b"]], [[0, 1]]))
    assert found["quantity"] == "probabilities"
    names = {name for name, _ in found["facts"]}
    assert "weights" not in names
    assert "probabilities" in names


@plain
@pytest.mark.parametrize("name", list(tiny_cases()))
def test_report_says_what_the_model_scores(name: str) -> None:
    model, data, by = tiny_cases()[name]
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
def test_suspects_have_a_label_that_nothing_explains() -> None:
    X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]], [["the"], ["cat"]]] * 3
    y = [["D", "N", "V"], ["D", "N"], ["D", "N"]] * 3
    wrong = [list(labels) for labels in y]
    wrong[3][1] = "D"
    tagger = partwise.SequenceTagger(loss="log_loss").fit(X, wrong)
    [first] = tagger.suspects(X, wrong, n=1)
    assert first.example == 3
    mu = tagger.predict_marginals(X[3:4])[0][1]
    # Pairs of labels are parts as well, no more probable than each of the two.
    assert first.score >= -np.log(mu[tagger.classes_.tolist().index("D")])


@plain
def test_suspects_without_probabilities_are_those_with_the_most_mass() -> None:
    model, data, _ = tiny_cases()["graph"]
    model.set_params(decoder="relaxed").fit(*data)
    suspects = model.suspects(*data)
    assert suspects.by == "by the mass of their dual variables"
    assert suspects[0].score > 0.0


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


@plain
@pytest.mark.parametrize("name", ["log", "arcs", "classes"])
def test_suspects_by_models_that_have_not_seen_them(name: str) -> None:
    model, data, _ = tiny_cases()[name]
    model.fit(*data)
    count = len(data[0])
    suspects = model.suspects(*data, n=count, folds=count)
    assert "have not seen them" in suspects.by
    assert sorted(one.example for one in suspects) == list(range(count))
    scores = [one.score for one in suspects]
    assert scores == sorted(scores, reverse=True)
    view = suspects[0].view
    ratios = [
        p / right
        for (p, _), right in zip(view.certain, view.believed or (), strict=True)
    ]
    assert scores[0] == pytest.approx(np.log(max(ratios)), rel=1e-6)
    with pytest.raises(ValueError, match="between 2 and"):
        model.suspects(*data, folds=1)
