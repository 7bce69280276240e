"""The k best trees of second order, by Lawler's partition (`partition`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.structures.dependency.partition import (
    PartitionSpace,
    best_allowed,
    make_partition_space,
)
from partwise.structures.dependency.second_order.candidates import SentenceArcs
from partwise.structures.dependency.second_order.chart import Chart, Scores
from partwise.structures.dependency.second_order.trees import best_second_order_tree
from partwise.structures.interface import CodeArray, FloatArray, IntArray


class KBestSpace(NamedTuple):
    """The scores of the best labels of every arc, which ones, and sets of trees."""

    ranked: FloatArray
    label: CodeArray
    ranks: CodeArray
    sets: PartitionSpace


def make_kbest_space(n_words: int, n_labels: int, k: int) -> KBestSpace:
    """Make scratch arrays for the `k` best trees; for a single one, hardly any."""
    n_ranks, side = min(k, max(n_labels, 1)), n_words + 1 if k > 1 else 1
    return KBestSpace(
        np.zeros(side * side * n_ranks),
        np.zeros(side * side * n_ranks, np.int32),
        np.zeros((k, n_words), np.int32),
        make_partition_space(n_words if k > 1 else 0, k),
    )


class SecondOrderSearch(NamedTuple):
    """What finds the best tree with other scores of arcs, which are written first."""

    arcs: SentenceArcs
    given: Scores
    chart: Chart
    waiting: IntArray


@best_allowed.implement(SecondOrderSearch)
def _(
    search: SecondOrderSearch, allowed: FloatArray, single_root: bool, heads: CodeArray
) -> float:
    arcs = search.arcs
    for b in range(arcs.n_arcs):
        search.given.arc[b] = allowed[arcs.head[b], arcs.modifier[b]]
    return best_second_order_tree(
        arcs, search.given, single_root, heads, search.chart, search.waiting
    )
