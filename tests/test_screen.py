"""What is shown while work goes on: on a terminal, and in a log."""

from pathlib import Path

import numpy as np
import pytest

from partwise import _screen
from partwise._jit import Piece
from partwise._jit.clock import preparing
from partwise._screen import (
    CompileNotes,
    LogLines,
    TerminalLine,
    WorkNotes,
    progress_notes,
)
from partwise._work import telling
from partwise.data import ColumnData
from partwise.data.files import read_text
from partwise.features import FeatureDictEncoder, TemplateEncoder
from partwise.structures import make_dense_rows, make_multiclass
from partwise.structures.decoding import decode

CONTROLS = set("\x1b\x9b\u202e")


def test_terminal_line_is_written_over_and_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = TerminalLine()
    line.show("compiling: 1 of 2")
    line.show("pass 1")
    line.keep("something to remember")
    line.show("pass 2")
    line.close()
    shown = capsys.readouterr().err
    assert shown == (
        "\rcompiling: 1 of 2\rpass 1           \r      \rsomething to remember\n"
        "\rpass 2\r      \r"
    )


def test_terminal_line_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    TerminalLine().show("x" * 50)
    assert capsys.readouterr().err == "\r" + "x" * 19


@pytest.mark.parametrize("screen", [TerminalLine, LogLines])
def test_names_of_files_are_escaped(
    screen: type, capsys: pytest.CaptureFixture[str]
) -> None:
    line = screen()
    line.show("reading a\x1b[31m\u202eb", now=True)
    line.keep("leaving out \x9b7")
    shown = capsys.readouterr().err
    assert r"reading a\x1b[31m\u202eb" in shown
    assert r"leaving out \x9b7" in shown
    assert CONTROLS.isdisjoint(shown)


def test_log_has_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(_screen.time, "monotonic", lambda: now[0])
    lines = LogLines()
    for second in range(21):
        now[0] = 100.0 + second
        lines.show(f"after {second} s")
    lines.close()
    shown = capsys.readouterr().err.splitlines()
    assert shown == [f"after {second} s" for second in (5, 10, 15, 20)]


def test_compile_note_in_a_log_is_written_at_once_and_seldom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes = CompileNotes(LogLines())
    for number in range(1, 6):
        notes(Piece("argmax_of_Chain", number, 5))
        notes(None)
    shown = capsys.readouterr().err.splitlines()
    assert shown == ["compiling for the first time: 1 of 5"]


def test_compile_notes_on_a_terminal_leave_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_screen, "is_terminal", lambda: True)
    with progress_notes(), preparing("look_up"):
        pass
    shown = capsys.readouterr().err
    assert "compiling for the first time ..." in shown
    assert shown.rpartition("...")[2].strip() == ""
    assert "\n" not in shown


@pytest.mark.parametrize("line", [TerminalLine, LogLines])
def test_screen_that_nobody_takes_is_done_without(
    line: type, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full:
        def write(self, text: str) -> None:
            raise OSError(28, "No space left on device")

    for stream in (None, Full()):
        monkeypatch.setattr("sys.stderr", stream)
        screen = line()
        screen.show("pass 1", now=True)
        screen.keep("a line")
        screen.close()
    assert capsys.readouterr().out == ""


def test_work_notes_say_what_is_left_of_long_work_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.5, 10.0, 30.0, 40.0, 100.0])
    monkeypatch.setattr(_screen, "working_time", lambda: next(clock))
    shown: list[str] = []
    notes = WorkNotes(shown.append)
    for fraction in (0.0, 0.4, 0.25, 0.5, 1.0):  # it begins anew in the middle
        notes("predicting", fraction)
    assert shown == ["predicting: 50% (about 20 s left)"]


def test_long_work_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    path = tmp_path / "text.txt"
    path.write_text("word\n" * 10)
    s = make_multiclass(make_dense_rows([[1.0]] * 3), [0, 1, 0], 2)
    with telling(lambda *one: told.append(one)):
        read_text(path)
        decode(s, np.zeros(2))
        FeatureDictEncoder().fit_encode([[{"word": "a"}], [{"word": "b"}]])
        TemplateEncoder("U0:%x[0,0]").fit_encode(ColumnData.from_sentences([[("a",)]]))
    names = ["reading text.txt", "predicting", "encoding"]
    assert list(dict.fromkeys(name for name, _ in told)) == names
    for name in names:
        fractions = [fraction for own, fraction in told if own == name]
        assert fractions[-1] == 1.0
        assert 0.0 <= min(fractions)
    with telling(None):
        read_text(path)
