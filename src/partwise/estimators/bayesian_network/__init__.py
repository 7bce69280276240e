"""Bayesian networks that predict columns of a table."""

from partwise.estimators.bayesian_network.classifier import BayesianNetworkClassifier

__all__ = ["BayesianNetworkClassifier"]
