"""What there is to see of rows whose values a network predicts."""

from __future__ import annotations

from typing import Any

from partwise.estimators.bayesian_network.discrete_table import read_table, read_target
from partwise.pages import View, view_class
from partwise.pages.classes import ONLY


def make_views(network: Any, X: Any, y: Any = None) -> list[View]:
    """Return views of rows, with the probabilities of all values."""
    table = read_table(X)
    targets = list(network.targets_)
    found = network.predict(X, target=targets).tolist()
    shares = network.predict_marginals(X, target=targets)
    columns = dict(zip(table.names, table.columns, strict=True))
    if y is not None:
        right = read_target(y, targets)
        columns |= dict(zip(right.names, right.columns, strict=True))
    known = all(name in columns for name in targets)
    values = {name: network.values_[name] for name in targets}
    views = []
    for i, row in enumerate(found):
        shown = [
            f"{name}={column[i]}"
            for name, column in columns.items()
            if name not in targets and column[i] is not None
        ]
        called = {name: ONLY if len(targets) == 1 else str(name) for name in targets}
        gold = {called[name]: columns[name][i] for name in targets} if known else None
        views.append(
            view_class(
                shown,
                {called[n]: value for n, value in zip(targets, row, strict=True)},
                gold,
                probabilities={
                    called[name]: dict(
                        zip(values[name], shares[name][i].tolist(), strict=True)
                    )
                    for name in targets
                },
            )
        )
    return views
