"""Solvers that keep, for every example, the outputs with dual mass."""
