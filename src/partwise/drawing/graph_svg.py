"""Labelled graphs as SVG: nodes that push each other away, and edges that pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._notebooks import Drawing
from partwise.drawing.arc_diagram import MARGIN, SMALL_FONT
from partwise.drawing.svg_page import element, sheet, text_width

FloatArray = NDArray[np.float64]

STYLE = """
.partwise .paper { fill: #ffffff }
.partwise text { fill: #1f2328; font: 12px system-ui, sans-serif; text-anchor: middle }
.partwise .node rect { fill: #eaf1fb; stroke: #0b62c4 }
.partwise .edge path { fill: none; stroke: #8c959f; stroke-width: 1.5 }
.partwise .edge .arrow { fill: #8c959f; stroke: none }
@media (prefers-color-scheme: dark) {
.partwise .paper { fill: #0d1117 }
.partwise text { fill: #f0f6fc }
.partwise .node rect { fill: #16263b; stroke: #6cb6ff }
}
"""
ROUNDS = 150
APART = 90.0
"""Pixels between two nodes that an edge joins, about."""
NODE_HEIGHT = 24.0
BESIDE_TEXT = 8.0


def draw_graph_svg(
    graph: Any,
    edges: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | Mapping[Any, Any] | None = None,
    title: str = "A graph",
    *,
    directed: bool = False,
) -> Drawing:
    """Draw a graph as SVG, with the label of every node.

    Parameters
    ----------
    graph : networkx graph, or sequence
        The graph, or what its nodes are called.
    edges : sequence of pairs of int, optional
        The nodes that are joined, by their numbers, from 0; networkx graphs have them.
    labels : sequence or mapping, optional
        The label of every node: in order, or by its name.
    title : str
        The name of the drawing.
    directed : bool
        Whether edges have arrows; networkx graphs say so themselves.

    Returns
    -------
    str
        An ``<svg>`` element; notebooks draw it. The same graph is always drawn in the
        same way.

    Examples
    --------
    >>> drawing = draw_graph_svg(["a", "b"], [(0, 1)], ["sea", "land"])
    >>> drawing.count('class="node"'), "a: sea" in drawing
    (2, True)
    """
    if hasattr(graph, "is_directed"):
        names, directed = list(graph.nodes), bool(graph.is_directed())
        number = {name: v for v, name in enumerate(names)}
        edges = [(number[a], number[b]) for a, b in graph.edges()]
    else:
        names, edges = list(graph), edges or []
    if isinstance(labels, Mapping):
        labels = [labels[name] for name in names]
    if labels is not None and len(labels) != len(names):
        raise ValueError(f"{len(names)} nodes need as many labels, not {len(labels)}")
    pairs = [(int(a), int(b)) for a, b in edges]
    if any(not 0 <= v < len(names) for pair in pairs for v in pair):
        raise ValueError(f"edges must join two of the {len(names)} nodes, from 0")
    said = [str(name) for name in names]
    if labels is not None:
        said = [f"{name}: {label}" for name, label in zip(said, labels, strict=True)]
    wide = [text_width(text, SMALL_FONT) + 2 * BESIDE_TEXT for text in said]
    at = place_nodes(len(names), pairs)
    if len(at):
        # Room for the widest text on each side.
        at += [MARGIN + max(wide) / 2, MARGIN + NODE_HEIGHT / 2]
    parts = [_edge(at[a], at[b], directed, wide[b]) for a, b in pairs]
    for v, text in enumerate(said):
        x, y = at[v].tolist()
        box = {"x": x - wide[v] / 2, "y": y - NODE_HEIGHT / 2, "rx": 8}
        size = {"width": wide[v], "height": NODE_HEIGHT}
        parts.append(
            element(
                "g",
                {"class": "node", "data-node": v},
                element("rect", {**box, **size}),
                element("text", {"x": x, "y": y + 4.0}, text=text),
            )
        )
    width, height = at.max(axis=0).tolist() if len(at) else (MARGIN, MARGIN)
    width += MARGIN + max(wide, default=0.0) / 2
    height += MARGIN + NODE_HEIGHT / 2
    return sheet(width, height, title, "; ".join(said), parts, STYLE)


def place_nodes(n: int, edges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the places of nodes, spread most from left to right; all are positive.

    Fruchterman and Reingold (1991), from a circle, so that nothing is drawn at random.

    Examples
    --------
    >>> place_nodes(2, [(0, 1)]).round().tolist()
    [[0.0, 0.0], [90.0, 0.0]]
    """
    turns = 2.0 * np.pi * np.arange(n) / max(n, 1)
    at = APART * np.sqrt(n) / 2.0 * np.column_stack([np.cos(turns), np.sin(turns)])
    ends = np.array([pair for pair in edges if pair[0] != pair[1]], np.int64)
    ends = ends.reshape(-1, 2)
    for done in range(ROUNDS if n > 1 else 0):
        between = at[:, None] - at[None]
        far = np.maximum(np.hypot(between[..., 0], between[..., 1]), 0.01)
        push = between * (APART / far)[..., None] ** 2
        move = push.sum(axis=1)
        joined = between[ends[:, 0], ends[:, 1]]
        pull = joined * far[ends[:, 0], ends[:, 1]][:, None] / APART
        np.add.at(move, ends[:, 0], -pull)
        np.add.at(move, ends[:, 1], pull)
        length = np.maximum(np.hypot(move[:, 0], move[:, 1]), 0.01)
        most = 0.1 * APART * np.sqrt(n) * (1.0 - done / ROUNDS)
        at = at + move * (np.minimum(length, most) / length)[:, None]
    return _level(at)


def _level(at: FloatArray) -> FloatArray:
    """Turn places so that they spread most from left to right, the first one left."""
    if not len(at):
        return at
    at = at - at.mean(axis=0)
    x, y = at[:, 0], at[:, 1]
    angle = np.arctan2(2.0 * (x @ y), x @ x - y @ y) / 2.0
    cos, sin = np.cos(angle), np.sin(angle)
    at = np.column_stack([x * cos + y * sin, y * cos - x * sin])
    at = -at if at[0, 0] > 0.0 else at
    turned: FloatArray = at - at.min(axis=0)
    return turned


def _edge(start: FloatArray, end: FloatArray, directed: bool, wide: float) -> str:
    line = "M{:.1f} {:.1f} L{:.1f} {:.1f}".format(*start.tolist(), *end.tolist())
    drawn = element("path", {"d": line})
    if directed:
        step = end - start
        step = step / max(float(np.hypot(*step)), 0.01)
        # The tip is where the line meets the box of the node.
        across = (wide / 2) / max(abs(float(step[0])), 1e-6)
        down = (NODE_HEIGHT / 2) / max(abs(float(step[1])), 1e-6)
        tip = end - step * min(across, down)
        side = np.array([-step[1], step[0]]) * 4.0
        corners = [tip, tip - 9.0 * step + side, tip - 9.0 * step - side]
        arrow = " L".join("{:.1f} {:.1f}".format(*one.tolist()) for one in corners)
        drawn += element("path", {"class": "arrow", "d": f"M{arrow} Z"})
    return element("g", {"class": "edge"}, drawn)
