"""Estimators are found by name, those of other packages by entry points."""

from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import partwise
from partwise import ModelFileError, SequenceTagger, load
from partwise.estimators import registry

X, Y = [[["a"], ["b"]]], [["P", "Q"]]


class ShoutingTagger(SequenceTagger):
    """What another package might add."""

    def predict(self, X: Any, *, allowed: Any = None) -> list[list[Any]]:
        return [[f"{label}!" for label in y] for y in super().predict(X)]


BY_CLASS = SimpleNamespace(estimator=ShoutingTagger)
BY_NAME = SimpleNamespace(estimator=f"{__name__}:ShoutingTagger")


def install(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    points = [EntryPoint(f"kind{i}", v, registry.GROUP) for i, v in enumerate(values)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)


def saved(tmp_path: Path, cls: Any = ShoutingTagger) -> Path:
    path = tmp_path / "model.partwise"
    cls(C=1.0).fit(X, Y).save(path)
    return path


def test_registry_knows_every_estimator_of_the_package() -> None:
    for name, module in registry.MODULES.items():
        assert partwise._HOME[name] == module
        assert registry.find_estimator(name) is getattr(partwise, name)


@pytest.mark.parametrize("value", ["BY_CLASS", "BY_NAME"])
def test_registry_loads_models_of_entry_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    install(monkeypatch, "no.such.module", f"{__name__}:{value}")
    path = saved(tmp_path)
    assert type(load(path)) is ShoutingTagger
    assert load(path).predict(X) == [["P!", "Q!"]]


def test_registry_broken_entry_points_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, f"{__name__}:BY_CLASS")
    path = saved(tmp_path)
    install(monkeypatch, "no.such.module")
    message = r"'ShoutingTagger' .*kind0 \(no.such.module\): No module named"
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_registry_broken_entry_points_do_not_matter_to_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, "no.such.module")
    assert type(load(saved(tmp_path, SequenceTagger))) is SequenceTagger
    # A class that nobody has registered is saved as the one it is derived from.
    assert type(load(saved(tmp_path))) is SequenceTagger


def test_registry_saves_only_settings_that_can_be_loaded(tmp_path: Path) -> None:
    class Eager(SequenceTagger):
        def __init__(self, haste: float = 2.0):
            super().__init__(C=1.0)
            self.haste = haste

    model = load(saved(tmp_path, lambda C: Eager()))
    assert model.C == 1.0
