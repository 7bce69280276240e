"""Restricted simplicial decomposition, for generative models and for margins."""

from partwise.solvers.simplicial.simplicial import RestrictedSimplicialDecomposition

__all__ = ["RestrictedSimplicialDecomposition"]
