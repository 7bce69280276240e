"""The probability of every chunk, whatever labels spell it.

The labels of a chain are a Markov chain: given a label, those before it say nothing
about the next one. So a chunk is followed from the label that opens it, label by label,
for as long as the next one goes on with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partwise._notebooks import ShownSpans
from partwise.estimators.labels import Label
from partwise.estimators.sequence.answers import Span, check_chunks
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


def span_probabilities(
    nodes: FloatArray, pairs: FloatArray, spelling: Spelling, at_least: float
) -> list[Span]:
    """Return the chunks of a sequence that are probable enough, by probability.

    `nodes` are the probabilities of labels, `pairs` those of neighbouring labels.
    """
    if not 0.0 <= at_least <= 1.0:
        raise ValueError(f"at_least must lie between 0 and 1, not {at_least!r}")
    found: list[Span] = []
    for start in range(len(nodes)):
        if start == 0:
            opening = nodes[0] * spelling.opens[-1]
        else:
            opening = (pairs[start - 1] * spelling.opens[:-1]).sum(axis=0)
        for kind in sorted(set(spelling.types)):
            of_kind = np.array([one == kind for one in spelling.types])
            inside = opening * of_kind
            for end in range(start + 1, len(nodes) + 1):
                if inside.sum() < at_least or not inside.any():
                    break
                share = _ending(inside, end, nodes, pairs, spelling)
                if share >= at_least and share > 0.0:
                    found.append(Span(start, end, kind, min(share, 1.0)))
                if end < len(nodes):
                    on = _given_label(nodes, pairs, end) * spelling.continues
                    inside = inside @ on
    return ShownSpans(sorted(found, key=lambda span: (-span.score, span)))


def _given_label(nodes: FloatArray, pairs: FloatArray, t: int) -> FloatArray:
    """Return the probability of the label at `t`, a column, given the one before."""
    both, before = pairs[t - 1], nodes[t - 1][:, None]
    result: FloatArray = np.zeros(both.shape)
    np.divide(both, before, out=result, where=before > 0)
    return result


def _ending(
    inside: NDArray[np.float64],
    end: int,
    nodes: FloatArray,
    pairs: FloatArray,
    spelling: Spelling,
) -> float:
    """Return the probability that the chunk ends here, and counts."""
    if end == len(nodes):
        return float(inside @ spelling.complete[:, -1])
    ends = _given_label(nodes, pairs, end) * spelling.complete[:, :-1]
    return float(inside @ ends.sum(axis=1))
