"""How a hidden Markov model chooses between counting and margins."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from hidden_markov_data import X, Y, noisy
from partwise import C_path, HiddenMarkovModel, ModelFileError, load, model_file
from partwise.estimators.generative.suitable_weights import suitable_Cs
from partwise.estimators.hidden_markov.choice import (
    Candidate,
    choose,
    compare,
    make_candidates,
    make_trials,
)
from partwise.estimators.hidden_markov.symbol_sequences import SymbolSequences

pytestmark = problems.plain_only


def sequences(count: int) -> SymbolSequences:
    codes = np.arange(2 * count, dtype=np.int32)
    return SymbolSequences(2 * np.arange(count + 1), codes, codes)


# --- trials ---


def test_choice_folds_hold_every_sequence_out_once() -> None:
    data, weight = sequences(7), np.arange(7.0)
    trials = make_trials(data, weight, None, 3, seed=1)
    assert len(trials) == 3
    held_out = np.concatenate([trial.dev.symbols for trial in trials])
    assert sorted(held_out.tolist()) == data.symbols.tolist()
    for trial in trials:
        assert not set(trial.train.symbols) & set(trial.dev.symbols)
        assert trial.train.n_sequences + trial.dev.n_sequences == 7
        # Weights stay with their sequences.
        assert trial.weight is not None
        np.testing.assert_array_equal(trial.weight, trial.train.symbols[::2] // 2)
        np.testing.assert_array_equal(trial.dev_weight, trial.dev.symbols[::2] // 2)


@pytest.mark.parametrize(("count", "expected"), [(999, 5), (2000, 3), (5000, 1)])
def test_choice_much_data_is_held_out_in_part(count: int, expected: int) -> None:
    trials = make_trials(sequences(count), None, None, 5, seed=0)
    assert len(trials) == expected
    assert sum(trial.dev.n_sequences for trial in trials) >= min(count, 1000)


def test_choice_development_data_takes_the_place_of_folds() -> None:
    dev = sequences(2)
    (trial,) = make_trials(sequences(5), None, dev, 3, seed=0)
    assert trial.train.n_sequences == 5
    assert trial.dev is dev


# --- the rule ---


def test_choice_costs_are_compared_sequence_by_sequence() -> None:
    trials = make_trials(sequences(4), None, sequences(4), 2, seed=0)
    costs = [np.array([4.0, 4.0, 8.0, 8.0]), np.array([3.0, 2.0, 7.0, 6.0])]
    first, second = compare(
        make_candidates(["uniform"], [1.0]), trials, lambda *_: costs
    )
    assert (first.cost, first.gain, first.error) == (6.0, 0.0, 0.0)
    assert (second.cost, second.gain) == (4.5, 1.5)
    # Gains 1, 2, 1, 2: a standard deviation of 1/2, for four of them.
    assert second.error == pytest.approx(0.25)
    assert choose([first, second]) == second


def test_choice_of_what_may_be_chance_is_the_likelihood() -> None:
    counted = Candidate("likelihood", cost=5.0, gain=0.0, error=0.0)
    better = Candidate("margin", "uniform", 1.0, cost=4.0, gain=1.0, error=1.1)
    worse = Candidate("margin", "uniform", 2.0, cost=6.0, gain=-1.0, error=0.1)
    assert choose([counted, worse]) == counted
    assert choose([counted, better, worse]) == counted


def test_choice_C_shrinks_with_the_data_and_its_costs() -> None:
    costs = 1.0 - np.eye(3)
    few, many = (suitable_Cs(7, sequences(n).worst_loss(costs, 1)) for n in (10, 100))
    np.testing.assert_allclose(np.array(many) * 10, few, rtol=0.06)
    dear = suitable_Cs(7, sequences(10).worst_loss(10 * costs, 2))
    cheap = suitable_Cs(7, sequences(10).worst_loss(costs, 2))
    np.testing.assert_allclose(np.array(dear) * 100, cheap, rtol=0.06)


# --- the estimator ---


def held_out_cost(model: HiddenMarkovModel, data: Any) -> float:
    return 1.0 - model.score(*data)


@pytest.mark.parametrize("blur", [0.2, 0.8])
def test_hidden_markov_auto_is_never_much_worse_than_counting(blur: float) -> None:
    train, test = noisy(15, 0, blur), noisy(100, 1, blur)
    counted = HiddenMarkovModel("likelihood").fit(*train)
    chosen = HiddenMarkovModel("auto", cv=2, tol=0.01).fit(*train)
    assert held_out_cost(chosen, test) <= held_out_cost(counted, test) + 0.03
    assert chosen.candidates_[0].objective == "likelihood"
    names = {one.reference for one in chosen.candidates_}
    assert names == {None, "likelihood", "uniform"}


# A symbol that is said three times is no better evidence than one: the model is wrong,
# and counting believes in sun where there were four days of it, and twelve of rain.
WALKS = [["walk"] * 3] * 16 + [["clean"] * 3] * 24
WEATHER = [["sun"] * 3] * 4 + [["rain"] * 3] * 36


def test_hidden_markov_auto_takes_margins_where_they_pay() -> None:
    counted = HiddenMarkovModel("likelihood").fit(WALKS, WEATHER)
    assert counted.predict(WALKS[:1]) == [["sun"] * 3]
    model = HiddenMarkovModel("auto", cv=4).fit(WALKS, WEATHER)
    assert model.objective_ == "margin"
    best = min(model.candidates_, key=lambda one: one.cost)
    assert (model.reference_, model.C_) == (best.reference, best.C)
    assert best.gain > best.error
    assert model.certificate_ is not None
    assert model.predict(WALKS[:1]) == [["rain"] * 3]


def test_hidden_markov_auto_chooses_by_development_data(tmp_path: Path) -> None:
    model = HiddenMarkovModel("auto", C=2.0)
    model.fit(WALKS, WEATHER, dev=(WALKS, WEATHER))
    assert [one.C for one in model.candidates_] == [None, 2.0, 2.0]
    assert (model.objective_, model.C_) == ("margin", 2.0)
    assert model.get_params()["objective"] == "auto"
    # What was chosen is in the file.
    model.save(tmp_path / "m")
    same = load(tmp_path / "m")
    assert (same.objective_, same.reference_, same.C_) == (
        "margin", model.reference_, 2.0,
    )  # fmt: skip
    assert same.predict(WALKS) == model.predict(WALKS)
    # Another fit chooses again.
    model.fit(X, Y, dev=(X, Y))
    assert model.objective_ == "likelihood"


def test_hidden_markov_auto_without_time_counts() -> None:
    model = HiddenMarkovModel("auto", time_limit=1e-9).fit(X, Y)
    assert model.objective_ == "likelihood"
    assert len(model.candidates_) == 1


def test_hidden_markov_auto_without_smoothing_has_no_counts_to_stay_near() -> None:
    model = HiddenMarkovModel("auto", smoothing=0.0, cv=2, C=1.0).fit(X, Y)
    assert [one.reference for one in model.candidates_] == [None, "uniform"]


def test_hidden_markov_auto_needs_something_to_hold_out() -> None:
    with pytest.raises(ValueError, match="there is only one"):
        HiddenMarkovModel("auto").fit(X[:1], Y[:1])


def test_hidden_markov_auto_survives_Ctrl_C(monkeypatch: pytest.MonkeyPatch) -> None:
    from partwise.solvers import RestrictedSimplicialDecomposition

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    model = HiddenMarkovModel("likelihood").fit(X, Y)
    monkeypatch.setattr(RestrictedSimplicialDecomposition, "run_pass", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(objective="auto").fit(X, Y)
    assert model.predict(X) == Y  # the model there was


@pytest.mark.parametrize("objective", ["auto", "likelihood"])
def test_hidden_markov_path_of_C_needs_margins(objective: str) -> None:
    with pytest.raises(ValueError, match="C has no meaning"):
        C_path(HiddenMarkovModel(objective), X, Y, [1.0])


@pytest.mark.parametrize(
    "chosen", [None, ["margin", "flat", 1.0], ["margin", "uniform", -1.0], "margin", []]
)
def test_hidden_markov_file_with_a_damaged_choice_is_refused(
    chosen: Any, tmp_path: Path
) -> None:
    model = HiddenMarkovModel("auto", time_limit=1e-9).fit(X, Y)
    model.save(tmp_path / "m")
    content = model_file.read(tmp_path / "m", kind="model")
    settings = {**content.settings, "chosen": chosen}
    model_file.write(tmp_path / "m", content.tensors, settings, kind="model")
    with pytest.raises(ModelFileError, match=r"chosen|to choose"):
        load(tmp_path / "m")
