"""Lattices read one by one into flat arrays, so that none has to be kept."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from partwise.data.lattice import LatticeInput, LatticePath
from partwise.errors import DataError
from partwise.estimators.checks import check_listed
from partwise.features import FeatureDictEncoder
from partwise.structures.interface import CodeArray
from partwise.structures.lattice import (
    Lattice,
    LatticeError,
    LatticeLayout,
    Ordering,
    Words,
    make_ordered_lattice,
    order_edges,
)
from partwise.structures.rows import LARGEST, SparseRows, make_sparse_rows

_NO_MORE = object()


class _Joined(NamedTuple):
    """A lattice with one start and one end, and nodes that are numbers.

    The edges that were added for it come after the others: from a new start to the
    starts there were, from the ends there were to a new end.
    """

    names: list[Hashable]
    source: list[int]
    target: list[int]
    start: int
    end: int
    entry: dict[Hashable, int]
    exit: dict[Hashable, int]


def _join(lattice: LatticeInput) -> _Joined:
    number: dict[Hashable, int] = {}
    for node in (*lattice.starts, *lattice.ends):
        number.setdefault(node, len(number))
    source = [number.setdefault(edge[0], len(number)) for edge in lattice.edges]
    target = [number.setdefault(edge[1], len(number)) for edge in lattice.edges]
    names = list(number)
    entry: dict[Hashable, int] = {}
    leave: dict[Hashable, int] = {}
    start, end = number[lattice.starts[0]], number[lattice.ends[0]]
    if len(lattice.starts) > 1:
        start = len(names)
        names.append("(start)")
        for node in lattice.starts:
            entry[node] = len(source)
            source.append(start)
            target.append(number[node])
    if len(lattice.ends) > 1:
        end = len(names)
        names.append("(end)")
        for node in lattice.ends:
            leave[node] = len(source)
            source.append(number[node])
            target.append(end)
    return _Joined(names, source, target, start, end, entry, leave)


class LatticeReader:
    """Reads lattices, once, and keeps of each what inference needs.

    Parameters
    ----------
    lattices : iterable
        `LatticeInput`, or networkx graphs.
    good : iterable or None
        For every lattice its good paths; None to take those that it has itself.
    learning : bool
        Whether good paths are needed.
    by_words : bool
        Whether words tell outputs apart.
    keep_words : bool
        Whether to keep the words of every edge, to write outputs with.
    """

    def __init__(
        self,
        lattices: Iterable[Any],
        good: Iterable[Any] | None,
        *,
        learning: bool,
        by_words: bool,
        keep_words: bool,
        what: str = "lattice",
    ):
        wanted = "lattices must be a list of lattices"
        check_listed(lattices, wanted, no=(LatticeInput,))
        if good is not None:
            wanted = "good paths must be a list, with those of every lattice"
            check_listed(good, wanted, show=True)
        self._lattices = lattices
        self._good = None if good is None else iter(good)
        self.learning = learning
        self.by_words = by_words
        self._keeps_words = keep_words
        self._what = what
        self.titles: list[str] = []
        self.n_edges: list[int] = []
        self.words: list[list[tuple[str, ...]]] = []
        self.good: list[list[tuple[int, ...]]] = []
        self._joined_good: list[list[tuple[int, ...]]] = []
        self._ptr, self._n_nodes = array("q", [0]), array("q")
        # As in `Ordering`: the number, the source and the target of edges on paths.
        self._kept_ptr, self._kept = array("q", [0]), [array("i") for _ in range(3)]
        self._costs = array("d")
        self._word_ptr, self._word = array("q", [0]), array("i")
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        """Return how many lattices have been read."""
        return len(self.titles)

    def features(self) -> Iterator[list[Any]]:
        """Read all lattices; yield the features of the edges of each."""
        for i, given in enumerate(self._lattices):
            title = f"{self._what} {i}"
            if isinstance(given, LatticeInput):
                title = given.title or title
            lattice = _as_lattice(given, title)
            self.titles.append(title)
            good = self._good_paths(lattice, title) if self.learning else []
            joined = _join(lattice)
            self._add(lattice, joined, _order(joined, i, title), good)
            n_added = len(joined.source) - len(lattice.edges)
            yield [edge.features for edge in lattice.edges] + [{}] * n_added
        if self._good is not None and next(self._good, _NO_MORE) is not _NO_MORE:
            raise DataError(
                f"there are {len(self)} lattices, but good paths for more than that"
            )

    def _add(
        self,
        lattice: LatticeInput,
        joined: _Joined,
        made: Ordering,
        good: list[tuple[int, ...]],
    ) -> None:
        n_added = len(joined.source) - len(lattice.edges)
        self.n_edges.append(len(lattice.edges))
        self._ptr.append(self._ptr[-1] + len(joined.source))
        self._n_nodes.extend(made.n_nodes)
        for kept, edges in zip(self._kept, made[1:4], strict=True):
            kept.frombytes(edges.tobytes())
        self._kept_ptr.append(len(self._kept[0]))
        words = [tuple(edge.words) for edge in lattice.edges]
        if self._keeps_words:
            self.words.append(words)
        if self.by_words:
            numbers = self._numbers
            for own in words:
                self._word.extend(
                    numbers.setdefault(word, len(numbers)) for word in own
                )
                self._word_ptr.append(len(self._word))
            self._word_ptr.extend([len(self._word)] * n_added)
        if self.learning:
            on_good = {e for path in good for e in path}
            self._costs.extend(
                float(e not in on_good) if edge.cost is None else float(edge.cost)
                for e, edge in enumerate(lattice.edges)
            )
            self._costs.extend([0.0] * n_added)
            self.good.append(good)
            self._joined_good.append(
                [_with_ends(path, lattice, joined) for path in good]
            )

    def _good_paths(self, lattice: LatticeInput, title: str) -> list[tuple[int, ...]]:
        paths: Any = lattice.good
        if self._good is not None:
            paths = next(self._good, _NO_MORE)
            if paths is _NO_MORE:
                raise DataError(
                    f"{title}: there are good paths for only {len(self) - 1} lattices"
                )
            wanted = f"{title}: good paths must be lists of numbers of edges"
            check_listed(paths, wanted, show=True)
            one = isinstance(paths, LatticePath)
            paths = [paths] if one else list(paths)
            if paths and isinstance(paths[0], int | np.integer):
                paths = [paths]  # only one
        if not paths:
            raise DataError(
                f"{title}: it has no good path (give it one, or leave it out)"
            )
        named = lattice if lattice.title else _renamed(lattice, title)
        return list(dict.fromkeys(named.check_path(path) for path in paths))

    def structure(self, rows: SparseRows) -> Lattice:
        """Return the corpus, after all features have been read."""
        number, source, target = (np.array(kept, np.int32) for kept in self._kept)
        made = Ordering(
            np.array(self._kept_ptr, np.int64),
            number,
            source,
            target,
            np.array(self._n_nodes, np.int64),
            np.zeros(2, np.int64),
        )
        words = None
        if self.by_words:
            words = Words(
                np.array(self._word_ptr, np.int64), np.array(self._word, np.int32)
            )
        try:
            return make_ordered_lattice(
                made,
                np.array(self._ptr, np.int64),
                rows,
                self._joined_good if self.learning else None,
                np.array(self._costs) if self.learning else None,
                words,
                self.by_words,
            )
        except DataError as error:
            if error.example is None:
                raise
            raise error.located(self.titles[error.example]) from None

    def path(self, s: Lattice, i: int, y: CodeArray, score: float) -> LatticePath:
        """Return an output of the corpus as a path of the lattice that was read."""
        own = s.given[s.ptr[i] : s.ptr[i + 1]]
        edges = [int(e) for e in own[y[y >= 0]]]
        edges = [e for e in edges if e < self.n_edges[i]]  # not those that were added
        words = self.words[i]
        return LatticePath(
            tuple(edges), tuple(w for e in edges for w in words[e]), float(score)
        )

    def good_outputs(self, i: int) -> list[LatticePath]:
        """Return the good paths of a lattice, with their words."""
        words = self.words[i]
        return [
            LatticePath(path, tuple(w for e in path for w in words[e]))
            for path in self.good[i]
        ]


def _as_lattice(given: Any, title: str) -> LatticeInput:
    if isinstance(given, LatticeInput):
        return given
    if hasattr(given, "edges") and hasattr(given, "is_directed"):
        return LatticeInput.from_networkx(given, name=title)
    raise DataError(
        f"{title}: expected a LatticeInput or a networkx.MultiDiGraph, not "
        f"{type(given).__name__}"
    )


def _renamed(lattice: LatticeInput, title: str) -> LatticeInput:
    """Return the same lattice under another name, without checking it once more."""
    other: LatticeInput = object.__new__(LatticeInput)
    other.__dict__.update(lattice.__dict__, name=title)
    return other


def _with_ends(
    path: tuple[int, ...], lattice: LatticeInput, joined: _Joined
) -> tuple[int, ...]:
    """Add the edges from the one start and to the one end."""
    if path:
        first, last = lattice.edges[path[0]].source, lattice.edges[path[-1]].target
    else:
        first = last = next(v for v in lattice.starts if v in lattice.ends)
    before = (joined.entry[first],) if joined.entry else ()
    after = (joined.exit[last],) if joined.exit else ()
    return (*before, *path, *after)


def _order(joined: _Joined, i: int, title: str) -> Ordering:
    """Return the edges on paths, in order.

    Refuse cycles, ends that no path reaches, and starts that lead to none.
    """
    try:
        made = order_edges(
            LatticeLayout(
                [len(joined.names)],
                [0, len(joined.source)],
                joined.source,
                joined.target,
                [joined.start],
                [joined.end],
            )
        )
    except LatticeError as error:
        shown = [repr(joined.names[v]) for v in error.nodes]
        raise DataError(error.told(shown), where=title, example=i) from None
    on_paths = set(made.given.tolist()) if joined.entry or joined.exit else set()
    for node, e in joined.entry.items():
        if e not in on_paths:
            raise DataError(
                f"no path leads from its start {node!r} to an end",
                where=title,
                example=i,
            )
    for node, e in joined.exit.items():
        if e not in on_paths:
            raise DataError(
                f"no path leads to its end {node!r}", where=title, example=i
            )
    return made


def encode_features(
    reader: LatticeReader, encoder: FeatureDictEncoder, *, learn: bool
) -> SparseRows:
    """Read all lattices, and encode the features of their edges.

    They are never all in memory at once, unless the caller keeps them there.
    """
    encode = encoder.fit_encode if learn else encoder.encode
    try:
        ptr, idx, val = encode(reader.features()).nodes[:3]
    except DataError as error:
        if error.example is None or error.part is None:
            raise
        place = f"{reader.titles[error.example]}, edge {error.part}"
        raise error.located(place) from None
    large = np.flatnonzero(np.abs(val) > LARGEST)
    if large.size:
        row = int(np.searchsorted(ptr, large[0], "right")) - 1
        i = int(np.searchsorted(np.asarray(reader._ptr), row, "right")) - 1
        e = row - reader._ptr[i]
        raise DataError(
            f"its features must be finite numbers, at most {LARGEST:g}",
            where=f"{reader.titles[i]}, edge {e}",
            example=i,
            part=e,
        )
    return make_sparse_rows(
        ptr, idx, val if len(val) else None, int(encoder.n_attributes)
    )


def edge_probabilities(s: Lattice, i: int, mu: Any, reader: LatticeReader) -> Any:
    """Return the probability of every edge that was given; zero if on no path."""
    result = np.zeros(reader.n_edges[i])
    own = s.given[s.ptr[i] : s.ptr[i + 1]]
    real = own < reader.n_edges[i]
    result[own[real]] = mu[real]
    return result
