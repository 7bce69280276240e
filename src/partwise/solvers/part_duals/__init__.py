"""Solvers that keep, for every example, a distribution over outputs by its parts."""
