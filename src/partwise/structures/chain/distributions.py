"""The weights of a chain as the log-probabilities of a hidden Markov model.

With one feature per position, the symbol seen there, a chain's score is ``ln P(labels,
symbols)`` when its weights are log-probabilities: of symbols given the label, of labels
given the label before, of the first label. A weight for the end is the probability
that a sequence ends after a label, one of those of what comes after it.
"""

from __future__ import annotations

import numpy as np

from partwise.structures import interface as waist
from partwise.structures.chain.corpus import Chain
from partwise.structures.interface import IntArray


@waist.distribution_of.implement(Chain)
def _(s: Chain) -> IntArray:
    K, layout = s.layout.n_labels, s.layout
    if s.edges.n_columns or layout.transition_at % K:
        raise ValueError(
            "only chains with weights for all pairs of symbol and label, and without "
            "features of transitions, are hidden Markov models"
        )
    labels = np.arange(K)
    result = [np.tile(labels, layout.transition_at // K), K + np.repeat(labels, K)]
    if layout.has_start:
        result.append(np.full(K, 2 * K))
    if layout.has_end:
        result.append(K + labels)
    return np.concatenate(result).astype(np.int64)
