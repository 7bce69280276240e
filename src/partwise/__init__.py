"""Partwise: structured prediction, exact and fast, with a certificate.

Names are imported when they are first used, so that ``import partwise`` is quick
and compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from partwise import _moved

__version__ = "0.1.0"

_moved.install()

_HOME = {
    "AROW": "partwise.solvers",
    "BayesianNetworkClassifier": "partwise.estimators.bayesian_network.classifier",
    "C_path": "partwise.estimators.path",
    "Certificate": "partwise.losses",
    "ColumnGeneration": "partwise.solvers",
    "ConjugateGradient": "partwise.solvers",
    "ConstituencyParser": "partwise.estimators.constituency.parser",
    "Constraints": "partwise.estimators.sequence.constraints",
    "CuttingPlane": "partwise.solvers",
    "DataError": "partwise.errors",
    "DependencyParser": "partwise.estimators.dependency.parser",
    "DualCoordinateDescent": "partwise.solvers",
    "ExponentiatedGradient": "partwise.solvers",
    "FrankWolfe": "partwise.solvers",
    "GraphArrays": "partwise.estimators.graph.inputs",
    "GraphLabeler": "partwise.estimators.graph.labeler",
    "HiddenMarkovModel": "partwise.estimators.hidden_markov.model",
    "KBestMIRA": "partwise.solvers",
    "LBFGS": "partwise.solvers",
    "LatticeEdge": "partwise.data.lattice",
    "LatticeInput": "partwise.data.lattice",
    "LatticePath": "partwise.data.lattice",
    "LatticeRanker": "partwise.estimators.lattice.ranker",
    "MIRA": "partwise.solvers",
    "ModelFileError": "partwise.errors",
    "MulticlassClassifier": "partwise.estimators.classifier.classifier",
    "OWLQN": "partwise.solvers",
    "Proximal": "partwise.solvers",
    "OutOfMemoryError": "partwise.errors",
    "PairingError": "partwise.errors",
    "PartwiseError": "partwise.errors",
    "PassiveAggressive": "partwise.solvers",
    "Perceptron": "partwise.solvers",
    "Pipeline": "partwise.estimators.pipeline.pipeline",
    "RestrictedSimplicialDecomposition": "partwise.solvers",
    "SMOThenEG": "partwise.solvers",
    "SegmentTagger": "partwise.estimators.segments.tagger",
    "SequenceTagger": "partwise.estimators.sequence.tagger",
    "SequentialMinimalOptimization": "partwise.solvers",
    "StochasticDualCoordinateAscent": "partwise.solvers",
    "StochasticGradientDescent": "partwise.solvers",
    "WithVectors": "partwise.estimators.given_vectors",
    "WordVectors": "partwise.features",
    "convert": "partwise.estimators.persistence",
    "encode": "partwise.estimators.encoded",
    "encoded": "partwise.estimators.encoded_corpus",
    "find_pseudo_references": "partwise.structures",
    "generalization_bound": "partwise.solvers.linear_program.generalization",
    "good_and_bad": "partwise.structures",
    "kernel": "partwise._jit",
    "load": "partwise.estimators.persistence",
    "solve": "partwise.solvers",
    "with_good_outputs": "partwise.structures",
}

if TYPE_CHECKING:
    from partwise._jit import kernel
    from partwise.data.lattice import LatticeEdge, LatticeInput, LatticePath
    from partwise.errors import (
        DataError,
        ModelFileError,
        OutOfMemoryError,
        PairingError,
        PartwiseError,
    )
    from partwise.estimators.bayesian_network.classifier import (
        BayesianNetworkClassifier,
    )
    from partwise.estimators.classifier.classifier import MulticlassClassifier
    from partwise.estimators.constituency.parser import ConstituencyParser
    from partwise.estimators.dependency.parser import DependencyParser
    from partwise.estimators.encoded import encode
    from partwise.estimators.encoded_corpus import encoded
    from partwise.estimators.given_vectors import WithVectors
    from partwise.estimators.graph.inputs import GraphArrays
    from partwise.estimators.graph.labeler import GraphLabeler
    from partwise.estimators.hidden_markov.model import HiddenMarkovModel
    from partwise.estimators.lattice.ranker import LatticeRanker
    from partwise.estimators.path import C_path
    from partwise.estimators.persistence import convert, load
    from partwise.estimators.pipeline.pipeline import Pipeline
    from partwise.estimators.segments.tagger import SegmentTagger
    from partwise.estimators.sequence.constraints import Constraints
    from partwise.estimators.sequence.tagger import SequenceTagger
    from partwise.features import WordVectors
    from partwise.losses import Certificate
    from partwise.solvers import (
        AROW,
        LBFGS,
        MIRA,
        OWLQN,
        ColumnGeneration,
        ConjugateGradient,
        CuttingPlane,
        DualCoordinateDescent,
        ExponentiatedGradient,
        FrankWolfe,
        KBestMIRA,
        PassiveAggressive,
        Perceptron,
        Proximal,
        RestrictedSimplicialDecomposition,
        SequentialMinimalOptimization,
        SMOThenEG,
        StochasticDualCoordinateAscent,
        StochasticGradientDescent,
        solve,
    )
    from partwise.solvers.linear_program.generalization import generalization_bound
    from partwise.structures import (
        find_pseudo_references,
        good_and_bad,
        with_good_outputs,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'partwise' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AROW",
    "LBFGS",
    "MIRA",
    "OWLQN",
    "BayesianNetworkClassifier",
    "C_path",
    "Certificate",
    "ColumnGeneration",
    "ConjugateGradient",
    "ConstituencyParser",
    "Constraints",
    "CuttingPlane",
    "DataError",
    "DependencyParser",
    "DualCoordinateDescent",
    "ExponentiatedGradient",
    "FrankWolfe",
    "GraphArrays",
    "GraphLabeler",
    "HiddenMarkovModel",
    "KBestMIRA",
    "LatticeEdge",
    "LatticeInput",
    "LatticePath",
    "LatticeRanker",
    "ModelFileError",
    "MulticlassClassifier",
    "OutOfMemoryError",
    "PairingError",
    "PartwiseError",
    "PassiveAggressive",
    "Perceptron",
    "Pipeline",
    "Proximal",
    "RestrictedSimplicialDecomposition",
    "SMOThenEG",
    "SegmentTagger",
    "SequenceTagger",
    "SequentialMinimalOptimization",
    "StochasticDualCoordinateAscent",
    "StochasticGradientDescent",
    "WithVectors",
    "WordVectors",
    "__version__",
    "convert",
    "encode",
    "encoded",
    "find_pseudo_references",
    "generalization_bound",
    "good_and_bad",
    "kernel",
    "load",
    "solve",
    "with_good_outputs",
]
