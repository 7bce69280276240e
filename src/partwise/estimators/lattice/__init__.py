"""Ranking the paths through lattices."""
