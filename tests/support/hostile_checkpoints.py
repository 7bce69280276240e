"""A short run of every solver with a checkpoint, to be forged and resumed."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import problems
from generative_problems import generative
from newer_structures import NEWER
from partial_problems import hide
from partwise.losses import get_loss
from partwise.solvers import Problem, Solution, Solver, make_problem, solve
from partwise.solvers.convex_concave import ConvexConcave, as_partial_problem
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN
from partwise.solvers.registry import make_solver
from partwise.solvers.relay import Relay

PASSES = 3
COUNT = 4
"""How many examples there are."""
MakeCorpus = Callable[[], Any]


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


def _problem(make: MakeCorpus, loss: str, penalty: str) -> Problem:
    if penalty.endswith("divergence"):
        way = "reverse" if penalty.startswith("reverse") else "forward"
        return generative(loss=loss, divergence=way)
    ratio = {"l2": 0.0, "elasticnet": 0.5}.get(penalty, 1.0)
    return make_problem(
        make(), get_loss(loss), l1_ratio=ratio,
        positive=penalty.startswith("positive"),
    )  # fmt: skip


def every_solver() -> Iterator[tuple[str, Any]]:
    """Yield a name and a maker of a case for every solver that keeps checkpoints."""
    make: MakeCorpus = partial(problems.make_small, problems.chain_edges, COUNT)
    for (loss, penalty), names in MINIMISERS.items():
        for name in names:
            yield f"{name} {loss} {penalty}", partial(_case, name, make, loss, penalty)
    for name in MISTAKE_DRIVEN:
        yield f"{name} hinge l2", partial(_case, name, make, "hinge", "l2")
    yield "relay log_loss l2", _relay
    for name, loss in [("eg", "log_loss"), ("lbfgs", "log_loss"), ("smo", "hinge"),
                       ("dcd", "squared_hinge")]:  # fmt: skip
        yield f"{name} {loss} hidden", partial(_hidden, name, loss)
    kinds = {
        kind.__name__: partial(problems.make_small, kind, COUNT)
        for kind in problems.EACH_KIND
    }
    for called, make in (kinds | {kind.__name__: kind for kind in NEWER}).items():
        for name, loss in [("dcd", "squared_hinge"), ("cutting-plane", "hinge")]:
            yield f"{name} {called}", partial(_case, name, make, loss, "l2")


def _relay() -> Case:
    """Make a run that another solver may take over, as those of "auto" are."""
    relay = Relay(make_solver("eg"), make_solver("lbfgs"))
    problem = make_problem(
        problems.make_small(problems.chain_edges, COUNT), get_loss("log_loss")
    )
    return Case(problem, relay)


def _hidden(name: str, loss: str) -> Case:
    """Make a run whose right outputs are known in part, as with hidden states."""
    s = hide(problems.make_small(problems.chain_edges, COUNT), 0.5)
    problem = as_partial_problem(make_problem(s, get_loss(loss)))
    return Case(problem, ConvexConcave(make_solver(name), noise=0.5))


def _case(name: str, make: MakeCorpus, loss: str, penalty: str) -> Case:
    return Case(_problem(make, loss, penalty), make_solver(name))
