"""What ``partwise inspect`` shows of a Bayesian network: its graph and tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from partwise.cli.inspect import Findings, objective_in_words

if TYPE_CHECKING:
    from partwise import BayesianNetworkClassifier


def inspect(model: BayesianNetworkClassifier, top: int) -> Findings:
    """Return the graph, and the distributions of the targets."""
    found = _network(model, top)
    return Findings(
        "tables with names of columns",
        {"network": found},
        objective_in_words(found),
        partial(_show, found),
    )


def _network(model: Any, top: int) -> dict[str, Any]:
    """Return the graph, and the distributions of the targets, by name, for JSON.

    Parameters
    ----------
    model : BayesianNetworkClassifier
        The model.
    top : int
        How many rows of the table of every target.
    """
    missing = model.missing_
    return {
        "targets": [str(name) for name in model.targets_],
        "objective": model.objective_,
        "reference": model.reference_,
        "C": model.C_ if model.objective_ == "margin" else None,
        "variables": [
            {
                "variable": str(name),
                "values": model.values_[name].tolist(),
                "parents": [str(parent) for parent in model.parents_[name]],
                "unknown": float(missing[name].max()),
            }
            for name in model.variables_
        ],
        "probabilities": {
            str(name): sorted(model.table(name), key=_probability)[:top]
            for name in model.targets_
        },
    }


def _probability(row: dict[Any, Any]) -> float:
    return -float(row["probability"])


def _show(found: dict[str, Any]) -> None:
    """Show the graph and probabilities as tables."""
    from partwise.cli.output import console, print_table

    print_table(
        "variables",
        ["variable", "values", "parents", "left for unknown"],
        [
            [one["variable"], len(one["values"]), ", ".join(one["parents"]), left]
            for one, left in ((v, round(v["unknown"], 6)) for v in found["variables"])
        ],
    )
    for name, rows in found["probabilities"].items():
        if rows:
            console().print()
            headings = list(rows[0])
            print_table(
                f"most probable values of {name}",
                list(map(str, headings)),
                [[row[column] for column in headings] for row in rows],
            )
