"""``partwise train bayesnet``: from a table to a Bayesian network."""

from __future__ import annotations

from typing import Annotated, Any

from partwise.cli.bayesian_network.files import TableFiles, naming_lines
from partwise.cli.cost_files import Costs, costs_file, read_costs
from partwise.cli.files import ColumnFiles
from partwise.cli.learning import (
    REFERENCE,
    Learning,
    SettingOption,
    options_in,
    takes_learning,
)
from partwise.cli.options import FILES, LEARNING, Dev, ModelPath, Train, in_panel
from partwise.cli.training_run import TrainingRun
from partwise.errors import DataError
from partwise.estimators.bayesian_network.settings import BayesianNetworkSettings

NETWORKS = "Bayesian networks"


@takes_learning(
    BayesianNetworkSettings,
    *options_in(NETWORKS, "structure", "unseen"),
    SettingOption("missing", NETWORKS, flags=("--missing-values",)),
    *options_in(LEARNING, "objective", "divergence", "smoothing"),
    SettingOption("reference", help=f"{REFERENCE} (default: likelihood)."),
)
def bayesnet(
    train: Train,
    model: ModelPath,
    target: Annotated[
        list[str],
        in_panel(
            FILES,
            "The column to predict; give it several times for several columns.",
            metavar="COLUMN",
        ),
    ],
    dev: Dev = None,
    graph: Annotated[
        str | None,
        in_panel(
            NETWORKS,
            "A file with one edge per line, parent and child, separated by ->, a tab, "
            "a comma or a blank (default: learnt, for a single target).",
        ),
    ] = None,
    costs: Costs = "hamming",
    *,
    tables: TableFiles,
    learning: Learning,
) -> None:
    """Train a Bayesian network: columns of a table, given the others.

    TRAIN is a table: a line with the names of columns, then one row per line, with
    commas or tabs between cells. Ctrl-C
    ends training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import BayesianNetworkClassifier

    files = {"--graph": graph, "--costs": costs_file(costs)}
    sources = {"TRAIN": train, "--dev": dev, **files}
    run = TrainingRun(model, sources, learning)
    objective = learning.settings["objective"]
    if learning.C_path is not None and objective == "likelihood":
        raise ValueError("--C-path needs --objective margin")
    fitted = run.make(
        BayesianNetworkClassifier,
        graph=None if graph is None else _read_edges(graph, tables.encoding),
        target=target[0] if len(target) == 1 else target,
        costs=_costs(costs, target, tables.encoding),
    )
    table = tables.read(train)
    held_out = None if dev is None else tables.read(dev)
    sizes = {"rows": len(table), "columns": len(table.columns)}
    with naming_lines(table), naming_lines(held_out or table, "dev"):
        run.fit_and_save(
            fitted,
            table,
            None,
            None if held_out is None else (held_out, None),
            sizes,
            _accuracy,
            tell=_tell,
        )


def _costs(costs: str, targets: list[str], encoding: str) -> Any:
    """Return what mistakes cost in every target."""
    read = read_costs(costs, ColumnFiles(encoding=encoding))
    return read if len(targets) == 1 else dict.fromkeys(targets, read)


def _accuracy(model: Any, dev: Any) -> dict[str, float | None]:
    return {"accuracy": model.score(dev[0])}


def _tell(model: Any) -> dict[str, Any]:
    network = model._network
    return {
        "targets": ", ".join(map(str, model.targets_)),
        "edges": sum(map(len, network.parents)),
        "distributions": network.n_distributions,
        "trained_for": model.objective_,
        "reference": model.reference_,
    }


def _read_edges(path: str, encoding: str) -> list[tuple[str, str]]:
    """Read a parent and a child from every line."""
    from partwise.data.files import read_lines

    edges = []
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip():
            continue
        between = next((mark for mark in ("->", "\t", ",") if mark in line), None)
        names = [name.strip() for name in line.split(between)]
        if len(names) != 2 or not all(names):
            raise DataError(
                f"{path}:{number}: expected a parent and a child, such as "
                f"'rain -> wet' (line: {line[:60]!r})"
            )
        edges.append((names[0], names[1]))
    return edges
