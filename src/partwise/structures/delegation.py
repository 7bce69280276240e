"""Structures around another one, which answers all that they do not.

A wrapping structure holds the other one in its field ``corpus`` and uses the same
scratch arrays. What it answers itself it implements; the rest is asked of the corpus.
"""

from __future__ import annotations

from typing import Any

from partwise._jit import Generic
from partwise.structures import interface as waist

DELEGATED: tuple[Generic, ...] = (
    *waist.REQUIRED,
    waist.visit,
    waist.block_size,
    waist.block_scores,
    waist.add_block,
    waist.add_costs,
    waist.cost,
    waist.argmax,
    waist.shortfall,
    waist.marginals,
    waist.log_partition,
    waist.gibbs_scores,
    waist.distribution_of,
    waist.innermost,
    waist.kbest,
    waist.n_good,
    waist.good_at,
    waist.is_good,
    waist.diff_dot,
    waist.diff_add,
    waist.diff_sqnorm,
)
"""What can be asked of the corpus in the place of its wrapping."""


def delegate(cls: type, *own: Generic) -> None:
    """Let the class `cls` ask its ``corpus`` everything but its `own` questions."""
    for question in DELEGATED:
        if question not in own:
            question.implement(cls)(_ask_corpus(question))


def _ask_corpus(question: Generic) -> Any:
    def body(s: Any, *rest: Any) -> Any:
        return question(s.corpus, *rest)

    return body
