"""Solvers: ways to minimise the objective, all driven by one loop."""

from partwise.solvers.base import Problem, Solver, check_pairing, make_problem
from partwise.solvers.batch.conjugate_gradient import ConjugateGradient
from partwise.solvers.batch.lbfgs import LBFGS
from partwise.solvers.batch.owlqn import OWLQN
from partwise.solvers.cutting_plane.cutting_plane import CuttingPlane
from partwise.solvers.linear_program.column_generation import ColumnGeneration
from partwise.solvers.loop import Callback, Solution, solve
from partwise.solvers.mistake_driven.kbest_mira import KBestMIRA
from partwise.solvers.mistake_driven.mira import MIRA
from partwise.solvers.mistake_driven.perceptron import Perceptron
from partwise.solvers.part_duals.exponentiated_gradient import ExponentiatedGradient
from partwise.solvers.part_duals.smo_then_eg import SMOThenEG
from partwise.solvers.part_duals.stochastic_dual import StochasticDualCoordinateAscent
from partwise.solvers.quadratic_program.eg_qp import QPSolution, QPStep, eg_qp
from partwise.solvers.simplicial.simplicial import RestrictedSimplicialDecomposition
from partwise.solvers.stochastic.sgd import StochasticGradientDescent
from partwise.solvers.trace import Trace, TraceRow
from partwise.solvers.working_sets.dual_coordinate import DualCoordinateDescent
from partwise.solvers.working_sets.frank_wolfe import FrankWolfe
from partwise.solvers.working_sets.smo import SequentialMinimalOptimization

__all__ = [
    "LBFGS",
    "MIRA",
    "OWLQN",
    "Callback",
    "ColumnGeneration",
    "ConjugateGradient",
    "CuttingPlane",
    "DualCoordinateDescent",
    "ExponentiatedGradient",
    "FrankWolfe",
    "KBestMIRA",
    "Perceptron",
    "Problem",
    "QPSolution",
    "QPStep",
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
