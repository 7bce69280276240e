"""The lines of one kind in a template, and the attributes they have made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import ModelFileError
from partwise.features import attribute_table, csr
from partwise.features.csr import UNKNOWN
from partwise.features.shared_rows import write_rows
from partwise.features.strings import bucket_names, stable_hash
from partwise.features.templates import TemplateLine


class LineSet:
    """All ``U`` lines of a template, or all ``B`` lines, and their vocabulary."""

    def __init__(
        self,
        lines: Sequence[TemplateLine],
        columns: Sequence[int],
        modifiers: Sequence[str],
        *,
        width: int,
        n_before: int,
        hash_bits: int | None,
        first_token: int,
    ) -> None:
        # Lines with the same literal text share attributes, as strings would.
        numbers: dict[tuple[str, ...], int] = {}
        skeletons = [numbers.setdefault(line.literals, len(numbers)) for line in lines]
        macros = [macro for line in lines for macro in line.macros]
        ends = np.cumsum([0] + [len(line.macros) for line in lines])
        sources: dict[tuple[int, str], int] = {}
        for macro in macros:
            sources.setdefault(macro[1:], len(sources))
        if hash_bits is not None:
            skeletons = [stable_hash(*line.literals) for line in lines]
        self.plan = attribute_table.Plan(
            ends.astype(np.int32),
            np.array(skeletons, np.int64),
            np.array([n_before + macro.offset for macro in macros], np.int32),
            np.array([sources[macro[1:]] for macro in macros], np.int32),
            np.array([columns.index(column) for column, _ in sources], np.int32),
            np.array([modifiers.index(name) for _, name in sources], np.int32),
            first_token,
        )
        by_number = dict(zip(skeletons, lines, strict=True))
        self.by_skeleton = list(by_number.values())
        self.n_lines = len(lines)
        self.width = width
        self.hash_bits = hash_bits
        self.may_repeat = hash_bits is not None or len(numbers) < len(lines)
        self.n_macros = np.array([len(line.macros) for line in by_number.values()], int)
        self.set_keys(self._no_keys(), n_strings=0)

    @property
    def n_attributes(self) -> int:
        """How many attributes there are."""
        if self.hash_bits is not None:
            return 1 << self.hash_bits if self.n_lines else 0
        return len(self.table.keys)

    def _no_keys(self) -> NDArray[np.int32]:
        return np.empty((0, self.width), np.int32)

    def names(self, strings: list[str]) -> list[str]:
        """Return the attributes as text; `strings` are in order of code."""
        if self.hash_bits is not None:
            return bucket_names(self.hash_bits) if self.n_lines else []
        return [
            self.by_skeleton[skeleton].fill(
                [strings[code] for code in codes if code >= 0]
            )
            for skeleton, *codes in self.table.keys.tolist()
        ]

    def key_counts(
        self, strings: list[str], rows: csr.AttributeRows
    ) -> dict[tuple[Any, ...], int]:
        """Return every key, its cells as text, with the number of rows that have it.

        All keys are as long as the longest; there is None where one has no cell.
        """
        counts = np.bincount(rows.idx, minlength=len(self.table.keys)).tolist()
        skeletons, *codes = self.table.keys.T.tolist()
        text = [*strings, None]  # UNKNOWN, which is -1, is the last
        cells = [map(text.__getitem__, column) for column in codes]
        return dict(zip(zip(skeletons, *cells, strict=True), counts, strict=True))

    def coded(
        self, keys: Iterable[tuple[Any, ...]], codes: dict[str, int]
    ) -> NDArray[np.int32]:
        """Return such keys as a table; cells without a code get the next one."""
        table = list(keys)
        cells = list(chain.from_iterable(table))
        skeletons = cells[:: self.width]
        del cells[:: self.width]
        for cell in dict.fromkeys(cells):
            if cell is not None:
                codes.setdefault(cell, len(codes))
        code_of: dict[Any, int] = {None: UNKNOWN, **codes}
        found = np.fromiter(map(code_of.__getitem__, cells), np.int32, len(cells))
        coded = np.empty((len(table), self.width), np.int32)
        coded[:, 0] = skeletons
        coded[:, 1:] = found.reshape(len(table), self.width - 1)
        return coded

    def _buffers(
        self, cells: attribute_table.Cells
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        n_tokens = int(cells.ptr[-1])
        ptr = np.zeros(n_tokens + 1, np.int64)
        return ptr, np.empty(n_tokens * self.n_lines, np.int32)

    def learn(
        self, cells: attribute_table.Cells, min_count: int
    ) -> tuple[csr.AttributeRows, NDArray[np.int32]]:
        """Return the rows of all tokens and the keys of the attributes in them."""
        if self.n_lines == 0:
            return self._no_attributes(cells), self._no_keys()
        ptr, idx = self._buffers(cells)
        table = attribute_table.growing_table(self.width, len(self.by_skeleton))
        keys, n = attribute_table.learn(self.plan, cells, table, ptr, idx)
        rows = self._finish(ptr, idx[:n], len(keys))
        rows, new_ids = csr.keep_frequent(rows, min_count)
        keys = keys[new_ids >= 0]
        return (rows if len(keys) else self._no_attributes(cells)), keys

    def _no_attributes(self, cells: attribute_table.Cells) -> csr.AttributeRows:
        """Return empty rows for tokens, but for transitions no rows at all."""
        is_edges = self.plan.first_token > 0
        return csr.no_attributes(0 if is_edges else int(cells.ptr[-1]))

    def set_keys(self, keys: NDArray[np.int32], n_strings: int) -> None:
        """Make these keys, one row per attribute, the vocabulary."""
        table = attribute_table.table_of(keys, self.n_macros, n_strings)
        if table is None:
            raise ModelFileError("the keys of the template hold an attribute twice")
        self.table = table

    def encode(
        self, cells: attribute_table.Cells, n_jobs: int = 1
    ) -> csr.AttributeRows:
        """Return the known attributes of all tokens."""
        if self.n_attributes == 0:
            return self._no_attributes(cells)
        ptr, idx = self._buffers(cells)

        def write(sentences: NDArray[np.int64], out: NDArray[np.int32]) -> int:
            own = cells._replace(ptr=sentences)
            if self.hash_bits is not None:
                mask = (1 << self.hash_bits) - 1
                return attribute_table.hash_all(self.plan, own, mask, ptr, out)
            return attribute_table.look_up(self.plan, own, self.table, ptr, out)

        n = write_rows(cells.ptr, ptr, idx, self.n_lines, n_jobs, write)
        return self._finish(ptr, idx[:n], self.n_attributes)

    def _finish(
        self, ptr: NDArray[np.int64], idx: NDArray[np.int32], n_columns: int
    ) -> csr.AttributeRows:
        if self.may_repeat:
            return csr.tidy_rows(ptr, idx, np.empty(0), n_columns)
        return csr.AttributeRows(ptr, idx, np.empty(0), n_columns)

    def problem_with(self, keys: NDArray[np.int32], n_strings: int) -> str:
        """Say what is wrong with keys from a file; nothing if they are sound."""
        if keys.shape[1] != self.width:
            return f"must have {self.width} columns, not {keys.shape[1]}"
        if len(keys) == 0:
            return ""
        skeleton, codes = keys[:, 0], keys[:, 1:]
        if skeleton.min() < 0 or skeleton.max() >= len(self.by_skeleton):
            return "names a line that the template does not have"
        is_used = np.arange(self.width - 1) < self.n_macros[skeleton][:, None]
        if ((codes >= 0) != is_used).any() or codes.min(initial=0) < UNKNOWN:
            return "has cells that do not fit the template"
        if codes.size and codes.max() >= n_strings:
            return "names a string that is not stored"
        return ""
