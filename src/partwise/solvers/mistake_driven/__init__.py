"""Solvers that correct mistakes, and minimise no objective."""
