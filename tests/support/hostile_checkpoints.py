"""A short run of every solver with a checkpoint, to be forged and resumed."""

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import problems
from generative_problems import generative
from partwise.losses import get_loss
from partwise.solvers import Problem, Solution, Solver, make_problem, solve
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN
from partwise.solvers.registry import make_solver
from partwise.solvers.relay import Relay

PASSES = 3


class Case(NamedTuple):
    """A problem, and a solver for it."""

    problem: Problem
    solver: Solver

    def run(self, path: Path | None, **options: Any) -> Solution:
        """Make a few passes, with a checkpoint at `path`."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # forged numbers overflow
            return solve(
                self.problem, self.solver, tol=1e-12, checkpoint=path, **options
            )


def _problem(make: problems.Maker, loss: str, penalty: str) -> Problem:
    if penalty.endswith("divergence"):
        way = "reverse" if penalty.startswith("reverse") else "forward"
        return generative(loss=loss, divergence=way)
    ratio = {"l2": 0.0, "elasticnet": 0.5}.get(penalty, 1.0)
    return make_problem(
        problems.make_small(make, 4), get_loss(loss), l1_ratio=ratio,
        positive=penalty.startswith("positive"),
    )  # fmt: skip


def every_solver() -> Iterator[tuple[str, Any]]:
    """Yield a name and a maker of a case for every solver that keeps checkpoints."""
    make = problems.chain_edges
    for (loss, penalty), names in MINIMISERS.items():
        for name in names:
            yield f"{name} {loss} {penalty}", partial(_case, name, make, loss, penalty)
    for name in MISTAKE_DRIVEN:
        yield f"{name} hinge l2", partial(_case, name, make, "hinge", "l2")
    yield "relay log_loss l2", _relay
    for make in problems.EACH_KIND:
        for name, loss in [("dcd", "squared_hinge"), ("cutting-plane", "hinge")]:
            yield f"{name} {make.__name__}", partial(_case, name, make, loss, "l2")


def _relay() -> Case:
    """Make a run that another solver may take over, as those of "auto" are."""
    relay = Relay(make_solver("eg"), make_solver("lbfgs"))
    return Case(_problem(problems.chain_edges, "log_loss", "l2"), relay)


def _case(name: str, make: problems.Maker, loss: str, penalty: str) -> Case:
    return Case(_problem(make, loss, penalty), make_solver(name))
