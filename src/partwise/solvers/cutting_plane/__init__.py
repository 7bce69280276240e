"""Cutting planes: a lower model of all losses together, refined where it is wrong."""

from partwise.solvers.cutting_plane.cutting_plane import CuttingPlane

__all__ = ["CuttingPlane"]
