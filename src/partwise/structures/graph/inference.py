"""Exact inference on graphs: what the waist asks, answered by messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.graph import kbest
from partwise.structures.graph.corpus import Graph
from partwise.structures.graph.messages import (
    MessageSpace,
    collect,
    distribute,
    make_message_space,
    trace_best,
)
from partwise.structures.interface import CodeArray, FloatArray


class GraphSpace(NamedTuple):
    """Scratch arrays of a graph."""

    messages: MessageSpace
    queue: kbest.BranchQueue
    classes: FloatArray


@waist.workspace.implement(Graph)
def _(s: Graph, k: int) -> Any:
    return GraphSpace(
        make_message_space(s),
        kbest.make_branch_queue(k),
        np.zeros(int(s.kinds.n_classes.max(initial=0))),
    )


@waist.argmax.implement(Graph)
def _(s: Graph, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    best = collect(s.cliques, s.kinds, s.inference, i, theta, False, ws.messages)
    bags, t = s.inference.bags, s.inference.topology[i]
    n_labels = s.vertices.n_labels[s.vertices.ptr[i] : s.vertices.ptr[i + 1]]
    trace_best(bags, bags.ptr[t + 1] - 1, bags.ptr[t], n_labels, y, ws.messages)
    return best


@waist.kbest.implement(Graph)
def _(
    s: Graph,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeArray,
    scores: FloatArray,
    ws: Any,
) -> int:
    return kbest.best_labellings(s, i, theta, k, ys, scores, ws.queue, ws.messages)


@waist.marginals.implement(Graph)
def _(s: Graph, i: int, theta: FloatArray, mu: FloatArray, ws: Any) -> float:
    mu[: waist.n_parts(s, i)] = 0.0
    log_z = collect(s.cliques, s.kinds, s.inference, i, theta, True, ws.messages)
    if log_z != -np.inf:
        distribute(s.cliques, s.inference, i, mu, ws.messages)
    return log_z


@waist.log_partition.implement(Graph)
def _(s: Graph, i: int, theta: FloatArray, ws: Any) -> float:
    return collect(s.cliques, s.kinds, s.inference, i, theta, True, ws.messages)
