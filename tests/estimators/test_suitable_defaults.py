"""What is minimised, and with which C, if nothing is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partwise import FrankWolfe, MulticlassClassifier, Perceptron, SequenceTagger, load

WORDS = [[{"w": "the"}, {"w": "dog"}], [{"w": "dog"}]], [["D", "N"], ["N"]]


@pytest.mark.parametrize("cls", [SequenceTagger, MulticlassClassifier])
@pytest.mark.parametrize(
    ("settings", "loss"),
    [
        ({}, "log_loss"),
        ({"tol": 0.1, "max_iter": 5}, "log_loss"),
        ({"penalty": "l1"}, "log_loss"),
        ({"penalty": "elasticnet"}, "log_loss"),
        ({"C": 1.0}, "log_loss"),
        ({"C": 1.0, "loss": "hinge"}, "hinge"),
        ({"solver": "dcd-ssvm"}, "squared_hinge"),
        ({"solver": "mira"}, "squared_hinge"),
        ({"solver": "frank-wolfe"}, "hinge"),
        ({"solver": FrankWolfe()}, "hinge"),
        ({"solver": Perceptron()}, "squared_hinge"),
        ({"solver": "eg"}, "log_loss"),
        ({"solver": "sgd"}, "log_loss"),
        ({"solver": "lbfgs", "C": 2.0}, "log_loss"),
        ({"rescaling": "slack"}, "squared_hinge"),
        ({"costs": [[0.0, 1.0], [2.0, 0.0]]}, "squared_hinge"),
    ],
)
def test_default_loss_goes_with_what_is_said(
    cls: Any, settings: dict[str, Any], loss: str
) -> None:
    assert cls(**settings)._chosen_loss() == loss


def test_default_loss_of_taggers_goes_with_weights_of_labels() -> None:
    """Of a classifier these are weights of examples, which any loss has."""
    assert SequenceTagger(class_weight="balanced")._chosen_loss() == "squared_hinge"
    assert MulticlassClassifier(class_weight="balanced")._chosen_loss() == "log_loss"


def test_default_of_names_is_a_model_with_probabilities() -> None:
    tagger = SequenceTagger().fit(*WORDS)
    assert (tagger.C_, tagger._chosen_loss()) == (3.0, "log_loss")
    # Costs are for margins, those of tokens, too.
    ones = [[1.0] * len(labels) for labels in WORDS[1]]
    weighed = SequenceTagger().fit(*WORDS, token_weight=ones)
    assert (weighed.C_, weighed._chosen_loss()) == (0.1, "squared_hinge")


def test_default_of_numbers_does_not_depend_on_units(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0.3).astype(int)
    small, large = (
        MulticlassClassifier(fit_intercept=False, tol=1e-6).fit(unit * X, y)
        for unit in (2.0**-20, 2.0**20)
    )
    assert small._chosen_loss() == large._chosen_loss() == "hinge"
    assert small.C_ == 2.0**80 * large.C_
    np.testing.assert_allclose(
        2.0**-20 * small.weights_, 2.0**20 * large.weights_, rtol=1e-9
    )
    large.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.C_, loaded._chosen_loss()) == (large.C_, "hinge")


def test_default_of_numbers_counts_rows_by_their_weight() -> None:
    X = [[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]]
    y = [["A", "B"], ["A"]]
    settings: dict[str, Any] = {"max_iter": 1, "tol": 1e3}
    weighed = SequenceTagger(**settings).fit(X, y, sample_weight=[1.0, 2.0])
    repeated = SequenceTagger(**settings).fit([*X, X[1]], [*y, y[1]])
    assert weighed.C_ == repeated.C_ == 30.0 / (25.0 / 4.0)


@pytest.mark.parametrize(
    ("n_labels", "loss"), [(100, "log_loss"), (101, "squared_hinge")]
)
def test_many_labels_are_learnt_with_margins(
    n_labels: int, loss: str, tmp_path: Path
) -> None:
    """What they are learnt with is known to the model, and to that of a file."""
    names = [f"{i:03}" for i in range(n_labels)]
    X, y = [[[name] for name in names]], [names]
    settings: dict[str, Any] = {"max_iter": 1, "tol": 1e3}
    tagger = SequenceTagger(**settings).fit(X, y)
    assert (tagger._chosen_loss(), tagger.C_) == (loss, tagger.default_C[loss])
    tagger.save(tmp_path / "model")
    assert load(tmp_path / "model")._chosen_loss() == loss
    wanted = SequenceTagger("log_loss", **settings).fit(X, y)
    assert wanted._chosen_loss() == "log_loss"
    # The completions of labels that are known in part have a likelihood, too.
    in_part = SequenceTagger(**settings).fit(X, [[None, *names[1:]]])
    assert in_part._chosen_loss() == "log_loss"
