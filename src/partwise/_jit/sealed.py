"""What a kernel is handed in the place of a structure."""

from __future__ import annotations

from typing import Any, NamedTuple


class Sealed(NamedTuple):
    """A corpus of any structure: where it is, and where its answers are."""

    address: int
    answers: Any


class SealedScratch(NamedTuple):
    """The scratch arrays of a structure, and the answers that need them."""

    address: int
    answers: Any
