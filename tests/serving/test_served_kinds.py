"""Every kind of model is served: it says what it takes, answers, and can be drawn."""

import json
from typing import Any

import pytest

import problems
from partwise import DataError, Pipeline, SequenceTagger
from partwise.data import Sentence
from tiny_models import TAGS, TOKENS, tiny_cases

pytest.importorskip("fastapi", reason="FastAPI, which partwise serve needs, is missing")
from partwise.serving.answers import asking, look
from partwise.serving.inputs import INPUTS, inputs_of

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

GIVEN: dict[str, tuple[Any, str]] = {
    "log": ("the dog", "tags"),
    "hinge": (["a", "cat"], "tags"),
    "hmm": ("the dog", "tags"),
    "arcs": ("Dogs|N bark|V", "arcs"),
    "brackets": ("dogs bark", "tree"),
    "segments": ("a cat sleeps", "tags"),
    "graph": ({"nodes": [{"colour": "blue"}, {}], "edges": [[0, 1]]}, "graph"),
    "lattice": ({"edges": [[0, 1, {"x": 2}, "a"], [0, 1, {"x": 1}, "b"]]}, "path"),
    "network": ({"sky": "grey"}, "class"),
    "classes": ([0.05], "class"),
}


@plain
@pytest.mark.parametrize("name", list(tiny_cases()))
def test_every_kind_answers_and_is_drawn(name: str) -> None:
    model, data, _ = tiny_cases()[name]
    model.fit(*data)
    given, drawing = GIVEN[name]
    inputs = inputs_of(model)
    assert inputs.words(model).endswith(".")
    read = inputs.read(model, given)
    kbest = 2 if hasattr(model, "predict_kbest") else None
    wanted = asking(True, kbest, explain=hasattr(model, "explain"))
    found = wanted(model, [read, read])
    assert found[0] == found[1]
    assert {"output", "probabilities"} <= found[0].keys()
    assert ("kbest" in found[0]) == (name != "network")
    json.dumps(found, allow_nan=False)
    [[seen]] = look(model, [read])
    assert seen["drawing"] == drawing
    assert seen["found"]
    json.dumps(seen, allow_nan=False)
    # The example that the page offers is one that the model takes.
    text = inputs.example(model)
    shown = json.loads(text) if text[0] in "[{" else text
    assert look(model, [inputs.read(model, shown)])


@plain
def test_pipelines_annotate_and_are_drawn() -> None:
    dogs = Sentence.from_columns(
        forms=["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0], labels=["n", "r"]
    )
    for steps, drawing in (("upos", "tags"), ("upos,trees", "arcs")):
        pipeline = Pipeline(steps=steps, folds=1).fit([dogs] * 3)
        read = inputs_of(pipeline).read(pipeline, ["Dogs", "bark"])
        [found] = asking()(pipeline, [read])
        assert found["output"]["sentences"][0]["upos"] == ["NOUN", "VERB"]
        assert [one["drawing"] for one in look(pipeline, [read])[0]] == [drawing]
    for wanted in ({"marginals": True}, {"risk": 0.1}):
        with pytest.raises(ValueError, match="leave them out"):
            asking(**wanted)(pipeline, [read])


@plain
def test_calibrated_models_abstain() -> None:
    X, y = [[["a"]], [["b"]]] * 4, [["A"], ["B"]] * 4
    tagger = SequenceTagger(calibrate="temperature").fit(X, y, dev=(X, y))
    # So little data promises so much only with sets of all labels.
    assert asking(risk=0.001)(tagger, [[["a"]]]) == [{"output": [None]}]
    with pytest.raises(ValueError, match="not calibrated"):
        asking(risk=0.1)(SequenceTagger().fit(X, y), [[["a"]]])


@plain
def test_taggers_say_which_columns_they_read() -> None:
    columns = [[(word[0], "T") for word in sentence] for sentence in TOKENS]
    tagger = SequenceTagger(template="U0:%x[0,0]\nU1:%x[0,1]\nB").fit(columns, TAGS)
    inputs = inputs_of(tagger)
    assert "reads 2 columns of every word" in inputs.words(tagger)
    assert inputs.example(tagger) == "Dogs|TAG bark|TAG"
    with pytest.raises(DataError, match=r"token 2 .* reads 2 .* write dog\|TAG"):
        inputs.read(tagger, "the|T dog")
    assert inputs.read(tagger, "the|T dog|T|more") == [("the", "T"), ("dog", "T")]


def test_lattices_are_taken_as_they_are_in_files() -> None:
    read = INPUTS["LatticeRanker"].read
    edge = {"from": 0, "to": 1, "words": "a", "features": {"x": 2}}
    short = read(None, {"edges": [[0, 1, {"x": 2}, "a"]]})
    assert read(None, {"edges": [edge], "name": "s1"}).edges == short.edges
    with pytest.raises(DataError, match='with "from" and "to"'):
        read(None, {"edges": [{"from": 0}]})
