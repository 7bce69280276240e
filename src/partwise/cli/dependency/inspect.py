"""What ``partwise inspect`` shows of a dependency parser, whose weights are hashed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from partwise.cli.dependency.pruning import told_of_pruning
from partwise.cli.inspect import Findings

if TYPE_CHECKING:
    from partwise import DependencyParser


def inspect(model: DependencyParser, top: int) -> Findings:
    """Return which trees there are, and the groups of features."""
    from partwise.features.arc_groups import GROUPS

    trees = model._trees
    kind = "projective" if trees.projective else "projective or not"
    roots = "one root" if trees.single_root else "one root or several"
    groups = "all" if tuple(trees.features) == GROUPS else ", ".join(trees.features)
    n_given = trees.n_arc_features
    given = f"; {n_given:,} given for every arc" if n_given else ""
    order = "arcs" if trees.order == 1 else "arcs, siblings and grandparents"
    return Findings(
        "treebanks",
        {"trees": asdict(trees)},
        [
            ("trees", f"{kind}, {roots}"),
            ("parts", order),
            *told_of_pruning(model).items(),
            ("arc features", f"{groups}{given}"),
        ],
    )
