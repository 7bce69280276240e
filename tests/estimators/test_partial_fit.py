"""Learning on: the model of all examples so far, whatever batches they came in."""

import io
from itertools import chain

import numpy as np
import pytest

from partwise import DependencyParser, MulticlassClassifier, SequenceTagger
from partwise.data import read_trees
from partwise.errors import DataError
from problems import plain_only

pytestmark = plain_only

RNG = np.random.default_rng(0)
WORDS = [f"w{RNG.integers(12)}" for _ in range(60)]
X = [
    [{"w": WORDS[(5 * i + t) % 60], "t": t} for t in range(1 + i % 4)]
    for i in range(12)
]
y = [["AB"[hash_ % 2] for hash_ in [int(tok["w"][1:]) for tok in x]] for x in X]


def batches(n=3):
    return [(X[i::n], y[i::n]) for i in range(n)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "log_loss"},
        {"loss": "hinge"},
        {"solver": "perceptron", "max_iter": 5},
        {"min_count": 2},
    ],
    ids=str,
)
def test_partial_fit_is_the_model_of_all_examples(settings) -> None:
    tol = 1e-3
    model = SequenceTagger(tol=tol, C=1.0, **settings)
    for some in batches():
        assert model.partial_fit(*some) is model
    assert not model.warm_start
    together = [list(chain(*(some[k] for some in batches()))) for k in (0, 1)]
    whole = SequenceTagger(tol=tol, C=1.0, **settings).fit(*together)
    assert model.weights_.shape == whole.weights_.shape
    if whole.certificate_ is None:
        return
    mine, other = model.certificate_, whole.certificate_
    assert mine.relative_gap <= tol
    assert mine.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= mine.primal * (1 + 1e-9)


@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        ("squared_hinge", "dcd-ssvm"),
        ("squared_hinge", "cpd"),
        ("hinge", "frank-wolfe"),
        ("hinge", "smo"),
        ("hinge", "smo-eg"),
        ("hinge", "eg"),
        ("log_loss", "eg"),
        ("log_loss", "eg-batch"),
        ("log_loss", "sdca"),
    ],
)
def test_partial_fit_goes_on_from_the_dual_point_it_has(loss, solver) -> None:
    settings = {"loss": loss, "solver": solver, "C": 1.0, "tol": 0.05}
    model = SequenceTagger(**settings).partial_fit(X[:10], y[:10])
    before = model.certificate_.dual
    model.partial_fit(X[10:], y[10:])
    # The duals of before are feasible in the problem of all, and worth the same.
    duals = model.trace_["dual"]
    assert duals[np.isfinite(duals)][0] >= 0.99 * before
    whole = SequenceTagger(**settings).fit(X, y)
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-9)
    assert whole.certificate_.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.relative_gap <= 0.05


def test_partial_fit_gives_new_features_and_labels_weights() -> None:
    model = SequenceTagger().partial_fit([[["a"], ["b"]]], [["A", "B"]])
    model.partial_fit([[["c"], ["a"]]], [["0", "A"]])
    assert model.classes_.tolist() == ["0", "A", "B"]
    assert model.predict([[["c"], ["a"]]]) == [["0", "A"]]
    assert model.predict([[["a"], ["b"]]]) == [["A", "B"]]


def test_partial_fit_after_fit_starts_with_its_own_examples() -> None:
    model = SequenceTagger().fit(X, y).partial_fit(X[:4], y[:4])
    alone = SequenceTagger().fit(X[:4], y[:4])
    assert model.weights_.shape == alone.weights_.shape
    assert model._input.names() == alone._input.names()


def test_partial_fit_refuses_other_kinds_of_features() -> None:
    model = SequenceTagger().partial_fit(X[:4], y[:4])
    before = model.weights_
    with pytest.raises(DataError, match="seen so far are dicts, these are numbers"):
        model.partial_fit([np.zeros((2, 3))], [["A", "B"]])
    with pytest.raises(DataError, match="y was given for some examples, but not"):
        model.partial_fit(X[:4])
    assert model.weights_ is before
    classes = MulticlassClassifier().partial_fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="X has 2 features, but Multiclass"):
        classes.partial_fit(np.eye(2), [0, 1])


def test_partial_fit_weighs_examples_of_all_calls() -> None:
    a, b = np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]])
    model = MulticlassClassifier(loss="log_loss", tol=1e-6).partial_fit(a, [0, 1])
    model.partial_fit(b, [1, 0], sample_weight=[2.0, 0.5])
    rows = np.concatenate([a, b])
    whole = MulticlassClassifier(loss="log_loss", tol=1e-6)
    whole.fit(rows, [0, 1, 1, 0], [1, 1, 2, 0.5])
    np.testing.assert_allclose(model.weights_, whole.weights_, atol=1e-2)


def test_partial_fit_of_parsers_joins_sentences() -> None:
    one = "1\tdogs\t_\tN\t_\t_\t2\ts\t_\t_\n2\tbark\t_\tV\t_\t_\t0\tr\t_\t_\n\n"
    other = "1\tdo\t_\tV\t_\t_\t0\tr\t_\t_\n2\tit\t_\tN\t_\t_\t1\to\t_\t_\n\n"
    trees = [read_trees(io.StringIO(text)) for text in (one, one, other)]
    parser = DependencyParser(hash_bits=10)
    for some in trees:
        parser.partial_fit(some)
    assert parser.classes_.tolist() == ["o", "r", "s"]
    assert parser.score(list(chain(*trees))) == 1.0
