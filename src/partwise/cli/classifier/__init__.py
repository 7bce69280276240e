"""Commands for classifiers."""
