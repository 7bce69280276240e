"""Views of sequences: a label for every token, and the chunks that labels spell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partwise.metrics.chunks import are_chunk_labels, spans
from partwise.pages.view import View

TABLE = "labels"


def spell_chunks(labels: Sequence[Sequence[Any]]) -> bool:
    """Say whether labels are of a scheme for chunks, and more than O.

    Examples
    --------
    >>> spell_chunks([["B-NP", "O"]]), spell_chunks([["NN", "DT"]])
    (True, False)
    """
    known = {str(label) for sequence in labels for label in sequence}
    return bool(known - {"O"}) and are_chunk_labels(known)


def view_tags(
    words: Sequence[str],
    found: Sequence[Any],
    gold: Sequence[Any] | None = None,
    *,
    chunks: bool = False,
    probabilities: Any = None,
    classes: Sequence[Any] = (),
    place: str = "",
) -> View:
    """Return the view of a labelled sequence.

    Parameters
    ----------
    words : sequence of str
        The tokens.
    found, gold : sequences of labels
        The predicted and the right ones.
    chunks : bool
        Whether labels spell chunks, which are what counts then.
    probabilities : array of shape (n_tokens, n_classes), optional
        The probability of every label at every token.
    classes : sequence
        The labels in the order of its columns.
    place : str
        Where the sequence was read.

    Examples
    --------
    >>> words, gold = ["New", "York"], ["B-LOC", "I-LOC"]
    >>> view = view_tags(words, ["B-LOC", "O"], gold, chunks=True)
    >>> view.mistakes, view.gold_items, view.found_items
    (1, [('LOC', 0, 2)], [('LOC', 0, 1)])
    """
    guess = [str(label) for label in found]
    right = None if gold is None else [str(label) for label in gold]
    shares: list[float] = []
    certain: list[tuple[float, bool]] = []
    believed: list[float] | None = None
    if probabilities is not None:
        column = {str(label): c for c, label in enumerate(classes)}
        shares = [float(probabilities[t][column[y]]) for t, y in enumerate(guess)]
        if right is not None:
            certain = [
                (p, a == b) for p, a, b in zip(shares, right, guess, strict=True)
            ]
            believed = [
                float(probabilities[t][column[y]]) if y in column else 0.0
                for t, y in enumerate(right)
            ]
    pairs = [] if right is None else list(zip(right, guess, strict=True))
    mistakes = sum(a != b for a, b in pairs)
    return View(
        drawing="tags",
        words=list(words),
        found=_output(guess, chunks),
        gold=None if right is None else _output(right, chunks),
        tables={TABLE: pairs},
        gold_items=_items(right or [], chunks),
        found_items=_items(guess, chunks),
        counted="chunk F1" if chunks else "",
        rates={"token accuracy": (len(pairs) - mistakes, len(pairs))},
        mistakes=mistakes,
        size=len(guess),
        certain=certain,
        believed=believed,
        more={"sure": shares} if shares else {},
        place=place,
    )


def _output(labels: Sequence[str], chunks: bool) -> dict[str, Any]:
    """Return labels as the page draws them, with their chunks if they have any."""
    if not chunks:
        return {"labels": list(labels)}
    return {
        "labels": list(labels),
        "spans": [list(span) for span in spans(labels)],
    }


def _items(labels: Sequence[str], chunks: bool) -> list[tuple[Any, ...]]:
    if chunks:
        return [(span[2], span[0], span[1]) for span in spans(labels)]
    return [(label, t) for t, label in enumerate(labels)]
