"""The settings of constituency parsers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from partwise.estimators import allowed_values as allow
from partwise.estimators.settings import declares_settings, setting
from partwise.estimators.shared_settings import LearningSettings


@declares_settings
class ConstituencySettings(LearningSettings):
    """The settings of a constituency parser.

    Parameters
    ----------
    grammar : str or sequence of str
        Productions such as ``"S -> NP VP"``, with ``|`` between alternatives and words
        in quotes; the first parent is the root. Without words, those of each tag are
        learnt. By default all productions of the training trees, and those that
        `horizontal` and `vertical` add to them.
    horizontal : int or None
        How many of the children to its left decide which child of a phrase comes next,
        when the grammar is read from trees. A small number allows phrases that no
        training tree has; None means all of them.
    vertical
        How many levels of the tree are part of a label: 1 for the label alone, 2 for it
        and that of its parent, and so on.
    states
        How many hidden states there are behind each label and tag. They are found in
        training, which begins at random and ends in a local optimum. Every rule becomes
        one for all states of its symbols.
    prune
        Look only at phrases that are at least so probable under a coarser grammar,
        whose labels remember nothing and have no states. It learns first. 0 looks at
        all. Training with states is faster with 0.0001, and loses a few right brackets,
        which `pruning_` counts.
    given_tags
        Whether the input has tags that are kept, instead of predicting them.
    underivable
        Whether to stop at a training tree that a given grammar cannot derive, or to
        leave it out.
    hash_bits
        Bits of the hashes that number features: words, spans and splits have
        ``2**hash_bits`` features each, and these a weight for each label.
    span_cost
        What a span with a wrong label costs in training with margins.
    word_cost
        What a word with a wrong tag costs in training with margins.
    tol
        ... Trees hardly change any more long before it is small.
    dev_metric
        What is measured on development data. A function takes the right and the
        predicted trees.
    """

    default_C: ClassVar = {"squared_hinge": 0.1, "hinge": 0.1, "log_loss": 1.0}

    grammar: str | Sequence[str] | None = None
    horizontal: int | None = setting(
        default=1, allowed=allow.number(0, 1000, whole=True), optional=True
    )
    vertical: int = setting(default=1, allowed=allow.number(1, 1000, whole=True))
    states: int = setting(default=1, allowed=allow.number(1, 100, whole=True))
    prune: float = setting(default=0.0, allowed=allow.number(0, 1))
    given_tags: bool = setting(default=False, allowed=allow.FLAG)
    underivable: str = setting(default="refuse", allowed=allow.one_of("refuse", "skip"))
    hash_bits: int = setting(default=15, allowed=allow.number(4, 24, whole=True))
    span_cost: float = setting(default=1.0, allowed=allow.NOT_NEGATIVE)
    word_cost: float = setting(default=1.0, allowed=allow.NOT_NEGATIVE)
    tol: float = 0.1
    dev_metric: Any = setting(
        default="f1", allowed=allow.metric("f1", "precision", "recall", "exact_match")
    )
