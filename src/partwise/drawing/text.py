"""Dependency trees for a terminal: one word per line, its arc on the left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from partwise.characters import cut, display_width, pad, printable
from partwise.drawing.arguments import EMPTY, DependencyTree
from partwise.drawing.layout import stems

# Cells are not cut below this many columns, however narrow the terminal.
NARROWEST_CELL = 4
BETWEEN_CELLS = "  "


class Pen(NamedTuple):
    """The characters that lines are drawn with.

    Three characters each, by where the stem goes from here: down, up, both ways.
    ``branches`` leave a stem to the right; ``joints`` are where a head sits on its
    own stem.
    """

    across: str
    along: str
    arrow: str
    root: str
    ellipsis: str
    branches: str
    joints: str


BOX = Pen("─", "│", "►", "●", "…", branches="┌└├", joints="┬┴┼")
ASCII = Pen("-", "|", ">", "*", "~", branches=".'+", joints=".'+")


def draw_text(
    forms: Iterable[str],
    heads: Iterable[int],
    labels: Iterable[str] | None = None,
    probabilities: Iterable[float] | None = None,
    tags: Iterable[str] | None = None,
    width: int | None = None,
    ascii_only: bool = False,
) -> str:
    r"""Draw a dependency tree as text: one word per line, with its arc on the left.

    A head and its dependents sit on one vertical line. The line of a word's head is
    always to the left of the word's own, and ``●`` marks the root. Where arcs cross,
    as they do in trees that are not projective, the vertical line is drawn on top.

    Parameters
    ----------
    forms : iterable of str
        The words. Unprintable characters are escaped.
    heads : iterable of int
        ``heads[m - 1]`` is the head of word m, counted from 1; 0 is the root.
    labels : iterable of str, optional
        The label of each word's arc.
    probabilities : iterable of float, optional
        The probability of each word's arc.
    tags : iterable of str, optional
        The tag of each word.
    width : int, optional
        How many columns are available. To fit, arcs are drawn closer, then words are
        cut; where arcs would take more than half of the width, the number of the
        head is shown instead. No limit by default.
    ascii_only : bool, default=False
        Draw with ASCII characters, and escape all others.

    Returns
    -------
    str
        Lines without a newline after the last; ``(no words)`` for an empty sentence.

    Raises
    ------
    ValueError
        If lengths differ, or the heads are not those of a tree.

    Examples
    --------
    >>> forms = ["The", "old", "dog", "barked", "at", "me"]
    >>> labels = ["det", "amod", "nsubj", "root", "case", "obl"]
    >>> print("\n" + draw_text(forms, [3, 3, 4, 0, 6, 4], labels))
    <BLANKLINE>
        ┌─► 1  The     det
        ├─► 2  old     amod
      ┌─┴─► 3  dog     nsubj
    ●─┼───► 4  barked  root
      │ ┌─► 5  at      case
      └─┴─► 6  me      obl
    """
    tree = DependencyTree.checked(forms, heads, labels, probabilities, tags)
    if not tree.forms:
        return EMPTY
    pen = ASCII if ascii_only else BOX
    columns = _cells(tree, ascii_only)
    wanted = sum(max(map(display_width, column)) for column in columns)
    wanted += len(BETWEEN_CELLS) * (len(columns) - 1) + 1
    arcs = _draw_arcs(tree.heads, pen, spacing=2)
    if width is not None and len(arcs[0]) + wanted > width:
        arcs = _draw_arcs(tree.heads, pen, spacing=1)
        if len(arcs[0]) + wanted > width and len(arcs[0]) > width // 2:
            arcs = _number_heads(tree.heads, pen)
        room = width - len(arcs[0]) - 1 - len(BETWEEN_CELLS) * (len(columns) - 1)
        columns = _fit(columns, room, pen.ellipsis)
    table = zip(*map(_aligned, columns), strict=True)
    return "\n".join(
        f"{arc} {BETWEEN_CELLS.join(cells)}".rstrip()
        for arc, cells in zip(arcs, table, strict=True)
    )


def _draw_arcs(heads: list[int], pen: Pen, spacing: int) -> list[str]:
    """Return what is left of each word: all lines that pass, and its own arc."""
    stem_of = stems(heads)
    n_levels = max((stem.level for stem in stem_of.values()), default=0)
    # The root is to the left of the highest stem; the words are to the right of all.
    place = {h: (n_levels - s.level + 1) * spacing for h, s in stem_of.items()}
    place[0] = 0
    n_columns = (n_levels + 1) * spacing
    canvas = [[" "] * n_columns for _ in heads]
    for h, stem in stem_of.items():
        for row in canvas[stem.first - 1 : stem.last]:
            row[place[h]] = pen.along

    def corner(h: int, m: int, by_direction: str) -> str:
        up, down = stem_of[h].first < m, m < stem_of[h].last
        return by_direction[2 if up and down else int(up)]

    for m, (head, row) in enumerate(zip(heads, canvas, strict=True), start=1):
        row[place[head]] = corner(head, m, pen.branches) if head else pen.root
        for x in range(place[head] + 1, n_columns):
            if row[x] == " ":
                row[x] = pen.across
        if m in place:
            row[place[m]] = corner(m, m, pen.joints)
    return ["".join(row) + pen.arrow for row in canvas]


def _number_heads(heads: list[int], pen: Pen) -> list[str]:
    names = [str(head) if head else "root" for head in heads]
    widest = max(map(len, names))
    return [f"{name:>{widest}} {pen.across}{pen.arrow}" for name in names]


def _cells(tree: DependencyTree, ascii_only: bool) -> list[list[str]]:
    """Return the columns to the right of the arcs."""
    n_digits = len(str(len(tree.forms)))
    columns = [[f"{m:>{n_digits}}" for m in range(1, len(tree.forms) + 1)]]
    for texts in (tree.forms, tree.tags, tree.labels):
        if texts is not None:
            columns.append([printable(text, ascii_only) for text in texts])
    if tree.probabilities is not None:
        columns.append([f"{p:.2f}" for p in tree.probabilities])
    return columns


def _fit(columns: list[list[str]], room: int, ellipsis: str) -> list[list[str]]:
    """Cut the widest cells, as little as it takes, until all fit into the room."""
    widths = [max(map(display_width, column)) for column in columns]
    while sum(widths) > room and max(widths) > NARROWEST_CELL:
        widths[widths.index(max(widths))] -= 1
    return [
        [cut(cell, width, ellipsis) for cell in column]
        for column, width in zip(columns, widths, strict=True)
    ]


def _aligned(column: list[str]) -> list[str]:
    width = max(map(display_width, column))
    return [pad(cell, width) for cell in column]
