"""Ctrl-C at bad moments: what has been made is kept, and code is loaded whole."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partwise import MulticlassClassifier, load, model_file
from partwise._interrupts import Interruptible, Saving, waiting
from partwise.errors import ConvergenceWarning
from partwise.solvers import Callback


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_waiting_lets_the_block_end_first() -> None:
    done = []

    def work() -> None:
        with waiting():
            press()
            press()
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_waiting_leaves_other_threads_alone() -> None:
    seen = []

    def work() -> None:
        with waiting():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_interruptible_keeps_what_an_inner_one_made() -> None:
    made = []
    with Interruptible() as outer, outer.here():
        with Interruptible() as inner:
            try:
                with inner.here():
                    press()
            except KeyboardInterrupt:
                made.append("weights")
            press()  # ends nothing any more
        press()
        made.append("model")
    assert made == ["weights", "model"]


def test_interruptible_asks_the_programs_own_handler() -> None:
    asked = []
    before = signal.signal(signal.SIGINT, lambda *args: asked.append(args))
    try:
        with Interruptible() as work, work.here():
            press()
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(asked) == 2


def test_interruptible_ends_what_comes_next_if_it_came_between() -> None:
    """Of two trainings in a row, Ctrl-C between them ends the second."""
    with Interruptible() as outer, outer.here():
        with Interruptible() as first, first.here():
            pass
        press()
        with Interruptible() as second:
            with pytest.raises(KeyboardInterrupt), second.here():
                raise AssertionError("it began")


def test_saving_hands_on_what_had_to_wait() -> None:
    done = []

    def work() -> None:
        with Saving() as saving:
            with saving.here():
                pass
            press()
            done.append("saved")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["saved"]


class Press(Callback):
    """Presses Ctrl-C in the second pass, and again when training has ended."""

    def on_progress(self, iteration: int, fraction: float) -> None:
        if iteration == 2:
            press()

    def on_end(self, solution: Any) -> None:
        press()


def test_fit_interrupted_twice_is_a_model(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.arange(30) % 3
    model = MulticlassClassifier(tol=1e-9, callbacks=[Press()])
    with pytest.warns(ConvergenceWarning, match="interrupted after 1 pass"):
        model.fit(X, y)
    assert model.solution_.reason == "interrupted"
    assert model.n_iter_ == 1
    assert model.predict(X).shape == (30,)


def test_save_interrupted_leaves_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fsync = tmp_path / "model", os.fsync

    def press_and_sync(descriptor: int) -> None:
        press()
        fsync(descriptor)

    model = MulticlassClassifier().fit([[0.0], [1.0]], [0, 1])
    monkeypatch.setattr(os, "fsync", press_and_sync)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    monkeypatch.undo()
    assert load(path).predict([[1.0]]).tolist() == [1]
    assert list(tmp_path.iterdir()) == [path]
    assert model_file.read(path).kind == "model"
