"""From sentences to a structure: codes of words, labels of arcs, checked trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from partwise._threads import count_jobs
from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import Advice, DataError, OutOfMemoryError
from partwise.estimators.checks import check_listed
from partwise.estimators.labels import LabelCodes
from partwise.features import arc_codes
from partwise.features.arc_groups import GROUPS, ChosenTemplates, choose_templates
from partwise.solvers.memory import available_memory, in_words
from partwise.structures import dependency
from partwise.structures.dependency import (
    AddedArcs,
    DependencyTrees,
    ListedArcs,
    VectorArcs,
)
from partwise.structures.dependency.arcs import Arcs
from partwise.structures.dependency.families import Projective
from partwise.structures.dependency.known import know_heads
from partwise.structures.dependency.vector_arcs import N_CLASSES
from partwise.structures.interface import FloatArray
from partwise.trees import (
    check_tree,
    find_cycle,
    is_projective,
    lift,
    nonprojective_words,
)

N_FEATURES = 2 * (len(arc_codes.ARC_TEMPLATES) + 2) + len(
    (
        *arc_codes.MODIFIER_TEMPLATES,
        *arc_codes.HEAD_TEMPLATES,
        *arc_codes.PAIR_TEMPLATES,
    )
)
"""An arc and its label have at most these features, and one for each word between."""

LABEL_ROW_BITS = 6
"""Labels have rows of weights for this many bits less than arcs have weights."""

# Tables of (n + 1)^2 numbers that one thread keeps for a sentence of n words, if trees
# are projective and if not: for the best tree and the sum over all, and for each of
# the k best.
N_TABLES = {True: 16, False: 11}
N_TABLES_OF_K = {True: 16, False: 2}


@dataclass(frozen=True)
class TreeSettings:
    """What a parser's trees and features are, as far as it decides its weights.

    Attributes
    ----------
    projective, single_root : bool
        Which trees there are.
    hash_bits : int
        Arcs have ``2^hash_bits`` weights.
    suffix : int
        How many letters the suffix of a word has.
    features : tuple of str
        The groups of features that are on, in the order of `GROUPS`.
    n_arc_features : int
        How many features of arcs the user gives besides them; zero if none are given.
    n_vector_columns : int
        How many columns the vectors of words have; zero if there are none.
    order : int
        How many arcs the parts of a tree have.
    """

    projective: bool
    single_root: bool
    hash_bits: int
    suffix: int
    features: tuple[str, ...] = GROUPS
    n_arc_features: int = 0
    n_vector_columns: int = 0
    order: int = 1

    @property
    def templates(self) -> ChosenTemplates:
        """The templates that are on."""
        return choose_templates(self.features)

    @property
    def label_bits(self) -> int:
        """Labels have ``2^label_bits`` rows of weights."""
        return max(self.hash_bits - LABEL_ROW_BITS, 1)

    def structure(
        self,
        sentences: Sequence[Sentence],
        labels: LabelCodes,
        *,
        gold: bool = False,
        listed: ListedArcs | None = None,
        vectors: VectorArcs | None = None,
        word_weight: FloatArray | None = None,
        head_cost: float = 1.0,
        label_cost: float = 1.0,
    ) -> DependencyTrees:
        """Encode sentences, with features `listed` and `vectors` if there are any.

        With `gold`, their trees as well.
        """
        words = arc_codes.encode_words(sentences, self.suffix)
        templates = self.templates
        hashed = dependency.make_hashed_arcs(
            words.codes,
            words.tags,
            words.attributes,
            words.lengths,
            dependency.make_templates(
                [_indices(pair) for pair in templates.arcs],
                templates.between and _indices(templates.between),
                templates.agreement and _indices(templates.agreement),
            ),
            self.hash_bits,
        )
        heads = word_labels = of_labels = None
        if gold:
            heads = np.concatenate([_no_words, *(s.heads or () for s in sentences)])
        if len(labels):
            of_labels = dependency.make_labels(
                words.codes,
                arc_codes.code_index(arc_codes.LABEL_CLASS),
                words.lengths,
                dependency.make_label_templates(
                    [arc_codes.code_index(name) for name in templates.modifier],
                    [arc_codes.code_index(name) for name in templates.head],
                    [_indices(pair) for pair in templates.pairs],
                ),
                len(labels),
                self.label_bits,
            )
            if gold:
                word_labels = np.concatenate(
                    [_no_words]
                    + [
                        labels.encode(_known_labels(s, labels), named(s, i))
                        for i, s in enumerate(sentences)
                    ]
                )
        arcs: Arcs = hashed
        for more in (listed, vectors):
            arcs = arcs if more is None else AddedArcs(arcs, more)
        return dependency.make_dependency_trees(
            arcs,
            words.lengths,
            heads,
            labels=of_labels,
            word_labels=word_labels,
            projective=self.projective,
            single_root=self.single_root,
            head_cost=head_cost,
            label_cost=label_cost,
            word_weight=word_weight,
        )

    @property
    def n_arc_weights(self) -> int:
        """How many weights arcs have, without labels."""
        n_hashed = 1 << self.hash_bits
        return n_hashed + self.n_arc_features + 2 * N_CLASSES * self.n_vector_columns

    def n_weights(self, n_labels: int) -> int:
        """Return how many weights a parser with so many labels has."""
        n_label_weights = n_labels << self.label_bits if n_labels else 0
        n_triple_weights = 1 << self.hash_bits if self.order > 1 else 0
        return self.n_arc_weights + n_label_weights + n_triple_weights

    def memory(
        self,
        sentence: Sentence,
        n_labels: int,
        k: int = 1,
        training: bool = False,
        n_listed: int = 0,
    ) -> int:
        """Return about how many bytes a thread needs for one sentence.

        An arc has at most `n_listed` features that are not hashed.
        """
        n = len(sentence)
        side = (n + 1) ** 2
        n_parts = side
        if n_labels:
            words = zip(sentence.upos, sentence.xpos, sentence.feats, strict=True)
            n_classes = 1 + len(set(words))
            n_parts += 2 * (2 * n + 1 + n_classes**2) * n_labels
        added = (self.n_arc_features, self.n_vector_columns)
        n_tables = N_TABLES[self.projective] + sum(n > 0 for n in added)
        numbers = n_tables * side + 4 * n_parts
        if k > 1:
            numbers += (N_TABLES_OF_K[self.projective] + min(k, n_labels)) * k * side
        if training:
            # To compare two trees: all features of both, and a table to add them up.
            more = n_listed + 2 * self.n_vector_columns
            numbers += 2 * n_parts + 11 * 2 * n * (n + N_FEATURES + more)
        return 8 * numbers

    def check_memory(
        self,
        sentences: Sequence[Sentence],
        n_labels: int,
        n_jobs: int,
        k: int = 1,
        *,
        training: bool = False,
        n_listed: int = 0,
    ) -> None:
        """Refuse a sentence whose tables would not fit into memory."""
        free = available_memory()
        if free is None:
            return
        n_threads = count_jobs(n_jobs)
        for i, sentence in enumerate(sentences):
            needed = n_threads * self.memory(sentence, n_labels, k, training, n_listed)
            if needed > free:
                raise OutOfMemoryError(
                    f"{named(sentence, i)} has {len(sentence):,} words; its tables "
                    f"would take {in_words(needed)}, more than the {in_words(free)} "
                    "that are free (split it into sentences)"
                )


_no_words = np.zeros(0, np.int32)


def _known_labels(sentence: Sentence, labels: LabelCodes) -> Sequence[Any]:
    """Return the labels of arcs, any for those of which nothing is known."""
    if not sentence.unknown:
        return sentence.labels or ()
    given = sentence.labels or (NOT_GIVEN,) * len(sentence)
    return [labels.classes[0] if one == NOT_GIVEN else one for one in given]


def _indices(pair: tuple[str, str]) -> tuple[int, int]:
    return arc_codes.code_index(pair[0]), arc_codes.code_index(pair[1])


def named(sentence: Sentence, i: int) -> str:
    """Say which sentence this is: where it was read, or its number."""
    return sentence.place or f"sentence {i}"


def as_sentences(sentences: Iterable[Any], what: str = "sentences") -> list[Sentence]:
    """Return a list of sentences; raise `DataError` for anything else."""
    hint = " (read_trees reads them from a file, Sentence.from_columns makes one)"
    check_listed(sentences, f"{what} must be a list of Sentence", hint, no=(Sentence,))
    result = list(sentences)
    for i, sentence in enumerate(result):
        if not isinstance(sentence, Sentence):
            raise DataError(
                f"{what}: number {i} is a {type(sentence).__name__}, not a Sentence "
                "(Sentence.from_columns makes one)"
            )
    return result


def check_training_trees(
    sentences: Sequence[Sentence],
    settings: TreeSettings,
    what: str = "sentences",
    partial: bool = False,
) -> None:
    """Refuse sentences without heads, or whose heads are not a tree.

    With `partial`, trees may be known in part.
    """
    if not any(len(sentence) for sentence in sentences):
        raise DataError(f"{what}: there are no words to learn from")
    if partial and not any(map(_is_known, sentences)):
        raise DataError(f"{what}: no head is known, so that nothing can be learnt")
    for i, sentence in enumerate(sentences):
        if partial and sentence.unknown:
            continue  # whether there is a tree with these arcs shows later
        refuse_unknown(sentence, i, what)
        if sentence.heads is None:
            raise DataError(
                f"{named(sentence, i)} has no heads (training and development data "
                "need the head of every word)",
                where=what,
                example=i,
            )
        check_tree(
            sentence.heads,
            named(sentence, i),
            single_root=settings.single_root,
            forms=sentence.forms,
        )


def _is_known(sentence: Sentence) -> bool:
    """Say whether a head is known, or a label of a word whose head is not."""
    return len(sentence.unknown) < len(sentence) or sentence.labels is not None


def refuse_unknown(sentence: Sentence, i: int, what: str = "sentences") -> None:
    """Raise `DataError` if some heads of a sentence are not known."""
    if sentence.unknown:
        raise DataError(
            f"{named(sentence, i)}: the head of word {sentence.unknown[0]} is not "
            "known; only training data may be known in part",
            where=what,
            example=i,
        )


def know_trees(s: Any, sentences: Sequence[Sentence]) -> Any:
    """Return the corpus, with trees that are known in part if some are."""
    if not any(sentence.unknown for sentence in sentences):
        return s
    arcs = s if isinstance(s, DependencyTrees) else s.first
    ptr = arcs.ptr
    head, label = np.ones(int(ptr[-1]), bool), np.ones(int(ptr[-1]), bool)
    for first, sentence in zip(ptr.tolist(), sentences, strict=False):
        for word in sentence.unknown:
            head[first + word - 1] = False
            given = NOT_GIVEN if sentence.labels is None else sentence.labels[word - 1]
            label[first + word - 1] = given != NOT_GIVEN
    try:
        return know_heads(s, head, label)
    except DataError as error:
        if error.example is None:
            raise
        sentence = sentences[error.example]
        why = _why_impossible(sentence, isinstance(arcs.family, Projective))
        raise DataError(
            f"no tree has all the heads that are known{why}; correct one of them",
            where=named(sentence, error.example),
            example=error.example,
        ) from None


def _why_impossible(sentence: Sentence, projective: bool) -> str:
    """Say which of the heads that are known contradict each other."""
    heads = sentence.heads or ()
    circle = find_cycle(heads)  # words without a head are not part of any
    if circle:
        return f": words {', '.join(map(str, circle))} form a circle"
    arcs = [(h, m) for m, h in enumerate(heads, 1) if m not in sentence.unknown]
    spans = [(min(arc), max(arc), arc[1]) for arc in arcs]
    for (a, b, word), (c, d, other) in permutations(spans, 2) if projective else ():
        if a < c < b < d:
            return (
                f": the arcs to words {word} and {other} cross (first-order parsers "
                "allow that with projective=False, or --nonprojective)"
            )
    roots = [str(m) for h, m in arcs if h == 0]
    return f": words {', '.join(roots)} are all roots" if len(roots) > 1 else ""


def without_crossings(
    sentences: list[Sentence], policy: str
) -> tuple[list[Sentence], list[int]]:
    """Return the sentences for a projective parser, and the numbers of those kept."""
    crossing = [
        i
        for i, s in enumerate(sentences)
        if not s.unknown and not is_projective(s.heads or ())
    ]
    kept = list(range(len(sentences)))
    if not crossing:
        return sentences, kept
    first = crossing[0]
    words = nonprojective_words(sentences[first].heads or ())
    example = f"the first is {named(sentences[first], first)}, at word {words[0]}"
    if policy == "refuse":
        raise DataError(
            f"{len(crossing)} of {len(sentences)} trees have crossing arcs, which a "
            f"projective parser cannot build; {example}",
            advice=[
                Advice("crossing", "lift", "hangs such words higher"),
                Advice("crossing", "skip", "leaves these sentences out"),
                Advice("projective", False, "trains a parser for all trees"),
            ],
        )
    done = "lifted" if policy == "lift" else "left out"
    warnings.warn(
        f"{len(crossing)} of {len(sentences)} trees have crossing arcs and were {done} "
        f"({example})",
        UserWarning,
        stacklevel=4,
    )
    if policy == "skip":
        chosen = set(crossing)
        kept = [i for i in kept if i not in chosen]
        return [sentences[i] for i in kept], kept
    result = list(sentences)
    for i in crossing:
        result[i] = result[i].with_tree(lift(result[i].heads or ()), result[i].labels)
    return result, kept
