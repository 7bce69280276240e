"""What ``partwise evaluate`` measures of predicted columns of a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from partwise.cli.bayesian_network.files import TableFiles, naming_lines
from partwise.cli.options import Confusion
from partwise.cli.output import Report
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import BayesianNetworkClassifier
    from partwise.data import TextTable


def evaluate(
    model: BayesianNetworkClassifier,
    file: str,
    *,
    confusion: Confusion = False,
    files: TableFiles,
) -> Report:
    """Measure a network on a table that has the targets."""
    table = files.read(file)
    scores = _measure(model, table, confusion)
    return Report(scores, partial(_show, scores))


def _measure(
    model: BayesianNetworkClassifier, table: TextTable, confusion: bool
) -> dict[str, Any]:
    """Predict the targets of a table and compare; return all scores, by name."""
    from partwise import metrics

    names = [str(name) for name in model.targets_]
    right: dict[str, list[str]] = {}
    for name in names:
        if name not in table.columns:
            raise DataError(
                f"{table.source}: there is no column {name!r} to compare with"
            )
        cells = table[name].tolist()
        if None in cells:
            line = table.lines[cells.index(None)]
            raise DataError(
                f"{table.source}:{line}: column {name!r}: the value is missing"
            )
        right[name] = cells
    if not len(table):
        raise DataError(f"{table.source}: has no rows to compare")
    with naming_lines(table):
        found = model.predict(table, target=model.targets_).astype(str)
    scores: dict[str, Any] = {"rows": len(table), "accuracy": {}, "values": {}}
    for j, name in enumerate(names):
        gold, predicted = [right[name]], [found[:, j].tolist()]
        scores["accuracy"][name] = metrics.token_accuracy(gold, predicted)
        scores["values"][name] = metrics.label_scores(gold, predicted)
        if confusion:
            table_of = scores.setdefault("confusion", {})
            table_of[name] = metrics.confusion_table(gold, predicted)
    return scores


def _show(scores: dict[str, Any]) -> None:
    """Show scores as tables."""
    from partwise.cli.output import Percent, print_pairs, print_scores, say

    pairs: list[tuple[str, object]] = [("rows", scores["rows"])]
    for name, share in scores["accuracy"].items():
        pairs.append((f"accuracy, {name}", Percent(share)))
    print_pairs("result", pairs)
    for name, labels in scores["values"].items():
        typer.echo()
        print_scores(name, labels.per_label.items())
    for name, table in scores.get("confusion", {}).items():
        say(f"\n{name}: right in rows, predicted in columns\n{table}")
