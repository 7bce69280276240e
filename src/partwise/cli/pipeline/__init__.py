"""Commands for pipelines."""
