"""Commands, run in this process."""

import functools
from typing import Any

from typer import testing

from partwise.cli.app import app

# To build all commands takes longer than to run most of them.
testing._get_command = functools.cache(testing._get_command)  # type: ignore[attr-defined]


def run(*arguments: object, code: int = 0, stdin: bytes | str | None = None) -> Any:
    """Run a command; any other exit code is a failure."""
    result = testing.CliRunner().invoke(app, [*map(str, arguments)], input=stdin)
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result


def message(*arguments: object, stdin: str | None = None) -> str:
    """Return the one line that a command says about wrong input."""
    result = run(*arguments, code=2, stdin=stdin)
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert result.stdout == ""
    return str(line)
