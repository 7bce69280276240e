"""Commands for dependency parsers."""
