"""Dependency trees as SVG: the words in a line, their arcs above them."""

from __future__ import annotations

from collections.abc import Iterable

from partwise._notebooks import Drawing
from partwise.drawing.arc_diagram import Arc, draw_diagram
from partwise.drawing.arguments import DependencyTree, checked_heads, checked_marginals

FAINTEST = 0.25


def opacity(probability: float | None) -> float:
    """Return how strong a line is; even one thought impossible must be seen.

    Examples
    --------
    >>> opacity(0.0), opacity(None)
    (0.25, 1.0)
    """
    return 1.0 if probability is None else FAINTEST + (1 - FAINTEST) * probability


def draw_svg(
    forms: Iterable[str],
    heads: Iterable[int],
    labels: Iterable[str] | None = None,
    probabilities: Iterable[float] | None = None,
    tags: Iterable[str] | None = None,
    title: str | None = None,
) -> Drawing:
    """Draw a dependency tree as SVG: the words in a line, with arcs above them.

    The drawing is self-contained, follows the reader's choice of a light or a dark
    background, and is as wide as the sentence: long ones scroll.

    Parameters
    ----------
    forms : iterable of str
        The words. Unprintable characters are escaped.
    heads : iterable of int
        ``heads[m - 1]`` is the head of word m, counted from 1; 0 is the root.
    labels : iterable of str, optional
        The label of each word's arc.
    probabilities : iterable of float, optional
        The probability of each word's arc, which is written at the arc and shown by
        how strong its line is.
    tags : iterable of str, optional
        The tag of each word, written below it.
    title : str, optional
        The name of the drawing; the sentence by default.

    Returns
    -------
    str
        An ``<svg>`` element, to be saved in UTF-8 or put into a page of HTML. Each
        arc has the attributes ``data-head`` and ``data-dependent``.

    Raises
    ------
    ValueError
        If lengths differ, or the heads are not those of a tree.

    Examples
    --------
    >>> drawing = draw_svg(["Dogs", "bark"], [2, 0], ["nsubj", "root"])
    >>> drawing[:56]
    '<svg xmlns="http://www.w3.org/2000/svg" class="partwise"'
    >>> "<title>Dogs &lt;- bark, nsubj</title>" in drawing
    True
    """
    tree = DependencyTree.checked(forms, heads, labels, probabilities, tags)
    arcs = []
    for m, head in enumerate(tree.heads, start=1):
        texts = [tree.labels[m - 1]] if tree.labels is not None else []
        p = None if tree.probabilities is None else tree.probabilities[m - 1]
        if p is not None:
            texts.append(f"{p:.2f}")
        arcs.append(Arc(head, m, texts, opacity(p)))
    return draw_diagram(tree.forms, arcs, [], tree.tags, title)


def draw_marginals_svg(
    forms: Iterable[str],
    mu: Iterable[Iterable[float]],
    heads: Iterable[int] | None = None,
    threshold: float = 0.01,
    title: str | None = None,
) -> Drawing:
    """Draw all arcs that have some probability, each as strong as it is probable.

    The chosen tree is drawn on top, with probabilities; all other arcs are curves
    behind it, in another colour.

    Parameters
    ----------
    forms : iterable of str
        The words. Unprintable characters are escaped.
    mu : array of shape (n_words + 1, n_words + 1)
        ``mu[h, m]`` is the probability that h is the head of word m; 0 is the root.
    heads : iterable of int, optional
        The tree to draw on top. By default it is the most probable head of each
        word; together these need not form a tree.
    threshold : float, default=0.01
        Arcs less probable than this are left out, unless they are in the tree.
    title : str, optional
        The name of the drawing; the sentence by default.

    Returns
    -------
    str
        An ``<svg>`` element like that of `draw_svg`.

    Raises
    ------
    ValueError
        If the shapes differ, something is not a probability, or heads are not a tree.

    Examples
    --------
    >>> mu = [[0, 0.1, 0.9], [0, 0, 0.1], [0, 0.9, 0]]
    >>> drawing = draw_marginals_svg(["Dogs", "bark"], mu)
    >>> drawing.count('class="arc"'), drawing.count('class="arc alternative"')
    (2, 2)
    """
    words = list(forms)
    rows = checked_marginals(mu, words)
    columns = [[row[m] for row in rows] for m in range(1, len(rows))]
    if heads is None:
        chosen = [column.index(max(column)) for column in columns]
    else:
        chosen = checked_heads(heads, words)
    tree, others = [], []
    for m, (best, column) in enumerate(zip(chosen, columns, strict=True), start=1):
        for head, p in enumerate(column):
            arc = Arc(head, m, [f"{p:.2f}"], p)
            if head == best:
                tree.append(arc)
            elif p >= threshold and p > 0:
                others.append(arc)
    return draw_diagram(words, tree, others, None, title)
