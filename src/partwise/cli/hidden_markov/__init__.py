"""Commands for hidden Markov models."""
