"""Commands for constituency parsers."""
