"""Graphs as users write them down: vertices, cliques and their kinds, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.structures.graph.junction_tree import strides_of
from partwise.structures.interface import IntArray
from partwise.structures.rows import SparseRows

FORBIDDEN = -1


class CliqueKind(NamedTuple):
    """A kind of cliques, which share weights.

    Attributes
    ----------
    shape : tuple of int
        The number of labels of each vertex of such a clique.
    n_columns : int
        How many features these cliques may have; each has a weight for every class.
    classes : array of int, optional
        The class of every configuration, the last vertex's label changing fastest, -1
        where a configuration is forbidden. Configurations of one class share their
        weights. By default each is a class of its own.

    Examples
    --------
    >>> CliqueKind((2, 3), n_columns=5)
    CliqueKind(shape=(2, 3), n_columns=5, classes=None)
    """

    shape: tuple[int, ...]
    n_columns: int = 1
    classes: NDArray[np.int64] | None = None


def symmetric_classes(n_labels: int, size: int = 2) -> NDArray[np.int64]:
    """Return classes that do not depend on the order of a clique's vertices.

    Examples
    --------
    >>> symmetric_classes(3)
    array([0, 1, 2, 1, 3, 4, 2, 4, 5])
    """
    labels = np.indices((n_labels,) * size).reshape(size, -1)
    codes = np.sort(labels, axis=0).T @ np.array(strides_of([n_labels] * size))
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


class Layout(NamedTuple):
    """The graphs of a corpus as a user writes them down.

    Attributes
    ----------
    vertex_ptr : array of int
        Example `i` has the vertices ``vertex_ptr[i]:vertex_ptr[i + 1]``.
    n_labels : array of int
        The number of labels of every vertex.
    clique_ptr : array of int
        Example `i` has the cliques ``clique_ptr[i]:clique_ptr[i + 1]``.
    member_ptr, members : arrays of int
        Clique `c` is the vertices ``members[member_ptr[c]:member_ptr[c + 1]]``, counted
        from 0 in its example.
    kind : array of int
        The kind of every clique.
    """

    vertex_ptr: Any
    n_labels: Any
    clique_ptr: Any
    member_ptr: Any
    members: Any
    kind: Any


def check_pointers(layout: Layout) -> None:
    """Raise `ValueError` unless the pointers lead from the first to the last."""
    for name, ptr, end in (
        ("vertex_ptr", layout.vertex_ptr, layout.n_labels.size),
        ("clique_ptr", layout.clique_ptr, layout.kind.size),
        ("member_ptr", layout.member_ptr, layout.members.size),
    ):
        if ptr.size == 0 or ptr[0] != 0 or (np.diff(ptr) < 0).any() or ptr[-1] != end:
            raise ValueError(
                f"{name} must start at 0, never decrease, and end at {end}"
            )
    if layout.vertex_ptr.size != layout.clique_ptr.size:
        raise ValueError("vertex_ptr and clique_ptr have different numbers of examples")
    if layout.member_ptr.size != layout.kind.size + 1:
        raise ValueError(
            f"member_ptr speaks of {layout.member_ptr.size - 1} cliques, kind of "
            f"{layout.kind.size}"
        )
    if (layout.n_labels < 1).any():
        raise ValueError("every vertex must have at least one label")


def clique_owner(layout: Layout) -> IntArray:
    """Return the example of every clique."""
    sizes = np.diff(layout.clique_ptr)
    return np.repeat(np.arange(sizes.size), sizes)


def name_clique(layout: Layout, c: int) -> str:
    """Say which clique of which example it is, for error messages."""
    i = int(clique_owner(layout)[c])
    return f"example {i}, clique {c - layout.clique_ptr[i]}"


def check_members(layout: Layout) -> None:
    """Raise `DataError` unless cliques name vertices of their example, once each."""
    sizes = np.diff(layout.member_ptr)
    clique = np.repeat(np.arange(sizes.size), sizes)
    n_vertices = np.diff(layout.vertex_ptr)[clique_owner(layout)]
    unknown = (layout.members < 0) | (layout.members >= n_vertices[clique])
    if unknown.any():
        at = int(np.argmax(unknown))
        c = int(clique[at])
        raise DataError(
            f"{name_clique(layout, c)}: there is no vertex {layout.members[at]} (the "
            f"example has {n_vertices[c]} vertices, counted from 0)"
        )
    if (sizes == 0).any():
        c = int(np.argmax(sizes == 0))
        raise DataError(f"{name_clique(layout, c)} has no vertices (leave it out)")
    in_order = np.lexsort((layout.members, clique))
    members, of = layout.members[in_order], clique[in_order]
    twice = (members[1:] == members[:-1]) & (of[1:] == of[:-1])
    if twice.any():
        at = int(np.argmax(twice))
        raise DataError(
            f"{name_clique(layout, int(of[at]))} names vertex {members[at]} twice "
            "(no edge may lead back to its own vertex)"
        )


def cover_all(
    layout: Layout, kinds: list[CliqueKind], rows: SparseRows
) -> tuple[Layout, list[CliqueKind], SparseRows]:
    """Give every vertex that is in no clique one of its own, without features."""
    sizes = np.diff(layout.member_ptr)
    first = np.repeat(layout.vertex_ptr[clique_owner(layout)], sizes)
    covered = np.zeros(layout.n_labels.size, bool)
    covered[first + layout.members] = True
    if covered.all():
        return layout, kinds, rows
    alone = np.flatnonzero(~covered)
    owner = np.searchsorted(layout.vertex_ptr, alone, side="right") - 1
    counts, kind = np.unique(layout.n_labels[alone], return_inverse=True)
    extended = append_cliques(
        layout,
        owner,
        np.ones(alone.size, np.int64),
        alone - layout.vertex_ptr[owner],
        len(kinds) + kind.reshape(-1),
        rows,
    )
    more = [CliqueKind((int(n),), 0) for n in counts]
    return extended[0], [*kinds, *more], extended[1]


def append_cliques(
    layout: Layout,
    owner: IntArray,
    sizes: IntArray,
    members: IntArray,
    kind: IntArray,
    rows: SparseRows,
) -> tuple[Layout, SparseRows]:
    """Add cliques without features to some examples, after those they have."""
    owners = np.concatenate([clique_owner(layout), owner])
    order = np.argsort(owners, kind="stable")
    all_sizes = np.concatenate([np.diff(layout.member_ptr), sizes])
    starts = np.cumsum(all_sizes) - all_sizes
    every_member = np.concatenate([layout.members, members])
    lengths = np.concatenate([np.diff(rows.ptr), np.zeros(owner.size, np.int64)])
    n_examples = layout.clique_ptr.size - 1
    extended = layout._replace(
        clique_ptr=np.searchsorted(owners[order], np.arange(n_examples + 1)),
        member_ptr=np.concatenate([[0], np.cumsum(all_sizes[order])]),
        members=every_member[_ranges(starts[order], all_sizes[order])],
        kind=np.concatenate([layout.kind, kind])[order],
    )
    # The new rows are empty, so that the entries stay where they are.
    ptr = np.concatenate([[0], np.cumsum(lengths[order])]).astype(np.int64)
    return extended, rows._replace(ptr=ptr)


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return the numbers ``start .. start + size - 1`` of all ranges, end to end."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(
        starts - (ends - sizes), sizes
    )


def join_by_kind(kind: IntArray, lists: Sequence[Sequence[int]]) -> IntArray:
    """Put the list of every clique's kind end to end.

    Examples
    --------
    >>> join_by_kind(np.array([1, 0, 1]), [[7], [8, 9]]).tolist()
    [8, 9, 7, 8, 9]
    """
    sizes = np.array([len(values) for values in lists], np.int64)
    starts = np.cumsum(sizes) - sizes
    flat = np.array([value for values in lists for value in values], np.int64)
    return flat[_ranges(starts[kind], sizes[kind])]


def check_kinds(layout: Layout, kinds: list[CliqueKind], rows: SparseRows) -> None:
    """Raise unless the cliques have the shapes and columns of their kinds."""
    kind = layout.kind
    if kind.size and not 0 <= kind.min() <= kind.max() < len(kinds):
        raise ValueError(f"kinds of cliques must lie in 0..{len(kinds) - 1}")
    shape_sizes = np.array([len(k.shape) for k in kinds], np.int64)
    sizes = np.diff(layout.member_ptr)
    clique = np.repeat(np.arange(sizes.size), sizes)
    first = layout.vertex_ptr[clique_owner(layout)]
    labels = layout.n_labels[first[clique] + layout.members]
    if (sizes != shape_sizes[kind]).any():
        c = int(np.argmax(sizes != shape_sizes[kind]))
    else:
        wrong = labels != join_by_kind(kind, [list(k.shape) for k in kinds])
        c = int(clique[np.argmax(wrong)]) if wrong.any() else -1
    if c >= 0:
        has = labels[clique == c].tolist()
        raise DataError(
            f"{name_clique(layout, c)} joins vertices with {has} labels, but its kind "
            f"{kind[c]} is for {list(kinds[kind[c]].shape)}"
        )
    columns = np.array([k.n_columns for k in kinds], np.int64)[kind]
    most = np.repeat(columns, np.diff(rows.ptr))
    if (rows.idx >= most).any():
        at = int(np.argmax(rows.idx >= most))
        c = int(np.searchsorted(rows.ptr, at, side="right")) - 1
        raise DataError(
            f"{name_clique(layout, c)} has feature {rows.idx[at]}, but its kind "
            f"{kind[c]} has {columns[c]} columns"
        )
