"""Commands for lattice rankers."""
