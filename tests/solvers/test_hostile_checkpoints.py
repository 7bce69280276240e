"""Forged checkpoints, of every solver: refused, or a run that ends."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from corruption import forge
from covering import THOROUGH
from hostile_checkpoints import Case, every_solver
from partwise import model_file
from partwise.errors import ModelFileError
from partwise.solvers import checkpoint
from problems import plain_only

CASES = dict(every_solver())
ATTEMPTS = 6 if THOROUGH else 2


@plain_only
@pytest.mark.parametrize("name", CASES)
def test_checkpoint_forged_is_refused_or_goes_on(name: str, tmp_path: Path) -> None:
    """In plain Python an index out of bounds raises, where machine code would crash."""
    case, path = CASES[name](), tmp_path / "run"
    case.run(path, max_iter=2)
    data = path.read_bytes()
    case.run(path, max_iter=3, resume=True)
    refused = 0
    for seed in range(ATTEMPTS):
        path.write_bytes(forge(data, np.random.default_rng(seed)))
        try:
            case.run(path, max_iter=3, resume=True)
        except ModelFileError:
            refused += 1
    assert 0 < refused


@plain_only
@pytest.mark.parametrize("name", ["dcd chain_edges", "dcd derivations"])
def test_checkpoint_with_impossible_arrays_is_refused(
    name: str, tmp_path: Path
) -> None:
    case, path = CASES[name](), tmp_path / "run"
    case.run(path, max_iter=3)
    content = model_file.read(path)

    def older(sets: dict[str, np.ndarray]) -> None:
        first = sets["newest"][sets["newest"] >= 0][0]
        sets["older"][first] = first  # a list without an end

    attacks: dict[str, Callable[[dict[str, np.ndarray]], object]] = {
        "code_at": lambda sets: sets["code_at"].fill(2**40),
        "codes": lambda sets: sets["codes"].fill(2**30),
        "newest": lambda sets: sets["newest"].fill(2**40),
        "older": older,
        "used": lambda sets: sets["used"].fill(-1),
        "alpha": lambda sets: sets["alpha"].fill(np.nan),
        "mass": lambda sets: sets["mass"].fill(1e300),
    }
    prefix = "state.sets."
    for attacked, attack in attacks.items():
        tensors = {key: array.copy() for key, array in content.tensors.items()}
        attack({key.removeprefix(prefix): array for key, array in tensors.items()})
        model_file.write(path, tensors, content.settings, kind=checkpoint.KIND)
        with pytest.raises(ModelFileError, match="not a complete checkpoint"):
            case.run(path, max_iter=4, resume=True)
        assert attacked


@plain_only
def test_checkpoint_that_has_counted_too_far_is_refused(tmp_path: Path) -> None:
    case, path = CASES["eg hinge l2"](), tmp_path / "run"
    case.run(path, max_iter=2)
    content = model_file.read(path)
    tensors = content.tensors | {"state.n_passes": np.array([2**63 - 1])}
    model_file.write(path, tensors, content.settings, kind=checkpoint.KIND)
    with pytest.raises(ModelFileError, match="'n_passes' is too large"):
        case.run(path, max_iter=3, resume=True)


@plain_only
def test_checkpoint_that_cannot_be_written_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case: Case = CASES["dcd chain_edges"]()
    unbroken = case.run(None, max_iter=3)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    from partwise.solvers import solve

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="could not be saved .No space left") as told:
        solution = solve(
            case.problem, case.solver, tol=1e-12, max_iter=3, checkpoint=tmp_path / "c"
        )
    assert len(told) == 3
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(solution.w, unbroken.w)
