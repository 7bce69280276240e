"""The probability of every chunk, whatever labels spell it.

The labels of a sequence are a walk from state to state: given one, those before it say
nothing about the next one. So a chunk is followed from the state that opens it, step by
step, for as long as the next one goes on with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partwise._notebooks import ShownSpans
from partwise.estimators.labels import Label
from partwise.estimators.sequence.answers import Span, check_chunks
from partwise.estimators.sequence.walks import Walk
from partwise.metrics.chunks import OUTSIDE, chunk_step, resolve_scheme
from partwise.structures.interface import FloatArray


class Spelling:
    """What labels mean for chunks, as tables.

    Attributes
    ----------
    opens : array of bool of shape (n + 1, n)
        Whether a label begins a chunk after another one; the last row is the start.
    continues : array of bool of shape (n, n)
        Whether a label goes on with the chunk of the one before.
    complete : array of bool of shape (n, n + 1)
        Whether a chunk that ends between two labels counts; the last column is the end.
    types : list of str
        The type of the chunk that a label opens.
    """

    def __init__(self, labels: Sequence[Label], scheme: str | None) -> None:
        check_chunks(labels)
        names, known = [str(label) for label in labels], resolve_scheme(scheme)
        before, after = [*names, OUTSIDE], [*names, OUTSIDE]
        steps = [[chunk_step(known, a, b) for b in after] for a in before]
        n = len(names)
        self.continues = np.array([[x.continues for x in row[:n]] for row in steps[:n]])
        begins = [[x.opens and not x.continues for x in row[:n]] for row in steps]
        self.opens = np.array(begins)
        ends = [[x.complete and not x.continues for x in row] for row in steps[:n]]
        self.complete = np.array(ends)
        self.types = [steps[n][b].type for b in range(n)]


def span_probabilities(walk: Walk, spelling: Spelling, at_least: float) -> list[Span]:
    """Return the chunks of a sequence that are probable enough, by probability."""
    if not 0.0 <= at_least <= 1.0:
        raise ValueError(f"at_least must lie between 0 and 1, not {at_least!r}")
    found: list[Span] = []
    length, label = len(walk.share), walk.label
    pairs = label[walk.source], label[walk.target]
    following = _given_state(walk)
    continuing = following * spelling.continues[pairs]
    ending = following * spelling.complete[pairs]
    types = np.array(spelling.types)
    for start in range(length):
        opening = walk.arrivals(walk.share[start] * spelling.opens[pairs])
        for kind in sorted(set(spelling.types)):
            inside = opening * (types == kind)[label]
            for end in range(start + 1, length + 1):
                if inside.sum() < at_least or not inside.any():
                    break
                if end == length:
                    share = float(inside @ spelling.complete[label, -1])
                else:
                    share = float(inside[walk.source] @ ending[end])
                if share >= at_least and share > 0.0:
                    found.append(Span(start, end, kind, min(share, 1.0)))
                if end < length:
                    inside = walk.arrivals(inside[walk.source] * continuing[end])
    return ShownSpans(sorted(found, key=lambda span: (-span.score, span)))


def _given_state(walk: Walk) -> FloatArray:
    """Return the probability of every step given the state that it leads from."""
    result: FloatArray = np.zeros(walk.share.shape)
    for t in range(1, len(result)):
        there = walk.arrivals(walk.share[t - 1])[walk.source]
        np.divide(walk.share[t], there, out=result[t], where=there > 0)
    return result
