"""Hidden Markov models, counted or trained for margins."""
