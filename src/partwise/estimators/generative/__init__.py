"""What generative models share: references, counting, probabilities as weights."""
