"""Settings are declared once: constructor, checks and documentation follow."""

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from partwise import (
    BayesianNetworkClassifier,
    ConstituencyParser,
    DependencyParser,
    GraphLabeler,
    HiddenMarkovModel,
    LatticeRanker,
    MulticlassClassifier,
    SegmentTagger,
    SequenceTagger,
)
from partwise.estimators.allowed_values import FLAG, SEED, number
from partwise.estimators.settings import check_settings, settings_of
from partwise.structures.graph.corpus import MAX_TABLE

ESTIMATORS = [
    SequenceTagger,
    SegmentTagger,
    MulticlassClassifier,
    GraphLabeler,
    LatticeRanker,
    DependencyParser,
    ConstituencyParser,
    HiddenMarkovModel,
    BayesianNetworkClassifier,
]
POSITIONAL: dict[type, list[str]] = {
    HiddenMarkovModel: ["objective", "C", "reference"],
    BayesianNetworkClassifier: ["graph", "objective", "C", "reference"],
}
LIGHT = """
import sys
from partwise.estimators import settings
for room in {rooms}:
    __import__(f"partwise.estimators.{{room}}.settings")
print([name for name in ("numpy", "sklearn", "numba") if name in sys.modules])
"""
every_estimator = pytest.mark.parametrize("cls", ESTIMATORS)


@every_estimator
def test_settings_are_the_parameters_of_the_constructor(cls: Any) -> None:
    parameters = inspect.signature(cls).parameters
    assert list(parameters) == list(settings_of(cls))
    for name, one in settings_of(cls).items():
        assert parameters[name].default == one.default
    free = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert free == POSITIONAL.get(cls, ["loss", "C", "solver"])


@every_estimator
def test_settings_are_all_documented_once(cls: Any) -> None:
    lines = inspect.getdoc(cls).splitlines()
    section = lines[lines.index("Parameters") : lines.index("Attributes")]
    entries = [line.partition(" : ")[0] for line in section[2:] if line[:1].strip()]
    assert entries == list(settings_of(cls))
    assert "{" not in "".join(one.doc for one in settings_of(cls).values())
    for name, one in settings_of(cls).items():
        assert one.sentence.endswith("."), name
        assert " : object" not in str(one), name
    for learnt in ("weights_", "solution_", "certificate_", "bound_"):
        assert sum(line.startswith(f"{learnt} :") for line in lines) == 1


@every_estimator
def test_settings_defaults_are_allowed(cls: Any) -> None:
    check_settings(cls())
    assert clone(cls()).get_params() == cls().get_params()


def test_settings_tell_the_defaults_of_C_by_loss() -> None:
    C = settings_of(DependencyParser)["C"]
    assert C.by_loss == {"squared_hinge": 0.01, "hinge": 0.01, "log_loss": 1.0}
    told = "By default 0.01 for the squared hinge and the hinge, 1 for the log loss."
    assert told in C.doc
    assert told in " ".join(inspect.getdoc(DependencyParser).split())  # type: ignore[union-attr]
    assert settings_of(DependencyParser)["crossing"].choices == (
        "refuse",
        "lift",
        "skip",
    )


def test_settings_say_which_are_left_out_of_model_files() -> None:
    left_out = {n for n, one in settings_of(SequenceTagger).items() if one.transient}
    run = {"callbacks", "checkpoint", "resume", "verbose", "warm_start", "dev_metric"}
    assert left_out == run


@pytest.mark.parametrize("cls", [GraphLabeler, BayesianNetworkClassifier])
def test_settings_limit_tables_as_the_structure_does(cls: Any) -> None:
    assert cls().max_table == MAX_TABLE


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "no"}, "start must be True or False, not 'no'"),
        ({"time_limit": 0}, "time_limit must be a positive number, not 0"),
        ({"random_state": -1}, "random_state must be an integer >= 0"),
        ({"C": True}, "C must be a positive number, not True"),
        ({"boundaries": "x"}, "boundaries must be 'numbered', 'single' or 'none'"),
    ],
)
def test_settings_are_checked_before_data_is_read(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceTagger(**settings).fit(None, None)


def test_settings_may_be_numbers_and_bools_of_numpy() -> None:
    assert number(at_least=1, whole=True).allows(np.int32(3))
    assert number(above=0).allows(np.float32(0.5))
    assert not number(whole=True).allows(np.float64(3.0))
    assert FLAG.allows(np.True_)
    assert not FLAG.allows(1)
    assert SEED.allows(np.random.RandomState(0))


class Careful(SequenceTagger):
    """A user's tagger without a constructor."""


class Eager(SequenceTagger):
    """A user's tagger with a constructor of its own."""

    def __init__(self, haste: float = 2.0, C: float | None = None):
        super().__init__(C=C, max_iter=3, tol=0.5)
        self.haste = haste


def test_settings_of_a_subclass_are_those_of_its_constructor() -> None:
    assert (
        Careful("hinge", 2.0).get_params() == SequenceTagger("hinge", 2.0).get_params()
    )
    assert Careful.__doc__ == "A user's tagger without a constructor."
    assert Eager(3.0).get_params() == {"C": None, "haste": 3.0}
    eager = clone(Eager(C=1.0)).fit([[["a"]], [["b"]]], [["P"], ["Q"]])
    assert eager.predict([[["b"]]]) == [["Q"]]


class Open(SequenceTagger):
    """A user's tagger that passes everything else on."""

    def __init__(self, haste: float = 2.0, **others: object):
        super().__init__(**others)  # type: ignore[arg-type]
        self.haste = haste


def test_settings_of_a_subclass_that_passes_others_on() -> None:
    assert Open(3.0, C=2.0).get_params() == {"haste": 3.0}
    assert repr(Open(3.0, C=2.0)) == "Open(haste=3.0)"


def test_settings_can_be_read_without_numpy() -> None:
    rooms = ["sequence", "dependency", "hidden_markov", "bayesian_network", "lattice"]
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(rooms=rooms)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
