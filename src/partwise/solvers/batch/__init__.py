"""Solvers that look at all examples before they take a step."""
