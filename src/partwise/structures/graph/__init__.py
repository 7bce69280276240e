"""Markov random fields: a label for every vertex, scored clique by clique.

A part is a clique with a configuration of its vertices (Bartlett, Collins, Taskar and
McAllester, NIPS 2004, example 1): ``theta`` of an example is the configurations of its
cliques, one clique after the other, the label of a clique's last vertex changing
fastest.

`Graph` infers exactly, by messages on a junction tree. `RelaxedGraph` holds the same
corpus where that is too wide: its argmax comes with a bound instead of a proof.
"""

# Importing the answers registers them with the waist.
from partwise.structures.graph import differences, gibbs, inference, parts, relaxed
from partwise.structures.graph.corpus import FactorGraph, Graph, make_graph
from partwise.structures.graph.gibbs import untied
from partwise.structures.graph.layout import CliqueKind, Layout, symmetric_classes
from partwise.structures.graph.relaxed import RelaxedGraph, make_relaxed_graph

__all__ = [
    "CliqueKind",
    "FactorGraph",
    "Graph",
    "Layout",
    "RelaxedGraph",
    "differences",
    "gibbs",
    "inference",
    "make_graph",
    "make_relaxed_graph",
    "parts",
    "relaxed",
    "symmetric_classes",
    "untied",
]
