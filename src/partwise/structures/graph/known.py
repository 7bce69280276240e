"""What is known of the labels of graphs, as parts that completions do not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partwise.structures.graph.corpus import FactorGraph
from partwise.structures.partial import PartialOutputs, make_partial


def know_vertices(s: FactorGraph, wrong: NDArray[np.bool_]) -> PartialOutputs:
    """Return the corpus with labels that are known in part.

    Parameters
    ----------
    s : Graph
        The corpus, with one of the possible labels of every vertex as the right one.
    wrong : array of bool
        For every label of every vertex, end to end, whether it is not the right one.
        All False says nothing of a vertex.
    """
    vertices, cliques = s.vertices, s.cliques
    # Configurations are forbidden that right labels of other vertices are part of.
    s = s._replace(vertices=vertices._replace(costs=np.where(wrong, vertices.costs, 0)))
    ids: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    ptr = [0]
    for i in range(vertices.ptr.size - 1):
        found = [np.zeros(0, np.int64)]
        for v in range(int(vertices.ptr[i]), int(vertices.ptr[i + 1])):
            n_labels, c = int(vertices.n_labels[v]), int(vertices.home[v])
            own = wrong[vertices.cost_at[v] : vertices.cost_at[v] + n_labels]
            if own.any():
                configuration = np.arange(cliques.part_at[c + 1] - cliques.part_at[c])
                label = configuration // vertices.home_stride[v] % n_labels
                begin = cliques.part_at[c] - cliques.part_at[cliques.ptr[i]]
                found.append(begin + configuration[own[label]])
        # Two vertices of a clique may forbid the same configuration.
        ids.append(np.unique(np.concatenate(found)))
        ptr.append(ptr[-1] + ids[-1].size)
    return make_partial(s, ptr, np.concatenate(ids))
