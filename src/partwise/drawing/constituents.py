"""What is to be drawn of a constituency tree: its nodes, where they are, how sure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from partwise.constituents import Tree, subtrees
from partwise.drawing.arguments import checked_share


class Node(NamedTuple):
    """A node: words ``start`` to ``end`` (excluded), ``height`` levels above them.

    Nodes are numbered from the root, each before those below it; ``parent`` is -1
    for the root.
    """

    tree: Tree
    parent: int
    start: int
    end: int
    height: int
    probability: float | None

    @property
    def label(self) -> str:
        """What is written at the node."""
        if self.probability is None:
            return self.tree.label
        return f"{self.tree.label} {self.probability:.2f}".lstrip()


def place_nodes(
    tree: Tree, probabilities: Mapping[tuple[str, int, int], float] | None
) -> list[Node]:
    """Return all nodes with their places; refuse what is not a probability.

    Examples
    --------
    >>> tree = Tree("S", (Tree("A", ("a",)), Tree("B", ("b",))))
    >>> [(n.label, n.parent, n.start, n.end) for n in place_nodes(tree, None)]
    [('S', -1, 0, 2), ('A', 0, 0, 1), ('B', 0, 1, 2)]
    """
    trees = list(subtrees(tree))
    parents = [-1] * len(trees)
    starts = [0] * len(trees)
    ends = [0] * len(trees)
    heights = [0] * len(trees)
    # Nodes come before those below them: the stack holds whose children come next.
    waiting: list[int] = []
    position = 0
    for i, node in enumerate(trees):
        parents[i] = waiting.pop() if waiting else -1
        starts[i] = position
        position += node.is_tag
        ends[i] = position
        waiting.extend([i] * len(node.phrases))
    for i in reversed(range(1, len(trees))):
        ends[parents[i]] = max(ends[parents[i]], ends[i])
        heights[parents[i]] = max(heights[parents[i]], heights[i] + 1)
    known = probabilities or {}
    return [
        Node(*places, _share(known.get((places[0].label, *places[2:4])), places[0]))
        for places in zip(trees, parents, starts, ends, heights, strict=True)
    ]


def _share(probability: float | None, tree: Tree) -> float | None:
    if probability is None:
        return None
    return checked_share(probability, f"a bracket {tree.label!r}")
