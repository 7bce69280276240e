"""The time of work stands still while code is compiled; listeners are told of it."""

import threading
import time

import pytest

from partwise._jit import Piece, Stopwatch, clock, listening, working_time
from partwise._jit.clock import expect, preparing
from scripted_clock import script_clock


def test_clock_stands_still_while_code_is_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted, watch = script_clock(monkeypatch), Stopwatch()
    scripted.now += 1.0
    with preparing("a kernel"), preparing("a piece of it"):
        scripted.now += 50.0
    scripted.now += 2.0
    assert watch.seconds == 3.0
    assert watch.compile_seconds == 50.0


def test_clock_counts_threads_that_compile_at_once_only_once() -> None:
    def compile_one() -> None:
        with preparing("a kernel"):
            time.sleep(0.1)

    watch, begin = Stopwatch(), time.perf_counter()
    threads = [threading.Thread(target=compile_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - begin
    assert 0.1 <= watch.compile_seconds <= spent
    assert watch.seconds >= 0.0


def test_clock_goes_on_after_an_error() -> None:
    begin = working_time()
    try:
        with preparing("a kernel"):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        time.sleep(0.02)
    assert working_time() - begin >= 0.02


def test_listener_hears_which_of_how_many() -> None:
    heard: list[Piece | None] = []
    with listening(heard.append):
        expect(3)
        for name in ("a", "b", "c", "d"):
            with preparing(name), preparing("a piece of it"):
                pass
        with preparing():  # loaded, not compiled
            pass
    numbered = [("a", 1, 3), ("b", 2, 3), ("c", 3, 3), ("d", 4, 4)]
    pieces = [Piece(*one) for one in numbered]
    assert heard == [told for piece in pieces for told in (piece, None)]


def test_only_the_innermost_listener_hears() -> None:
    outer: list[Piece | None] = []
    inner: list[Piece | None] = []
    with listening(outer.append):
        with listening(inner.append), preparing("a"):
            pass
        with preparing("b"):
            pass
    with preparing("c"):
        pass
    assert [piece and piece.name for piece in inner] == ["a", None]
    assert [piece and piece.name for piece in outer] == ["b", None]
    assert clock._clock.listeners == []


def test_listener_that_fails_stops_neither_work_nor_clock() -> None:
    def fail(piece: Piece | None) -> None:
        raise OSError("no space left")

    with listening(fail), preparing("a"):
        pass
    begin = working_time()
    time.sleep(0.02)
    assert working_time() - begin >= 0.02


def test_clock_goes_on_when_a_listener_is_interrupted() -> None:
    def interrupt(piece: Piece | None) -> None:
        if piece is not None:
            raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt), preparing("a"):
        pass
    begin = working_time()
    time.sleep(0.02)
    assert working_time() - begin >= 0.02
