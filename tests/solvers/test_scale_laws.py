"""No solver may depend on units: those of costs, of features, of example weights.

Multiplying all costs by `a` and all features by `b` makes the best weights ``a / b``
times as large, if C is changed to match: the same problem in other units. Powers of two
round nothing, so that a solver has to give the same bits.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import problems
from covering import a_third
from partwise import SequenceTagger
from partwise.losses import get_loss
from partwise.solvers import Problem, Solution, make_problem, solve
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN
from partwise.solvers.registry import make_solver
from partwise.solvers.stochastic import sgd
from partwise.structures.interface import part_scores, workspace
from problems import PLAIN_PYTHON, Maker

if PLAIN_PYTHON:
    from scaled import Scaled

pytestmark = pytest.mark.skipif(
    not PLAIN_PYTHON, reason="for all solvers and structures, nothing of it compiled"
)

KINDS = (*problems.EACH_KIND, problems.trees_labelled)
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25])
LITERAL = ("column-generation-printed", "pa", "arow")
ROUNDED = ("proximal",)


class Units(NamedTuple):
    """By what costs, features and weights of examples are multiplied."""

    costs: float = 1.0
    features: float = 1.0
    weights: float = 1.0


def cases() -> Iterator[tuple[str, str, str]]:
    """List every solver with every loss and penalty, for which units mean anything.

    Not the elastic net, whose two penalties cannot both be matched, nor generative
    models, whose weights are log-probabilities, nor rules as they were published: they
    ask for the square root of costs, or start with weights or variances of one.
    Proximal steps have a law of their own: they are elastic nets, and round their
    shares.
    """
    left_out = LITERAL + ROUNDED
    for (loss, penalty), names in MINIMISERS.items():
        if penalty in ("l2", "l1", "positive l1") and loss != "set_hinge":
            yield from ((name, loss, penalty) for name in names if name not in left_out)
    learners = (name for name in MISTAKE_DRIVEN if name not in LITERAL)
    yield from ((name, "hinge", "l2") for name in learners)


CASES = list(cases())


def in_units(
    corpus: Any, name: str, loss: str, penalty: str, units: Units
) -> tuple[Problem, float]:
    """Return the problem in other units, and how much larger its weights are."""
    # The log loss has no costs, and scores that are probabilities' logarithms.
    score = 1.0 if loss == "log_loss" else units.costs
    larger = score / units.features
    of_loss = score**2 if loss == "squared_hinge" else score
    of_penalty = larger**2 if penalty == "l2" else larger
    C = of_penalty / of_loss
    if name == "perceptron":  # it adds features, and knows neither costs nor C
        larger, C = units.features, 1.0
    problem = make_problem(
        Scaled(corpus, units.features, units.costs),
        get_loss(loss),
        C / units.weights,
        WEIGHTS * units.weights,
        l1_ratio=0.0 if penalty == "l2" else 1.0,
        positive=penalty.startswith("positive"),
    )
    return problem, larger


def kinds(name: str) -> tuple[Maker, ...]:
    """Return corpora of all structures that a solver runs on."""
    if name == "smo-eg":  # it needs a way back from marginals to scores
        return tuple(make for make in KINDS if make not in problems.ONE_WAY)
    return KINDS


def train(
    corpus: Any, case: tuple[str, str, str], units: Units, **how: Any
) -> tuple[Any, Solution]:
    """Train in these units; return the weights in those of the corpus, and the rest."""
    problem, larger = in_units(corpus, *case, units)
    solution = solve(problem, make_solver(case[0]), **how)
    return solution.w / larger, solution


def gap_of(solution: Solution) -> float:
    return solution.certificate.relative_gap if solution.certificate else 0.0


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first step of stochastic gradients be chosen in less time."""
    monkeypatch.setattr(sgd, "TRIAL_STEPS", 12)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_scale_laws_powers_of_two_change_no_bit(case: tuple[str, str, str]) -> None:
    learnt = []
    for number, make in enumerate(a_third(kinds(case[0]), CASES.index(case))):
        corpus = problems.make_small(make, 4)
        # Powers that no product or quotient of them undoes.
        sign = 1 if number % 2 else -1
        units = Units(2.0 ** (20 * sign), 2.0 ** (-13 * sign), 2.0 ** (27 * sign))
        w, solution = train(corpus, case, Units(), tol=1e-9, max_iter=2)
        again, other = train(corpus, case, units, tol=1e-9, max_iter=2)
        np.testing.assert_array_equal(w, again, err_msg=make.__name__)
        assert gap_of(solution) == gap_of(other), make.__name__
        learnt.append(w.any())
    assert np.mean(learnt) >= 0.3, "too little to compare"


OTHER_UNITS = (
    *(Units(costs=1e6), Units(features=1e-6), Units(weights=1e6)),
    Units(1e-6, 1e6, 1e-6),
)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_scale_laws_other_units_give_the_same_predictions(
    case: tuple[str, str, str],
) -> None:
    """And gaps that are as small, though paths may part where rounding differs."""
    corpus, tol = problems.make_small(problems.classes_costs, 4), 1e-2
    w, solution = train(corpus, case, Units(), tol=tol, max_iter=60)
    for units in a_third(OTHER_UNITS, CASES.index(case)):
        again, other = train(corpus, case, units, tol=tol, max_iter=60)
        assert solution.converged == other.converged, (units, other.status)
        assert gap_of(other) <= max(gap_of(solution), tol) * (1 + 1e-9)
        if (
            case[2] == "l2"
        ):  # the best weights of a linear program are not the only ones
            for i in range(4):
                one, two = (np.argmax(class_scores(corpus, i, v)) for v in (w, again))
                assert one == two, units


def class_scores(corpus: Any, i: int, w: Any) -> Any:
    """Return the scores of all classes of an example."""
    scores = np.zeros(problems.N_LABELS)
    part_scores(corpus, i, w, scores, workspace(corpus, 1))
    return scores


def test_scale_laws_tagger_learns_from_tokens_of_tiny_weight() -> None:
    """The default tagger, where all weights are a hundred thousandth."""
    words = [["the", "dog", "runs"], ["a", "cat", "sleeps"], ["the", "cat", "runs"]]
    X, tags = [[{word: 1.0} for word in own] for own in words], [["D", "N", "V"]] * 3
    for weight in (1.0, 1e-5):
        tagger = SequenceTagger().fit(X, tags, token_weight=[[weight] * 3] * 3)
        assert [list(own) for own in tagger.predict(X)] == tags
        assert tagger.certificate_ is not None
        assert tagger.certificate_.relative_gap <= tagger.tol
