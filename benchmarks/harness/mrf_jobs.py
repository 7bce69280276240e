"""Marginals of random fields, measured in a process that imports little else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.clock import median_seconds
from benchmarks.harness.graphs import Field, ask_marginals, draw_field, grid_edges
from partwise.structures import interface as waist


def all_marginals(field: Field) -> tuple[Callable[[], float], Any]:
    """Return a function that computes all marginals, and an array they go to."""
    graph, theta = field.graph(), field.theta()
    ws, mu = waist.workspace(graph, 1), np.zeros(theta.size)
    return (lambda: ask_marginals(graph, theta, mu, ws)), mu


def measure(kind: str, n: int, n_labels: int, repeats: int) -> dict[str, Any]:
    """Measure one field, in a process of its own."""
    field = make_field(kind, n, n_labels)
    job, mu = all_marginals(field)
    spent = median_seconds({"own": job}, repeats)["own"]
    nodes = mu[: field.nodes.size].reshape(field.nodes.shape)
    return {"seconds": spent, "marginals": nodes.tolist()}


def make_field(kind: str, n: int, n_labels: int) -> Field:
    """Draw a chain of `n` nodes, or a grid of `n` times `n`."""
    if kind == "chain":
        return draw_field(n, n_labels, [(v, v + 1) for v in range(n - 1)])
    return draw_field(n * n, n_labels, grid_edges(n))
