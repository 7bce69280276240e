"""Running tests once more in plain Python, where there is nothing to compile."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def assert_pass_in_plain_python(*names: str) -> None:
    """Run the quick tests of these files without compiling anything."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-m", "not slow and not bench"),
            *(str(HERE / f"{name}.py") for name in names),
        ],
        cwd=HERE.parent,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
