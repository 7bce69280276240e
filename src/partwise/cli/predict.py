"""``partwise predict``: outputs for new data, as it comes in."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli.files import is_model_file
from partwise.cli.kind_options import Options
from partwise.errors import DataError


def predict(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model saved by `partwise train`."),
    ],
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="The data: a file or -.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write: a file or -.")
    ] = "-",
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Threads; -1 for one per core (default: as in training).",
        ),
    ] = None,
    *,
    options: Options,
) -> None:
    """Predict labels, trees, paths or columns for new data."""
    from partwise.cli.overwriting import refuse_overwriting

    if is_model_file(input) and not is_model_file(model):
        raise DataError(
            f"{input}: is a model (give it first: partwise predict {input} {model})"
        )
    options.only_one("kbest", "marginals", "spans", "sample")
    fitted, kind = options.load(model)
    if jobs is not None:
        fitted.set_params(n_jobs=jobs)
    refuse_overwriting({"--output": output}, {"MODEL": model, "INPUT": input})
    options.of_model(kind, "predict", fitted, model)(fitted, input, output)
