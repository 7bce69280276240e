"""The command line: ``partwise demo | train | predict | evaluate | inspect | show``.

One file per command. Everything heavy is imported inside the commands, so that
``partwise --help`` answers quickly.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the program with the arguments of the process."""
    try:
        from partwise.cli.app import app

        app(prog_name="partwise")
    except KeyboardInterrupt:  # while the program itself was being loaded
        sys.stderr.write("interrupted\n")
        sys.exit(130)
