"""Columns of text to attributes, through a template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partwise._work import tell
from partwise.errors import DataError, ModelFileError
from partwise.features import cell_numbers
from partwise.features.attribute_table import Cells, are_bounds
from partwise.features.csr import UNKNOWN, Encoded, Key, KeyCounts
from partwise.features.line_set import LineSet
from partwise.features.modifiers import function_of
from partwise.features.resources import Resources, derivation
from partwise.features.strings import (
    Settings,
    Tensors,
    check_settings,
    stable_hash,
    take_settings,
)
from partwise.features.template_names import keys_of_names
from partwise.features.templates import MAX_COLUMN, Macro, Template, TemplateLine
from partwise.model_file.content import Content
from partwise.model_file.packing import pack_strings, prefixed, stored_strings

BOUNDARIES = ("numbered", "single", "none")
_SETTINGS = frozenset({"template", "min_count", "hash_bits", "boundaries"})


ENCODING = "encoding"
NUMBERED, WITH_NODES = 0.3, 0.9
"""About which share of encoding is done when cells have numbers, and tokens features.

Each of these steps is one call of compiled code."""


class Columns(Protocol):
    """Data that a `TemplateEncoder` accepts: a table of cells, cut into sentences."""

    @property
    def columns(self) -> Sequence[Sequence[str]]:
        """The cells: ``columns[c][t]`` for token `t` of the whole corpus."""

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Where sentences begin and end: sentence `s` is ``ptr[s]:ptr[s + 1]``."""


class TemplateEncoder:
    r"""Encode columns of text as the attributes a CRF++ template describes.

    Parameters
    ----------
    template : str or Template
        The text of a template, or a template read from a file.
    min_count : int, default=1
        Attributes that fewer tokens have are dropped.
    hash_bits : int, optional
        Keep no vocabulary: an attribute's id is a stable hash of this many bits.
    boundaries : {"numbered", "single", "none"}
        What cells before and after a sentence read: ``_B-1``, ``_B+1`` and so on, as
        in CRF++; ``_B`` for all of them; or nothing, so that a line that reaches
        outside gives no attribute.

    Attributes
    ----------
    template : Template
        The template, parsed.
    n_attributes, n_edge_attributes : int
        How many attributes tokens and transitions have.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> columns = [["New", "York"], ["NNP", "NNP"]]
    >>> data = SimpleNamespace(columns=columns, ptr=np.array([0, 2]))
    >>> encoder = TemplateEncoder("U00:%x[0,0.lower]\nU01:%x[-1,1]/%x[0,1]")
    >>> encoder.fit_encode(data).nodes.idx
    array([0, 1, 2, 3], dtype=int32)
    >>> encoder.attribute_names()
    ['U00:new', 'U01:_B-1/NNP', 'U00:york', 'U01:NNP/NNP']
    """

    def __init__(
        self,
        template: str | Template,
        min_count: int = 1,
        hash_bits: int | None = None,
        boundaries: str = "numbered",
    ) -> None:
        check_settings(min_count, hash_bits)
        if isinstance(template, str):
            template = Template.parse(template)
        if not isinstance(template, Template):
            raise TypeError(
                "template must be a Template or the text of one, not"
                f" {type(template).__name__}"
            )
        template.check_resources()
        self.template = template
        self.min_count = min_count
        self.hash_bits = hash_bits
        if boundaries not in BOUNDARIES:
            raise ValueError(
                f"boundaries must be one of {', '.join(BOUNDARIES)}, not {boundaries!r}"
            )
        self.boundaries = boundaries

        self._read = sorted({macro.column for macro in template.macros})
        self._derived: dict[tuple[int, str], int] = {}
        node_lines = tuple(map(self._with_derived, template.node_lines))
        edge_lines = tuple(map(self._with_derived, template.edge_lines))
        lines = node_lines + edge_lines
        macros = [macro for line in lines for macro in line.macros]
        self._columns = sorted({macro.column for macro in macros})
        self._modifiers = ("", *sorted({macro.modifier for macro in macros} - {""}))
        self._width = 1 + max((len(line.macros) for line in lines), default=0)
        self._n_before = max([0, *(-macro.offset for macro in macros)])
        self._n_after = max([0, *(macro.offset for macro in macros)])
        self._nodes = self._make_lines(node_lines, first_token=0)
        self._edges = self._make_lines(edge_lines, first_token=1)
        self._set_vocabulary([], [])
        self._is_ready = hash_bits is not None  # hashing has nothing to learn

    def _with_derived(self, line: TemplateLine) -> TemplateLine:
        """Let a line that reads resources read the columns derived from them."""
        macros = []
        for macro in line.macros:
            wanted = derivation(macro.modifier)
            if wanted is not None:
                # Derived columns are numbered after all that a template can name.
                key = macro.column, wanted.resource
                column = self._derived.setdefault(
                    key, MAX_COLUMN + 1 + len(self._derived)
                )
                macro = Macro(macro.offset, column, wanted.modifier)
            macros.append(macro)
        return line._replace(macros=tuple(macros))

    def _make_lines(self, lines: tuple[TemplateLine, ...], first_token: int) -> LineSet:
        return LineSet(
            lines,
            self._columns,
            self._modifiers,
            width=self._width,
            n_before=self._n_before,
            hash_bits=self.hash_bits,
            first_token=first_token,
        )

    def _set_vocabulary(self, strings: list[str], words: Iterable[str]) -> None:
        """Prepare the tables that `encode` reads; strings are in code order."""
        self._codes = dict(zip(strings, range(len(strings)), strict=True))
        self._rows = cell_numbers.KnownStrings(words)
        self._known = self._rows_of(self._rows)
        self._before, self._after = self._outside()

    @property
    def n_attributes(self) -> int:
        """The number of attributes that tokens have."""
        return self._nodes.n_attributes

    @property
    def n_edge_attributes(self) -> int:
        """The number of attributes that transitions have."""
        return self._edges.n_attributes

    def attribute_names(self) -> list[str]:
        """Return the attributes of tokens as CRF++ writes them, in order of id."""
        return self._nodes.names(list(self._codes))

    def edge_attribute_names(self) -> list[str]:
        """Return the attributes of transitions, in order of id."""
        return self._edges.names(list(self._codes))

    def learn_names(
        self, names: Sequence[str], edge_names: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Learn attributes from their names, as CRF++ writes them.

        Returns
        -------
        nodes, edges : arrays of int
            Which name each attribute has; a name that can be read in several ways
            belongs to several attributes.

        Examples
        --------
        >>> encoder = TemplateEncoder("U00:%x[0,0]/%x[1,0]")
        >>> encoder.learn_names(["U00:a/b/c"], [])[0]
        array([0, 0])
        """
        codes: dict[str, int] = {}
        node_keys, nodes = keys_of_names(self._nodes, names, codes)
        edge_keys, edges = keys_of_names(self._edges, edge_names, codes)
        self._set_vocabulary(list(codes), list(codes))
        self._nodes.set_keys(node_keys, len(codes))
        self._edges.set_keys(edge_keys, len(codes))
        self._is_ready = True
        return nodes, edges

    def key_counts(self, encoded: Encoded) -> tuple[KeyCounts, KeyCounts]:
        """Return what was learnt from data, with the number of rows that have it.

        Keys of tokens, and of transitions, in the order of their ids; those of several
        pieces of a corpus can be merged, and learnt by `learn_keys`.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> data = SimpleNamespace(columns=[["New", "York"]], ptr=np.array([0, 2]))
        >>> encoder = TemplateEncoder("U00:%x[0,0]")
        >>> encoder.key_counts(encoder.fit_encode(data))[0]
        {(0, 'New'): 1, (0, 'York'): 1}
        """
        strings = list(self._codes)
        return (
            self._nodes.key_counts(strings, encoded.nodes),
            self._edges.key_counts(strings, encoded.edges),
        )

    def learn_keys(self, nodes: Iterable[Key], edges: Iterable[Key]) -> None:
        """Learn attributes from their keys, as `key_counts` has them, by id."""
        codes: dict[str, int] = {}
        node_keys = self._nodes.coded(nodes, codes)
        edge_keys = self._edges.coded(edges, codes)
        self._set_vocabulary(list(codes), list(codes))
        self._nodes.set_keys(node_keys, len(codes))
        self._edges.set_keys(edge_keys, len(codes))
        self._is_ready = True

    # Encoding

    def fit_encode(self, data: Columns) -> Encoded:
        """Learn the attributes of a corpus, and encode it.

        Parameters
        ----------
        data : Columns
            Any object with `columns` and `ptr`.

        Returns
        -------
        Encoded
            The corpus in terms of what was learnt.
        """
        if self.hash_bits is not None:
            return self.encode(data)
        ptr, columns = self._check(data)
        words = cell_numbers.Numbers()
        tell(ENCODING, 0.0)
        row_numbers = cell_numbers.number_cells(columns, {}, words)
        # Until the end everything is local: a failure leaves the encoder as it was.
        codes = cell_numbers.Numbers()
        new = self._rows_of(words, codes)
        before, after = self._outside(codes)
        cells = Cells(ptr, row_numbers, new[:0], new, before, after)
        tell(ENCODING, NUMBERED)
        nodes, node_keys = self._nodes.learn(cells, self.min_count)
        tell(ENCODING, WITH_NODES)
        edges, edge_keys = self._edges.learn(cells, self.min_count)

        # Keep only strings that an attribute needs; the last place is the padding.
        used = np.zeros(len(codes) + 1, bool)
        for keys in (node_keys, edge_keys):
            used[keys[:, 1:]] = True
        used[-1] = False
        new_code = np.where(used, np.cumsum(used) - 1, UNKNOWN).astype(np.int32)
        for keys in (node_keys, edge_keys):
            keys[:, 1:] = new_code[keys[:, 1:]]
        strings = [string for string, code in codes.items() if used[code]]
        self._set_vocabulary(strings, [word for word in strings if word in words])
        self._nodes.set_keys(node_keys, len(strings))
        self._edges.set_keys(edge_keys, len(strings))
        self._is_ready = True
        tell(ENCODING, 1.0)
        return Encoded(ptr, nodes, edges)

    def encode(self, data: Columns, n_jobs: int = 1) -> Encoded:
        """Encode sentences; attributes that were not learnt are dropped.

        Parameters
        ----------
        data : Columns
            Any object with `columns` and `ptr`.
        n_jobs : int
            Threads that share the sentences; -1 for one per core.

        Returns
        -------
        Encoded
            The sentences as arrays.
        """
        if not self._is_ready:
            raise ValueError(
                "the encoder has learnt nothing yet: call fit_encode first"
            )
        ptr, columns = self._check(data)
        new_words = cell_numbers.Numbers()
        tell(ENCODING, 0.0)
        row_numbers = cell_numbers.number_cells(columns, self._rows, new_words)
        new = self._rows_of(new_words) if new_words else self._known[:0]
        cells = Cells(ptr, row_numbers, self._known, new, self._before, self._after)
        tell(ENCODING, NUMBERED)
        nodes = self._nodes.encode(cells, n_jobs)
        tell(ENCODING, WITH_NODES)
        edges = self._edges.encode(cells, n_jobs)
        tell(ENCODING, 1.0)
        return Encoded(ptr, nodes, edges)

    def _check(
        self, data: Columns
    ) -> tuple[NDArray[np.int64], dict[int, Sequence[str]]]:
        """Return the sentence boundaries and the columns that the template reads."""
        ptr = np.ascontiguousarray(data.ptr, np.int64)
        if not ptr.flags.writeable:  # kernels would be compiled again for it
            ptr = ptr.copy()
        columns = data.columns
        if self.template.n_columns > len(columns):
            raise DataError(self._missing_column(len(columns)))
        wanted = {c: columns[c] for c in self._read}
        n_tokens = len(columns[0]) if columns else (int(ptr[-1]) if ptr.size else 0)
        for c, column in wanted.items():
            if len(column) != n_tokens:
                raise DataError(
                    f"column {c} has {len(column)} cells, but column 0 has {n_tokens}"
                    " (every column needs one cell per token)"
                )
        if ptr.ndim != 1 or not are_bounds(ptr, n_tokens):
            raise DataError(
                f"ptr must rise from 0 to the number of tokens, {n_tokens}"
                " (sentence s is the tokens ptr[s] to ptr[s + 1])"
            )
        if self._derived:
            cell_numbers.refuse_other_than_strings(wanted)
        for (base, resource), number in self._derived.items():
            words = wanted[base]
            wanted[number] = self.template.resources.column(resource, words, ptr)
        return ptr, {c: wanted[c] for c in self._columns}

    def _missing_column(self, n_columns: int) -> str:
        template = self.template
        lines = template.node_lines + template.edge_lines
        number, macro = next(
            (line.number, macro)
            for line in lines
            for macro in line.macros
            if macro.column >= n_columns
        )
        return (
            f"{template.source}:{number}: '{macro}' names column {macro.column}, but"
            f" the data has {n_columns} (columns count from 0; change the template"
            " or the data)"
        )

    def _rows_of(
        self, words: Iterable[str], codes: Mapping[str, int] | None = None
    ) -> NDArray[np.int64]:
        """Return the code of each word under each modifier."""
        modifiers = self._modifiers
        flat: Iterable[int]
        if self.hash_bits is not None:
            flat = chain.from_iterable(_hash_codes(word, modifiers) for word in words)
        else:
            strings = chain.from_iterable(_modified(word, modifiers) for word in words)
            if codes is None:
                get: Callable[[Any, int], int] = self._codes.get  # None has no code
                flat = map(get, strings, repeat(UNKNOWN))
            else:
                flat = map(self._code_of(codes), strings)
        return np.fromiter(flat, np.int64).reshape(-1, len(modifiers))

    def _outside(
        self, codes: Mapping[str, int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the codes of the cells before and after a sentence."""
        code_of = self._code_of(codes)
        sides = []
        for sign, n_cells in (("-", self._n_before), ("+", self._n_after)):
            cells = [self._outside_cell(sign, i + 1) for i in range(n_cells)]
            sides.append(np.array([code_of(cell) for cell in cells], np.int64))
        return sides[0], sides[1]

    def _outside_cell(self, sign: str, distance: int) -> str | None:
        if self.boundaries == "none":
            return None
        return "_B" if self.boundaries == "single" else f"_B{sign}{distance}"

    def _code_of(self, codes: Mapping[str, int] | None) -> Any:
        """Return the function from a string, or None, to its code."""
        if self.hash_bits is not None:
            return _hash_code
        if codes is None:
            get = self._codes.get
            return lambda string: get(string, UNKNOWN)
        return lambda string: UNKNOWN if string is None else codes[string]

    # Storing

    def to_tensors(self) -> tuple[Tensors, Settings]:
        """Return all that was learnt, as arrays and as settings for JSON."""
        settings = {
            "template": self.template.text,
            "min_count": self.min_count,
            "hash_bits": self.hash_bits,
            "boundaries": self.boundaries,
        }
        resources: Tensors = {}
        if self.template.resources:
            resources, settings["resources"] = self.template.resources.to_tensors()
        if self.hash_bits is not None:
            return resources, settings
        is_word = np.array([string in self._rows for string in self._codes], np.uint8)
        strings = {**pack_strings(self._codes, by_character=True), "is_word": is_word}
        tensors = resources | prefixed("strings", strings)
        tensors["nodes.keys"] = self._nodes.table.keys
        tensors["edges.keys"] = self._edges.table.keys
        return tensors, settings

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]
    ) -> TemplateEncoder:
        """Rebuild an encoder from what `to_tensors` returned.

        Raises
        ------
        ModelFileError
            If anything is missing or does not fit together.
        """
        has_resources = isinstance(settings, Mapping) and "resources" in settings
        names = _SETTINGS | {"resources"} if has_resources else _SETTINGS
        chosen = take_settings(settings, names)
        resources = Resources()
        if has_resources:
            resources = Resources.from_tensors(tensors, chosen.pop("resources"))
        try:
            if resources:
                template = Template.parse(chosen["template"])
                chosen["template"] = template.with_resources(resources)
            encoder = cls(**chosen)
        except (ValueError, TypeError, AttributeError) as error:
            raise ModelFileError(f"encoder settings are damaged: {error}") from None
        if encoder.hash_bits is not None:
            return encoder
        content = Content(tensors, {}, "", 0, "")
        strings = stored_strings(content, "strings", unique=True)
        is_word = content.tensor("strings.is_word", dtype=np.uint8, length=len(strings))
        for name, lines in (("nodes", encoder._nodes), ("edges", encoder._edges)):
            keys = content.tensor(f"{name}.keys", dtype=np.int32, ndim=2)
            # Kernels are compiled again for arrays that are read-only or have gaps.
            keys = np.require(keys, requirements=["C", "A", "W"])
            problem = lines.problem_with(keys, len(strings))
            if problem:
                raise ModelFileError(f"tensor '{name}.keys' {problem}")
            lines.set_keys(keys, len(strings))
        words = (string for string, mark in zip(strings, is_word, strict=True) if mark)
        encoder._set_vocabulary(strings, words)
        encoder._is_ready = True
        return encoder


def _hash_code(string: str | None) -> int:
    return UNKNOWN if string is None else stable_hash(string)


@lru_cache
def _functions(modifiers: tuple[str, ...]) -> list[Callable[[str], str | None]]:
    return [*map(function_of, modifiers)]


# The taggers of a pipeline, and those that share a template, meet the same words.
@lru_cache(maxsize=1 << 15)
def _modified(word: str, modifiers: tuple[str, ...]) -> tuple[str | None, ...]:
    return tuple([function(word) for function in _functions(modifiers)])


@lru_cache(maxsize=1 << 16)
def _hash_codes(word: str, modifiers: tuple[str, ...]) -> tuple[int, ...]:
    return tuple([_hash_code(function(word)) for function in _functions(modifiers)])
