"""CRF++ template files, parsed.

A line ``U02:%x[-1,0]/%x[0,1]`` makes an attribute of each token from the text
in other cells of its sentence: ``%x[row,column]`` is the cell `row` tokens
further on. Lines that start with ``B`` describe transitions instead. One thing
is added to the language: a modifier after the column, as in
``%x[0,0.suffix3]``, which takes a function of the cell (see `modifiers`), or what
a gazetteer or clusters know of it (see `resources`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

from partwise.errors import DataError
from partwise.features.modifiers import LONGEST_AFFIX, MODIFIERS
from partwise.features.resources import Resources, derivation

MAX_OFFSET = 99
MAX_COLUMN = 9_999

_MACRO = re.compile(r"%x\[([^\]]*)\]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,6}", re.ASCII)


class Macro(NamedTuple):
    """One ``%x[offset,column.modifier]``; the modifier may be empty."""

    offset: int
    column: int
    modifier: str

    def __str__(self) -> str:
        """Write the macro as in a template."""
        dot = "." if self.modifier else ""
        return f"%x[{self.offset},{self.column}{dot}{self.modifier}]"


class TemplateLine(NamedTuple):
    """A line of a template: its number, and its macros between literal texts."""

    number: int
    literals: tuple[str, ...]  # one more than there are macros
    macros: tuple[Macro, ...]

    def fill(self, cells: list[str]) -> str:
        """Return the attribute that CRF++ would make of these cells."""
        rest = zip(cells, self.literals[1:], strict=True)
        return self.literals[0] + "".join(cell + text for cell, text in rest)


@dataclass(frozen=True, repr=False)
class Template:
    r"""A parsed template file.

    Attributes
    ----------
    text : str
        The file as it was given.
    source : str
        What to call it in error messages.
    node_lines : tuple of TemplateLine
        ``U`` lines: attributes of a token.
    edge_lines : tuple of TemplateLine
        ``B`` lines with macros: attributes of the transition into a token.
    plain_transitions : bool
        Whether a ``B`` line without macros asks for label-to-label weights.
    resources : Resources
        The gazetteers and clusters that lines read.

    Examples
    --------
    >>> template = Template.parse("U00:%x[-1,0]\nU01:%x[0,0.lower]\nB")
    >>> [str(macro) for line in template.node_lines for macro in line.macros]
    ['%x[-1,0]', '%x[0,0.lower]']
    >>> template.plain_transitions
    True
    """

    text: str
    source: str
    node_lines: tuple[TemplateLine, ...]
    edge_lines: tuple[TemplateLine, ...]
    plain_transitions: bool
    resources: Resources = field(default=Resources(), hash=False)

    def __repr__(self) -> str:
        """Show the size; the lines are in `text`."""
        n_lines = len(self.node_lines) + len(self.edge_lines)
        known = f", {self.resources!r}" if self.resources else ""
        return f"Template({self.source!r}, {n_lines} lines{known})"

    @classmethod
    def parse(cls, text: str, source: str = "template") -> Template:
        """Parse the text of a template file.

        Parameters
        ----------
        text : str
            The template, one attribute per line; ``#`` starts a comment line.
        source : str
            Name of the file, for error messages.

        Raises
        ------
        DataError
            If a line is malformed; the message names it.

        Examples
        --------
        >>> Template.parse("U00:%x[0;0]", "my.template")
        Traceback (most recent call last):
            ...
        partwise.errors.DataError: my.template:1: '%x[0;0]' needs a row and a \
column (write it as '%x[-1,0]')
        """
        nodes: list[TemplateLine] = []
        edges: list[TemplateLine] = []
        plain_transitions = False
        for number, raw in enumerate(text.splitlines(), start=1):
            content = raw.strip().removeprefix("\ufeff")
            if not content or content.startswith("#"):
                continue
            line = _parse_line(content, source, number)
            if content[0] == "U":
                nodes.append(line)
            elif line.macros:
                edges.append(line)
            else:
                plain_transitions = True
        if not nodes and not edges and not plain_transitions:
            raise DataError(
                "the template is empty (add a line 'U:%x[0,0]')", path=source
            )
        return cls(text, source, tuple(nodes), tuple(edges), plain_transitions)

    @classmethod
    def read(cls, path: str | Path) -> Template:
        """Read and parse a template file in UTF-8."""
        try:
            text = Path(path).read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise DataError(
                "this is not UTF-8 (convert the file to UTF-8)",
                path=str(path),
                line=line,
            ) from None
        return cls.parse(text, str(path))

    def with_resources(self, resources: Resources) -> Template:
        """Return the same template with gazetteers and clusters to read.

        Raises
        ------
        DataError
            If a line reads what is not there, or no line reads what is.

        Examples
        --------
        >>> from partwise.features import Clusters
        >>> template = Template.parse("U:%x[0,0]", "my.template")
        >>> template.with_resources(Resources(clusters=Clusters({"bank": "01"})))
        Traceback (most recent call last):
            ...
        partwise.errors.DataError: my.template: no line reads the clusters (add one \
such as 'U:%x[0,0.cluster]')
        """
        template = replace(self, resources=resources)
        template.check_resources()
        read = [derivation(macro.modifier) for macro in self.macros]
        if resources.clusters is not None and not any(
            one and not one.is_gazetteer for one in read
        ):
            raise DataError(
                "no line reads the clusters (add one such as 'U:%x[0,0.cluster]')",
                path=self.source,
            )
        if resources.gazetteers and not any(one and one.is_gazetteer for one in read):
            raise DataError(
                "no line reads a gazetteer (add one such as "
                f"'U:%x[0,0.gazetteer:{resources.types[0]}]')",
                path=self.source,
            )
        return template

    def check_resources(self) -> None:
        """Raise `DataError` if a line reads a resource that is not there."""
        for line in self.node_lines + self.edge_lines:
            for macro in line.macros:
                wanted = derivation(macro.modifier)
                problem = self.resources.problem_with(wanted) if wanted else ""
                if problem:
                    raise DataError(
                        f"'{macro}': {problem}", path=self.source, line=line.number
                    )

    @property
    def macros(self) -> list[Macro]:
        """The macros of all lines."""
        return [m for line in self.node_lines + self.edge_lines for m in line.macros]

    @cached_property
    def n_columns(self) -> int:
        """The number of columns that data must have at least."""
        return max((macro.column + 1 for macro in self.macros), default=0)


def _parse_line(content: str, source: str, number: int) -> TemplateLine:
    def fail(problem: str) -> NoReturn:
        raise DataError(problem, path=source, line=number)

    if content[0] not in "UB":
        fail(f"a line starts with U, B or #, not {content[0]!r} (line: {content!r})")
    pieces = _MACRO.split(content)
    for literal in pieces[::2]:
        if "%" in literal:
            fail(f"'%' must begin a macro such as '%x[-1,0]' (line: {content!r})")
    macros = tuple(_parse_macro(inside, fail) for inside in pieces[1::2])
    return TemplateLine(number, tuple(pieces[::2]), macros)


def _parse_macro(inside: str, fail: Callable[[str], NoReturn]) -> Macro:
    macro = f"'%x[{inside}]'"
    row, comma, cell = (part.strip() for part in inside.partition(","))
    if not comma:
        fail(f"{macro} needs a row and a column (write it as '%x[-1,0]')")
    if not _INTEGER.fullmatch(row) or abs(int(row)) > MAX_OFFSET:
        fail(f"row {row!r} in {macro} must be an integer within +-{MAX_OFFSET}")
    column, dot, modifier = cell.partition(".")
    if not _INTEGER.fullmatch(column) or not 0 <= int(column) <= MAX_COLUMN:
        fail(f"column {column!r} in {macro} must be an integer from 0 to {MAX_COLUMN}")
    if dot and modifier not in MODIFIERS and derivation(modifier) is None:
        known = [name for name in MODIFIERS if not name[-1].isdigit()]
        affixes = f"prefixN, suffixN with N from 1 to {LONGEST_AFFIX}"
        fail(
            f"unknown modifier {modifier!r} in {macro}"
            f" (there are {', '.join(known)}, {affixes}, gazetteer:TYPE, cluster and"
            " clusterN)"
        )
    return Macro(int(row), int(column), modifier)
