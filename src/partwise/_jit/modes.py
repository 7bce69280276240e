"""How kernels run in this process, as the environment says; imports nothing."""

from __future__ import annotations

import os


def is_plain_python() -> bool:
    """Say whether nothing is compiled in this process."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def is_checked() -> bool:
    """Say whether compiled code checks its indices, and raises instead of crashing."""
    return os.environ.get("PARTWISE_CHECKED", "0") not in ("", "0")
