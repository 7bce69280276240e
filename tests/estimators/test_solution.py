"""The solution stays on the estimator, however it was found."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partwise import (
    BayesianNetworkClassifier,
    C_path,
    HiddenMarkovModel,
    LatticeRanker,
    MulticlassClassifier,
    SequenceTagger,
    load,
)

SYMBOLS, STATES = [["a", "b"], ["b", "b"]], [["P", "Q"], ["Q", "Q"]]
ROWS, CLASSES = [["a"], ["b"], ["b"]], ["P", "Q", "Q"]
NUMBERS = [[0.0], [1.0], [2.0], [3.0]]

MODELS: dict[str, Any] = {
    "trained": lambda: SequenceTagger().fit([[["a"], ["b"]]], [["P", "Q"]]),
    "margin": lambda: HiddenMarkovModel(C=1.0).fit(SYMBOLS, STATES),
    "counted": lambda: HiddenMarkovModel("likelihood").fit(SYMBOLS, STATES),
    "network": lambda: BayesianNetworkClassifier(objective="likelihood").fit(
        ROWS, CLASSES
    ),
    "given": lambda: LatticeRanker.with_weights({"lm": 1.0}),
}


def assert_follows(model: Any) -> None:
    solution = model.solution_
    assert solution.w is model.weights_
    assert solution.certificate is model.certificate_
    assert solution.trace is model.trace_
    assert model.status_.startswith(solution.status)
    assert model.n_iter_ == len(solution.trace)
    assert model.C_ > 0
    assert model.bound_ is None
    assert solution.state is None


@pytest.mark.parametrize("name", MODELS)
def test_solution_is_what_all_else_follows_from(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    assert_follows(model)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert_follows(loaded)
    assert loaded.solution_.reason == model.solution_.reason
    assert loaded.solution_.converged == model.solution_.converged
    np.testing.assert_array_equal(loaded.solution_.w, model.weights_)


def test_solution_state_is_kept_only_for_a_warm_start() -> None:
    cold = MulticlassClassifier().fit(NUMBERS, [*CLASSES, "P"])
    warm = MulticlassClassifier(warm_start=True).fit(NUMBERS, [*CLASSES, "P"])
    assert cold.solution_.state is None
    assert warm.solution_.state is not None
    assert len(pickle.dumps(cold)) < len(pickle.dumps(warm))


def test_solution_of_every_point_of_a_path_is_that_of_its_model() -> None:
    path = C_path(MulticlassClassifier(), NUMBERS, [*CLASSES, "P"], [0.1, 1.0])
    for point in path:
        assert point.solution is point.estimator.solution_
        assert_follows(point.estimator)
