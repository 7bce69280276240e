"""Discrete Bayesian networks: the hidden variables of a row, given the others.

The score of an output is ``ln P(hidden, observed)`` when weights are log-probabilities,
so that log Z is the log-likelihood of what is observed. Which variables are hidden may
differ from row to row. Observed variables are conditioned on first; what remains is a
graph, and is treated like one.
"""

from partwise._moved import renamed

# Importing the answers registers them with the waist.
from partwise.structures.bayesian_network import parts
from partwise.structures.bayesian_network.corpus import (
    BayesianNetwork,
    make_bayesian_network,
)
from partwise.structures.bayesian_network.marginals import (
    VariableMarginals,
    variable_marginals,
)
from partwise.structures.bayesian_network.network import (
    Network,
    find_cycle,
    make_network,
    topological_order,
    with_unknown,
)

__getattr__ = renamed(
    __name__, {"BayesNet": "BayesianNetwork", "make_bayesnet": "make_bayesian_network"}
)

__all__ = [
    "BayesianNetwork",
    "Network",
    "VariableMarginals",
    "find_cycle",
    "make_bayesian_network",
    "make_network",
    "parts",
    "topological_order",
    "variable_marginals",
    "with_unknown",
]
