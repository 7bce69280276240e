"""Log loss, penalties and threads, as users of estimators and commands meet them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from partwise import MulticlassClassifier, SequenceTagger, load
from partwise.cli.app import app
from partwise.solvers import (
    LBFGS,
    OWLQN,
    CuttingPlane,
    FrankWolfe,
    Relay,
)
from partwise.solvers.registry import make_solver
from partwise.synthetic import make_corpus
from places import GOLDEN

CORPUS = make_corpus(40)
X = [[{"word": w, "suffix": w[-2:]} for w in s.words] for s in CORPUS]
Y = CORPUS.column("tags")
FEW = LBFGS()  # what suits few examples best


def tagger(**settings: Any) -> SequenceTagger:
    options: dict[str, Any] = {"loss": "log_loss", "C": 1.0, "tol": 1e-3}
    return SequenceTagger(**options | {"max_iter": 500} | settings)


@pytest.fixture(scope="module")
def fitted() -> SequenceTagger:
    return tagger().fit(X, Y)


@pytest.fixture(scope="module")
def sparse() -> SequenceTagger:
    return tagger(penalty="elasticnet", l1_ratio=0.6, n_jobs=2).fit(X, Y)


def test_log_loss_tagger_learns(fitted: SequenceTagger) -> None:
    assert fitted.solver_ == LBFGS()  # since there are few sentences
    assert fitted.certificate_ is not None
    assert fitted.certificate_.relative_gap <= 1e-3
    assert fitted.score(X, Y) > 0.9


def test_log_loss_tagger_maximises_the_likelihood(fitted: SequenceTagger) -> None:
    """The certificate's objective is that of the probabilities the tagger gives."""
    short = [(x[:2], y[:2]) for x, y in zip(X, Y, strict=True)]
    model = tagger(start=False, end=False).fit(*map(list, zip(*short, strict=True)))
    w, total = model.weights_, 0.0
    for x, y in short:
        for labels, score in model.predict_kbest([x], k=10_000)[0]:
            if labels == y:
                right = score
        scores = [score for _, score in model.predict_kbest([x], k=10_000)[0]]
        total += np.logaddexp.reduce(scores) - right
    assert model.certificate_ is not None
    assert model.certificate_.primal == pytest.approx(0.5 * w @ w + total)


def test_log_loss_elastic_net_leaves_weights_out(
    fitted: SequenceTagger, sparse: SequenceTagger
) -> None:
    assert sparse.solver_ == OWLQN()  # since there are few sentences
    assert sparse.certificate_ is not None
    assert sparse.certificate_.relative_gap <= 1e-3
    assert np.count_nonzero(sparse.weights_) < 0.5 * np.count_nonzero(fitted.weights_)
    assert sparse.score(X, Y) > 0.8


def test_log_loss_model_file_keeps_the_settings(
    sparse: SequenceTagger, tmp_path: Path
) -> None:
    path = tmp_path / "model.partwise"
    sparse.save(path)
    loaded = load(path)
    for name in ("loss", "penalty", "l1_ratio", "n_jobs"):
        assert getattr(loaded, name) == getattr(sparse, name), name
    assert loaded.predict(X) == sparse.predict(X)
    assert loaded.certificate_ == sparse.certificate_


def test_log_loss_old_model_file_has_the_defaults() -> None:
    data = GOLDEN
    for name in ("tagger-1.partwise", "classifier-1.partwise"):
        model = load(data / name)
        assert (model.penalty, model.l1_ratio, model.n_jobs) == ("l2", 0.5, None)


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({}, FEW),
        ({"n_jobs": -1}, FEW),
        ({"solver": LBFGS(history=3), "n_jobs": 2}, LBFGS(history=3)),
        ({"penalty": "l1"}, OWLQN()),
        ({"penalty": "elasticnet", "l1_ratio": 0.0}, FEW),
        ({"penalty": "l2", "l1_ratio": 1.0}, FEW),
        ({"loss": "hinge"}, Relay(FrankWolfe(), CuttingPlane())),
        ({"solver": "owlqn"}, OWLQN()),
        (
            {"loss": "squared_hinge", "n_jobs": 2},
            Relay(make_solver("dcd"), CuttingPlane()),
        ),
    ],
    ids=str,
)
def test_log_loss_solver_is_chosen_by_the_settings(
    settings: dict[str, Any], chosen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(Exception):
        pass

    def ask(problem: Any, solver: Any, **options: Any) -> Any:
        assert problem.n_jobs == settings.get("n_jobs", 1)
        assert (type(solver), repr(solver)) == (type(chosen), repr(chosen))
        raise Asked

    monkeypatch.setattr("partwise.estimators.base.solve", ask)
    with pytest.raises(Asked):
        tagger(**settings).fit(X, Y)


def test_log_loss_classifier_is_multinomial_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    y = np.argmax(x[:, :3] + rng.normal(size=(80, 3)), axis=1)
    ours = MulticlassClassifier("log_loss", C=0.5, tol=1e-11, fit_intercept=False)
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9)
    np.testing.assert_allclose(
        ours.fit(x, y).predict_proba(x), peer.fit(x, y).predict_proba(x), atol=1e-5
    )
    sparse = MulticlassClassifier("log_loss", C=0.1, penalty="l1", n_jobs=2).fit(x, y)
    assert 0 < np.count_nonzero(sparse.weights_) < sparse.weights_.size


def test_log_loss_command_trains_with_a_penalty(tmp_path: Path) -> None:
    lines = [
        "\n".join(f"{w} {t}" for w, t in zip(s.words, tags, strict=True))
        for s, tags in zip(CORPUS, Y, strict=True)
    ]
    train, model = tmp_path / "train.txt", tmp_path / "model.partwise"
    train.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    arguments = ["train", "tag", str(train), "--model", str(model), "--quiet", "--json",
                 "--loss", "log_loss", "--penalty", "elasticnet", "--l1-ratio", "0.8",
                 "--jobs", "2", "--C", "1"]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    numbers = json.loads(result.stdout)
    assert 0 < numbers["nonzero_weights"] < 0.5 * numbers["weights"]
    loaded = load(model)
    assert (loaded.loss, loaded.penalty) == ("log_loss", "elasticnet")
    assert (loaded.l1_ratio, loaded.n_jobs) == (0.8, 2)


def test_log_loss_command_refuses_a_penalty_of_the_hinge(tmp_path: Path) -> None:
    train = tmp_path / "train.txt"
    train.write_text("a X\nb Y\n", encoding="utf-8")
    arguments = ["train", "tag", str(train), "--model", str(tmp_path / "model"),
                 *"--penalty l1 --loss squared_hinge --solver dcd".split()]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "use proximal, or solver='auto'" in " ".join(result.output.split())
