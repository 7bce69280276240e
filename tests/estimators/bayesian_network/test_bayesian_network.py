"""Bayesian networks: tables, graphs, predictions, references, files, bad input."""

import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks

import problems
from corruption import corruptions
from lawn import GRAPH, NAMES, lawn
from partwise import BayesianNetworkClassifier, C_path, load
from partwise.errors import DataError, ModelFileError, PairingError
from partwise.estimators.bayesian_network.graph import (
    conditional_information,
    tree_augmented_parents,
)
from partwise.model_file import read, write
from partwise.solvers import RestrictedSimplicialDecomposition
from places import GOLDEN

# What is compiled is the structure's, and the solver's; both are tested elsewhere.
pytestmark = problems.plain_only


class Frame:
    """As much of a data frame as any library's has."""

    def __init__(self, rows: list[dict[str, Any]]):
        self.columns = list(rows[0])
        self.shape = len(rows), len(self.columns)
        self._rows = rows

    def __getitem__(self, name: str) -> Any:
        return np.array([row[name] for row in self._rows], object)


ROWS = lawn(60)
COUNTED: dict[str, Any] = {"objective": "likelihood", "target": "rain"}


def counted(**settings: Any) -> BayesianNetworkClassifier:
    return BayesianNetworkClassifier(GRAPH, **(COUNTED | settings)).fit(ROWS)


def joint(model: BayesianNetworkClassifier, row: dict[str, str]) -> float:
    """Return ``P(row)``, table by table."""
    value = 1.0
    for name, table in model.probabilities_.items():
        family = [*model.parents_[name], name]
        at = tuple(model.values_[one].tolist().index(row[one]) for one in family)
        value *= float(table[at])
    return value


def completions(model: Any, row: dict[str, Any]) -> list[dict[str, str]]:
    """List all rows that agree with what is there."""
    choices = [
        [row[name]] if row.get(name) is not None else model.values_[name].tolist()
        for name in NAMES
    ]
    return [
        dict(zip(NAMES, values, strict=True)) for values in itertools.product(*choices)
    ]


# --- the likelihood ---


def test_bayesian_network_likelihood_is_counting() -> None:
    model = counted(smoothing=0.0)
    grass = model.probabilities_["grass"]
    assert model.parents_["grass"] == ["rain", "hose"]
    wet = [r for r in ROWS if r["rain"] == "yes" and r["hose"] == "off"]
    share = np.mean([row["grass"] == "wet" for row in wet])
    assert grass[1, 0, 1] == pytest.approx(share)
    smooth = counted(smoothing=2.0).probabilities_["season"]
    n_summer = sum(row["season"] == "summer" for row in ROWS)
    np.testing.assert_allclose(smooth[0], (n_summer + 2) / (len(ROWS) + 4))
    assert model.certificate_ is None
    assert model.objective_ == "likelihood"
    assert model.reference_ is None


def test_bayesian_network_weights_of_rows_count() -> None:
    weight = np.arange(len(ROWS)) % 3
    repeated = [row for row, k in zip(ROWS, weight, strict=True) for _ in range(k)]
    weighted = BayesianNetworkClassifier(GRAPH, **COUNTED).fit(ROWS, None, weight)
    model = BayesianNetworkClassifier(GRAPH, **COUNTED).fit(repeated)
    np.testing.assert_allclose(weighted.weights_, model.weights_)


@pytest.mark.parametrize("target", ["rain", ["rain", "hose"], ["grass"]])
def test_bayesian_network_answers_are_those_of_enumeration(target: Any) -> None:
    model = counted()
    names = target if isinstance(target, list) else [target]
    rows: list[dict[str, Any]] = [
        {name: value for name, value in row.items() if name not in names}
        for row in lawn(8, seed=1)
    ]
    rows[0]["season"] = rows[1]["season"] = None
    rows[2] = {"season": "summer"}
    best = model.predict(rows, target=target)
    shares = model.predict_marginals(rows, target=target)
    assert best.shape == ((8, len(names)) if isinstance(target, list) else (8,))
    for i, row in enumerate(rows):
        mass: dict[tuple[str, ...], float] = {}
        for one in completions(model, row):
            key = tuple(one[name] for name in names)
            mass[key] = mass.get(key, 0.0) + joint(model, one)
        found = tuple(np.atleast_1d(best[i]).tolist())
        assert mass[found] == pytest.approx(max(mass.values()))
        for name in names:
            for k, value in enumerate(model.values_[name].tolist()):
                own = sum(
                    p for key, p in mass.items() if key[names.index(name)] == value
                )
                expected = own / sum(mass.values())
                assert shares[name][i, k] == pytest.approx(expected)
        assert model.log_likelihood([row])[0] == pytest.approx(
            np.log(sum(mass.values()))
        )


def test_bayesian_network_missing_values_can_be_maximised() -> None:
    model = counted(missing="maximise")
    rows = [{"grass": "wet"}, {"season": "summer"}, {"hose": "on", "rain": None}]
    for row, found in zip(rows, model.predict(rows), strict=True):
        best = max(completions(model, row), key=lambda one: joint(model, one))
        assert found == best["rain"]
    # Summed and maximised differ where several causes share the blame.
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1.0)


def test_bayesian_network_samples_follow_the_model() -> None:
    model = counted()
    rows = model.sample(4000, random_state=0)
    assert rows == model.sample(4000, random_state=0)
    for row in lawn(3, seed=5):
        share = np.mean([one == row for one in rows])
        assert share == pytest.approx(joint(model, row), abs=0.03)


# --- tables ---


def test_bayesian_network_takes_any_kind_of_table() -> None:
    features = [{k: v for k, v in row.items() if k != "rain"} for row in ROWS]
    y = [row["rain"] for row in ROWS]
    dicts = BayesianNetworkClassifier(**COUNTED).fit(ROWS)
    frame = BayesianNetworkClassifier(**COUNTED).fit(Frame(ROWS))
    beside = BayesianNetworkClassifier(**COUNTED).fit(Frame(features), y)
    array = np.array([list(row.values()) for row in features])
    unnamed = BayesianNetworkClassifier(objective="likelihood").fit(array, y)
    lists = BayesianNetworkClassifier(objective="likelihood").fit(array.tolist(), y)
    expected = dicts.predict_proba(features)
    for model, X in (
        (frame, Frame(features)),
        (frame, ROWS),
        (beside, array),
        (unnamed, array),
        (unnamed, array.astype(object)),
        (lists, array),
    ):
        np.testing.assert_allclose(model.predict_proba(X), expected)
    assert unnamed.variables_ == [0, 1, 2, "class"]
    assert beside.feature_names_in_.tolist() == ["season", "hose", "grass"]
    assert not hasattr(unnamed, "feature_names_in_")
    assert dicts.classes_.tolist() == ["no", "yes"]


def test_bayesian_network_numbers_are_values_too() -> None:
    X = np.array([[0, 1.0], [1, 0], [0, 0], [1, 1]] * 5)
    y = (X[:, 0] == X[:, 1]).astype(int)
    model = BayesianNetworkClassifier(C=1.0).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.score(X, y) == 1.0
    assert model.values_[0].tolist() == [0, 1]
    holes = X.copy()
    holes[0, 1] = np.nan
    assert model.predict_proba(holes)[0].tolist() != model.predict_proba(X)[0].tolist()
    as_bools = BayesianNetworkClassifier(C=1.0).fit(X.astype(bool), y)
    np.testing.assert_allclose(as_bools.weights_, model.weights_)


# --- graphs ---


def test_bayesian_network_takes_a_networkx_graph() -> None:
    graph = nx.DiGraph(GRAPH)
    model = BayesianNetworkClassifier(graph, **COUNTED).fit(ROWS)
    np.testing.assert_allclose(model.weights_, counted().weights_)
    assert set(model.graph_.edges) == set(GRAPH)
    rows = model.table("grass")
    assert rows[0].keys() == {"rain", "hose", "grass", "probability"}
    for start in range(0, len(rows), 2):
        assert sum(row["probability"] for row in rows[start : start + 2]) == (
            pytest.approx(1.0)
        )


def test_bayesian_network_learns_the_tree_of_most_information() -> None:
    rng = np.random.default_rng(0)
    n_values = [2, 3, 2, 2, 2]
    codes = rng.integers(0, n_values, (400, 5))
    codes[:, 3] = np.where(rng.random(400) < 0.9, codes[:, 1] > 0, codes[:, 3])
    codes[:, 2] = np.where(rng.random(400) < 0.8, codes[:, 3], codes[:, 2])
    weight = rng.uniform(0.5, 2.0, 400)
    information = conditional_information(
        codes[:, :4], n_values[:4], codes[:, 4], 2, weight
    )
    p = weight / weight.sum()
    for a, b in itertools.combinations(range(4), 2):
        expected = 0.0
        for values in itertools.product(*(range(n_values[v]) for v in (a, b, 4))):
            both = [codes[:, v] == x for v, x in zip((a, b, 4), values, strict=True)]
            abc = p @ (both[0] & both[1] & both[2])
            if abc > 0:
                ac, bc = p @ (both[0] & both[2]), p @ (both[1] & both[2])
                expected += abc * np.log(abc * (p @ both[2]) / (ac * bc))
        assert information[a, b] == pytest.approx(expected, abs=1e-12)
    parents = tree_augmented_parents(codes, n_values, 4, weight)
    tree = nx.maximum_spanning_tree(
        nx.Graph(
            [(a, b, {"weight": information[a, b]}) for a in range(4) for b in range(a)]
        )
    )
    found = {frozenset((u, v)) for v in range(4) for u in parents[v] if u != 4}
    assert found == {frozenset(edge) for edge in tree.edges}
    assert all(4 in parents[v] for v in range(4))
    assert parents[4] == []


def test_bayesian_network_naive_has_one_parent_each() -> None:
    model = BayesianNetworkClassifier(structure="naive", **COUNTED).fit(ROWS)
    assert model.parents_ == {
        "season": ["rain"],
        "rain": [],
        "hose": ["rain"],
        "grass": ["rain"],
    }


# --- margins ---


def test_bayesian_network_margin_stays_a_distribution_and_predicts_better() -> None:
    X = np.array(list(itertools.product(range(2), repeat=3)) * 4)
    X = X[np.r_[0:32, [3] * 20]]  # what is frequent misleads the counts
    y = (X[:, 0] & X[:, 1]) | X[:, 2]
    naive: dict[str, Any] = {"structure": "naive", "reference": "uniform"}
    by_counts = BayesianNetworkClassifier(objective="likelihood", structure="naive")
    model = BayesianNetworkClassifier(C=10.0, **naive).fit(X, y)
    assert by_counts.fit(X, y).score(X, y) < model.score(X, y) == 1.0
    assert model.certificate_ is not None
    assert model.certificate_.relative_gap <= 1e-3
    for name, table in model.probabilities_.items():
        assert table.sum(axis=-1).max() <= 1.0 + 1e-9
        np.testing.assert_allclose(
            model.missing_[name], np.maximum(1.0 - table.sum(axis=-1), 0), atol=1e-9
        )


def test_bayesian_network_several_targets_have_costs_of_their_own() -> None:
    costs = {"rain": [[0, 5], [5, 0]], "hose": [[0, 0], [0, 0]]}
    settings: dict[str, Any] = {"target": ["rain", "hose"], "C": 0.1, "tol": 0.1}
    model = BayesianNetworkClassifier(GRAPH, costs=costs, **settings).fit(ROWS)
    plain = BayesianNetworkClassifier(GRAPH, **settings).fit(ROWS)
    assert not np.allclose(model.weights_, plain.weights_)
    assert [one.tolist() for one in model.classes_] == [["no", "yes"], ["off", "on"]]
    assert 0.0 <= model.score(ROWS) <= 1.0
    first, second = model.predict_proba(ROWS)
    assert first.shape == second.shape == (60, 2)


def test_bayesian_network_margins_may_be_for_other_variables_in_every_row() -> None:
    make = BayesianNetworkClassifier
    settings: dict[str, Any] = {
        "graph": GRAPH,
        "target": "rain",
        "C": 0.05,
        "tol": 0.02,
    }
    usual = make(**settings).fit(ROWS)
    mask = np.tile(np.array(list(ROWS[0])) == "rain", (len(ROWS), 1))
    same = make(**settings).fit(ROWS, hidden=mask)
    np.testing.assert_array_equal(same.weights_, usual.weights_)
    mask[::2] = np.array(list(ROWS[0])) == "hose"
    both = make(**settings).fit(ROWS, hidden=mask)
    assert not np.allclose(both.weights_, usual.weights_)
    values = make(**settings | {"objective": "likelihood"}).fit(ROWS, hidden=mask)
    np.testing.assert_array_equal(values.weights_, counted().weights_)
    for wrong in (mask[:, 1:], mask.astype(int)):
        with pytest.raises(DataError, match="hidden must be an array of bool of shape"):
            make(**settings).fit(ROWS, hidden=wrong)
    with pytest.raises(DataError, match="nothing is hidden"):
        make(**settings).fit(ROWS, hidden=np.zeros_like(mask))


def test_bayesian_network_small_C_stays_at_the_reference() -> None:
    own = {name: table.copy() for name, table in counted().probabilities_.items()}
    own["season"] = np.array([0.9, 0.1])
    model = BayesianNetworkClassifier(GRAPH, C=1e-9, reference=own, target="rain")
    model.fit(ROWS)
    for name, table in own.items():
        np.testing.assert_allclose(model.probabilities_[name], table, atol=1e-4)
    assert model.reference_ == "own"


def test_bayesian_network_default_C_weighs_rows_against_distributions() -> None:
    few = BayesianNetworkClassifier(GRAPH, target="rain").fit(ROWS[:20])
    many = BayesianNetworkClassifier(GRAPH, target="rain").fit(ROWS[:40])
    assert few.C_ == pytest.approx(0.2 * 9 / 20)  # 1 + 2 + 2 + 4 distributions
    assert many.C_ == pytest.approx(0.2 * 9 / 40)


def test_bayesian_network_dev_data_keeps_the_best() -> None:
    dev = lawn(30, seed=2)
    model = BayesianNetworkClassifier(GRAPH, target="rain", C=1.0)
    model.fit(ROWS, dev=(dev, None))
    scores = model.trace_["dev_score"]
    assert -scores.max() == pytest.approx(1.0 - model.score(dev))
    path = C_path(
        BayesianNetworkClassifier(GRAPH, target="rain"),
        ROWS,
        None,
        [0.01, 1.0],
        dev=(dev, None),
    )
    assert len(path) == 2
    assert path.best_estimator.score(dev) >= 1.0 + scores.max() - 0.2


# --- what training has not seen ---


def test_bayesian_network_unseen_values_have_the_mass_that_is_left() -> None:
    model = counted()
    row = {"season": "spring", "hose": "off", "grass": "wet"}
    # Nothing is left of these distributions, and nothing is known of its children.
    without = counted(unseen="missing")
    expected = {"no": 0.0, "yes": 0.0}
    p, values = model.probabilities_, model.values_
    for k, rain in enumerate(values["rain"].tolist()):
        expected[rain] = float(p["grass"][k, 0, 1])
    shares = model.predict_proba([row])[0]
    np.testing.assert_allclose(
        shares, np.array(list(expected.values())) / sum(expected.values())
    )
    np.testing.assert_allclose(
        without.predict_proba([row]), without.predict_proba([row | {"season": None}])
    )
    with pytest.raises(
        DataError, match="column 'season', row 0: 'spring' is not one of"
    ):
        counted(unseen="error").predict([row])
    with pytest.raises(DataError, match="another kind"):
        model.predict([row | {"season": 3}])


# --- scikit-learn ---


@pytest.mark.parametrize(
    "name",
    [
        "check_parameters_default_constructible",
        "check_no_attributes_set_in_init",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_valid_tag_types",
    ],
)
def test_bayesian_network_passes_the_checks_that_need_no_numbers(name: str) -> None:
    check = getattr(estimator_checks, name)
    check("BayesianNetworkClassifier", BayesianNetworkClassifier())


def test_bayesian_network_is_an_estimator_like_others() -> None:
    X = np.array(list(itertools.product(range(2), repeat=3)) * 6)
    y = X[:, 0] ^ X[:, 1]
    model = BayesianNetworkClassifier(objective="likelihood")
    assert is_classifier(model)
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(model, X, y, cv=3).shape == (3,)
    search = GridSearchCV(model, {"structure": ["naive", "tan"]}, cv=2).fit(X, y)
    assert search.best_params_ == {"structure": "tan"}


# --- files ---


@pytest.mark.parametrize(
    "settings",
    [
        {"target": "rain", "C": 0.3},
        {"target": ["rain", "hose"], "costs": {"hose": [[0, 2], [1, 0]]}},
        {"target": "rain", "costs": [[0, 2], [1, 0]], "reference": "uniform"},
        {"target": "rain", "reference": "own"},
        COUNTED,
    ],
)
def test_bayesian_network_file_gives_the_same_model(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    if settings.get("reference") == "own":
        settings = settings | {"reference": counted().probabilities_}
    model = BayesianNetworkClassifier(GRAPH, tol=0.05, **settings).fit(ROWS)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.weights_, model.weights_)
    assert (again.predict(ROWS) == model.predict(ROWS)).all()
    assert again.variables_ == model.variables_
    assert again.parents_ == model.parents_
    assert again.C_ == model.C_
    assert again.targets_ == model.targets_
    np.testing.assert_allclose(again.fit(ROWS).weights_, model.weights_)


def test_bayesian_network_file_of_a_learnt_graph_learns_again(tmp_path: Path) -> None:
    X = np.array(list(itertools.product(range(2), repeat=3)))
    model = BayesianNetworkClassifier(objective="likelihood").fit(X, X[:, 0] ^ X[:, 1])
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.graph is None
    assert again.variables_ == [0, 1, 2, "class"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("version", [1])
def test_bayesian_network_files_of_every_version_still_load(version: int) -> None:
    path = GOLDEN / f"network-{version}.partwise"
    known = json.loads(path.with_suffix(".json").read_text())
    assert load(path).predict(known["inputs"]).tolist() == known["predictions"]
    assert len({tuple(row) for row in known["predictions"]}) > 2


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a", "a", "b", "c"]},
        {"names": ["a"]},
        {"n_values": [2, 2, 2, 3]},
        {"n_values": [2, 2, 2, "2"]},
        {"integer_values": [True] * 4},
        {"parents": [[1], [0], [], []]},
        {"parents": [[9], [], [], []]},
        {"parents": [[], []]},
        {"targets": [7]},
        {"targets": []},
        {"targets": [0]},
        {"suitable_C": -1.0},
        {"has_reference": True},
        {"has_costs": True},
    ],
)
def test_bayesian_network_damaged_file_is_refused(change: Any, tmp_path: Path) -> None:
    counted().save(tmp_path / "m")
    content = read(tmp_path / "m", kind="model")
    settings = dict(content.settings) | change
    write(tmp_path / "n", dict(content.tensors), settings, kind="model")
    with pytest.raises(ModelFileError):
        load(tmp_path / "n")


def test_bayesian_network_corrupted_files_are_refused_or_whole(tmp_path: Path) -> None:
    path = tmp_path / "m"
    own = counted().probabilities_
    settings: dict[str, Any] = {"costs": [[0, 2], [1, 0]], "target": "rain", "C": 0.1}
    BayesianNetworkClassifier(GRAPH, reference=own, **settings).fit(ROWS).save(path)
    data, refused = path.read_bytes(), 0
    for damaged in corruptions(data, 60, seed=0):
        path.write_bytes(damaged)
        try:
            model = load(path)
        except ModelFileError:
            refused += 1
        else:
            rows = [{}, dict.fromkeys(model.variables_)]
            assert set(model.predict(rows)) <= set(model.classes_)
    assert refused > 40


# --- bad input ---


def changed(i: int, **values: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [dict(row) for row in ROWS]
    rows[i].update(values)
    return rows


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (changed(3, hose=None), "column 'hose', row 3: the value is missing"),
        (changed(3, hose=float("nan")), "column 'hose', row 3: the value is missing"),
        (changed(3, hose=1), "column 'hose': values must be all strings or all"),
        (changed(3, hose=0.5), "row 3: 0.5 is not a value of a discrete"),
        (changed(3, hose=["on"]), "row 3"),
        ([row | {"planet": "earth"} for row in ROWS], "column 'planet': all rows have"),
        ([], "table with rows and columns|no column"),
        ("rows", "must be a table, not str"),
        ([["a", "b"], ["a"]], "row 1: it has 1 values"),
        (np.zeros(3), "shape"),
    ],
)
def test_bayesian_network_bad_tables_are_refused(rows: Any, match: str) -> None:
    with pytest.raises(DataError, match=match):
        BayesianNetworkClassifier(target="rain").fit(rows)


@pytest.mark.parametrize(
    ("graph", "match"),
    [
        ([("rain", "grass"), ("grass", "hose"), ("hose", "rain")], "cycle, rain -> "),
        (nx.DiGraph([("rain", "rain")]), "not in the graph|cycle"),
        (nx.DiGraph([*GRAPH, ("moon", "rain")]), "'moon' is not a variable"),
        (nx.DiGraph([("rain", "grass")]), "column 'season' is not in the graph"),
        (nx.Graph(GRAPH), "no direction"),
        ("rain -> grass", "must be a networkx.DiGraph"),
        ([("rain", "grass", "hose")], "not a .parent, child. pair"),
    ],
)
def test_bayesian_network_bad_graphs_are_refused(graph: Any, match: str) -> None:
    with pytest.raises(DataError, match=match):
        BayesianNetworkClassifier(graph, target="rain").fit(ROWS)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"objective": "both"}, "objective must be 'margin' or 'likelihood'"),
        ({"structure": "forest"}, "structure must be"),
        ({"missing": "drop"}, "missing must be"),
        ({"unseen": "drop"}, "unseen must be"),
        ({"max_table": 0}, "max_table must be"),
        ({"reference": "mine"}, "reference must be"),
        ({"reference": {"rain": [1.0]}}, "a table for every variable"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"smoothing": 0}, "needs smoothing > 0"),
        ({"loss": "log_loss"}, "loss must be"),
        ({"C": 0}, "C must be a positive number"),
        ({"target": None}, "it is not clear what to predict"),
        ({"target": "moon"}, "no column 'moon'"),
        ({"target": ["rain", "rain"]}, "twice"),
        ({"target": ["rain", "hose"], "graph": None}, "need a graph"),
        ({"target": ["rain", "hose"], "costs": [[0, 1], [1, 0]]}, "must be a dict"),
        ({"costs": np.zeros((2, 2))}, "costs nothing"),
    ],
)
def test_bayesian_network_bad_settings_are_refused(settings: Any, match: str) -> None:
    own: dict[str, Any] = {"graph": GRAPH, "target": "rain"}
    with pytest.raises(ValueError, match=match):
        BayesianNetworkClassifier(**(own | settings)).fit(ROWS)


@pytest.mark.parametrize("row", [[0.5, 0.6], [0.0, 1.0], [1.5, -0.5], [0.2, 0.3, 0.5]])
def test_bayesian_network_reference_must_be_distributions(row: list[float]) -> None:
    own = counted().probabilities_ | {"season": np.array(row)}
    model = BayesianNetworkClassifier(GRAPH, reference=own, target="rain")
    with pytest.raises(ValueError, match="reference, season: "):
        model.fit(ROWS)


def test_bayesian_network_gamma_must_be_positive() -> None:
    with pytest.raises(ValueError, match="gamma must be positive"):
        RestrictedSimplicialDecomposition(gamma=0.0)
    with pytest.raises(PairingError, match="use simplicial"):
        BayesianNetworkClassifier(GRAPH, solver="smo", target="rain").fit(ROWS)


def test_bayesian_network_too_much_hidden_at_once_is_refused() -> None:
    model = counted(max_table=7)
    row = {"season": "summer", "grass": "wet"}
    assert model.predict([row]).shape == (1,)
    with pytest.raises(DataError, match=r"row 1: .* 2 variables season, hose \(none"):
        model.predict([row, {}])
    assert model.set_params(max_table=100).predict([row, {}]).shape == (2,)


def test_bayesian_network_bad_questions_are_refused() -> None:
    model = counted()
    with pytest.raises(ValueError, match="not 'moon'"):
        model.predict(ROWS, target="moon")
    with pytest.raises(ValueError, match="empty list"):
        model.predict(ROWS, target=[])
    with pytest.raises(DataError, match="column 'moon' is not a variable"):
        model.predict([{"moon": "full"}])
    with pytest.raises(DataError, match="2 columns without names; expected 3"):
        model.predict([["wet", "off"]])
    with pytest.raises(DataError, match="the right value is missing"):
        model.score([{"rain": None, "grass": "wet"}])
    with pytest.raises(ValueError, match="n must be"):
        model.sample(0)


def test_bayesian_network_answers_every_row_that_tells_nothing() -> None:
    model = BayesianNetworkClassifier(GRAPH, "likelihood", target="rain")
    model.fit(lawn(20))
    assert (
        model.predict([{}, {}]).tolist() == model.predict([{"hose": None}] * 2).tolist()
    )
    assert model.predict_proba([{}]).shape == (1, 2)
    assert model.predict([]).tolist() == []


def test_bayesian_network_compares_as_many_right_values_as_rows() -> None:
    rows = lawn(20)
    model = BayesianNetworkClassifier(GRAPH, "likelihood", target="rain").fit(rows)
    with pytest.raises(DataError, match="X has 20 examples, but y has 1"):
        model.score(rows, ["yes"])
    with pytest.raises(DataError, match="X has 20 examples, but y has 1"):
        clone(model).fit(rows, dev=(rows, ["yes"]))
    with pytest.raises(DataError, match="no rows to score"):
        model.score([], [])


def test_bayesian_network_predicts_one_of_very_many_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"a": a % 7, "b": a % 3, "c": a % 2} for a in range(60)]
    model = BayesianNetworkClassifier(
        [("a", "b"), ("b", "c")], "likelihood", target="a"
    ).fit(rows)
    asked = [{"c": 0}, {"c": 1}, {"b": 2}, {}]
    tried = model.predict(asked)
    monkeypatch.setattr("partwise.estimators.bayesian_network.answers.MOST_TOGETHER", 6)
    assert model.predict(asked).tolist() == tried.tolist()


def test_bayesian_network_too_many_probabilities_name_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("partwise.structures.bayesian_network.network.MOST_WEIGHTS", 10)
    with pytest.raises(ValueError, match="variable 'grass' alone, with its 2 parents"):
        BayesianNetworkClassifier(GRAPH, "likelihood", target="rain").fit(lawn(20))


def test_bayesian_network_sparse_tables_are_refused() -> None:
    table = csr_array(np.eye(3, dtype=int))
    with pytest.raises(DataError, match=r"give X\.toarray\(\)"):
        BayesianNetworkClassifier().fit(table, [0, 1, 1])


def test_bayesian_network_columns_of_one_name_are_refused() -> None:
    model = BayesianNetworkClassifier(GRAPH, "likelihood", target="rain")
    model.fit(lawn(20))
    twice = Frame(lawn(3))
    twice.columns.append("hose")
    with pytest.raises(DataError, match="X: two columns are called 'hose'"):
        model.predict(twice)


def test_bayesian_network_scores_need_a_weight_for_every_row() -> None:
    rows = lawn(20)
    model = BayesianNetworkClassifier(GRAPH, "likelihood", target="rain").fit(rows)
    with pytest.raises(ValueError, match="1 sample weights for 20 examples"):
        model.score(rows, sample_weight=[1.0])


def test_bayesian_network_values_of_other_types_are_to_be_strings() -> None:
    rows = [{"a": (0, 1), "b": 0}, {"a": (1, 2), "b": 1}]
    with pytest.raises(DataError, match=r"not \(0, 1\) \(tuple\); turn them into str"):
        BayesianNetworkClassifier(target="b").fit(rows)


def test_tree_of_many_values_takes_no_memory_for_pairs_that_do_not_occur() -> None:
    n = 3000
    codes = np.column_stack([np.arange(n), np.arange(n)[::-1], np.arange(n) % 2])
    tracemalloc.start()
    try:
        parents = tree_augmented_parents(codes, [n, n, 2], target=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert parents == [[2], [0, 2], []]
    assert peak < 20e6  # all pairs would take 288 MB


def test_bayesian_network_of_many_values_takes_memory_for_those() -> None:
    rows = np.column_stack([np.arange(2000), np.arange(2000) % 2])
    model = BayesianNetworkClassifier([(1, 0)], "likelihood", target=1).fit(rows)
    tracemalloc.start()
    try:
        found = model.predict([[7, None], [8, None]])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.tolist() == [1, 0]
    assert peak < 4e6  # costs of all pairs of values would take 32 MB
