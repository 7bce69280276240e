"""Settings of the whole suite, made before anything imports the package."""

import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Each worker keeps a cache of compiled code of its own, since two that write the
# same one can meet; it stays between runs, so that only changed code is compiled.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / "build" / "numba-cache" / WORKER)

# The first example of a test may compile a kernel: no deadlines. On a build
# server the same examples come every time, so that a failure is of the change.
settings.register_profile("partwise", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "partwise")
