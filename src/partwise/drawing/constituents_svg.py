"""Constituency trees as SVG: the words in a line, their phrases above them."""

from __future__ import annotations

from collections.abc import Mapping

from partwise._notebooks import Drawing
from partwise.constituents import Tree
from partwise.drawing.arc_diagram import BETWEEN_WORDS, MARGIN, SMALL_FONT, WORD_FONT
from partwise.drawing.constituents import Node, place_nodes
from partwise.drawing.svg import opacity
from partwise.drawing.svg_page import element, sheet, text_width

# All lengths are in pixels.
LEVEL_HEIGHT = 40.0
LABEL_FONT = 14
BESIDE_LABELS = 6.0


def draw_constituents_svg(
    tree: Tree,
    probabilities: Mapping[tuple[str, int, int], float] | None = None,
    title: str | None = None,
) -> Drawing:
    """Draw a constituency tree as SVG: the words in a line, with phrases above them.

    The drawing is self-contained, follows the reader's choice of a light or a dark
    background, and is as wide as the sentence: long ones scroll.

    Parameters
    ----------
    tree : Tree
        What to draw. Unprintable characters are escaped.
    probabilities : mapping, optional
        The probability of brackets, by label, first word and the word after the last,
        counted from 0. It is written next to the label, and shown by how strong the
        line to the bracket is.
    title : str, optional
        The name of the drawing; the sentence by default.

    Returns
    -------
    str
        An ``<svg>`` element, to be saved in UTF-8 or put into a page of HTML. Each
        node has the attributes ``data-start`` and ``data-end``.

    Raises
    ------
    ValueError
        If something is not a probability.

    Examples
    --------
    >>> tree = Tree("S", (Tree("NNS", ("Dogs",)), Tree("VBP", ("bark",))))
    >>> drawing = draw_constituents_svg(tree, {("S", 0, 2): 0.75})
    >>> "<title>S 0.75: Dogs bark</title>" in drawing
    True
    """
    nodes = place_nodes(tree, probabilities)
    words = [node.tree.word for node in nodes if node.tree.is_tag]
    edges = _edges(nodes, words)
    ground = MARGIN + LABEL_FONT + nodes[0].height * LEVEL_HEIGHT

    def place(node: Node) -> tuple[float, float]:
        """Return the middle of a node's label, at its foot."""
        x = (edges[node.start] + edges[node.end] - BETWEEN_WORDS) / 2
        return x, ground - node.height * LEVEL_HEIGHT

    parts = [_branch(n, place(n), place(nodes[n.parent])) for n in nodes[1:]]
    parts += [_label(node, place(node), words) for node in nodes]
    parts += [_word(node, place(node)) for node in nodes if node.tree.is_tag]
    width = edges[-1] - BETWEEN_WORDS + MARGIN
    height = ground + BESIDE_LABELS + WORD_FONT + MARGIN
    return sheet(width, height, title or " ".join(words), str(tree), parts)


def _edges(nodes: list[Node], words: list[str]) -> list[float]:
    """Return where each word begins, and last where one more would.

    There is room for every label above the words of its own node, so that no two
    labels over different words can touch.
    """
    widths = [text_width(word, WORD_FONT) for word in words]
    for node in reversed(nodes):  # those below first
        room = sum(widths[node.start : node.end])
        room += BETWEEN_WORDS * (node.end - node.start - 1)
        missing = text_width(node.label, LABEL_FONT) - room
        if missing > 0:
            for word in range(node.start, node.end):
                widths[word] += missing / (node.end - node.start)
    edges = [MARGIN]
    for width in widths:
        edges.append(edges[-1] + width + BETWEEN_WORDS)
    return edges


def _branch(node: Node, place: tuple[float, float], parent: tuple[float, float]) -> str:
    """Draw the line from a parent: down, across above its children, down to a node.

    It stays above the words of the node until it is there, so that no two lines cross
    and none runs through a label.
    """
    turn = parent[1] + 2 * BESIDE_LABELS
    line = (
        f"M{parent[0]:.1f} {parent[1] + BESIDE_LABELS:.1f} V{turn:.1f} "
        f"H{place[0]:.1f} V{place[1] - SMALL_FONT - 2:.1f}"
    )
    return element(
        "g",
        {"class": "branch", "opacity": f"{opacity(node.probability):.3f}"},
        element("path", {"d": line}),
    )


def _label(node: Node, place: tuple[float, float], words: list[str]) -> str:
    kind = "node tag" if node.tree.is_tag else "node"
    return element(
        "g",
        {"class": kind, "data-start": node.start, "data-end": node.end},
        # A tooltip, in browsers.
        element(
            "title", {}, text=f"{node.label}: {' '.join(words[node.start : node.end])}"
        ),
        element("text", {"x": place[0], "y": place[1]}, text=node.label),
    )


def _word(node: Node, place: tuple[float, float]) -> str:
    below = {"x": place[0], "y": place[1] + BESIDE_LABELS + WORD_FONT}
    return element(
        "g",
        {"class": "word", "data-word": node.start + 1},
        element("text", below, text=node.tree.word),
    )
