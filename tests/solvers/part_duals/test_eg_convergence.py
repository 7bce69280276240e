"""How much work exponentiated gradient needs on a corpus: counted, not timed."""

from typing import Any

import numpy as np
import pytest

import problems
from partwise import SequenceTagger
from partwise.features import DEFAULT_TEMPLATE
from partwise.solvers import (
    ExponentiatedGradient,
    Solver,
    StochasticDualCoordinateAscent,
)
from partwise.synthetic import make_corpus

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(problems.PLAIN_PYTHON, reason="too much for plain Python"),
]
N_SENTENCES = 300


@pytest.fixture(scope="module")
def corpus() -> tuple[Any, Any]:
    made = make_corpus(N_SENTENCES, noise=0.05)
    words = [[(word,) for word in sentence.words] for sentence in made]
    return words, made.column("chunks")


def fit(corpus: tuple[Any, Any], solver: Solver, tol: float) -> SequenceTagger:
    tagger = SequenceTagger(
        loss="log_loss",
        C=1.0,
        tol=tol,
        max_iter=60,
        solver=solver,
        template=DEFAULT_TEMPLATE,
    )
    return tagger.fit(*corpus)


def calls_per_sentence(tagger: SequenceTagger) -> float:
    return float(tagger.trace_["oracle_calls"][-1]) / N_SENTENCES


# Half as many again as were needed when this was written.
@pytest.mark.parametrize(
    ("solver", "tol", "most"),
    [
        (ExponentiatedGradient(), 1e-3, 27),
        (ExponentiatedGradient(), 1e-5, 37),
        (ExponentiatedGradient(order="shuffled"), 1e-3, 32),
        (ExponentiatedGradient(start_at="gold"), 1e-3, 36),
        (StochasticDualCoordinateAscent(), 1e-3, 33),
    ],
    ids=str,
)
def test_eg_convergence_takes_few_marginals(
    corpus: tuple[Any, Any], solver: Solver, tol: float, most: float
) -> None:
    """Certificates included."""
    tagger = fit(corpus, solver, tol)
    assert tagger.certificate_ is not None
    assert tagger.certificate_.relative_gap <= tol
    assert calls_per_sentence(tagger) <= most
    assert np.diff(tagger.trace_["dual"]).min() > 0


def test_eg_convergence_agrees_with_lbfgs(corpus: tuple[Any, Any]) -> None:
    ours = fit(corpus, ExponentiatedGradient(), 1e-6)
    theirs = SequenceTagger(
        loss="log_loss", C=1.0, tol=1e-6, max_iter=500, solver="lbfgs",
        template=DEFAULT_TEMPLATE,
    ).fit(*corpus)  # fmt: skip
    assert ours.certificate_ is not None
    assert theirs.certificate_ is not None
    assert ours.certificate_.primal == pytest.approx(
        theirs.certificate_.primal, rel=2e-6
    )
    # Both are within their gap of the one optimum of a 1-strongly convex objective.
    radius = 2 * np.sqrt(2e-6 * ours.certificate_.primal)
    assert np.linalg.norm(ours.weights_ - theirs.weights_) <= radius
