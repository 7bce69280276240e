"""Solvers: ways to minimise the objective, all driven by one loop.

Names are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "AROW": "mistake_driven.arow",
    "Callback": "loop",
    "ColumnGeneration": "linear_program.column_generation",
    "ConjugateGradient": "batch.conjugate_gradient",
    "ConvexConcave": "convex_concave",
    "CuttingPlane": "cutting_plane.cutting_plane",
    "DualCoordinateDescent": "working_sets.dual_coordinate",
    "ExponentiatedGradient": "part_duals.exponentiated_gradient",
    "FrankWolfe": "working_sets.frank_wolfe",
    "KBestMIRA": "mistake_driven.kbest_mira",
    "LBFGS": "batch.lbfgs",
    "MIRA": "mistake_driven.mira",
    "OWLQN": "batch.owlqn",
    "ParameterMixing": "mixing",
    "PassiveAggressive": "mistake_driven.passive_aggressive",
    "Perceptron": "mistake_driven.perceptron",
    "Problem": "base",
    "Proximal": "proximal",
    "QPSolution": "quadratic_program.eg_qp",
    "QPStep": "quadratic_program.eg_qp",
    "Relay": "relay",
    "RestrictedSimplicialDecomposition": "simplicial.simplicial",
    "SMOThenEG": "part_duals.smo_then_eg",
    "SequentialMinimalOptimization": "working_sets.smo",
    "Solution": "loop",
    "Solver": "base",
    "StochasticDualCoordinateAscent": "part_duals.stochastic_dual",
    "StochasticGradientDescent": "stochastic.sgd",
    "Trace": "trace",
    "TraceRow": "trace",
    "check_pairing": "pairing",
    "eg_qp": "quadratic_program.eg_qp",
    "make_problem": "base",
    "solve": "loop",
}

if TYPE_CHECKING:
    from partwise.solvers.base import Problem, Solver, make_problem
    from partwise.solvers.batch.conjugate_gradient import ConjugateGradient
    from partwise.solvers.batch.lbfgs import LBFGS
    from partwise.solvers.batch.owlqn import OWLQN
    from partwise.solvers.convex_concave import ConvexConcave
    from partwise.solvers.cutting_plane.cutting_plane import CuttingPlane
    from partwise.solvers.linear_program.column_generation import ColumnGeneration
    from partwise.solvers.loop import Callback, Solution, solve
    from partwise.solvers.mistake_driven.arow import AROW
    from partwise.solvers.mistake_driven.kbest_mira import KBestMIRA
    from partwise.solvers.mistake_driven.mira import MIRA
    from partwise.solvers.mistake_driven.passive_aggressive import PassiveAggressive
    from partwise.solvers.mistake_driven.perceptron import Perceptron
    from partwise.solvers.mixing import ParameterMixing
    from partwise.solvers.pairing import check_pairing
    from partwise.solvers.part_duals.exponentiated_gradient import ExponentiatedGradient
    from partwise.solvers.part_duals.smo_then_eg import SMOThenEG
    from partwise.solvers.part_duals.stochastic_dual import (
        StochasticDualCoordinateAscent,
    )
    from partwise.solvers.proximal import Proximal
    from partwise.solvers.quadratic_program.eg_qp import QPSolution, QPStep, eg_qp
    from partwise.solvers.relay import Relay
    from partwise.solvers.simplicial.simplicial import RestrictedSimplicialDecomposition
    from partwise.solvers.stochastic.sgd import StochasticGradientDescent
    from partwise.solvers.trace import Trace, TraceRow
    from partwise.solvers.working_sets.dual_coordinate import DualCoordinateDescent
    from partwise.solvers.working_sets.frank_wolfe import FrankWolfe
    from partwise.solvers.working_sets.smo import SequentialMinimalOptimization


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AROW",
    "LBFGS",
    "MIRA",
    "OWLQN",
    "Callback",
    "ColumnGeneration",
    "ConjugateGradient",
    "ConvexConcave",
    "CuttingPlane",
    "DualCoordinateDescent",
    "ExponentiatedGradient",
    "FrankWolfe",
    "KBestMIRA",
    "ParameterMixing",
    "PassiveAggressive",
    "Perceptron",
    "Problem",
    "Proximal",
    "QPSolution",
    "QPStep",
    "Relay",
    "RestrictedSimplicialDecomposition",
    "SMOThenEG",
    "SequentialMinimalOptimization",
    "Solution",
    "Solver",
    "StochasticDualCoordinateAscent",
    "StochasticGradientDescent",
    "Trace",
    "TraceRow",
    "check_pairing",
    "eg_qp",
    "make_problem",
    "solve",
]
