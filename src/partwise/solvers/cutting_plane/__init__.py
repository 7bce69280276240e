"""Cutting planes: a lower model of all losses together, refined where it is wrong."""
