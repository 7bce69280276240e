"""Costs and weights: by pair of labels, by class, by example and by token."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.class_weight import compute_class_weight

import problems
from class_data import easy_classes
from partwise import DataError, MulticlassClassifier, SequenceTagger, load
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import Chain, Multiclass, SoftmaxMargin, make_chain
from partwise.structures.interface import add_costs, cost, n_parts
from tagging_data import CHUNKS, WORDS, dicts

X, Y = dicts(WORDS[:8]), CHUNKS[:8]
TOKENS = [label for labels in Y for label in labels]
CLASSES = sorted(set(TOKENS))
ROWS, TARGET = easy_classes(60, n_classes=3, n_features=9)

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")


def prepared(token_weight: Any = None, **settings: Any) -> Any:
    return SequenceTagger(**settings)._prepare(X, Y, token_weight=token_weight)


def costs_of(chain: Any) -> Any:
    """Return the cost of every label at every token."""
    K = chain.layout.n_labels
    rows = []
    for i in range(chain.ptr.size - 1):
        theta = np.zeros(n_parts(chain, i))
        add_costs(chain, i, theta)
        rows.append(theta[: K * int(chain.ptr[i + 1] - chain.ptr[i])].reshape(-1, K))
    return np.vstack(rows)


# --- what they mean ---


def test_costs_callable_is_asked_for_every_wrong_label() -> None:
    def distance(right: str, predicted: str) -> float:
        assert right != predicted
        return len(right) + 2.0 * (predicted == "O")

    found = costs_of(prepared(costs=distance).structure)
    for t, label in enumerate(TOKENS):
        for k, other in enumerate(CLASSES):
            assert found[t, k] == (0.0 if other == label else distance(label, other))


def test_class_weight_multiplies_the_cost_of_a_tag() -> None:
    usual = costs_of(prepared().structure)
    heavy = costs_of(prepared(class_weight={"O": 5.0, "B-NP": 0.0}).structure)
    factor = [{"O": 5.0, "B-NP": 0.0}.get(label, 1.0) for label in TOKENS]
    assert np.array_equal(heavy, np.array(factor)[:, None] * usual)


def test_class_weight_balanced_is_that_of_sklearn() -> None:
    classes = np.array(CLASSES)
    by_class = compute_class_weight("balanced", classes=classes, y=np.array(TOKENS))
    expected = dict(zip(CLASSES, by_class, strict=True))
    found = costs_of(prepared(class_weight="balanced").structure)
    assert found.max(axis=1) == pytest.approx([expected[label] for label in TOKENS])


def test_class_weight_balanced_counts_weighted_examples() -> None:
    weight = np.arange(len(TARGET)) % 3
    once = MulticlassClassifier(class_weight="balanced")._prepare(ROWS, TARGET, weight)
    again = MulticlassClassifier(class_weight="balanced")._prepare(
        np.repeat(ROWS, weight, axis=0), np.repeat(TARGET, weight)
    )
    for k in range(3):
        total = again.sample_weight[again.structure.labels == k].sum()
        assert once.sample_weight[TARGET == k].sum() == pytest.approx(total)


def test_class_weight_of_a_classifier_is_a_sample_weight() -> None:
    by_class = {0: 0.5, 2: 3.0}
    weight = np.array([by_class.get(label, 1.0) for label in TARGET.tolist()])
    own = np.linspace(0.5, 1.5, len(TARGET))
    one = MulticlassClassifier(class_weight=by_class).fit(ROWS, TARGET, own)
    other = MulticlassClassifier().fit(ROWS, TARGET, own * weight)
    assert np.array_equal(one.weights_, other.weights_)


def test_token_weight_multiplies_the_cost_of_a_token() -> None:
    weight = [[0.5 * t for t in range(len(labels))] for labels in Y]
    found = prepared(weight).structure
    flat = np.array(list(itertools.chain(*weight)))
    assert np.array_equal(
        costs_of(found), flat[:, None] * costs_of(prepared().structure)
    )
    wrong = ((found.labels + 1) % found.layout.n_labels).astype(np.int32)
    first, last = int(found.ptr[1]), int(found.ptr[2])
    assert cost(found, 1, wrong[first:last]) == pytest.approx(flat[first:last].sum())


def test_token_weight_of_one_changes_nothing() -> None:
    ones = [[1.0] * len(labels) for labels in Y]
    tagger = SequenceTagger("squared_hinge", tol=0.1)
    usual = tagger.fit(X, Y).weights_
    assert np.array_equal(tagger.fit(X, Y, token_weight=ones).weights_, usual)


def test_token_weight_decides_between_labels_that_clash() -> None:
    """The same word with two labels: the heavier token wins."""
    x = [[{"w": "saw"}], [{"w": "saw"}]]
    y = [["noun"], ["verb"]]
    for weight, winner in (([[3.0], [1.0]], "noun"), ([[1.0], [3.0]], "verb")):
        tagger = SequenceTagger().fit(x, y, token_weight=weight)
        assert tagger.predict(x[:1]) == [[winner]]


@plain
@pytest.mark.parametrize(
    ("loss", "names"),
    [
        ("squared_hinge", ("dcd-ssvm", "dcd-light", "cpd")),
        ("hinge", ("smo", "eg", "eg-primal")),
    ],
)
def test_token_weight_all_solvers_agree(loss: str, names: tuple[str, ...]) -> None:
    s = problems.make_small(problems.chain_costs)
    weight = np.arange(int(s.ptr[-1])) % 4 / 2
    s = make_chain(
        s.nodes, s.ptr, s.labels, problems.N_LABELS, costs=s.costs, token_weight=weight
    )
    problem = make_problem(s, get_loss(loss), 0.7)
    outputs = problems.enumerate_outputs(s)
    reference = {
        "squared_hinge": problems.best_squared_hinge,
        "hinge": problems.best_hinge,
    }[loss]
    optimum, _ = reference(outputs, problem.C)
    for name in names:
        solution = solve(problem, make_solver(name), tol=1e-4, max_iter=5000)
        assert solution.certificate is not None
        assert solution.certificate.primal == pytest.approx(optimum, rel=2e-4)


# --- the log loss ---


def test_log_loss_has_costs_only_where_asked() -> None:
    ones = [[1.0] * len(labels) for labels in Y]
    assert isinstance(prepared(loss="log_loss").structure, Chain)
    for settings in (
        {"class_weight": "balanced"},
        {"costs": {("O", "B-NP"): 2.0}},
        {"token_weight": ones},
    ):
        found = prepared(loss="log_loss", **settings).structure
        assert isinstance(found, SoftmaxMargin)
        margin = prepared(loss="hinge", **settings).structure
        assert np.array_equal(costs_of(found.corpus), costs_of(margin))


def test_log_loss_class_weight_of_a_classifier_brings_no_costs() -> None:
    weighted = MulticlassClassifier("log_loss", class_weight="balanced")
    assert isinstance(weighted._prepare(ROWS, TARGET).structure, Multiclass)
    costly = MulticlassClassifier("log_loss", costs=lambda a, b: abs(a - b))
    assert isinstance(costly._prepare(ROWS, TARGET).structure, SoftmaxMargin)


@plain
def test_log_loss_costs_move_mistakes_to_cheap_ones() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    usual = MulticlassClassifier("log_loss", C=0.1, tol=1e-3)
    costly = clone(usual).set_params(costs={(0, 1): 4.0}).fit(x, y)
    usual.fit(x, y)
    assert costly.certificate_.relative_gap <= 1e-3
    assert (costly.predict(x) == 0).sum() > (usual.predict(x) == 0).sum()


# --- files and scikit-learn ---


def test_class_weight_is_kept_in_the_model_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    for given, expected in (
        ("balanced", "balanced"),
        ({"O": 2.0}, {label: 2.0 if label == "O" else 1.0 for label in CLASSES}),
    ):
        tagger = SequenceTagger(class_weight=given, tol=0.2).fit(X, Y)
        tagger.save(path)
        found = load(path)
        assert found.class_weight == expected
        assert np.array_equal(found.fit(X, Y).weights_, tagger.weights_)


def test_costs_callable_is_kept_as_a_matrix(tmp_path: Path) -> None:
    model = MulticlassClassifier(costs=lambda a, b: abs(a - b), tol=0.1)
    model.fit(ROWS, TARGET).save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert found.costs.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert np.array_equal(found.fit(ROWS, TARGET).weights_, model.weights_)


def test_token_weight_is_split_by_cross_validation() -> None:
    weight = [[float(i + 1)] * len(labels) for i, labels in enumerate(Y)]
    seen = []

    class Spy(SequenceTagger):
        def fit(self, X: Any, y: Any, **options: Any) -> Any:
            seen.append((y, options["token_weight"]))
            return super().fit(X, y, **options)

    cross_val_score(Spy(tol=0.2), X, Y, cv=2, params={"token_weight": weight})
    of_first = {tuple(labels): w[0] for labels, w in zip(Y, weight, strict=True)}
    assert len(seen) == 2
    for y, given in seen:
        assert [w[0] for w in given] == [of_first[tuple(labels)] for labels in y]


# --- mistakes ---


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ({"X": 1.0}, "class_weight: 'X' is not a label of the training data"),
        ({"O": -1.0}, r"class_weight\['O'\] must be a finite number, not negative"),
        ({"O": np.nan}, r"class_weight\['O'\] must be a finite number"),
        ({"O": np.inf}, r"class_weight\['O'\] must be a finite number"),
        ({"O": "2"}, r"class_weight\['O'\] must be a finite number"),
        ("even", "class_weight must be a dict .* not 'even'"),
        ([1.0, 2.0], "class_weight must be a dict"),
        (dict.fromkeys(CLASSES, 0.0), "every mistake costs nothing"),
    ],
)
def test_class_weight_mistakes_raise(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceTagger(class_weight=weight).fit(X, Y)


def test_class_weight_of_an_unknown_class_raises() -> None:
    with pytest.raises(DataError, match="class_weight: 7 is not a label"):
        MulticlassClassifier(class_weight={7: 1.0}).fit(ROWS, TARGET)


def short(i: int) -> list[list[float]]:
    return [[1.0] * (len(labels) - (j == i)) for j, labels in enumerate(Y)]


def changed(value: Any) -> list[list[Any]]:
    weights: list[list[Any]] = short(-1)
    weights[2][1] = value
    return weights


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (short(3), f"sequence 3: {len(Y[3]) - 1} weights for {len(Y[3])} tokens"),
        (short(-1)[1:], "X has 8 examples, but token_weight has 7"),
        (changed(-0.5), "sequence 2, token 1: -0.5 is not a finite number >= 0"),
        (changed(np.nan), "sequence 2, token 1: nan is not a finite number >= 0"),
        (changed("much"), "sequence 2: expected a list of numbers"),
        (3.0, "token_weight must be a list of numbers for every sequence, not float"),
        ([1.0] * 8, "sequence 0: expected a list of numbers, not 1.0"),
        ([[0.0] * len(labels) for labels in Y], "every mistake costs nothing"),
    ],
)
def test_token_weight_mistakes_raise(weight: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        SequenceTagger().fit(X, Y, token_weight=weight)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (lambda right, predicted: "dear", "returned 'dear'; it must return a number"),
        (lambda right, predicted: -1.0, "costs must be finite and not negative"),
    ],
)
def test_costs_callable_mistakes_raise(costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceTagger(costs=costs).fit(X, Y)
