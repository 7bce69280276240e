"""The server answers, refuses what is bad with words, and survives bad files."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partwise import MulticlassClassifier, SequenceTagger
from partwise.serving import models as served_models
from partwise.serving.limits import BodyLimits

fastapi_client = pytest.importorskip(
    "fastapi.testclient", reason="FastAPI, which partwise serve needs, is missing"
)
from partwise.serving.app import Limits, make_app  # noqa: E402

X = [[["the"], ["dog"]], [["a"], ["cat"], ["sleeps"]]]
Y = [["D", "N"], ["D", "N", "V"]]
POSTED = {"type": "http", "method": "POST", "path": "/models/pos/predict"}
LIMITS = Limits(max_bytes=2000, max_inputs=3, max_tokens=20, seconds=0.2)


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(C=10.0).fit(X, Y)


@pytest.fixture
def path(tagger: SequenceTagger, tmp_path: Path) -> Path:
    tagger.save(tmp_path / "pos.partwise")
    return tmp_path / "pos.partwise"


@pytest.fixture
def client(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(served_models, "WATCHED_EVERY", 0.02)
    with fastapi_client.TestClient(make_app([("pos", str(path))], LIMITS)) as client:
        yield client


def test_serving_predicts_what_the_model_does(
    client: Any, tagger: SequenceTagger
) -> None:
    asked = {"inputs": ["the cat", ["a", "dog"], {"tokens": ["the"]}], "kbest": 2}
    asked |= {"marginals": True, "explain": True}
    reply = client.post("/models/pos/predict", json=asked).json()
    outputs = reply["outputs"]
    words = [[["the"], ["cat"]], [["a"], ["dog"]], [["the"]]]
    assert [one["output"] for one in outputs] == tagger.predict(words)
    expected = tagger.predict_marginals(words)[0].tolist()
    assert outputs[0]["probabilities"] == expected
    assert [r[0] for r in outputs[0]["kbest"]] == [
        ranked.labels for ranked in tagger.predict_kbest(words, 2)[0]
    ]
    assert [r["label"] for r in outputs[0]["reasons"]] == ["D", "N"]


def test_serving_streams_line_by_line(client: Any) -> None:
    body = '"the dog"\n{broken\n["a", "cat"]\n'
    reply = client.post("/models/pos/stream", content=body)
    lines = [json.loads(line) for line in reply.text.splitlines()]
    assert [line.get("output") for line in lines] == [["D", "N"], None, ["D", "N"]]
    assert "not JSON" in lines[1]["error"]


@pytest.mark.parametrize(
    ("name", "body", "status", "words"),
    [
        ("other", '{"inputs": ["a"]}', 404, "there are pos"),
        ("pos", '{"inputs": ', 422, "JSON"),
        ("pos", '{"inputs": []}', 422, "at least 1"),
        ("pos", '{"inputs": "a"}', 422, "list"),
        ("pos", '{"inputs": [3]}', 422, "expected a sentence"),
        ("pos", '{"inputs": [[["a", 3]]]}', 422, "a token is"),
        ("pos", '{"inputs": ["a"], "kbest": 0}', 422, "greater than or equal to 1"),
        ("pos", '{"inputs": ["a", "a", "a", "a"]}', 413, "at most 3 inputs"),
        ("pos", '{"inputs": ["' + "a " * 30 + '"]}', 413, "at most 20 tokens"),
        ("pos", '{"inputs": ["' + "a " * 1000 + '"]}', 413, "2,000 bytes"),
    ],
)
def test_serving_refuses_bad_input_with_words(
    client: Any, name: str, body: str, status: int, words: str
) -> None:
    reply = client.post(
        f"/models/{name}/predict",
        content=body,
        headers={"content-type": "application/json"},
    )
    assert reply.status_code == status
    assert words in reply.text
    good = client.post("/models/pos/predict", json={"inputs": ["the dog"]})
    assert good.json()["outputs"] == [{"output": ["D", "N"]}]


def test_serving_survives_what_json_can_hold(client: Any) -> None:
    """Half a character, lists inside lists without end, and tokens behind others."""
    text, json_ = '{"inputs": [["\\ud800"]]}', {"content-type": "application/json"}
    reply = client.post("/models/pos/view", content=text, headers=json_)
    assert reply.status_code == 200
    assert reply.content.isascii()
    text = text[:-1] + ', "explain": true}'
    reply = client.post("/models/pos/predict", content=text, headers=json_)
    assert reply.status_code == 200
    assert "\\ud800" in reply.text
    reply = client.post("/models/pos/stream", content="[" * 1500)
    assert "not JSON" in reply.json()["error"]
    for tokens in (["a"] * 21, "a " * 21, "(" * 1000):  # however they are written
        asked = {"inputs": [{"x": [], "tokens": tokens}]}
        assert client.post("/models/pos/predict", json=asked).status_code == 413


def test_serving_refuses_numbers_that_are_too_large(tmp_path: Path) -> None:
    path = tmp_path / "classes.partwise"
    MulticlassClassifier(C=1.0).fit([[0.0], [1.0]], ["a", "b"]).save(path)
    with fastapi_client.TestClient(make_app([("classes", str(path))])) as client:
        reply = client.post("/models/classes/predict", json={"inputs": [[10**400]]})
    assert reply.status_code == 422
    assert "too large" in reply.json()["detail"]


def test_serving_refuses_slow_clients() -> None:
    async def stuck() -> Any:
        await asyncio.sleep(10)

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    limits = BodyLimits(None, max_bytes=100, seconds=0.01)
    asyncio.run(limits(POSTED, stuck, send))
    assert sent[0]["status"] == 408
    assert b"longer than" in sent[1]["body"]


def wait_until(client: Any, true: Any) -> dict[str, Any]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        health: dict[str, Any] = client.get("/health").json()
        if true(health):
            return health
        time.sleep(0.02)
    raise AssertionError(health)


def test_serving_goes_on_when_the_file_becomes_garbage(client: Any, path: Path) -> None:
    path.write_bytes(b"garbage")
    health = wait_until(client, lambda found: found["problems"])
    assert "pos.partwise" in health["problems"]["pos"]
    asked = {"inputs": ["the dog"]}
    reply = client.post("/models/pos/predict", json=asked)
    assert reply.json()["outputs"] == [{"output": ["D", "N"]}]
    SequenceTagger(C=10.0).fit(X, [["A", "B"], ["A", "B", "C"]]).save(path)
    wait_until(client, lambda found: not found["problems"])
    reply = client.post("/models/pos/predict", json=asked)
    assert reply.json()["outputs"] == [{"output": ["A", "B"]}]
    assert 'partwise_reloads_total{model="pos"} 1' in client.get("/metrics").text


def test_serving_batches_what_waits(path: Path) -> None:
    batches: list[int] = []

    def answer(model: Any, inputs: list[Any]) -> list[Any]:
        batches.append(len(inputs))
        if "bad" in inputs:
            raise ValueError("bad")
        return [f"{x}!" for x in inputs]

    async def run() -> list[Any]:
        one = served_models.ServedModel("pos", str(path), max_batch=3, max_waiting=5)
        asked = [["a"], ["b", "c"], ["bad"], ["d"]]
        waiting = [asyncio.create_task(one.ask(answer, inputs)) for inputs in asked]
        await asyncio.sleep(0)
        worker = asyncio.create_task(one.work())
        found = await asyncio.gather(*waiting, return_exceptions=True)
        worker.cancel()
        return found

    a, b, bad, d = asyncio.run(run())
    assert (a, b, d) == (["a!"], ["b!", "c!"], ["d!"])
    assert str(bad) == "bad"
    assert batches == [3, 2, 1, 1]


def test_serving_refuses_more_than_may_wait(path: Path) -> None:
    async def run() -> None:
        one = served_models.ServedModel("pos", str(path), max_batch=3, max_waiting=0)
        await one.ask(lambda model, inputs: inputs, ["a"])

    with pytest.raises(served_models.Busy):
        asyncio.run(run())


def test_serving_shows_a_page(client: Any) -> None:
    page = client.get("/").text
    assert "Try a model" in page
    assert client.get("/openapi.json").json()["info"]["title"] == "Partwise"
    asked = {"inputs": ["the <script>"]}
    view = client.post("/models/pos/view", json=asked).json()
    assert view["drawing"] == "tags"
    assert view["examples"][0]["words"] == ["the", "<script>"]
    assert [why[1] for why in view["examples"][0]["why"]] == (
        view["examples"][0]["found"]["labels"]
    )
