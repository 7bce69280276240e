"""The perceptron and MIRA as papers write them: dense, by enumeration, and slow."""

from collections.abc import Callable
from typing import Any

import numpy as np

import problems
from partwise.solvers import Problem
from partwise.solvers.mistake_driven.base import MistakeDriven
from problems import Floats, Maker, Outputs
from scripted import ScriptedState

# What an example of weight C adds to the weights, given all its outputs.
Rule = Callable[[Outputs, float, Floats], Floats]

# The whole matrix of structures runs in plain Python, and one of them compiled.
MAKERS: tuple[Maker, ...] = (
    problems.EACH_KIND if problems.PLAIN_PYTHON else (problems.chain_sparse,)
)


def best_first(out: Outputs, w: Floats, cost_augmented: bool) -> Any:
    """Return the numbers of all outputs, the best first."""
    scores = -out.dphi @ w + (out.cost if cost_augmented else 0.0)
    return np.argsort(-scores, kind="stable")


def random_start(problem: Problem, seed: int = 7) -> ScriptedState:
    """Return weights to start from at which no two outputs tie by accident."""
    state = ScriptedState()
    state.w = np.random.default_rng(seed).normal(size=problem.n_weights)
    return state


def weights_after_visits(
    problem: Problem, rule: Rule, start: Floats, passes: int
) -> list[Floats]:
    """Return the weights after every visit of cyclic passes."""
    outputs = problems.enumerate_outputs(problem.structure)
    w, seen = start.copy(), []
    for _ in range(passes):
        for i in np.flatnonzero(problem.C):
            w = w + rule(outputs[i], float(problem.C[i]), w)
            seen.append(w)
    return seen


def run_cyclic(problem: Problem, solver: MistakeDriven, start: Any, passes: int) -> Any:
    """Return the state after some passes in the order of the examples."""
    rng = np.random.default_rng(0)
    state = solver.start(problem, rng, start)
    for _ in range(passes):
        for _ in solver.run_pass(problem, state, rng):
            pass
    return state
