"""The program: its commands, and how their errors are reported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from partwise._screen import progress_notes
from partwise.characters import printable
from partwise.cli.convert import convert_model
from partwise.cli.demo import demo_command
from partwise.cli.doctor import doctor
from partwise.cli.evaluate import evaluate
from partwise.cli.inspect import inspect
from partwise.cli.kind_options import KindOptions
from partwise.cli.kinds import Kind, added_kinds, built_in_kinds, error_in_one_line
from partwise.cli.predict import predict
from partwise.cli.report import report, suspects
from partwise.cli.serve import serve
from partwise.cli.show import show
from partwise.cli.train import train_commands
from partwise.cli.warm import warm_command
from partwise.errors import PartwiseError

# Exit codes. Python's own 1 is left to bugs of this program.
WRONG_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
# Typer's own class, or Click's, as the version of Typer has it.
WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """Commands whose expected errors are one line each, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; report errors that users can correct as messages."""
        try:
            with progress_notes():
                return super().invoke(ctx)
        except WrongUsage as error:  # it is shown with what was typed, such as names
            error.message = printable(error.message)  # type: ignore[attr-defined]
            raise
        except BrokenPipeError:
            # The reader (`| head`) has what it wanted. Python flushes standard
            # output at exit, which would complain: give it somewhere to go.
            _silence(sys.stdout)
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except (PartwiseError, ValueError, OSError, MemoryError) as error:
            if ctx.params.get("debug"):
                raise
            typer.echo(f"error: {_in_one_line(error)}", err=True)
            raise typer.Exit(WRONG_INPUT) from None


def _in_one_line(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    return printable(" ".join(text.split())) or type(error).__name__


def _silence(stream: Any) -> None:
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # not a real file: nothing is flushed at exit
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _show_version(wanted: bool) -> None:
    if wanted:
        from partwise import __version__

        typer.echo(f"partwise {__version__}")
        raise typer.Exit


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

    Exit codes: 0 done, 1 a bug, 2 wrong input (arguments, data, model, paths), 130
    interrupted, 141 a broken pipe (the reader of the output ended early, as head does).
    """


def make_app(kinds: Sequence[Kind]) -> typer.Typer:
    """Return the program for some kinds of models.

    Raises
    ------
    ValueError
        If two kinds are incompatible: both have a command of the same name, or declare
        an option of the same name in different ways.
    """
    app = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(partwise)
    app.command()(demo_command(kinds))
    app.add_typer(train_commands(kinds), name="train")
    for kind in [kind for kind in kinds if kind.has("encode")][:1]:
        app.command("encode")(kind.function("encode"))
    app.command()(KindOptions(["predict"], kinds).command(predict))
    app.command()(KindOptions(["evaluate", "compare"], kinds).command(evaluate))
    app.command()(KindOptions(["inspect"], kinds).command(inspect))
    app.command()(
        KindOptions(["show", "draw", "contrast", "labelled"], kinds).command(show)
    )
    app.command()(KindOptions(["labelled"], kinds).command(report))
    app.command()(KindOptions(["labelled"], kinds).command(suspects))
    app.command()(serve)
    app.command("convert")(convert_model)
    app.command()(warm_command(kinds))
    app.command()(doctor)
    return app


def _with_added_kinds() -> typer.Typer:
    """Return the program; a kind of another package that fails is reported."""
    kinds = built_in_kinds()
    app = make_app(kinds)
    for name, load in added_kinds():
        try:
            kind = load()
            if not isinstance(kind, Kind):
                raise TypeError(
                    f"expected a partwise.cli.kinds.Kind, not {type(kind).__name__}"
                )
            app = make_app([*kinds, kind])
        except (Exception, SystemExit) as error:  # whatever other packages may raise
            why = error_in_one_line(error)
            typer.echo(f"warning: skipped the kind {name}: {why}", err=True)
        else:
            kinds.append(kind)
    return app


app = _with_added_kinds()
