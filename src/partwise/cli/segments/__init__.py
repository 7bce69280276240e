"""Commands for segment taggers."""
