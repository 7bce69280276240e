"""Taggers of higher order: which label tuples there are, and the names of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.estimators.explanation import RowWeights
from partwise.estimators.labels import Label
from partwise.estimators.sequence.constraints import Masks
from partwise.model_file import Content
from partwise.structures import ngrams
from partwise.structures.chain.corpus import illegal_positions
from partwise.structures.chain.known import first_contradiction
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.ngrams import (
    NGramChain,
    NGrams,
    make_ngrams,
    observed_tuples,
)
from partwise.structures.ngrams.known import list_tuples, possible_patterns
from partwise.structures.ngrams.table import (
    BORDER,
    FORGOTTEN,
    all_pairs,
    weighted_tuples,
)


class Memory(NamedTuple):
    """The label tuples of the training data, and the steps that follow from them.

    `states` are tuples of as many labels as the order says, `weighted` those of one
    more, which have weights.
    """

    states: NDArray[np.int32]
    weighted: NDArray[np.int32]
    grams: NGrams


def learn_memory(
    order: int,
    gold: CodeArray,
    ptr: IntArray,
    masks: Masks,
    start: bool,
    wrong: NDArray[np.bool_] | None = None,
    unseen: bool = True,
) -> Memory:
    """Find the label tuples that occur in training, or may occur.

    Where labels are known in part, those that are `wrong` say what is known. If
    `unseen` tuples are possible as well, all pairs of labels have weights.
    """
    sizes = order, order + 1
    if wrong is None:
        states, weighted = (observed_tuples(gold, ptr, n) for n in sizes)
    else:
        # Too many of the longer ones are refused before the shorter ones are listed.
        patterns = [possible_patterns(wrong, ptr, n) for n in sizes]
        states, weighted = (list_tuples(p, masks.start.size) for p in patterns)
    if unseen:
        weighted = np.vstack([all_pairs(masks.start.size, order + 1), weighted])
    return make_memory(states, weighted, masks, start)


def make_memory(states: Any, weighted: Any, masks: Masks, start: bool) -> Memory:
    """Find the steps between label tuples, as far as constraints allow them."""
    grams = make_ngrams(
        states,
        weighted,
        masks.start.size,
        start=start,
        # Models that predict nothing unseen have weights of observed pairs only.
        unseen=bool((np.asarray(weighted) == FORGOTTEN).any()),
        forbidden_transitions=masks.transitions,
        forbidden_start=masks.start,
    )
    return Memory(states, weighted, grams)


def memory_tensors(memory: Memory | None) -> dict[str, Any]:
    """Return what a model file holds of the label tuples."""
    if memory is None:
        return {}
    return {"tuples.states": memory.states, "tuples.weighted": memory.weighted}


def read_memory(model: Any, content: Content) -> Memory | None:
    """Read the label tuples of a tagger of higher order."""
    if model.order == 1:
        return None
    K, part, tables = len(model._labels), content.part("tuples"), []
    for name, width, least in (
        ("states", model.order, BORDER),
        ("weighted", model.order + 1, FORGOTTEN),
    ):
        table = part.tensor(name, dtype=np.int32, ndim=2, at_least=least, below=K)
        if table.shape[1] != width or not len(table):
            raise content.error("the label tuples do not fit the order")
        tables.append(table)
    states, weighted = tables
    try:
        return make_memory(states, weighted, model._masks, model.start)
    except ValueError as error:
        raise content.error(str(error)) from None


def illegal_of(chain: Any) -> IntArray:
    """Return the positions where right labels are not legal, whatever the order."""
    if isinstance(chain, NGramChain):
        return ngrams.illegal_positions(chain)
    return illegal_positions(chain)


def contradiction_of(chain: Any, wrong: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return where what is known contradicts the constraints, whatever the order."""
    if isinstance(chain, NGramChain):
        return ngrams.known.first_contradiction(chain, wrong)
    return first_contradiction(chain, wrong)


def stuck_at(chain: Any, i: int) -> int:
    """Return the token up to which a sequence has no legal labels."""
    of_tokens = slice(int(chain.ptr[i]), int(chain.ptr[i + 1]))
    alone = chain._replace(ptr=chain.ptr[i : i + 2] - chain.ptr[i])
    if chain.mask.tokens.size:
        mask = chain.mask._replace(tokens=chain.mask.tokens[of_tokens])
        alone = alone._replace(mask=mask)
    nothing = np.zeros((int(alone.ptr[-1]), chain.layout.n_labels), bool)
    found = contradiction_of(alone, nothing)
    return 0 if found is None else found[1]


def pair_weights(memory: Memory, w: FloatArray, at: int, n_labels: int) -> FloatArray:
    """Return the weights of pairs of labels, zero where a pair has none."""
    grams = memory.grams
    matrix = np.zeros((n_labels, n_labels))
    before, after = grams.label[grams.source], grams.label[grams.target]
    own = grams.weight[:, 0]
    there = (before >= 0) & (own >= 0)
    matrix[before[there], after[there]] = w[at + own[there]]
    return matrix


@dataclass(frozen=True)
class TupleWeights(RowWeights):
    """Names for the weights of a tagger of higher order."""

    memory: Memory
    start: bool

    @property
    def transition_at(self) -> int:
        """Where the weights of label tuples begin."""
        return self.size

    def name(self, index: int) -> tuple[str, Label]:
        """Return feature and label of a weight; of a tuple, the labels before it."""
        if index < self.size:
            return super().name(index)
        index -= self.size
        tuples = weighted_tuples(self.memory.weighted, self.start)
        if index < len(tuples):
            *before, label = tuples[index]
            names = ["the start" if k == BORDER else self.classes[k] for k in before]
            return "after " + " ".join(map(str, names)), self.classes[label]
        return "at the end", self.classes[index - len(tuples)]
