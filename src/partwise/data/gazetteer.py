r"""Gazetteer files: lists of phrases, each of a type.

One entry per line, either ``TYPE<tab>phrase`` or, in a file where no line has a tab, a
phrase alone, whose type is the name of the file. Lines that start with ``#`` and
blank lines are left out.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from partwise.data.files import Source, read_lines, source_name
from partwise.errors import DataError


def read_gazetteer(source: Source, *, type: str | None = None) -> dict[str, list[str]]:
    r"""Read the phrases of a gazetteer file by type.

    Parameters
    ----------
    source : path, "-" or file object
        The file in UTF-8, plain or gzip; ``"-"`` is standard input.
    type : str, optional
        The type of phrases that come without one; by default the name of the file
        without its ending (``people`` for ``people.txt.gz``).

    Returns
    -------
    dict of str to list of str
        The phrases of each type, words with one blank between them.

    Raises
    ------
    DataError
        If there is no such file, it has no entries, or a line differs from the first;
        the message names the line.

    Examples
    --------
    >>> import io
    >>> read_gazetteer(io.StringIO("LOC\tNew York\nLOC\tRome\nPER\tRome Jones\n"))
    {'LOC': ['New York', 'Rome'], 'PER': ['Rome Jones']}
    >>> read_gazetteer(io.StringIO("New York\nRome\n"), type="city")
    {'city': ['New York', 'Rome']}
    """
    name = source_name(source)
    phrases: dict[str, list[str]] = {}
    has_types: bool | None = None
    for number, line in read_lines(source):
        if not line.strip() or line.startswith("#"):
            continue
        if has_types is None:
            has_types = "\t" in line.strip()
            if has_types and type is not None:
                raise DataError(
                    f"the line names a type of its own (leave type={type!r} out)",
                    path=name,
                    line=number,
                )
            if not has_types:
                type = _default_type(source, name) if type is None else type
        if has_types:
            own_type, tab, phrase = line.partition("\t")
            own_type = own_type.strip()
            if not tab or not own_type or not phrase.strip() or "\t" in phrase:
                raise DataError(
                    "expected a type, one tab and a phrase, as in 'LOC<tab>New York' "
                    f"(line: {line!r})",
                    path=name,
                    line=number,
                )
        elif "\t" in line.strip():
            raise DataError(
                "a tab, but the lines before have none (write a type and a tab in "
                f"every line, or in none; line: {line!r})",
                path=name,
                line=number,
            )
        else:
            own_type, phrase = str(type), line
        problem = problem_with_type(own_type)
        if problem:
            raise DataError(problem, path=name, line=number)
        phrases.setdefault(own_type, []).append(" ".join(phrase.split()))
    if not phrases:
        raise DataError("holds no phrases (write one per line)", path=name)
    return phrases


def problem_with_type(type: str) -> str:
    """Say why a template could not name this type; nothing if it could.

    Examples
    --------
    >>> problem_with_type("PER")
    ''
    >>> problem_with_type("first name")
    "the type 'first name' must be one word without ']' and '%' (rename it)"
    """
    if type and type.isprintable() and not set(type) & set(" ]%"):
        return ""
    return f"the type {type!r} must be one word without ']' and '%' (rename it)"


def _default_type(source: Source, name: str) -> str:
    if not isinstance(source, str | PathLike) or source == "-":
        raise DataError(
            "phrases without a type, and no name of a file to take it from (give "
            "type=, or write 'TYPE<tab>phrase')",
            path=name,
        )
    path = Path(source)
    if path.suffix == ".gz":
        path = path.with_suffix("")
    return "_".join(path.stem.split())
