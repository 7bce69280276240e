"""Bayesian networks that predict columns of a table."""
