"""A server that listens: streams both ways, slow clients, an end without losses."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from partwise import SequenceTagger

pytest.importorskip("fastapi", reason="FastAPI, which partwise serve needs, is missing")
from live_server import LiveServer, live_server
from partwise.serving import app as served_app
from partwise.serving.app import Limits, make_app

X = [[["the"], ["dog"]], [["a"], ["cat"], ["sleeps"]]]
Y = [["D", "N"], ["D", "N", "V"]]
# Nobody waits as long as this: a busy machine may take its time.
PATIENCE = 60.0
IMPATIENCE = 0.3


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "pos.partwise"
    SequenceTagger(C=10.0).fit(X, Y).save(path)
    return path


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[LiveServer]:
    with limited_server(model, PATIENCE) as live:
        yield live


@pytest.fixture(scope="module")
def impatient(model: Path) -> Iterator[LiveServer]:
    with limited_server(model, IMPATIENCE) as live:
        yield live


@contextlib.contextmanager
def limited_server(model: Path, seconds: float) -> Iterator[LiveServer]:
    """Serve with small limits, and this long for everything a client does."""
    limits = Limits(max_bytes=300, seconds=seconds, idle=seconds, max_waiting=2)
    with live_server(make_app([("pos", str(model))], limits), seconds) as live:
        yield live


@contextlib.contextmanager
def connected(server: LiveServer, head: str) -> Iterator[socket.socket]:
    """Open a connection and send the head of a request."""
    place = ("127.0.0.1", server.port)
    with socket.create_connection(place, timeout=PATIENCE) as client:
        client.sendall(head.replace("\n", "\r\n").encode())
        yield client


def post(path: str, length: int | None = None, more: str = "") -> str:
    body = (
        "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    )
    kind = "Content-Type: application/json"
    return f"POST /models/pos/{path} HTTP/1.1\nHost: x\n{kind}\n{body}\n{more}\n"


def chunk(text: str) -> bytes:
    return f"{len(text.encode()):x}\r\n{text}\r\n".encode()


def read_until(client: socket.socket, end: bytes) -> bytes:
    found = b""
    while end not in found:
        piece = client.recv(65536)
        assert piece, found
        found += piece
    return found


def read_all(client: socket.socket) -> bytes:
    found = b""
    while piece := client.recv(65536):
        found += piece
    return found


def ask(server: LiveServer) -> bytes:
    body = json.dumps({"inputs": ["the dog"]})
    head = post("predict", len(body), "Connection: close\n")
    with connected(server, head + body) as client:
        return read_all(client)


def test_streams_answer_before_the_next_line_is_sent(server: LiveServer) -> None:
    with connected(server, post("stream?marginals=true")) as client:
        client.sendall(chunk('"the dog"\n'))
        first = read_until(client, b"}\n")
        assert b'{"output":["D","N"],"probabilities":[[' in first
        client.sendall(chunk('"a c') + chunk('at"\n{br') + chunk("oken"))
        client.sendall(b"0\r\n\r\n")
        rest = read_until(client, b"\r\n0\r\n\r\n")
        assert rest.count(b'"output"') == 1
        assert rest.count(b"this line is not JSON") == 1


def test_streams_keep_their_order_and_wait_for_their_turn(server: LiveServer) -> None:
    # Far more lines than may wait; none is lost, none is refused.
    with connected(server, post("stream")) as client:
        client.sendall(
            b"".join(chunk(f"{json.dumps(['a'] * n)}\n") for n in range(1, 40))
        )
        client.sendall(b"0\r\n\r\n")
        found = read_until(client, b"\r\n0\r\n\r\n").decode()
    lines = [line for line in found.splitlines() if line.startswith("{")]
    assert [len(json.loads(line)["output"]) for line in lines] == list(range(1, 40))


@pytest.mark.parametrize(
    ("sent", "words"),
    [("x" * 400, "a line has more than 300 bytes"), ('"the', "no line came in for")],
)
def test_streams_have_limits(impatient: LiveServer, sent: str, words: str) -> None:
    with connected(impatient, post("stream")) as client:
        client.sendall(chunk('"the dog"\n') + chunk(sent))
        found = read_until(client, b"ends here")
    assert b'"output"' in found
    assert words.encode() in found
    assert b"200 OK" in ask(impatient)


def test_silent_and_slow_clients_are_left(impatient: LiveServer) -> None:
    begin = time.monotonic()
    for head in ("", "POST /models/pos/pre"):
        with connected(impatient, head) as client:
            assert client.recv(100) == b""
    with connected(impatient, post("predict", 100)) as client:
        client.sendall(b'{"inputs"')
        assert b"408 " in read_all(client)
    assert time.monotonic() - begin < PATIENCE
    assert b"200 OK" in ask(impatient)


def test_client_that_takes_no_answers_holds_up_nobody_else(server: LiveServer) -> None:
    long = chunk(json.dumps(" ".join("a" * 140)) + "\n") * 50
    with connected(server, post("stream?marginals=true")) as client:
        client.settimeout(0.5)
        with pytest.raises(TimeoutError):  # no more lines are read from it
            client.sendall(long * 4000)
        assert b"200 OK" in ask(server)
    assert b"200 OK" in ask(server)


def test_streams_have_no_other_requests_refused(server: LiveServer) -> None:
    line = chunk(json.dumps(" ".join("a" * 140)) + "\n")
    with connected(server, post("stream?marginals=true")) as client:
        end = threading.Thread(target=read_until, args=(client, b"\r\n0\r\n\r\n"))
        end.start()
        client.sendall(line * 60 + b"0\r\n\r\n")
        answers = []
        while end.is_alive():
            answers.append(ask(server))
        assert answers
        assert all(b"200 OK" in answer for answer in answers)


def test_clients_that_leave_are_forgotten(server: LiveServer) -> None:
    for path in ("predict", "stream"):
        with connected(server, post(path)) as client:
            client.sendall(chunk('{"inputs": ["a"]}\n'))
    assert b"200 OK" in ask(server)


def test_server_ends_when_running_requests_are_answered(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()
    replies: list[bytes] = []

    def slowly(*asked: Any) -> Any:
        def answer(model: Any, inputs: list[Any]) -> list[Any]:
            began.set()
            go_on.wait(PATIENCE)
            return [{"output": "late"} for _ in inputs]

        return answer

    monkeypatch.setattr(served_app, "asking", slowly)
    with live_server(make_app([("pos", str(model))])) as live:
        asking = threading.Thread(target=lambda: replies.append(ask(live)))
        asking.start()
        assert began.wait(PATIENCE)
        live.stop()
        refused = False
        for _ in range(500):  # new clients are turned away while the old one waits
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", live.port)).close()
                time.sleep(0.01)
                continue
            refused = True
            break
        assert refused
        assert not replies
        go_on.set()
        asking.join(PATIENCE)
    assert b'{"output":"late"}' in replies[0]
