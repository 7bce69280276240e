"""Parsers of second order: what prunes arcs first, and the trees that are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise._threads import count_jobs
from partwise.data.treebank import Sentence
from partwise.errors import Advice, DataError, OutOfMemoryError
from partwise.estimators.dependency.corpus import know_trees, named
from partwise.estimators.pruning import (
    CoarseModel,
    learn_coarse,
    read_coarse,
    store_coarse,
)
from partwise.features import arc_codes
from partwise.features.arc_groups import ChosenTemplates
from partwise.model_file import Content
from partwise.solvers.memory import available_memory, in_words
from partwise.structures.decoding import decode
from partwise.structures.dependency import AddedArcs, DependencyTrees, HashedArcs
from partwise.structures.dependency.arc_parts import arc_parts
from partwise.structures.dependency.arcs import n_arc_weights
from partwise.structures.dependency.second_order import (
    HashedTriples,
    SecondOrderTrees,
    lost_heads,
    make_second_order_trees,
    make_triple_templates,
    prune_arcs,
    without_labels,
)
from partwise.structures.interface import (
    CodeArray,
    FloatArray,
    IntArray,
    n_parts,
    n_weights,
)
from partwise.structures.partial import best_completions

PRUNER_BITS = 20
"""A pruner has at most ``2^PRUNER_BITS`` hashed weights: fewer are read faster."""


class Pruning(NamedTuple):
    """What pruning leaves of some sentences.

    Attributes
    ----------
    arcs_per_word : float
        How many heads a word can choose from, on average.
    oracle_heads : float
        The share of words whose right head is among them: no parser does better.
    """

    arcs_per_word: float
    oracle_heads: float


class Pruner(NamedTuple):
    """The weights of a parser of first order, what it lets pass, and its hash bits."""

    weights: FloatArray
    least: float
    bits: int

    def allowed(self, s: DependencyTrees, n_jobs: int) -> Any:
        """Say of every arc whether it may be in a tree."""
        return prune_arcs(_for_pruning(s, self.bits), self.weights, self.least, n_jobs)

    def completed(
        self, s: DependencyTrees, sentences: Sequence[Sentence], n_jobs: int
    ) -> CodeArray:
        """Return the heads of all words: the best ones where they are not known."""
        known = know_trees(_for_pruning(s, self.bits), sentences)
        if isinstance(known, DependencyTrees):
            return s.heads
        return best_completions(known, self.weights, n_jobs).codes


def learn_pruner(
    s: DependencyTrees, sentences: Sequence[Sentence], least: float, seed: int
) -> Pruner:
    """Train a parser of first order, from the trees that are known completely."""
    whole = np.array([not sentence.unknown for sentence in sentences], float)
    if not whole.any():
        raise DataError(
            "no tree is known completely, and order=2 learns from whole trees which "
            "heads are worth a look: give some",
            advice=[Advice("order", 1, "learns from trees known in part alone")],
        )
    bits = min(_hashed(s.arcs).bits, PRUNER_BITS)
    return Pruner(*learn_coarse(_for_pruning(s, bits), least, seed, whole), bits)


def second_order(
    first: DependencyTrees,
    templates: ChosenTemplates,
    bits: int,
    pruner: Pruner,
    n_jobs: int,
    right: Sequence[Sentence] | None = None,
) -> tuple[SecondOrderTrees, Pruning | None]:
    """Return trees of second order, and given right trees, what pruning cost.

    The right arcs are put back then, so that there is a tree to learn.
    """
    allowed = pruner.allowed(first, n_jobs)
    hashed = _hashed(first.arcs)
    triples = HashedTriples(
        hashed.codes,
        hashed.first,
        make_triple_templates(
            _numbers(templates.siblings), _numbers(templates.grandparents)
        ),
        bits,
    )
    found = None
    if right is not None:
        cells = _cells(first.ptr, pruner.completed(first, right, n_jobs))
        known, n_words = _known_words(first, right), max(first.heads.size, 1)
        left = allowed[cells][known].mean() if known.any() else 1.0
        found = Pruning(float(allowed.sum()) / n_words, float(left))
        allowed[cells] = 1
    return make_second_order_trees(first, allowed, triples), found


def check_parts(
    s: SecondOrderTrees, sentences: Sequence[Sentence], n_jobs: int
) -> None:
    """Refuse a sentence whose chart would not fit into memory."""
    free, n_threads = available_memory(), count_jobs(n_jobs)
    for i, sentence in enumerate(sentences if free is not None else ()):
        n_arcs = int(s.arcs.first[i + 1] - s.arcs.first[i])
        # Scores and masses of parts, and twice the items of the chart.
        numbers = 4 * n_parts(s, i) + 2 * (n_arcs + 1) * (len(sentence) + 1)
        if free is not None and 8 * n_threads * numbers > free:
            raise OutOfMemoryError(
                f"{named(sentence, i)} has {len(sentence):,} words and {n_arcs:,} arcs "
                f"after pruning; its parts would take {in_words(8 * numbers)} for each "
                f"thread, more than the {in_words(free)} that are free (use a larger "
                "prune, or split it into sentences)"
            )


def measure_pruning(s: SecondOrderTrees, heads: Any = None) -> Pruning:
    """Say what is left: of the corpus's own heads, or of those that are given."""
    right = s.first.heads if heads is None else np.asarray(heads, np.int32)
    n_words = max(right.size, 1)
    return Pruning(s.arcs.head.size / n_words, 1.0 - lost_heads(s, right) / n_words)


def _numbers(triples: Any) -> list[list[int]]:
    return [[arc_codes.code_index(code) for code in triple] for triple in triples]


def _hashed(arcs: Any) -> HashedArcs:
    while isinstance(arcs, AddedArcs):
        arcs = arcs.hashed
    found: HashedArcs = arcs
    return found


def _for_pruning(s: DependencyTrees, bits: int) -> DependencyTrees:
    """Return the same trees with fewer weights, and without labels."""
    arcs = _with_bits(s.arcs, bits)
    s = without_labels(s._replace(arcs=arcs))
    end = int(n_arc_weights(arcs))
    return s._replace(layout=s.layout._replace(label_at=end, n_weights=end))


def _with_bits(arcs: Any, bits: int) -> Any:
    if isinstance(arcs, AddedArcs):
        return arcs._replace(hashed=_with_bits(arcs.hashed, bits))
    return arcs._replace(bits=bits)


def _cells(ptr: IntArray, heads: CodeArray) -> IntArray:
    """Return where the arcs from heads are among all cells of the matrices."""
    lengths = np.diff(ptr)
    first_cell = np.concatenate([[0], np.cumsum((lengths + 1) ** 2)[:-1]])
    word = np.arange(heads.size) - np.repeat(ptr[:-1], lengths) + 1
    found: IntArray = (
        np.repeat(first_cell, lengths)
        + heads.astype(np.int64) * np.repeat(lengths + 1, lengths)
        + word
    )
    return found


def _known_words(
    s: DependencyTrees, sentences: Sequence[Sentence]
) -> NDArray[np.bool_]:
    """Say of every word whether its head is known."""
    known = np.ones(int(s.ptr[-1]), bool)
    for first, sentence in zip(s.ptr.tolist(), sentences, strict=False):
        known[[first + word - 1 for word in sentence.unknown]] = False
    return known


def pruner_tensors(
    pruner: Pruner | None, left: dict[str, Pruning] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model file holds of a pruner, and of what it left."""
    if pruner is None:
        return {}, {}
    coarse = CoarseModel(pruner.weights, pruner.least)
    return store_coarse(coarse, left, bits=pruner.bits)


def read_pruner(
    content: Content, n_arc_weights: int, hash_bits: int
) -> tuple[Pruner, dict[str, Pruning]]:
    """Read the pruner of a model file, and what it left.

    The parser has so many weights for arcs, ``2^hash_bits`` of which are hashed.
    """
    part = content.part("pruner")
    bits = part.setting("bits", int, at_least=3, below=hash_bits + 1)
    size = n_arc_weights - (1 << hash_bits) + (1 << bits)
    coarse, left = read_coarse(content, size, Pruning)
    return Pruner(*coarse, bits), left


def with_gold(s: Any, heads: Any, word_labels: Any) -> tuple[Any, Any]:
    """Return the corpus with these right trees, and which of them its arcs allow.

    In the place of one that they do not allow comes any other.
    """
    if isinstance(s, DependencyTrees):
        right = s._replace(heads=heads, word_labels=word_labels)
        return right, np.ones(s.ptr.size - 1, np.bool_)
    ptr, heads = s.first.ptr, heads.copy()
    legal = np.zeros(ptr.size - 1, np.bool_)
    any_tree = decode(s, np.zeros(n_weights(s)))
    for i in range(legal.size):
        arcs, (begin, end) = arc_parts(s, i), ptr[i : i + 2]
        known = set(zip(arcs.head.tolist(), arcs.word.tolist(), strict=True))
        legal[i] = known.issuperset(
            (int(head), m) for m, head in enumerate(heads[begin:end], 1)
        )
        if not legal[i]:
            heads[begin:end] = any_tree.codes[any_tree.ptr[i] :][: end - begin]
    first = s.first._replace(heads=heads, word_labels=word_labels)
    return s._replace(first=first), legal
