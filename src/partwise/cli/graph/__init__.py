"""Commands for graph labelers."""
