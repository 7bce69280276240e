"""``partwise train``: from a data file to a model file."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from partwise.cli.kinds import Kind


def train_commands(kinds: Sequence[Kind]) -> typer.Typer:
    """Return the commands below ``partwise train``, one for every kind that has one."""
    commands = typer.Typer(no_args_is_help=True, help="Train a model on labelled data.")

    @commands.callback()
    def _train() -> None:
        """Train a model on labelled data."""

    owners: dict[str | None, Kind] = {}
    for kind in kinds:
        if not kind.has("train"):
            continue
        if kind.command in owners:
            raise ValueError(
                f"partwise train {kind.command} is for {owners[kind.command].many} and "
                f"for {kind.many}; give one of them another name"
            )
        owners[kind.command] = kind
        commands.command(kind.command)(kind.function("train"))
    return commands
