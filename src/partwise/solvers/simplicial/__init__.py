"""Restricted simplicial decomposition, for generative models and for margins."""
