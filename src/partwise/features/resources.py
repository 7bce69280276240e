"""Resources of a template: gazetteers and clusters, and the columns made of them.

To a template, what a resource knows of a word is a modifier of its cell:
``%x[0,0.gazetteer:LOC]`` or ``%x[0,0.cluster4]``. To the encoder it is one more column
besides those of the data, derived from one of them before anything else happens; so
compiled code knows nothing of resources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import ModelFileError
from partwise.features.clusters import Clusters
from partwise.features.gazetteer import Gazetteer
from partwise.features.modifiers import FILLED
from partwise.features.strings import Settings, Tensors
from partwise.model_file.content import Content
from partwise.model_file.packing import pack_strings, prefixed, stored_strings

_CLUSTER = re.compile(r"cluster([1-9][0-9]?)?", re.ASCII)
_GAZETTEER = "gazetteer:"


class DerivedColumn(NamedTuple):
    """A modifier that reads a resource: a derived column, and what to see of it."""

    resource: str  # "cluster" or "gazetteer:TYPE"
    modifier: str

    @property
    def type(self) -> str:
        """The type of phrases, or nothing."""
        return self.resource.removeprefix(_GAZETTEER) if self.is_gazetteer else ""

    @property
    def is_gazetteer(self) -> bool:
        """Whether it reads a gazetteer."""
        return self.resource.startswith(_GAZETTEER)


def derivation(modifier: str) -> DerivedColumn | None:
    """Return what a modifier derives from a resource; None for other modifiers.

    Examples
    --------
    >>> derivation("cluster4")
    DerivedColumn(resource='cluster', modifier='filled4')
    >>> derivation("gazetteer:LOC")
    DerivedColumn(resource='gazetteer:LOC', modifier='filled')
    >>> derivation("lower") is None
    True
    """
    cluster = _CLUSTER.fullmatch(modifier)
    if cluster:
        return DerivedColumn("cluster", FILLED + (cluster[1] or ""))
    if modifier.startswith(_GAZETTEER) and len(modifier) > len(_GAZETTEER):
        return DerivedColumn(modifier, FILLED)
    return None


@dataclass(frozen=True)
class Resources:
    """Gazetteers and clusters that a template may read.

    Parameters
    ----------
    gazetteers : tuple of Gazetteer
        Where two have phrases of the same type, both are looked for.
    clusters : Clusters, optional
        The clusters of words.

    Examples
    --------
    >>> import numpy as np
    >>> resources = Resources((Gazetteer({"LOC": ["New York"]}),))
    >>> resources.column("gazetteer:LOC", ["in", "New", "York"], np.array([0, 3]))
    ['', 'B', 'I']
    """

    gazetteers: tuple[Gazetteer, ...] = ()
    clusters: Clusters | None = None

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self.gazetteers) or self.clusters is not None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of phrases in all gazetteers."""
        return tuple(dict.fromkeys(t for one in self.gazetteers for t in one.types))

    def problem_with(self, wanted: DerivedColumn) -> str:
        """Say why a modifier cannot be derived; nothing if it can."""
        if wanted.is_gazetteer:
            if wanted.type in self.types:
                return ""
            known = f"the types are {', '.join(self.types)}" if self.types else "none"
            return f"no gazetteer has the type {wanted.type!r} ({known})"
        if self.clusters is None:
            return "there are no clusters (give a file of them)"
        if wanted.modifier != FILLED and not self.clusters.is_tree:
            return (
                "the clusters are not strings of 0 and 1, so they have no larger"
                " clusters (use 'cluster')"
            )
        return ""

    def column(
        self, resource: str, words: Sequence[str], ptr: NDArray[np.int64]
    ) -> list[str]:
        """Return the cells of a derived column; they are empty where nothing is known.

        Parameters
        ----------
        resource : str
            As in `DerivedColumn`.
        words : sequence of str
            The column it is derived from, for the whole corpus.
        ptr : array of int64
            Where sentences begin and end.
        """
        if not resource.startswith(_GAZETTEER):
            return self.clusters.column(words) if self.clusters else [""] * len(words)
        type = resource.removeprefix(_GAZETTEER)
        cells = [""] * len(words)
        for gazetteer in self.gazetteers:
            if type in gazetteer.types:
                marks = gazetteer.mark(type, words, ptr)
                pairs = zip(cells, marks, strict=True)
                cells = [a if a == "B" or not b else b for a, b in pairs]
        return cells

    # Storing

    def to_tensors(self) -> tuple[Tensors, Settings]:
        """Return all resources, as arrays and as settings for JSON."""
        tensors: Tensors = {}
        described = []
        for number, gazetteer in enumerate(self.gazetteers):
            name = f"gazetteers.{number}"
            sets = [sorted(gazetteer.phrases[type]) for type in gazetteer.types]
            phrases = pack_strings(chain.from_iterable(sets), by_character=True)
            sizes = np.array([*map(len, sets)], np.int64)
            tensors |= prefixed(name, {**phrases, "sizes": sizes})
            described.append(
                {"types": list(gazetteer.types), "ignore_case": gazetteer.ignore_case}
            )
        settings: Settings = {"gazetteers": described, "clusters": None}
        if self.clusters is not None:
            cluster_of = self.clusters.cluster_of
            numbers: dict[str, int] = {}
            ids = [numbers.setdefault(c, len(numbers)) for c in cluster_of.values()]
            for name, strings in (("words", cluster_of), ("names", numbers)):
                stored = pack_strings(strings, by_character=True)
                tensors |= prefixed(f"clusters.{name}", stored)
            tensors["clusters.ids"] = np.array(ids, np.int32)
            settings["clusters"] = {"ignore_case": self.clusters.ignore_case}
        return tensors, settings

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, NDArray[Any]], settings: object
    ) -> Resources:
        """Rebuild resources from what `to_tensors` returned, trusting nothing.

        Raises
        ------
        ModelFileError
            If anything is missing or does not fit together.
        """
        content = Content(tensors, {}, "", 0, "")
        try:
            if not isinstance(settings, Mapping):
                raise ValueError("not an object")
            gazetteers = tuple(
                _read_gazetteer(content, f"gazetteers.{number}", described)
                for number, described in enumerate(settings["gazetteers"])
            )
            clusters = None
            if settings["clusters"] is not None:
                clusters = _read_clusters(content, settings["clusters"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"resources are damaged: {error}"
            raise ModelFileError(problem) from None
        return cls(gazetteers, clusters)


def _read_gazetteer(
    content: Content, name: str, described: Mapping[str, Any]
) -> Gazetteer:
    types, phrases = described["types"], stored_strings(content, name)
    sizes = content.tensor(f"{name}.sizes", dtype=np.int64).tolist()
    if not isinstance(types, list) or not all(isinstance(t, str) for t in types):
        raise ValueError("types must be strings")
    if len(set(types)) != len(types) or len(types) != len(sizes):
        raise ValueError(f"'{name}' has a type twice, or too few")
    if min(sizes, default=0) < 0 or sum(sizes) != len(phrases):
        raise ValueError(f"tensor '{name}.sizes' does not fit the phrases")
    rest = iter(phrases)
    sets = {
        t: [next(rest) for _ in range(n)] for t, n in zip(types, sizes, strict=True)
    }
    return Gazetteer(sets, _flag(described))


def _read_clusters(content: Content, described: Mapping[str, Any]) -> Clusters:
    words = stored_strings(content, "clusters.words", unique=True)
    names = stored_strings(content, "clusters.names")
    ids = content.tensor(
        "clusters.ids", dtype=np.int32, length=len(words), at_least=0, below=len(names)
    )
    named = (names[i] for i in ids.tolist())
    return Clusters(dict(zip(words, named, strict=True)), _flag(described))


def _flag(described: Mapping[str, Any]) -> bool:
    value = described["ignore_case"]
    if not isinstance(value, bool):
        raise ValueError("ignore_case must be true or false")
    return value
