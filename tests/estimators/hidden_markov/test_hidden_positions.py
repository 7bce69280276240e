"""States that are given: training and prediction against all completions."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import problems
from command_line import message, run
from generative_problems import best_generative, generative
from hidden_markov_data import X, Y, noisy
from partwise import C_path, HiddenMarkovModel, load
from partwise.errors import DataError
from partwise.estimators.hidden_markov.choice import make_trials
from partwise.solvers import solve
from partwise.solvers.registry import make_solver
from partwise.structures import make_hidden_markov

pytestmark = problems.plain_only

HIDDEN = [[True, False, True], [False, True, True], [True, False]]


def log_probability(model: Any, symbols: list[str], states: Any) -> float:
    """Return ``ln P(states, symbols)``, factor by factor."""
    initial, transitions, emissions = map(np.log, model.probabilities_)
    s = [list(model.classes_).index(state) for state in states]
    o = [list(model.symbols_).index(symbol) for symbol in symbols]
    total = initial[s[0]] + sum(transitions[a, b] for a, b in itertools.pairwise(s))
    return float(total + sum(emissions[a, b] for a, b in zip(s, o, strict=True)))


def completions(model: Any, states: list[str], hidden: list[bool]) -> list[Any]:
    choices = [
        model.classes_ if free else [state]
        for state, free in zip(states, hidden, strict=True)
    ]
    return list(itertools.product(*choices))


def test_hidden_positions_are_what_margins_are_required_for() -> None:
    model = HiddenMarkovModel(C=2.0, reference="uniform", tol=1e-6)
    model.fit(X, Y, hidden=HIDDEN)
    slacks = []
    for symbols, right, hidden in zip(X, Y, HIDDEN, strict=True):
        at_gold = log_probability(model, symbols, right)
        slacks.append(
            max(
                sum(a != b for a, b in zip(states, right, strict=True))
                + log_probability(model, symbols, states)
                - at_gold
                for states in completions(model, right, hidden)
            )
        )
    penalty = -sum(float(np.log(p).mean(axis=-1).sum()) for p in model.probabilities_)
    primal = penalty + 2.0 * sum(slacks)
    assert model.certificate_.primal == pytest.approx(primal)
    assert model.certificate_.relative_gap <= 1e-6
    every = HiddenMarkovModel(C=2.0, reference="uniform", tol=1e-6).fit(X, Y)
    assert every.certificate_.primal > primal + 0.01


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hidden_positions_reach_the_optimum_of_scipy(loss: str) -> None:
    rng = np.random.default_rng(0)
    states, ptr = rng.integers(3, size=9), [0, 3, 5, 9]
    hidden = rng.random(9) < 0.5
    s = make_hidden_markov(states % 2, ptr, states, 3, 2, hidden=hidden)
    legal = [len(out.cost) for out in problems.enumerate_outputs(s)]
    assert legal == [3 ** int(hidden[a:b].sum()) for a, b in itertools.pairwise(ptr)]
    problem = generative(s, 1.0, loss)
    best, _ = best_generative(problem)
    found = solve(problem, make_solver("simplicial"), tol=1e-6, max_iter=1000)
    assert found.certificate is not None
    assert found.certificate.primal == pytest.approx(best, rel=1e-5)
    assert found.certificate.dual <= best * (1 + 1e-9)


def test_hidden_positions_all_hidden_is_the_default() -> None:
    model = HiddenMarkovModel(C=1.0)
    plain = model.fit(X, Y).weights_
    every = [[True] * len(one) for one in Y]
    np.testing.assert_array_equal(model.fit(X, Y, hidden=every).weights_, plain)
    path = C_path(HiddenMarkovModel(tol=1e-6), X, Y, [1.0], hidden=HIDDEN)
    found = HiddenMarkovModel(C=1.0, tol=1e-6).fit(X, Y, hidden=HIDDEN)
    np.testing.assert_array_equal(path[0].estimator.weights_, found.weights_)


def test_hidden_positions_prediction_completes_what_is_known() -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    known = [[None, "rain", None], ["rain", None, "rain"], [None, None]]
    shares = model.predict_marginals(X, known=known)
    ranked = model.predict_kbest(X, 2, known=known)
    for i, states in enumerate(model.predict(X, known=known)):
        hidden = [state is None for state in known[i]]
        all_of_them = completions(model, [state or "" for state in known[i]], hidden)
        scores = np.array([log_probability(model, X[i], one) for one in all_of_them])
        assert tuple(states) == all_of_them[int(scores.argmax())]
        assert [one.score for one in ranked[i]] == pytest.approx(
            sorted(scores, reverse=True)[:2]
        )
        p = np.exp(scores) / np.exp(scores).sum()
        for t, k in itertools.product(range(len(states)), range(2)):
            own = [one[t] == model.classes_[k] for one in all_of_them]
            assert shares[i][t, k] == pytest.approx(p[own].sum())


def test_hidden_positions_stay_with_their_sequences_in_every_fold() -> None:
    model = HiddenMarkovModel("auto", C=0.1, cv=3, tol=0.1)
    symbols, states = noisy(6, 0, 0.2)
    hidden = [[j % 2 == i % 2 for j in range(4)] for i in range(6)]
    model.fit(symbols, states, hidden=hidden)
    assert len(model.candidates_) == 3
    data, _ = model._read(symbols, states, None, hidden)
    for trial in make_trials(data, None, None, 3, 0):
        for part in (trial.train, trial.dev):
            assert part.hidden is not None
            assert part.hidden.tolist() in ([True, False] * 2, *_folds(part))
            given = ~part.hidden
            found = model._decode(part, model.weights_)
            assert (found[given] == part.states[given]).all()


def _folds(part: Any) -> list[list[bool]]:
    """Every sequence begins with a state that is hidden, or with one that is not."""
    kinds = [[True, False] * 2, [False, True] * 2]
    return [
        list(itertools.chain(*chosen))
        for chosen in itertools.product(kinds, repeat=part.n_sequences)
    ]


@pytest.mark.parametrize(
    ("hidden", "match"),
    [
        (True, "hidden must be a list of bool for every sequence"),
        ([[True]], "hidden has 1"),
        ([[True], [True] * 3, [True] * 2], "hidden, sequence 0: expected 3 values"),
        ([[1, 0, 1], [True] * 3, [True] * 2], "hidden, sequence 0: expected 3 values"),
        ([[False] * len(one) for one in Y], "nothing is hidden"),
    ],
)
def test_hidden_positions_mistakes_raise(hidden: Any, match: str) -> None:
    with pytest.raises(DataError, match=match):
        HiddenMarkovModel(C=1.0).fit(X, Y, hidden=hidden)


@pytest.mark.parametrize(
    ("known", "match"),
    [
        ([["sun"]], "known has 1"),
        ([["sun"], [None] * 3, [None] * 2], "known, sequence 0: 1 states for 3"),
        ([["snow", None, None], [None] * 3, [None] * 2], "'snow'"),
    ],
)
def test_hidden_positions_unknown_states_raise(known: Any, match: str) -> None:
    model = HiddenMarkovModel("likelihood").fit(X, Y)
    with pytest.raises(DataError, match=match):
        model.predict(X, known=known)


def test_hidden_positions_are_a_column_of_a_file(tmp_path: Path) -> None:
    lines = []
    for rows in zip(X, HIDDEN, Y, strict=True):
        lines += [f"{x} {int(free)} {y}\n" for x, free, y in zip(*rows, strict=True)]
        lines.append("\n")
    train, model = tmp_path / "train", tmp_path / "m"
    train.write_text("".join(lines))
    command = ("train", "hmm", train, "-m", model, "--objective", "margin", "-C", 1)
    run(*command, "--hidden-column", 1, "--divergence", "reverse", "-q")
    expected = HiddenMarkovModel(C=1.0, divergence="reverse").fit(X, Y, hidden=HIDDEN)
    found = load(model)
    assert found.divergence == "reverse"
    np.testing.assert_allclose(found.weights_, expected.weights_)
    shown = message(*command, "--hidden-column", 0)
    assert "where 1 (predict) or 0 (given) is needed" in shown
