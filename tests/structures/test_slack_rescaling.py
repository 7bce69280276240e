"""Slack rescaling: parts, searches, optima and certificates against enumeration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drivers as ask
import problems
from command_line import run
from generative_problems import best_generative, generative, small_model
from graph_cases import make_case
from partwise import HiddenMarkovModel, MulticlassClassifier, SequenceTagger, load
from partwise.errors import PairingError
from partwise.losses import get_loss
from partwise.losses.margin import count_unproved
from partwise.solvers import make_problem, solve
from partwise.solvers.registry import make_solver
from partwise.structures import interface as waist
from partwise.structures import make_relaxed_graph, make_slack_rescaling
from partwise.structures.scratch import make_scratch, score_of
from problems import Floats, Maker, Outputs

SOLVERS = {
    "hinge": ("frank-wolfe", "smo", "simplicial", "cutting-plane"),
    "squared_hinge": ("dcd-ssvm", "cpd", "simplicial", "cutting-plane"),
}
each_maker = pytest.mark.parametrize(
    "make", problems.EACH_KIND, ids=lambda make: make.__name__
)


def rescaled(make: Maker, count: int = 6) -> list[Outputs]:
    """Enumerate what slack rescaling is: ``cost - w . (cost dPhi)``."""
    outputs = problems.enumerate_outputs(problems.make_small(make, count))
    return [out._replace(dphi=out.cost[:, None] * out.dphi) for out in outputs]


def some_weights(make: Maker, count: int) -> Floats:
    rng = np.random.default_rng(0)
    n = rescaled(make)[0].dphi.shape[1]
    return rng.normal(size=(count, n)) * rng.choice([0.1, 0.5, 2.0], (count, 1))


# --- what outputs are made of ---


@problems.plain_only
@each_maker
def test_slack_rescaling_multiplies_features_by_the_cost(make: Maker) -> None:
    s = make_slack_rescaling(problems.make_small(make))
    scratch, ws, diff = make_scratch(s), waist.workspace(s, 1), waist.make_diff(s)
    (w,) = some_weights(make, 1)
    for i, out in enumerate(rescaled(make)):
        right = np.zeros(waist.output_size(s, i), np.int32)
        waist.gold(s, i, right)
        ask.part_scores(s, i, w, scratch.theta, ws)
        plain = scratch.theta.copy()
        waist.add_costs(s, i, scratch.theta)
        at_gold = score_of(s, i, right, scratch.theta, scratch)
        for y, cost, dphi in zip(*out, strict=True):
            slack = score_of(s, i, y, scratch.theta, scratch) - at_gold
            assert slack == pytest.approx(cost - dphi @ w, abs=1e-9)
            assert problems.cost_by_parts(s, i, y) == pytest.approx(cost)
            found = at_gold - score_of(s, i, y, plain, scratch)
            assert found == pytest.approx(dphi @ w, abs=1e-9)
        for a, b in np.random.default_rng(i).integers(len(out.cost), size=(4, 2)):
            apart = out.dphi[a] - out.dphi[b]
            two = out.codes[a], out.codes[b]
            dot = ask.diff_dot(s, i, *two, w, diff, ws)
            assert dot == pytest.approx(apart @ w, abs=1e-9)
            norm = ask.diff_sqnorm(s, i, *two, diff, ws)
            assert norm == pytest.approx(apart @ apart, abs=1e-9)
            total = np.zeros_like(w)
            ask.diff_add(s, i, *two, 0.5, total, diff, ws)
            np.testing.assert_allclose(total, 0.5 * apart, atol=1e-9)


# --- the search ---


@problems.plain_only
@each_maker
@pytest.mark.parametrize("most", [4, 64])
def test_slack_rescaling_finds_the_worst_output_or_a_bound(
    make: Maker, most: int
) -> None:
    s = make_slack_rescaling(problems.make_small(make), most)
    scratch, ws = make_scratch(s), waist.workspace(s, 1)
    for w in some_weights(make, 6):
        for i, out in enumerate(rescaled(make)):
            slacks = np.maximum(out.cost - out.dphi @ w, 0.0)
            ask.part_scores(s, i, w, scratch.theta, ws)
            waist.add_costs(s, i, scratch.theta)
            waist.gold(s, i, scratch.y_gold)
            right = score_of(s, i, scratch.y_gold, scratch.theta, scratch)
            found = ask.argmax(s, i, scratch.theta, scratch.y, ws) - right
            shortfall = waist.shortfall(s, i, ws)
            y = scratch.y[: out.codes.shape[1]]
            (at,) = np.flatnonzero((out.codes == y).all(axis=1))
            tolerance = 1e-9 * (1 + slacks.max())
            assert found == pytest.approx(slacks[at], abs=tolerance)
            assert found + shortfall >= slacks.max() - tolerance
            if shortfall == 0.0:
                assert found == pytest.approx(slacks.max(), abs=tolerance)
            if len(out.cost) < most:
                assert shortfall == 0.0


# --- training ---

FEW = 3  # examples that all solvers learn from


def reach_the_optimum(make: Maker, loss: str, names: tuple[str, ...]) -> None:
    s = make_slack_rescaling(problems.make_small(make, FEW))
    problem = make_problem(s, get_loss(loss))
    minimise = problems.best_hinge if loss == "hinge" else problems.best_squared_hinge
    best, _ = minimise(rescaled(make, FEW), problem.C)
    for name in names:
        solution = solve(problem, make_solver(name), tol=1e-3, max_iter=300)
        assert solution.reason == "converged", name
        assert solution.certificate.primal == pytest.approx(best, rel=2e-3), name
        assert solution.certificate.dual <= best * (1 + 1e-9), name


def test_slack_rescaling_compiled_reaches_the_optimum() -> None:
    reach_the_optimum(problems.classes_costs, "hinge", ("frank-wolfe",))


@problems.plain_only
@each_maker
@pytest.mark.parametrize("loss", SOLVERS)
def test_slack_rescaling_all_solvers_reach_the_optimum(make: Maker, loss: str) -> None:
    reach_the_optimum(make, loss, SOLVERS[loss])


@problems.plain_only
def test_slack_rescaling_certificate_holds_where_a_search_is_cut_short() -> None:
    make = problems.chain_costs
    s = make_slack_rescaling(problems.make_small(make), most_outputs=4)
    outputs, seen = rescaled(make), 0
    for C in (0.003, 0.1, 3.0):
        problem = make_problem(s, get_loss("squared_hinge"), C)
        best, _ = problems.best_squared_hinge(outputs, problem.C)
        found = solve(problem, make_solver("dcd-ssvm"), tol=1e-6, max_iter=30)
        slack = [max((o.cost - o.dphi @ found.w).max(), 0.0) for o in outputs]
        true = 0.5 * found.w @ found.w + C * np.square(slack).sum()
        primal, dual = found.certificate.primal, found.certificate.dual
        assert dual <= best * (1 + 1e-9) <= true * (1 + 2e-9) <= primal * (1 + 3e-9)
        unproved = count_unproved(s, found.w)
        assert (f"inference left {unproved} of 6" in found.status) == (unproved > 0)
        seen += unproved
    assert seen > 0, "nothing was cut short"


@problems.plain_only
def test_slack_rescaling_of_generative_models_reaches_the_optimum() -> None:
    plain = generative(small_model())
    problem = generative(make_slack_rescaling(plain.structure))
    outputs = [
        out._replace(dphi=out.cost[:, None] * out.dphi)
        for out in problems.enumerate_outputs(plain.structure)
    ]
    best, _ = best_generative(plain, outputs)
    found = solve(problem, make_solver("simplicial"), tol=1e-4, max_iter=500)
    assert found.certificate.primal == pytest.approx(best, rel=1e-3)
    assert found.certificate.dual <= best + 1e-6 * abs(best)


def test_slack_rescaling_refuses_what_it_cannot_do() -> None:
    s = make_slack_rescaling(problems.make_small(problems.classes_costs))
    with pytest.raises(PairingError, match="'marginals', which SlackRescaling"):
        solve(make_problem(s, get_loss("hinge")), make_solver("eg"))
    relaxed = make_case("tree", 1, True, False, False, 5.0, 0, make_relaxed_graph).s
    with pytest.raises(PairingError, match="rescaling='slack' needs 'kbest'"):
        make_slack_rescaling(relaxed)
    with pytest.raises(ValueError, match="most_outputs must be at least 4"):
        make_slack_rescaling(s.corpus, 2)


# --- as users meet it ---

X = [[-1.9, -3.0], [1.2, 1.6], [1.3, -0.4], [-0.1, -0.3], [1.4, 0.9], [0.1, 0.7]]
LABELS = [0, 1, 2, 0, 1, 2]
COSTS = [[0, 1.8, 0.2], [0.9, 0, 0.1], [0.3, 1.2, 0]]


@problems.plain_only
def test_slack_rescaling_of_a_classifier_is_that_of_the_costs(tmp_path: Path) -> None:
    model = MulticlassClassifier("hinge", C=1.0, costs=COSTS, rescaling="slack")
    model.set_params(tol=1e-6, max_iter=500).fit(X, LABELS)
    x = np.hstack([X, np.ones((6, 1))])
    w = model.weights_.reshape(3, 3)
    scores = x @ w
    own = scores[np.arange(6), LABELS][:, None]
    slack = (np.array(COSTS)[LABELS] * (1 + scores - own)).max(axis=1)
    primal = 0.5 * (w**2).sum() + slack.sum()
    assert model.certificate_.primal == pytest.approx(primal)
    assert model.certificate_.relative_gap <= 1e-6
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").rescaling == "slack"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rescaling": "both"}, "rescaling must be 'margin' or 'slack'"),
        ({"loss": "log_loss"}, "rescaling='slack' is for loss='hinge' or"),
        ({"loss": "hinge", "penalty": "l1"}, "rescaling='slack' is for loss='hinge'"),
        ({"loss": "hinge", "solver": "eg"}, "not for solver 'eg'; use frank-wolfe"),
        ({"solver": "mira"}, "not for solver 'mira'; use dcd, dcd-ssvm"),
    ],
)
def test_slack_rescaling_mistakes_raise(settings: Any, message: str) -> None:
    model = MulticlassClassifier(**{"rescaling": "slack"} | settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, LABELS)


@problems.plain_only
def test_slack_rescaling_is_a_setting_of_every_margin_model() -> None:
    words, tags = [["the", "dog"], ["a", "cat"], ["dog"]], [["D", "N"]] * 2 + [["N"]]
    costs = {("N", "D"): 3.0}
    tagger = SequenceTagger(rescaling="slack", costs=costs, tol=1e-3, max_iter=300)
    tagger.fit([[{"word": word} for word in one] for one in words], tags)
    assert tagger.certificate_.relative_gap <= 1e-3
    model = HiddenMarkovModel(C=1.0, costs=costs)
    before = model.fit(words, tags).certificate_.primal
    after = model.set_params(rescaling="slack").fit(words, tags).certificate_.primal
    assert after != pytest.approx(before, rel=1e-3)


@problems.plain_only
def test_slack_rescaling_is_an_option_of_the_shell(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("the D\ndog N\n\na D\ncat N\n\nthe D\ncat N\n")
    model = tmp_path / "model"
    command = "--rescaling slack --json --quiet".split()
    run("train", "tag", tmp_path / "train.txt", "--model", model, *command)
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["settings"]["rescaling"] == "slack"
