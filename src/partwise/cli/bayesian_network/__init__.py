"""Commands for Bayesian networks."""
