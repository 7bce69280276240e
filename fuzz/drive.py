"""Fuzz one target until the time is up: ``python -m fuzz.drive NAME [options]``.

The options are those of libFuzzer. Code is watched while it runs, which machine code
cannot be: everything runs in plain Python, where an index out of bounds raises.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the fuzzer in this process."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    import atheris

    with atheris.instrument_imports(include=["partwise"]):
        from fuzz.targets import TARGETS

    name, *options = sys.argv[1:]
    atheris.Setup([sys.argv[0], *options], TARGETS[name].check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
