"""Benchmarks: the tables and figures of papers, and comparisons with peers.

``python -m benchmarks list`` names them, ``python -m benchmarks run NAME`` runs one
and writes its result as JSON, Markdown and plots. Each file of this folder is one
benchmark, called like the file: a docstring that says what it shows, and a function
``run(bench)`` that returns a `Report`. What they share is in `harness`.

Importing this package restricts everything to one thread, and so must come before
NumPy and Numba are loaded.
"""

import os

for _name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ[_name] = "1"
