"""Solvers: ways to minimise the objective, all driven by one loop."""

from partwise.solvers.base import Problem, Solver, check_pairing, make_problem
from partwise.solvers.dual_coordinate import DualCoordinateDescent
from partwise.solvers.loop import Callback, Solution, solve
from partwise.solvers.trace import Trace, TraceRow

__all__ = [
    "Callback",
    "DualCoordinateDescent",
    "Problem",
    "Solution",
    "Solver",
    "Trace",
    "TraceRow",
    "check_pairing",
    "make_problem",
    "solve",
]
