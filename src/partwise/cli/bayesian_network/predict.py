"""What ``partwise predict`` writes for Bayesian networks: tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.bayesian_network.files import TableFiles, naming_lines
from partwise.cli.options import JsonLines, Marginals
from partwise.cli.output import as_json
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import BayesianNetworkClassifier


def predict(
    model: BayesianNetworkClassifier,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    json: JsonLines = False,
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="A column to predict instead of those chosen in training; may be "
            "given several times.",
            metavar="COLUMN",
        ),
    ] = None,
    files: TableFiles,
) -> None:
    """Predict columns of a table.

    Bayesian networks read tables with the names of columns in the first line, and add
    columns with their predictions. Columns may be missing, and cells empty.
    """
    from partwise.data import open_output, write_csv

    table = files.read(input)
    check_columns(model, table)
    wanted = target or model.targets_
    with naming_lines(table):
        found = model.predict(table, target=wanted)
        shares: dict[Any, Any] = (
            model.predict_marginals(table, target=wanted) if marginals else {}
        )
    values = {name: model.values_[name].tolist() for name in shares}
    if json:
        with open_output(output) as out:
            for i, row in enumerate(found.tolist()):
                one: dict[str, Any] = {"predicted": dict(zip(wanted, row, strict=True))}
                if marginals:
                    one["marginals"] = {
                        name: dict(zip(values[name], share[i].tolist(), strict=True))
                        for name, share in shares.items()
                    }
                out.write(as_json(one) + "\n")
        return
    names = [*table.columns, *(f"predicted {name}" for name in wanted)]
    for name, known in values.items():
        names += [f"P({name}={value})" for value in known]
    cells = [*table.cells, *found.T.tolist()]
    for share in shares.values():
        cells += [[f"{p:.6g}" for p in column] for column in share.T.tolist()]
    write_csv(output, names, zip(*cells, strict=True), table.separator)


def check_columns(model: BayesianNetworkClassifier, table: Any) -> None:
    """Refuse a table that shares no columns with the model."""
    known = model.variables_
    if not any(name in known for name in table.columns):
        raise DataError(
            f"{table.source}: none of its columns is a variable of the model, which "
            f"has {', '.join(map(str, known[:8]))}{', ...' if known[8:] else ''}"
        )
