"""Checkpoints: a resumed run is the unbroken run, bit for bit, or is refused."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partwise import model_file
from partwise.errors import ModelFileError
from partwise.losses import get_loss
from partwise.solvers import (
    Callback,
    DualCoordinateDescent,
    Solution,
    make_problem,
    solve,
)
from partwise.solvers import checkpoint as module
from partwise.structures import make_dense_rows, make_multiclass
from places import SUPPORT
from resuming import TINY, InterruptAt, assert_same, make
from scripted import Scripted

VARIANTS = ("ssvm", "light", "cpd")


# --- resuming ---


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("after", [1, 4, 9])
def test_checkpoint_resumed_is_unbroken(
    tmp_path: Path, variant: str, after: int
) -> None:
    path, solver = tmp_path / "run", DualCoordinateDescent(variant)
    unbroken = solve(make(), solver, tol=TINY, max_iter=10)
    solve(make(), solver, tol=TINY, max_iter=after, checkpoint=path)
    resumed = solve(make(), solver, tol=TINY, max_iter=10, checkpoint=path, resume=True)
    assert_same(unbroken, resumed)


def test_checkpoint_resumed_until_converged_is_unbroken(tmp_path: Path) -> None:
    """The exact looks that failed are part of what must be repeated."""
    path = tmp_path / "run"

    def run(**options: Any) -> Solution:
        return solve(
            make(C=0.1), DualCoordinateDescent(), tol=1e-3, max_iter=500, **options
        )

    unbroken = run()
    assert unbroken.converged
    for stop in range(2, len(unbroken.trace) + 1, 3):
        broken = run(checkpoint=path, resume=True, callbacks=[InterruptAt(stop)])
        assert broken.reason == "interrupted"
    assert_same(unbroken, run(checkpoint=path, resume=True))
    # Once more, now that it is finished: nothing is left to do.
    assert_same(unbroken, run(checkpoint=path, resume=True))


def test_checkpoint_remembers_when_to_look_again(tmp_path: Path) -> None:
    """A look that failed puts the next one off, in a resumed run as well."""
    path = tmp_path / "run"
    script = [0.005, 0.0045, 0.0045, 0.001], [0.2, 0.2, 0.2, 0.009]
    unbroken = Scripted(*script)
    solve(make(), unbroken, tol=0.01)
    assert unbroken.looks == [1, 4]
    solve(
        make(), Scripted(*script), tol=0.01, checkpoint=path, callbacks=[InterruptAt(3)]
    )
    resumed = Scripted(*script)
    solve(make(), resumed, tol=0.01, checkpoint=path, resume=True)
    assert resumed.looks == [4]


def test_checkpoint_keeps_the_best_weights_and_the_patience(tmp_path: Path) -> None:
    path = tmp_path / "run"
    scores = [0.1, 0.8, 0.3, 0.4, 0.5, 0.9]
    options: dict[str, Any] = {"tol": TINY, "patience": 3}

    def run(given: list[float], **more: Any) -> Solution:
        left = iter(given)
        return solve(
            make(),
            DualCoordinateDescent("light"),
            evaluate=lambda w: next(left),
            **options,
            **more,
        )

    unbroken = run(scores)
    run(scores, checkpoint=path, max_iter=3)
    resumed = run(scores[3:], checkpoint=path, resume=True)
    assert unbroken.reason == "stopped_early"
    assert_same(unbroken, resumed)
    assert not np.array_equal(resumed.w, resumed.state.w)


def test_checkpoint_seconds_go_on_counting(tmp_path: Path) -> None:
    path = tmp_path / "run"
    solver = DualCoordinateDescent()
    first = solve(make(), solver, tol=TINY, max_iter=3, checkpoint=path)
    then = solve(make(), solver, tol=TINY, max_iter=4, checkpoint=path, resume=True)
    assert then.trace[3].seconds > then.trace[2].seconds
    assert then.trace[0].seconds == first.trace[0].seconds


def test_checkpoint_without_resume_starts_anew(tmp_path: Path) -> None:
    path, solver = tmp_path / "run", DualCoordinateDescent()
    first = solve(make(), solver, tol=TINY, max_iter=3, checkpoint=path)
    again = solve(make(), solver, tol=TINY, max_iter=3, checkpoint=path)
    assert_same(first, again)
    assert again.trace[0].seconds != first.trace[0].seconds


def test_checkpoint_that_is_not_there_yet_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "run"
    solver = DualCoordinateDescent()
    solution = solve(make(), solver, max_iter=1, checkpoint=path, resume=True)
    assert len(solution.trace) == 1
    assert path.exists()


def test_checkpoint_writing_changes_nothing(tmp_path: Path) -> None:
    solver = DualCoordinateDescent()
    plain = solve(make(), solver, tol=TINY, max_iter=5)
    saved = solve(make(), solver, tol=TINY, max_iter=5, checkpoint=tmp_path / "run")
    assert_same(plain, saved)


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from partwise.solvers import Callback, DualCoordinateDescent, solve
from resuming import TINY, make

class KillAt(Callback):
    def on_progress(self, iteration, fraction):
        if iteration == {iteration}:
            os.kill(os.getpid(), signal.SIGKILL)

solve(make(), DualCoordinateDescent({variant!r}), tol=TINY, max_iter=10,
      checkpoint={path!r}, resume=True, callbacks=[KillAt()])
"""


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_checkpoint_survives_kill_9(tmp_path: Path, variant: str) -> None:
    path = tmp_path / "run"
    for iteration in (4, 8):
        script = KILLED.format(
            tests=str(SUPPORT),
            iteration=iteration,
            variant=variant,
            path=str(path),
        )
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True
        )
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    solver = DualCoordinateDescent(variant)
    unbroken = solve(make(), solver, tol=TINY, max_iter=10)
    resumed = solve(make(), solver, tol=TINY, max_iter=10, checkpoint=path, resume=True)
    assert_same(unbroken, resumed)
    assert os.listdir(tmp_path) == ["run"]


# --- the file is always whole ---


def test_checkpoint_interrupted_while_writing_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, solver = tmp_path / "run", DualCoordinateDescent()
    solve(make(), solver, tol=TINY, max_iter=3, checkpoint=path)
    before = path.read_bytes()
    with monkeypatch.context() as patch:

        def interrupt(descriptor: int) -> None:
            raise KeyboardInterrupt

        patch.setattr(os, "fsync", interrupt)
        broken = solve(
            make(), solver, tol=TINY, max_iter=10, checkpoint=path, resume=True
        )
    assert broken.reason == "interrupted"
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run"]
    resumed = solve(make(), solver, tol=TINY, max_iter=10, checkpoint=path, resume=True)
    assert_same(solve(make(), solver, tol=TINY, max_iter=10), resumed)


def test_checkpoint_is_whole_whenever_someone_looks(tmp_path: Path) -> None:
    path = tmp_path / "run"

    class Reader(Callback):
        seen = 0

        def on_progress(self, iteration: int, fraction: float) -> None:
            if path.exists():
                content = model_file.read(path, kind=module.KIND)
                self.seen = content.tensors["trace.iteration"].size

    reader = Reader()
    solver = DualCoordinateDescent()
    solve(make(), solver, tol=TINY, max_iter=5, checkpoint=path, callbacks=[reader])
    assert reader.seen == 4


def test_checkpoint_path_that_cannot_be_written_is_found_before_training(
    tmp_path: Path,
) -> None:
    class Never(Callback):
        def on_progress(self, iteration: int, fraction: float) -> None:
            raise AssertionError("training started")

    with pytest.raises(OSError, match="no/such/folder"):
        solve(
            make(),
            DualCoordinateDescent(),
            checkpoint=tmp_path / "no/such/folder/run",
            callbacks=[Never()],
        )


# --- what is refused ---


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    solve(make(), DualCoordinateDescent(), tol=TINY, max_iter=2, checkpoint=path)
    return path


@pytest.mark.parametrize(
    ("problem", "solver", "seed"),
    [
        ({"count": 19}, {}, 0),
        ({"C": 9.0}, {}, 0),
        ({}, {"variant": "light"}, 0),
        ({}, {"sweeps": 4}, 0),
        ({}, {}, 1),
    ],
    ids=["data", "C", "variant", "sweeps", "seed"],
)
def test_checkpoint_of_another_run_is_refused(
    written: Path, problem: dict[str, Any], solver: dict[str, Any], seed: int
) -> None:
    with pytest.raises(ModelFileError) as caught:
        solve(
            make(**problem),
            DualCoordinateDescent(**solver),
            checkpoint=written,
            resume=True,
            random_state=seed,
        )
    assert str(caught.value) == (
        f"{written}: this checkpoint is of another run (other data, settings, solver "
        "or seed); delete it, or repeat the command that wrote it"
    )


def test_checkpoint_refused_is_left_as_it_was(written: Path) -> None:
    before = written.read_bytes()
    with pytest.raises(ModelFileError):
        solve(make(C=9.0), DualCoordinateDescent(), checkpoint=written, resume=True)
    assert written.read_bytes() == before


def test_checkpoint_knows_a_problem_by_data_shape_and_loss() -> None:
    rows = make_dense_rows(np.ones((2, 3)))
    wide = make_dense_rows(np.ones((2, 2)))
    squared, plain = get_loss("squared_hinge"), get_loss("hinge")

    def fingerprint(rows: Any, labels: list[int], loss: Any, C: float = 1.0) -> str:
        s = make_multiclass(rows, labels, 2)
        return make_problem(s, loss, C).fingerprint()

    own = fingerprint(rows, [0, 1], squared)
    assert own == fingerprint(rows, [0, 1], squared)
    others = {
        fingerprint(wide, [0, 1], squared),
        fingerprint(rows, [1, 1], squared),
        fingerprint(rows, [0, 1], plain),
        fingerprint(rows, [0, 1], squared, 2.0),
    }
    assert len(others | {own}) == 5


def resume(path: Path) -> Solution:
    return solve(make(), DualCoordinateDescent(), checkpoint=path, resume=True)


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.999])
def test_checkpoint_truncated_is_refused(written: Path, keep: float) -> None:
    data = written.read_bytes()
    written.write_bytes(data[: int(keep * len(data))])
    with pytest.raises(ModelFileError, match="run"):
        resume(written)


def test_checkpoint_with_any_flipped_bit_is_refused(written: Path) -> None:
    data = written.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(len(data), size=100):
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        written.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            resume(written)
    written.write_bytes(data)
    assert len(resume(written).trace) > 2


def test_checkpoint_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    model_file.write(path, {"w": np.zeros(3)}, {}, kind="model")
    with pytest.raises(ModelFileError, match="model"):
        resume(path)


@pytest.mark.parametrize("missing", ["state.w", "state.sets.alpha", "trace.dual"])
def test_checkpoint_that_lacks_something_is_refused(
    written: Path, missing: str
) -> None:
    content = model_file.read(written)
    tensors = {k: v for k, v in content.tensors.items() if k != missing}
    model_file.write(written, tensors, content.settings, kind=module.KIND)
    with pytest.raises(ModelFileError, match="not a complete checkpoint"):
        resume(written)


def test_checkpoint_that_lacks_a_setting_is_refused(written: Path) -> None:
    content = model_file.read(written)
    settings = {k: v for k, v in content.settings.items() if k != "random"}
    model_file.write(written, content.tensors, settings, kind=module.KIND)
    with pytest.raises(ModelFileError, match="random"):
        resume(written)


def test_checkpoint_of_another_version_is_refused(written: Path) -> None:
    content = model_file.read(written)
    settings = {k: v for k, v in content.settings.items() if k != "version"}
    model_file.write(written, content.tensors, settings, kind=module.KIND)
    with pytest.raises(ModelFileError, match="another version of partwise"):
        resume(written)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("state.w", lambda w: w[:-1]),
        ("state.w", lambda w: w.astype(np.float32)),
        ("state.sets.alpha", lambda alpha: alpha[:, None]),
        ("state.sets.codes", lambda codes: codes.astype(np.int64)),
        ("state.dual", lambda dual: np.append(dual, dual)),
    ],
)
def test_checkpoint_with_arrays_of_another_form_is_refused(
    written: Path, name: str, wrong: Any
) -> None:
    content = model_file.read(written)
    tensors = {**content.tensors, name: wrong(content.tensors[name])}
    model_file.write(written, tensors, content.settings, kind=module.KIND)
    own = name.removeprefix("state.")
    with pytest.raises(ModelFileError, match=f"{own!r} is .* of shape .* expected"):
        resume(written)
