"""Sequence tagging: a label for every token."""
