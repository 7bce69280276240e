"""The command line: ``partwise demo | train | predict | evaluate | inspect | show``.

One file per command. Everything heavy is imported inside the commands, so that
``partwise --help`` answers quickly.
"""

import gc
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the program with the arguments of the process, and end the process."""
    # Imports and compilers make many objects that live on: looking through them less
    # often saves a tenth of the time to start.
    gc.set_threshold(300_000, 20, 50)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the program
            setattr(sys, name, open(os.devnull, "w"))
    _end(_run())


def _run() -> int:
    """Run the program; return its exit code."""
    try:
        from partwise.cli.app import app

        app(prog_name="partwise")
    except KeyboardInterrupt:  # while the program itself was being loaded
        sys.stderr.write("interrupted\n")
        return 130
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _end(code: int) -> None:
    """End the process once everything is written.

    Nothing is taken apart: for the compiler's objects alone that takes longer than to
    tag a few hundred sentences.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # whoever reads has left
        code = code or 141
    os._exit(code)
