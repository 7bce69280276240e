"""Kernels that check their indices: PARTWISE_CHECKED=1."""

import os
import subprocess
import sys

import pytest

import drivers

PROGRAM = """
import numpy as np
from partwise import kernel
from partwise._jit.cache import counts
from partwise.structures import interface as waist
from partwise.structures import make_dense_rows, make_multiclass
from partwise.structures.interface import Structure

@kernel
def pick(x, i):
    return x[i]

@kernel
def list_parts(s: Structure, y, ids, counts):
    return waist.parts_of(s, 0, y, ids, counts)

s = make_multiclass(make_dense_rows([[1.0], [-1.0]]), [0, 1], 2)
room = np.zeros(3, np.int64), np.zeros(3)
print(pick(np.arange(3.0), 2), list_parts(s, np.zeros(1, np.int32), *room))
for call in (
    lambda: pick(np.arange(3.0), 3),
    lambda: list_parts(s, np.zeros(0, np.int32), *room),
):
    try:
        print("read", call())
    except IndexError as error:
        print(error)
"""


@pytest.mark.skipif(not drivers.IS_COMPILED, reason="nothing is compiled here")
def test_checked_kernels_raise_where_others_would_read_what_is_not_theirs() -> None:
    """In kernels, and in the answers of structures behind addresses."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PARTWISE_CHECKED": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["2.0 1", *["index is out of bounds"] * 2]
