"""Telling the processor which memory will be wanted soon."""

from __future__ import annotations

from typing import Any


def prefetch(array: Any, at: Any) -> None:
    """Let memory begin to bring ``array[at]``; kernels do, plain Python need not.

    Examples
    --------
    >>> prefetch([1.0, 2.0], 1)
    """
