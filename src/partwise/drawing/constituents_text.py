"""Constituency trees for a terminal: one word per line, its phrases on the left."""

from __future__ import annotations

from collections.abc import Mapping

from partwise.characters import cut, display_width, pad, printable
from partwise.constituents import Tree
from partwise.drawing.constituents import Node, place_nodes
from partwise.drawing.text import ASCII, BETWEEN_CELLS, BOX, Pen


def draw_constituents_text(
    tree: Tree,
    probabilities: Mapping[tuple[str, int, int], float] | None = None,
    width: int | None = None,
    ascii_only: bool = False,
) -> str:
    r"""Draw a constituency tree as text: one word per line, its phrases on the left.

    A phrase begins on the line of its first word.

    Parameters
    ----------
    tree : Tree
        What to draw. Unprintable characters are escaped.
    probabilities : mapping, optional
        The probability of brackets, by label, first word and the word after the last,
        counted from 0; those that it lacks are drawn without.
    width : int, optional
        How many columns are available. In a drawing that would be wider, every node
        has a line of its own, and what is still too long is cut. No limit by default.
    ascii_only : bool, default=False
        Draw with ASCII characters, and escape all others.

    Returns
    -------
    str
        Lines without a newline after the last.

    Raises
    ------
    ValueError
        If something is not a probability.

    Examples
    --------
    >>> dogs = Tree("NP", (Tree("DT", ("the",)), Tree("NNS", ("dogs",))))
    >>> tree = Tree("S", (dogs, Tree("VP", (Tree("VBP", ("bark",)),))))
    >>> print(draw_constituents_text(tree))
    S─┬─NP─┬─DT   the
      │    └─NNS  dogs
      └─VP───VBP  bark
    >>> print(draw_constituents_text(tree, {("NP", 0, 2): 0.9}, width=12))
    S
    ├─NP 0.90
    │ ├─DT  the
    │ └─NNS  do…
    └─VP
      └─VBP  ba…
    """
    pen = ASCII if ascii_only else BOX
    nodes = place_nodes(tree, probabilities)
    labels = [printable(node.label, ascii_only) for node in nodes]
    words = [printable(n.tree.word, ascii_only) for n in nodes if n.tree.is_tag]
    branches = _draw_across(nodes, labels, pen)
    room = max(map(display_width, branches))
    lines = [
        f"{pad(branch, room)}{BETWEEN_CELLS}{word}".rstrip()
        for branch, word in zip(branches, words, strict=True)
    ]
    if width is not None and max(map(display_width, lines)) > width:
        lines = _draw_down(nodes, labels, words, pen)
        lines = [cut(line, width, pen.ellipsis) for line in lines]
    return "\n".join(lines)


def _turn(pen: Pen, is_first: bool, is_last: bool) -> str:
    """Return how the line of a phrase meets that of one of its children."""
    if is_first:
        return pen.across if is_last else pen.joints[0]
    return pen.branches[1] if is_last else pen.branches[2]


def _draw_across(nodes: list[Node], labels: list[str], pen: Pen) -> list[str]:
    """Return what is left of each word, from the root on the left to its tag."""
    pieces: list[list[tuple[int, str]]] = [[] for _ in range(nodes[0].end)]
    starts = [0] * len(nodes)
    last_line = [node.start for node in nodes]  # of the last child
    for node in nodes:
        if node.parent >= 0:
            last_line[node.parent] = max(last_line[node.parent], node.start)
    for i, (node, label) in enumerate(zip(nodes, labels, strict=True)):
        if node.parent >= 0:
            above = nodes[node.parent]
            stem = starts[node.parent] + display_width(labels[node.parent]) + 1
            is_first = node.start == above.start
            turn = _turn(pen, is_first, node.start == last_line[node.parent])
            before = pen.across if is_first else ""
            pieces[node.start].append((stem - is_first, f"{before}{turn}{pen.across}"))
            starts[i] = stem + 2
            if node.start < last_line[node.parent]:
                for line in range(node.start + 1, node.end):
                    pieces[line].append((stem, pen.along))
        pieces[node.start].append((starts[i], label))
    return [_joined(line) for line in pieces]


def _joined(pieces: list[tuple[int, str]]) -> str:
    line, columns = "", 0
    for start, text in sorted(pieces):
        line += " " * (start - columns) + text
        columns = start + display_width(text)
    return line


def _draw_down(
    nodes: list[Node], labels: list[str], words: list[str], pen: Pen
) -> list[str]:
    """Return a line for every node, those below it indented."""
    last_child = {node.parent: i for i, node in enumerate(nodes)}
    lines = []
    margins = [""] * len(nodes)  # what is left of the children of each node
    for i, (node, label) in enumerate(zip(nodes, labels, strict=True)):
        word = BETWEEN_CELLS + words[node.start] if node.tree.is_tag else ""
        if node.parent < 0:
            lines.append(label + word)
            continue
        is_last = last_child[node.parent] == i
        margin = margins[node.parent]
        lines.append(f"{margin}{_turn(pen, False, is_last)}{pen.across}{label}{word}")
        margins[i] = margin + ("  " if is_last else f"{pen.along} ")
    return lines
