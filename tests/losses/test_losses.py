"""Losses: values against enumeration; weak duality at any feasible dual point."""

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import problems
from partwise.losses import LOSSES, Certificate, DualPoint, Loss, get_loss
from partwise.structures import make_dense_rows, make_multiclass
from partwise.structures.interface import n_weights, workspace
from partwise.structures.parallel import Worker
from partwise.structures.scratch import make_scratch
from problems import Floats, Maker, Outputs

WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25, 1.0, 3.0])


def brute_force_value(name: str, out: Outputs, w: Floats) -> float:
    margins = out.dphi @ w
    if name == "log_loss":
        return float(logsumexp(-margins))
    slack = float((out.cost - margins).max())
    return slack if name == "hinge" else slack**2


def random_dual(
    name: str, outputs: list[Outputs], C: Floats, rng: np.random.Generator
) -> tuple[Floats, DualPoint]:
    """Draw a feasible dual point, sparse in part; return ``w(alpha)`` with it."""
    alphas = []
    for out in outputs:
        if name == "squared_hinge":
            alpha = rng.exponential(size=len(out.cost)) * (rng.random() + 0.01)
            alpha[rng.random(len(alpha)) < 0.5] = 0.0
        else:
            alpha = rng.dirichlet(np.full(len(out.cost), 0.3))
        alphas.append(alpha)
    scale = np.ones(len(C)) if name == "squared_hinge" else C
    w = sum(
        (c * a @ out.dphi for c, a, out in zip(scale, alphas, outputs, strict=True)),
        np.zeros(outputs[0].dphi.shape[1]),
    )
    pairs = list(zip(alphas, outputs, strict=True))
    point = DualPoint(
        mass=np.array([a.sum() for a in alphas]),
        cost=np.array([a @ out.cost for a, out in pairs]),
        margin=np.array([a @ (out.dphi @ w) for a, out in pairs]),
        entropy=np.array([-(a[a > 0] * np.log(a[a > 0])).sum() for a in alphas]),
    )
    return w, point


@pytest.fixture(params=problems.MAKERS, ids=lambda make: make.__name__)
def corpus(request: pytest.FixtureRequest) -> tuple[Any, list[Outputs]]:
    make: Maker = request.param
    s = problems.make_small(make)
    return s, problems.enumerate_outputs(s)


@pytest.fixture(params=LOSSES)
def loss(request: pytest.FixtureRequest) -> Loss:
    return get_loss(request.param)


def test_losses_agree_with_enumeration(corpus: Any, loss: Loss) -> None:
    s, outputs = corpus
    rng = np.random.default_rng(1)
    for scale in (0.0, 1.0, 50.0):
        w = scale * rng.normal(size=outputs[0].dphi.shape[1])
        expected = [brute_force_value(loss.name, out, w) for out in outputs]
        np.testing.assert_allclose(loss.values(s, w), expected, rtol=1e-9, atol=1e-9)
        primal = 0.5 * w @ w + WEIGHTS @ expected
        assert loss.primal(s, w, WEIGHTS) == pytest.approx(primal, rel=1e-9)


def test_losses_dual_is_below_primal_and_gaps_add_up(corpus: Any, loss: Loss) -> None:
    s, outputs = corpus
    rng = np.random.default_rng(2)
    for _ in range(20):
        C = WEIGHTS * rng.choice([0.1, 1.0, 10.0])
        w, point = random_dual(loss.name, outputs, C, rng)
        values = loss.values(s, w)
        primal, dual = loss.primal(s, w, C), loss.dual(w, C, point)
        gaps = loss.gaps(values, C, point)
        assert (gaps >= -1e-9 * abs(primal)).all()
        assert gaps.sum() == pytest.approx(primal - dual, rel=1e-9)
        # The bound holds for all weights, not only for those of the dual point.
        anywhere = w + rng.normal(size=w.size)
        assert dual <= loss.primal(s, anywhere, C) * (1 + 1e-9)


def test_losses_dual_follows_its_formula(corpus: Any, loss: Loss) -> None:
    _, outputs = corpus
    w, point = random_dual(loss.name, outputs, WEIGHTS, np.random.default_rng(3))
    expected = {
        "hinge": (WEIGHTS * point.cost).sum(),
        "squared_hinge": (point.cost - point.mass**2 / (4 * WEIGHTS)).sum(),
        "log_loss": (WEIGHTS * point.entropy).sum(),
    }[loss.name] - 0.5 * (w**2).sum()
    assert loss.dual(w, WEIGHTS, point) == pytest.approx(expected)


def test_losses_gap_is_zero_at_the_optimum() -> None:
    """One example of two classes, C = 1: solved by hand.

    ``v = w0 - w1``: the squared hinge is 1/4 v^2 + (1 - v)^2, least at v = 4/5.
    """
    s = make_multiclass(make_dense_rows([[1.0]]), [0], 2)
    w, C = np.array([0.4, -0.4]), np.ones(1)
    alpha = np.array([0.4])
    point = DualPoint(alpha, alpha * 1.0, alpha * 0.8, alpha)
    loss = get_loss("squared_hinge")
    assert loss.primal(s, w, C) == pytest.approx(0.2)
    assert loss.dual(w, C, point) == pytest.approx(0.2)
    np.testing.assert_allclose(loss.gaps(loss.values(s, w), C, point), 0, atol=1e-15)


def test_losses_ignore_examples_of_weight_zero(loss: Loss) -> None:
    make = problems.chain_sparse
    chosen = problems.draw(make)
    s, fewer = make(chosen), make(chosen[1:])
    C = WEIGHTS.copy()
    C[0] = 0.0
    w, point = random_dual(
        loss.name,
        problems.enumerate_outputs(fewer),
        C[1:],
        np.random.default_rng(4),
    )
    padded = DualPoint(*(np.concatenate([[0.0], column]) for column in point))
    assert loss.primal(s, w, C) == pytest.approx(loss.primal(fewer, w, C[1:]))
    assert loss.dual(w, C, padded) == pytest.approx(loss.dual(w, C[1:], point))
    gaps = loss.gaps(loss.values(s, w), C, padded)
    assert gaps[0] == 0.0
    assert gaps.sum() == pytest.approx(loss.primal(s, w, C) - loss.dual(w, C, padded))


def test_losses_fill_only_the_examples_asked_for(loss: Loss) -> None:
    s = problems.make_small(problems.chain_sparse)
    w = np.ones(n_weights(s))
    whole = loss.values(s, w)
    out = np.full(whole.size, -7.0)
    ws = workspace(s, 1)
    loss.fill(s, w, out, 2, 4, Worker(0, make_scratch(s), ws))
    np.testing.assert_array_equal(out[2:4], whole[2:4])
    assert (np.delete(out, [2, 3]) == -7.0).all()


def test_losses_costs_of_parts_add_up_to_the_cost_of_an_output(corpus: Any) -> None:
    s, outputs = corpus
    for i, out in enumerate(outputs):
        by_parts = [problems.cost_by_parts(s, i, y) for y in out.codes]
        np.testing.assert_allclose(by_parts, out.cost)
        assert out.cost.min() == 0.0


def test_losses_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown loss 'ramp'.*squared_hinge"):
        get_loss("ramp")


@pytest.mark.parametrize(
    ("primal", "dual", "expected"),
    [
        (2.0, 1.0, 0.5),
        (1.0, -3.0, 4 / 3),
        (0.0, 0.0, 0.0),
        # Rounding can put the dual a hair above the primal.
        (1.0, 1.0 + 1e-15, 0.0),
    ],
)
def test_losses_relative_gap(primal: float, dual: float, expected: float) -> None:
    assert Certificate(primal, dual).relative_gap == pytest.approx(expected)
    assert Certificate(primal, dual).gap == primal - dual


def test_losses_certificate_says_when_it_is_an_estimate() -> None:
    assert "about" in str(Certificate(2.0, 1.0, exact=False))
    assert "about" not in str(Certificate(2.0, 1.0))
