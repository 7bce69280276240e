"""``partwise train``: from a data file to a model file."""

from __future__ import annotations

import typer

from partwise.cli.bayesian_network.train import bayesnet
from partwise.cli.constituency.train import constituency
from partwise.cli.dependency.train import parse
from partwise.cli.hidden_markov.train import hmm
from partwise.cli.lattice.train import lattice
from partwise.cli.sequence.train import tag

train_app = typer.Typer(no_args_is_help=True, help="Train a model on labelled data.")


@train_app.callback()
def _train() -> None:
    """Train a model on labelled data."""


train_app.command()(tag)
train_app.command()(parse)
train_app.command()(constituency)
train_app.command()(lattice)
train_app.command()(hmm)
train_app.command()(bayesnet)
