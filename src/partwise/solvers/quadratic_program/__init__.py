"""Quadratic programs over simplices, by exponentiated gradient."""
