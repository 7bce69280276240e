"""How the suite compiles, which takes most of its time: sooner than users do.

With less optimisation it takes a sixth less, and a tenth less for the processor that
wheels are made for: an older one has fewer instructions to choose from.
"""

import os

from partwise._jit import prebuilt

SET = ("NUMBA_OPT", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
"""Variables of the environment; Numba reads them when it is imported."""


def compile_sooner() -> None:
    """Set what is left to choose; programs that tests start do the same."""
    if "NUMBA_OPT" in os.environ:
        return
    os.environ["NUMBA_OPT"] = "1"
    if not prebuilt.lacking():
        os.environ["NUMBA_CPU_NAME"] = prebuilt.GENERIC
        os.environ["NUMBA_CPU_FEATURES"] = ""


def as_users_do() -> dict[str, str]:
    """Return the environment for programs that compile as they would elsewhere."""
    return {name: value for name, value in os.environ.items() if name not in SET}
