"""The command line: ``partwise demo | train | predict | evaluate | inspect``.

One file a command. Everything heavy is imported inside the commands, so that
``partwise --help`` answers at once.
"""

from partwise.cli.app import app, main

__all__ = ["app", "main"]
