"""``partwise warm`` and ``partwise doctor``."""

import json
from pathlib import Path
from typing import Any

import pytest

import problems
from command_line import message, run
from partwise._jit import cache
from partwise.cli.doctor import examine
from partwise.cli.kinds import built_in_kinds, resolve
from partwise.estimators.settings import settings_of


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Note what would be tried out, instead of doing it."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(cache, "native_only", False)
    for room in ("sequence", "classifier"):
        monkeypatch.setattr(
            f"partwise.estimators.{room}.tryout.try_out",
            lambda room=room, **settings: calls.append({"room": room, **settings}),
        )
    return calls


def test_warm_tries_every_loss_of_what_is_named(tried: list[dict[str, Any]]) -> None:
    shown = run("warm", "tag", "MulticlassClassifier")
    assert [(one["room"], one["loss"]) for one in tried] == [
        (room, loss)
        for room in ("sequence", "classifier")
        for loss in ("squared_hinge", "hinge", "log_loss")
    ]
    assert {one["solver"] for one in tried} == {"auto"}
    assert "compiled now" in shown.stdout
    assert "1 of 6: tag, squared_hinge" in shown.stderr
    assert cache.native_only


def test_warm_tries_a_pipeline_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(cache, "native_only", False)
    monkeypatch.setattr(
        "partwise.estimators.pipeline.tryout.try_out",
        lambda **settings: calls.append(settings),
    )
    found = json.loads(run("warm", "pipeline", "--json").stdout)
    assert (found["tried"], calls) == (["pipeline"], [{}])


def test_warm_tries_the_solvers_and_losses_that_are_named(
    tried: list[dict[str, Any]],
) -> None:
    options = ["--loss", "log_loss", "--solver", "lbfgs", "--solver", "eg"]
    found = json.loads(run("warm", "tag", *options, "--json").stdout)
    assert [one["solver"] for one in tried] == ["lbfgs", "eg"]
    assert found["tried"] == ["tag log_loss lbfgs", "tag log_loss eg"]
    assert found["compile_seconds"] >= 0.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tga"], "there is nothing called 'tga' to compile for"),
        (["tag", "--loss", "hing"], "loss must be 'squared_hinge'"),
        (["tag", "--solver", "egg"], "unknown solver 'egg'"),
        (["tag", "--loss", "hinge", "--solver", "lbfgs"], "cannot minimise"),
    ],
)
def test_warm_refuses_what_there_is_not(arguments: list[str], said: str) -> None:
    assert said in message("warm", *arguments)


@problems.plain_only
@pytest.mark.filterwarnings("ignore::partwise.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "kind",
    # Pipelines are made of models of the other kinds.
    [kind for kind in built_in_kinds() if kind.name != "pipeline"],
    ids=lambda kind: kind.name,
)
def test_every_kind_can_be_tried_out_with_every_loss(kind: Any) -> None:
    losses = settings_of(resolve(kind.estimator))["loss"].choices
    assert losses
    for loss in losses:
        kind.function("try_out")(loss=loss, solver="auto", max_iter=2)


def test_doctor_says_what_is_there(tmp_path: Path) -> None:
    found = json.loads(run("doctor", "--json").stdout)
    assert found == json.loads(json.dumps(examine()))
    assert found["versions"]["partwise"] == "0.1.0"
    assert found["machine"]["cores"] >= 1
    assert found["prebuilt"] is None
    shown = run("doctor").stdout
    for folder in found["caches"]:
        assert folder["folder"] in shown
    assert "none; partwise warm compiles ahead" in shown
