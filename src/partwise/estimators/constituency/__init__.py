"""Constituency parsing: the phrases of a sentence."""
