"""Lattices as users have them: edges between nodes, with features and words.

Nodes may be anything hashable, for example ``(position, last word)``. A path leads
from a start to an end, and is written as the numbers of its edges, which count from 0
in the order in which they were given.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from operator import index
from typing import Any, NamedTuple, TypeAlias

from partwise.data.values import flatten
from partwise.errors import DataError

__all__ = ["LatticeEdge", "LatticeInput", "LatticePath"]

LARGEST_COST = 1e100
"""Costs add up, and scores with them."""

Features: TypeAlias = Mapping[str, Any] | Iterable[str]
Path: TypeAlias = tuple[int, ...]


MOST_DRAWN = 100
"""Lattices with more edges are not drawn in notebooks."""


class LatticeEdge(NamedTuple):
    """An edge from one node to another.

    Attributes
    ----------
    source, target : hashable
        The nodes.
    features : mapping or iterable of str
        As the tokens of `SequenceTagger`: numbers, strings, bools, or names alone.
    words : tuple of str
        What the edge yields; may be empty. One string is split at its blanks.
    cost : float, optional
        What using it costs in training with a margin; by default 1 unless it lies on a
        good path.

    Examples
    --------
    >>> LatticeEdge(0, 1, {"lm": -2.5}, ("the", "house")).words
    ('the', 'house')
    """

    source: Hashable
    target: Hashable
    features: Features = ()
    words: Sequence[str] | str = ()
    cost: float | None = None


class LatticePath(NamedTuple):
    """A path: the numbers of its edges, the words that it yields, and its score.

    Examples
    --------
    >>> LatticePath((0, 2), ("the", "house"), 1.5).text
    'the house'
    """

    edges: Path
    words: tuple[str, ...]
    score: float = math.nan

    @property
    def text(self) -> str:
        """The words with blanks between them."""
        return " ".join(self.words)


def _is_node(node: Any) -> bool:
    """Say whether something can be told apart from others, as NaN cannot."""
    try:
        hash(node)
    except TypeError:
        return False
    return bool(node == node)


def _edge_numbers(path: Any) -> Path:
    """Return a path as numbers; raise `TypeError` if it is made of something else."""
    edges = tuple(path.edges if isinstance(path, LatticePath) else path)
    if any(isinstance(e, bool) for e in edges):
        raise TypeError("True and False are not numbers of edges")
    return tuple(map(index, edges))


@dataclass(frozen=True)
class LatticeInput:
    """A lattice: a directed graph without cycles, with features on its edges.

    Immutable, and checked when it is made, except for cycles and ends that no path
    reaches: those are found when it is used.

    Parameters
    ----------
    edges : sequence of LatticeEdge or of tuples
        Several edges may join the same nodes.
    start, end : node or list of nodes, optional
        Where paths begin and end. By default at nodes without an edge into them, and
        without one from them.
    nodes : iterable of nodes, optional
        All nodes, so that an edge to any other one is reported as a mistake.
    good : sequence of paths
        Good paths, as numbers of edges; the first is the right one.
    name, place : str
        What it is called, and where it was read, for messages.

    Examples
    --------
    >>> lattice = LatticeInput(
    ...     [
    ...         (0, 1, {"common": 1.0}, "the"),
    ...         (0, 1, {"common": 0.5}, "a"),
    ...         (1, 2, {"length": 5}, "house"),
    ...         (0, 2, {"length": 5, "common": 0.7}, "the house"),
    ...     ],
    ...     good=[[0, 2], [3]],
    ... )
    >>> lattice.starts, lattice.ends
    ((0,), (2,))
    >>> lattice.words_of([0, 2]), lattice.find_path("a house")
    (('the', 'house'), (1, 2))
    """

    edges: Sequence[LatticeEdge]
    start: Any = None
    end: Any = None
    nodes: Iterable[Hashable] | None = None
    good: Sequence[Sequence[int]] = ()
    name: str = ""
    place: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Bring everything into its plain form; refuse what is invalid."""
        set_ = object.__setattr__
        if not isinstance(self.name, str):
            set_(self, "name", str(self.name))
            raise self._error("its name must be a string")
        given = self._listed(self.edges, "its edges must be a list of edges")
        edges = [self._edge(e, edge) for e, edge in enumerate(given)]
        set_(self, "edges", tuple(edges))
        if self.nodes is not None:
            nodes = self._listed(self.nodes, "its nodes must be a list of nodes")
            set_(self, "nodes", tuple(dict.fromkeys(map(self._node, nodes))))
            self._check_nodes()
        targets = {edge.target for edge in edges}
        sources = {edge.source for edge in edges}
        known = self.nodes if self.nodes is not None else sources | targets
        for name, others in (("start", targets), ("end", sources)):
            set_(self, name, self._terminals(name, known, others))
        good = self._listed(self.good, "its good paths must be a list of paths")
        set_(self, "good", tuple(self.check_path(path) for path in good))

    def _error(self, problem: str) -> DataError:
        return DataError(problem, where=self.title or "a lattice")

    def _listed(self, given: Any, problem: str) -> Iterable[Any]:
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise self._error(f"{problem}, not {given!r:.60}")
        return given

    def _node(self, node: Any) -> Any:
        if not _is_node(node):
            raise self._error(f"{node!r} cannot be a node")
        return node

    def _edge(self, e: int, given: Any) -> LatticeEdge:
        if not isinstance(given, LatticeEdge):
            if not isinstance(given, tuple | list) or not 2 <= len(given) <= 5:
                raise self._error(
                    f"edge {e} must be a LatticeEdge or a tuple (source, target, "
                    f"features, words, cost), not {given!r}"
                )
            given = LatticeEdge(*given)
        edge: LatticeEdge = given
        words, cost = edge.words, edge.cost
        if isinstance(words, str):
            words = tuple(words.split())
        elif words.__class__ is not tuple:
            words = tuple(
                self._listed(words, f"edge {e}: its words must be a string or a list")
            )
        for word in words:
            if not isinstance(word, str):
                raise self._error(f"edge {e}: its words must be strings, not {word!r}")
        if cost is not None and not (
            isinstance(cost, Real) and 0 <= cost <= LARGEST_COST
        ):
            raise self._error(
                f"edge {e}: its cost must be a number from 0 to {LARGEST_COST:g}, not "
                f"{cost!r:.60}"
            )
        for node in edge[:2]:
            if not _is_node(node):
                raise self._error(f"edge {e}: {node!r} cannot be a node")
        return edge._replace(words=words)

    def _check_nodes(self) -> None:
        known = set(self.nodes or ())
        for e, edge in enumerate(self.edges):
            for node in edge[:2]:
                if node not in known:
                    raise self._error(
                        f"edge {e} names node {node!r}, which is not among its "
                        f"{len(known)} nodes"
                    )

    def _terminals(self, what: str, known: Any, others: set[Hashable]) -> Any:
        """Return the starts, or ends: those given, or all nodes without an edge."""
        given = getattr(self, what)
        if given is None:
            found = dict.fromkeys(
                node
                for edge in self.edges
                for node in (edge.source, edge.target)
                if node not in others
            )
            if not found and self.edges:
                raise self._error(f"it has no {what}: its edges form a cycle")
        else:
            several = isinstance(given, list | set | frozenset)
            if isinstance(given, tuple) and all(map(_is_node, given)):
                # A node, or what `starts` says, as in ``dataclasses.replace``.
                several = given not in known and all(v in known for v in given)
            found = dict.fromkeys(map(self._node, given if several else (given,)))
        if not found:
            raise self._error(f"it has no {what}" + " and no edges" * (not self.edges))
        for node in found:
            if node not in known:
                raise self._error(f"its {what} {node!r} is not one of its nodes")
        return tuple(found)

    @property
    def title(self) -> str:
        """What messages call it; empty if it has neither a name nor a place."""
        if self.name and self.place:
            return f"{self.place} ({self.name})"
        return self.place or self.name

    @property
    def starts(self) -> tuple[Hashable, ...]:
        """The nodes where paths begin."""
        return tuple(self.start)

    @property
    def ends(self) -> tuple[Hashable, ...]:
        """The nodes where paths end."""
        return tuple(self.end)

    def check_path(self, path: Iterable[int] | LatticePath) -> Path:
        """Return a path as a tuple; raise `DataError` if it is not one of the lattice.

        Examples
        --------
        >>> lattice = LatticeInput([("a", "b"), ("b", "c")])
        >>> lattice.check_path([0, 1])
        (0, 1)
        >>> lattice.check_path([1])
        Traceback (most recent call last):
            ...
        partwise.errors.DataError: a lattice: path [1] begins at 'b', which is not a \
start
        """
        try:
            numbers = _edge_numbers(path)
        except TypeError:
            raise self._error(
                f"a path must be a list of numbers of edges, not {path!r}"
            ) from None
        for e in numbers:
            if not 0 <= e < len(self.edges):
                raise self._error(
                    f"path {list(numbers)} names edge {e}, but there are "
                    f"{len(self.edges)}, counted from 0"
                )
        shown = f"path {list(numbers)}"
        if not numbers:
            if not set(self.start) & set(self.end):
                raise self._error("a path without edges leads to no end")
            return numbers
        first, last = self.edges[numbers[0]].source, self.edges[numbers[-1]].target
        if first not in self.start:
            raise self._error(f"{shown} begins at {first!r}, which is not a start")
        for a, b in pairwise(numbers):
            there, here = self.edges[a].target, self.edges[b].source
            if there != here:
                raise self._error(
                    f"{shown} is broken: edge {a} leads to {there!r}, but edge {b} "
                    f"begins at {here!r}"
                )
        if last not in self.end:
            raise self._error(f"{shown} ends at {last!r}, which is not an end")
        return numbers

    def _repr_svg_(self) -> str | None:
        """Show notebooks a drawing, with the right path; nothing if it is large."""
        from partwise.drawing import draw_lattice_svg

        if len(self.edges) > MOST_DRAWN:
            return None
        return draw_lattice_svg(self, self.good[0] if self.good else None)

    def words_of(self, path: Iterable[int]) -> tuple[str, ...]:
        """Return the words that a path yields."""
        return tuple(word for e in path for word in self.edges[e].words)

    def features_of(self, path: Iterable[int]) -> dict[str, float]:
        """Return the features of a path: the sum over its edges, by name.

        Text is part of the name (``word=the``), as in the names that models have.

        Examples
        --------
        >>> edges = [(0, 1, {"lm": -1.5, "word": "a"}), (1, 2, ["last"])]
        >>> lattice = LatticeInput(edges)
        >>> lattice.features_of([0, 1])
        {'lm': -1.5, 'word=a': 1.0, 'last': 1.0}
        """
        total: dict[str, float] = {}
        for e in path:
            where = f"{self.title or 'a lattice'}, edge {e}"
            try:
                for name, value in flatten(self.edges[e].features, where):
                    total[name] = total.get(name, 0.0) + value
            except DataError as error:
                raise error.located(where, part=e) from None
        return total

    def find_path(self, words: Sequence[str] | str) -> Path | None:
        """Return a path that yields these words, or None.

        In time proportional to the edges and the words, however many paths there are.

        Examples
        --------
        >>> lattice = LatticeInput([(0, 1, {}, "a b"), (1, 2), (1, 2, {}, "c")])
        >>> lattice.find_path("a b c"), lattice.find_path(["a", "b"])
        ((0, 2), (0, 1))
        >>> lattice.find_path("b") is None
        True
        """
        wanted = tuple(words.split()) if isinstance(words, str) else tuple(words)
        after: dict[Hashable, list[int]] = {}
        for e, edge in enumerate(self.edges):
            after.setdefault(edge.source, []).append(e)
        came: dict[tuple[Hashable, int], Any] = {(v, 0): None for v in self.start}
        waiting = list(came)
        while waiting:
            node, at = here = waiting.pop()
            if at == len(wanted) and node in self.end:
                path: list[int] = []
                step = came[here]
                while step is not None:
                    path.append(step[0])
                    step = came[step[1]]
                return tuple(reversed(path))
            for e in after.get(node, ()):
                own = self.edges[e].words
                there = self.edges[e].target, at + len(own)
                if there not in came and wanted[at : at + len(own)] == own:
                    came[there] = e, here
                    waiting.append(there)
        return None

    @classmethod
    def from_networkx(
        cls, graph: Any, start: Any = None, end: Any = None, name: str = ""
    ) -> LatticeInput:
        """Take the edges of a networkx ``DiGraph`` or ``MultiDiGraph``.

        Their attributes ``features``, ``words`` and ``cost`` are those of the edges,
        which count in the order of ``graph.edges``.

        Examples
        --------
        >>> import networkx as nx
        >>> graph = nx.MultiDiGraph()
        >>> _ = graph.add_edge("a", "b", features={"x": 1.0}, words="first")
        >>> _ = graph.add_edge("a", "b", features={"x": 2.0}, words="second")
        >>> [edge.words for edge in LatticeInput.from_networkx(graph).edges]
        [('first',), ('second',)]
        """
        if not graph.is_directed():
            raise DataError(
                "the edges of a lattice are directed (make a networkx.MultiDiGraph)",
                where=name or "a lattice",
            )
        edges = [
            LatticeEdge(
                u, v, data.get("features", {}), data.get("words", ()), data.get("cost")
            )
            for u, v, data in graph.edges(data=True)
        ]
        return cls(edges, start, end, list(graph.nodes), (), name)
