"""Solvers that follow the gradient of a few examples at a time."""
