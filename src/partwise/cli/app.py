"""The program: its commands, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from partwise.cli.demo import demo
from partwise.cli.evaluate import evaluate
from partwise.cli.inspect import inspect
from partwise.cli.predict import predict
from partwise.cli.show import show
from partwise.cli.train import train_app
from partwise.errors import PartwiseError

# Exit codes. Python's own 1 is left to defects of this program.
WRONG_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class Commands(TyperGroup):
    """Commands whose expected errors are one line each, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn what users can correct into a message."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader (`| head`) has what it wanted. Python flushes standard
            # output at exit, which would complain: give it somewhere to go.
            _silence(sys.stdout)
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (PartwiseError, ValueError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            typer.echo(f"error: {_in_one_line(error)}", err=True)
            raise typer.Exit(WRONG_INPUT) from None


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _silence(stream: Any) -> None:
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # not a real file: nothing is flushed at exit
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from partwise import __version__

        typer.echo(f"partwise {__version__}")
        raise typer.Exit


@app.callback()
def partwise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", envvar="PARTWISE_DEBUG", help="Show tracebacks of errors."
        ),
    ] = False,
) -> None:
    """Structured prediction with a certificate: train, predict, evaluate, show.

    Exit codes: 0 done, 2 wrong input (arguments, data, model, paths), 130 interrupted,
    1 a defect of the program.
    """


app.command()(demo)
app.add_typer(train_app, name="train")
app.command()(predict)
app.command()(evaluate)
app.command()(inspect)
app.command()(show)
