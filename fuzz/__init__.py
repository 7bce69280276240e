"""Fuzzers: inputs that nobody would write, tried until something gives way.

`targets` says what is tried, and what may happen: a result, or an error that is meant
for users. `generators` makes inputs, for Hypothesis in the test suite and as the first
corpus of the fuzzers. ``python -m fuzz --minutes 10`` runs all of them, guided by
coverage (atheris); what they find is kept in ``tests/data/fuzz`` and tried by the
suite from then on.
"""
