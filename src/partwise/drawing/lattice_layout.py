"""What is to be drawn of a lattice: its nodes in columns, its edges, how sure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, Protocol

from partwise.drawing.arguments import checked_share

# Nobody could tell more of them apart.
MOST_EDGES = 400
SWEEPS = 4


class DrawableEdge(Protocol):
    """An edge, as far as a drawing shows it."""

    @property
    def source(self) -> Hashable:
        """Where it begins."""

    @property
    def target(self) -> Hashable:
        """Where it ends."""

    @property
    def words(self) -> Sequence[str]:
        """What it yields."""


class DrawableLattice(Protocol):
    """A lattice, as far as a drawing shows it; `LatticeInput` is one."""

    @property
    def edges(self) -> Sequence[DrawableEdge]:
        """All edges."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def starts(self) -> tuple[Hashable, ...]:
        """Where paths begin."""

    @property
    def ends(self) -> tuple[Hashable, ...]:
        """Where paths end."""

    def check_path(self, path: Iterable[int]) -> tuple[int, ...]:
        """Return a path as numbers of edges; refuse what is none."""


class DrawnEdge(NamedTuple):
    """An edge, what is written at it, and whether it is on the path to be shown."""

    edge: DrawableEdge
    label: str
    probability: float | None
    is_chosen: bool


class LatticeDrawing(NamedTuple):
    """Nodes by column, from left to right, and edges in the order of the lattice."""

    columns: list[list[Hashable]]
    edges: list[DrawnEdge]


def place_lattice(
    lattice: DrawableLattice,
    path: Iterable[int] | None = None,
    probabilities: Iterable[float] | None = None,
    max_edges: int | None = MOST_EDGES,
) -> LatticeDrawing:
    """Put the nodes of a lattice into columns; refuse what cannot be drawn.

    A node is one column right of the last node with an edge to it.

    Examples
    --------
    >>> from partwise import LatticeInput
    >>> drawing = place_lattice(LatticeInput([("a", "b"), ("b", "c"), ("a", "c")]))
    >>> drawing.columns
    [['a'], ['b'], ['c']]
    """
    n_edges = len(lattice.edges)
    if max_edges is not None and n_edges > max_edges:
        raise ValueError(
            f"a lattice of {n_edges:,} edges is too large to be drawn; the limit is "
            f"{max_edges:,}"
        )
    chosen = set(() if path is None else lattice.check_path(path))
    shares = None if probabilities is None else _shares(probabilities, n_edges)
    edges = []
    for e, edge in enumerate(lattice.edges):
        share = None if shares is None else shares[e]
        label = " ".join(edge.words)
        if share is not None:
            label = f"{label} {share:.2f}".lstrip()
        edges.append(DrawnEdge(edge, label, share, e in chosen))
    return LatticeDrawing(_columns(lattice), edges)


def _shares(probabilities: Iterable[float], n_edges: int) -> list[float]:
    found = list(probabilities)
    if len(found) != n_edges:
        raise ValueError(f"{len(found)} probabilities for {n_edges} edges")
    return [checked_share(p, f"edge {e}") for e, p in enumerate(found)]


def _columns(lattice: DrawableLattice) -> list[list[Hashable]]:
    after: dict[Hashable, list[Hashable]] = {}
    before: dict[Hashable, list[Hashable]] = {}
    for node in (*lattice.starts, *lattice.ends):
        after.setdefault(node, [])
    for edge in lattice.edges:
        after.setdefault(edge.source, []).append(edge.target)
        after.setdefault(edge.target, [])
        before.setdefault(edge.target, []).append(edge.source)
    waiting = {node: len(before.get(node, ())) for node in after}
    order = [node for node in after if not waiting[node]]
    level = dict.fromkeys(after, 0)
    for node in order:  # the list grows while it is read
        for target in after[node]:
            level[target] = max(level[target], level[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    if len(order) < len(after):
        raise ValueError("the edges of the lattice form a cycle, which is not drawn")
    columns: list[list[Hashable]] = [[] for _ in range(max(level.values()) + 1)]
    for node in order:
        columns[level[node]].append(node)
    for sweep in range(SWEEPS):
        _align(columns, before if sweep % 2 == 0 else after, backward=sweep % 2 == 1)
    return columns


def _align(
    columns: list[list[Hashable]],
    neighbours: dict[Hashable, list[Hashable]],
    backward: bool,
) -> None:
    """Sort every column by the middle of each node's neighbours: fewer crossings."""
    height: dict[Hashable, float] = {}
    for column in reversed(columns) if backward else columns:

        def middle(node: Hashable, own: float) -> float:
            known = [height[v] for v in neighbours.get(node, ()) if v in height]
            return sum(known) / len(known) if known else own

        places = {node: _centred(r, len(column)) for r, node in enumerate(column)}
        column.sort(key=lambda node: middle(node, places[node]))
        height.update((v, _centred(r, len(column))) for r, v in enumerate(column))


def _centred(rank: int, size: int) -> float:
    return rank - (size - 1) / 2
