"""Features of whole segments: known cells, and phrases of gazetteers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from partwise.data import ColumnData
from partwise.errors import DataError
from partwise.estimators.segments.cuts import Segment
from partwise.features import Gazetteer
from partwise.features.phrase_table import PhraseTable
from partwise.structures.interface import IntArray
from partwise.structures.segments import Matches, make_matches

View = int | str
"""A column by its number, or a feature of dicts by its name."""


@dataclass(frozen=True)
class WholeSegments:
    """What is known about whole segments, and how it is found.

    Attributes
    ----------
    views : tuple
        Which columns, or features of dicts, are looked at.
    tables : tuple of PhraseTable
        For each of them, the cells of the segments of the training data.
    gazetteers : tuple of Gazetteer
        Looked up in the first view.
    """

    views: tuple[View, ...] = ()
    tables: tuple[PhraseTable, ...] = ()
    gazetteers: tuple[Gazetteer, ...] = ()

    @cached_property
    def _phrases(self) -> list[tuple[Gazetteer, PhraseTable]]:
        """A table for every type of every gazetteer."""
        return [
            (
                one,
                PhraseTable(phrase.split(" ") for phrase in sorted(one.phrases[type])),
            )
            for one in self.gazetteers
            for type in one.types
        ]

    @property
    def n_attributes(self) -> int:
        """How many attributes a segment may have."""
        types = sum(len(one.types) for one in self.gazetteers)
        return types + sum(map(len, self.tables))

    def keys(self) -> list[tuple[View, tuple[str, ...]]]:
        """Return what attributes are: a view and its cells, or a type of phrases."""
        known = [
            (view, cells)
            for view, table in zip(self.views, self.tables, strict=True)
            for cells in table.phrases()
        ]
        types = [type for one in self.gazetteers for type in one.types]
        return known + [(f"gazetteer {k}", (type,)) for k, type in enumerate(types)]

    def names(self) -> list[str]:
        """Name the attributes."""
        n_known = sum(map(len, self.tables))
        known = [f"whole {view}={' '.join(cells)}" for view, cells in self.keys()]
        return known[:n_known] + [
            f"whole gazetteer:{type}" for one in self.gazetteers for type in one.types
        ]

    def beyond(self, before: WholeSegments) -> WholeSegments:
        """Return this with all cells that were known before, too.

        Examples
        --------
        >>> one, other = (WholeSegments((0,), (PhraseTable([[w]]),)) for w in "ab")
        >>> one.beyond(other).names()
        ['whole 0=b', 'whole 0=a']
        """
        same = self.views == before.views
        types = [[one.types for one in own.gazetteers] for own in (self, before)]
        if not same or types[0] != types[1]:
            raise DataError(
                "the model has learnt with another setting of whole, or with other "
                "gazetteers; give the same, or fit a new model"
            )
        tables = [
            PhraseTable(dict.fromkeys([*known.phrases(), *new.phrases()]))
            for known, new in zip(before.tables, self.tables, strict=True)
        ]
        return replace(self, tables=tuple(tables))

    def find(self, X: Any, ptr: IntArray) -> Matches:
        """Find the attributes of all stretches of the tokens of `X`."""
        starts, lengths, attributes = ([np.zeros(0, np.int64)] for _ in range(3))
        first = 0
        for view, table in zip(self.views, self.tables, strict=True):
            found = table.find(cells_of(X, view), ptr)
            starts.append(found.start)
            lengths.append(found.length)
            attributes.append(first + found.phrase)
            first += len(table)
        for gazetteer, table in self._phrases:
            words = cells_of(X, self.views[0])
            if gazetteer.ignore_case:
                words = [word.lower() for word in words]
            found = table.find(words, ptr)
            starts.append(found.start)
            lengths.append(found.length)
            attributes.append(np.full(found.start.size, first))
            first += 1
        start, length, attribute = map(np.concatenate, (starts, lengths, attributes))
        return make_matches(start, length, attribute, ptr, first)


def learn_whole(
    X: Any,
    ptr: IntArray,
    cuts: Sequence[Sequence[Segment]],
    views: Sequence[View],
    gazetteers: Sequence[Gazetteer],
    min_count: int,
) -> WholeSegments:
    """Collect the cells that segments of the training data have, often enough."""
    if gazetteers and not views:
        raise ValueError(
            "gazetteers are looked up in the first of whole; name a column or a "
            "feature, such as whole=['word']"
        )
    tables = []
    for view in views:
        cells = cells_of(X, view)
        counts = Counter(
            tuple(cells[first + one.start : first + one.end])
            for first, cut in zip(ptr.tolist(), cuts, strict=False)
            for one in cut
        )
        tables.append(PhraseTable(p for p, n in counts.items() if n >= min_count))
    return WholeSegments(tuple(views), tuple(tables), tuple(gazetteers))


def cells_of(X: Any, view: View) -> list[str]:
    """Return a cell for every token of a corpus, read from a column or from dicts."""
    if isinstance(X, ColumnData):
        return list(X.columns[int(view)])
    return [
        str(token.get(view, "")) if isinstance(token, Mapping) else _no_dict(view)
        for sequence in X
        for token in sequence
    ]


def _no_dict(view: View) -> str:
    raise DataError(
        f"whole={[view]!r} names a feature of dicts, and the tokens are no dicts; "
        "leave it out, or use feature dicts or a template"
    )


def choose_views(whole: Any, template: Any, n_columns: int) -> tuple[View, ...]:
    """Return the views that a setting means; without a template, those of dicts."""
    if isinstance(whole, str):
        if whole != "auto":
            raise ValueError(
                f"whole must be 'auto' or a list of columns or features, not {whole!r}"
            )
        if template is None:
            return ()
        lines = template.node_lines + template.edge_lines
        read = {macro.column for line in lines for macro in line.macros}
        return tuple(sorted(read))
    views = tuple(whole)
    kind = str if template is None else int
    for view in views:
        if type(view) is not kind:
            what = "names of features" if kind is str else "numbers of columns"
            raise ValueError(f"whole must be {what}, not {view!r}")
        if isinstance(view, int) and not 0 <= view < n_columns:
            raise ValueError(f"whole names column {view}, but there are {n_columns}")
    for one, two in pairwise(sorted(views, key=str)):
        if one == two:
            raise ValueError(f"whole names {one!r} twice")
    return views


def listed_gazetteers(given: Any) -> list[Gazetteer]:
    """Return gazetteers as a list; raise `TypeError` for anything else."""
    if isinstance(given, Gazetteer) or not all(isinstance(x, Gazetteer) for x in given):
        raise TypeError("gazetteers must be a list of Gazetteer objects")
    return list(given)
