"""Solvers that correct mistakes, and minimise no objective."""

from partwise.solvers.mistake_driven.base import MistakeDriven

__all__ = ["MistakeDriven"]
