"""Probabilities of heads as a table with bars."""

from __future__ import annotations

from collections.abc import Iterable

from partwise.characters import cut, display_width, pad, printable
from partwise.drawing.arguments import EMPTY, checked_marginals

BAR = 16
EIGHTHS = " ▏▎▍▌▋▊▉"
ROOT = "root"
# Longer words are cut: the table has two of them in a line.
LONGEST_WORD = 24


def draw_marginals_text(
    forms: Iterable[str],
    mu: Iterable[Iterable[float]],
    n_heads: int = 3,
    threshold: float = 0.01,
    ascii_only: bool = False,
) -> str:
    r"""Show each word's most probable heads, with bars, as text.

    Parameters
    ----------
    forms : iterable of str
        The words. Unprintable characters are escaped; long words are cut.
    mu : array of shape (n_words + 1, n_words + 1)
        ``mu[h, m]`` is the probability that h is the head of word m; 0 is the root.
    n_heads : int, default=3
        How many heads to show for a word, at most.
    threshold : float, default=0.01
        Heads less probable than this are left out, all but the most probable one.
    ascii_only : bool, default=False
        Draw with ASCII characters, and escape all others.

    Returns
    -------
    str
        Lines without a newline after the last; ``(no words)`` for an empty sentence.

    Raises
    ------
    ValueError
        If the shapes differ, or something is not a probability.

    Examples
    --------
    >>> mu = [[0, 0.25, 0.75], [0, 0, 0.25], [0, 0.75, 0]]
    >>> print(draw_marginals_text(["Time", "flies"], mu))
    1  Time   2  flies  0.75  ████████████
              0  root   0.25  ████
    2  flies  0  root   0.75  ████████████
              1  Time   0.25  ████
    """
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1; got {n_heads}")
    words = list(forms)
    rows = checked_marginals(mu, words)
    if not words:
        return EMPTY
    ellipsis = "~" if ascii_only else "…"
    names = [
        cut(printable(word, ascii_only), LONGEST_WORD, ellipsis)
        for word in [ROOT, *words]
    ]
    widest = max(map(display_width, names))
    n_digits = len(str(len(words)))
    named = [f"{h:>{n_digits}}  {pad(name, widest)}" for h, name in enumerate(names)]
    lines = []
    for m in range(1, len(names)):
        # Of equally probable heads, the first one comes first.
        ranked = sorted(range(len(names)), key=lambda h: -rows[h][m])
        start = named[m]
        for rank, head in enumerate(ranked[:n_heads]):
            p = rows[head][m]
            if rank and p < threshold:
                break
            line = f"{start}  {named[head]}  {p:.2f}  {_bar(p, ascii_only)}"
            lines.append(line.rstrip())
            start = " " * (n_digits + 2 + widest)
    return "\n".join(lines)


def _bar(share: float, ascii_only: bool) -> str:
    """Return a bar, exact to an eighth of a column where characters allow."""
    if ascii_only:
        return "#" * round(share * BAR)
    whole, eighths = divmod(round(share * BAR * 8), 8)
    return "█" * whole + (EIGHTHS[eighths] if eighths else "")
