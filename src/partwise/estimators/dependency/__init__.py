"""Dependency parsing: a head for every word."""
