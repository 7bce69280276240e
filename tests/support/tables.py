"""The tables of pages: read them, as a user would."""

import re
from collections.abc import Iterator
from pathlib import Path

Row = dict[str, str]


def read_tables(path: Path) -> list[list[Row]]:
    """Return all tables of a page; an empty first cell means that of the row above."""
    tables: list[list[Row]] = []
    heading: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            heading = []
        elif not heading:
            heading = _cells(line)
            tables.append([])
        elif not set(line) <= set("|-: "):
            row = dict(zip(heading, _cells(line), strict=True))
            first = heading[0]
            if not row[first] and tables[-1]:
                row[first] = tables[-1][-1][first]
            tables[-1].append(row)
    return tables


def find_table(path: Path, *headings: str) -> list[Row]:
    """Return the one table of a page that has all these columns."""
    found = [t for t in read_tables(path) if t and set(headings) <= t[0].keys()]
    assert len(found) == 1, f"{path.name}: {len(found)} tables with {headings}"
    return found[0]


def codes(cell: str) -> list[str]:
    """Return what a cell puts between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def words(cell: str, known: dict[str, str]) -> Iterator[str]:
    """Yield what a cell calls by a name, longer names first: each only once."""
    for name in sorted(known, key=len, reverse=True):
        if name in cell:
            yield known[name]
            cell = cell.replace(name, "")


def _cells(line: str) -> list[str]:
    inner = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip() for cell in inner]
