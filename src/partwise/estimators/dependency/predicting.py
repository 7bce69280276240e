"""What a parser answers: trees, sets of heads, probabilities, k best, reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from partwise._notebooks import Shown
from partwise.data.treebank import Sentence
from partwise.errors import DataError
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.base import StructuredEstimator
from partwise.estimators.best_codes import kbest, split
from partwise.estimators.calibration import least_share
from partwise.estimators.checks import check_choice, check_k, check_same_length
from partwise.estimators.dependency import explanation, features
from partwise.estimators.dependency.corpus import (
    TreeSettings,
    as_sentences,
    check_training_trees,
    refuse_unknown,
)
from partwise.estimators.dependency.explanation import ArcChoice
from partwise.estimators.dependency.measures import MEASURES, Trees
from partwise.estimators.dependency.reach import Reach
from partwise.estimators.dependency.second_order import (
    Pruner,
    Pruning,
    check_parts,
    second_order,
    with_gold,
)
from partwise.estimators.dependency.settings import DependencySettings
from partwise.estimators.dependency.vectors import encode_vectors
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.given_vectors import split_one, split_vectors
from partwise.estimators.shards import LearnsFromShards
from partwise.structures.decoding import Decoded, decode
from partwise.structures.dependency.arc_parts import arc_shares
from partwise.structures.dependency.minimum_risk import decode_minimum_risk
from partwise.structures.interface import CodeArray, FloatArray
from partwise.trees import is_projective

DECODERS: dict[str, Callable[[Any, FloatArray, int], Decoded]] = {
    "best": decode,
    "minimum_risk": decode_minimum_risk,
}
"""How a tree is chosen."""


class PredictsTrees(
    LearnsFromShards, HasVectors, StructuredEstimator, Samples, DependencySettings
):
    """The part of parsers that predicts."""

    pruning_: dict[str, Pruning] | None = None
    _pruner: Pruner | None = None
    _reach: Reach | None = None
    _trees: TreeSettings

    def _structure(self, sentences: list[Sentence], **options: Any) -> Any:
        """Encode sentences, as trees of the parser's order."""
        first = self._trees.structure(sentences, self._labels, **options)
        if self._pruner is None:  # of first order
            return first
        trees, found = second_order(
            first,
            self._trees.templates,
            self._trees.hash_bits,
            self._pruner,
            self._jobs(),
            sentences if options.get("gold", False) else None,
        )
        check_parts(trees, sentences, self._jobs())
        if found is not None and self.pruning_ is not None:
            self.pruning_.setdefault("train", found)
        return trees

    @property
    def _scaled_weights(self) -> FloatArray:
        """The weights whose probabilities are meant."""
        found = self._calibration
        return self.weights_ if found is None else found.scale * self.weights_

    def _encode(
        self, sentences: Any, arc_features: Any, k: int = 1
    ) -> tuple[list[Sentence], Any]:
        self._check_fitted()
        sentences, matrices = split_vectors(sentences)
        words = as_sentences(sentences)
        listed = features.arcs_as_trained(
            arc_features, words, self._trees.n_arc_features
        )
        self._trees.check_memory(words, len(self._labels), self._jobs(), k)
        vectors = encode_vectors(words, matrices, self._vectors)
        return words, self._structure(words, listed=listed, vectors=vectors)

    def _within_reach(self, words: list[Sentence], corpus: Any) -> Any:
        """Return the arcs to look for the best trees among."""
        if self._reach is None:
            return corpus
        return self._reach.limit(corpus, words, self._labels.classes)

    def _with_trees(self, words: Trees, found: Decoded) -> list[Sentence]:
        """Return the sentences with predicted trees."""
        return [
            self._tree(sentence, one.codes)
            for sentence, one in zip(words, split(found), strict=True)
        ]

    def _tree(self, sentence: Sentence, codes: CodeArray) -> Sentence:
        n, y = len(sentence), codes.tolist()
        labels = self._labels.decode(y[n:]) if len(self._labels) else None
        return sentence.with_tree(y[:n], labels)

    def _given(
        self, sentences: Any, y: Any = None, *, arc_features: Any = None
    ) -> Given:
        words, corpus = self._encode(sentences, arc_features)
        legal = None
        if y is not None:
            trees = as_sentences(y)
            check_same_length(len(words), len(trees))
            check_training_trees(trees, replace(self._trees, single_root=False))
            legal = np.array([self._is_possible(tree) for tree in trees], np.bool_)
            # Any tree will do in the place of one that is ruled out.
            trees = [
                tree if fine else tree.with_tree(range(len(tree)), tree.labels)
                for tree, fine in zip(trees, legal, strict=True)
            ]
            right = self._trees.structure(trees, self._labels, gold=True)
            corpus, fine = with_gold(corpus, right.heads, right.word_labels)
            legal &= fine
        return Given(corpus, self.weights_, lambda i, y: self._tree(words[i], y), legal)

    def _is_possible(self, tree: Sentence) -> bool:
        """Say whether the parser can predict this tree."""
        heads = list(tree.heads or ())
        one_root = heads.count(0) <= 1 or not self._trees.single_root
        return one_root and (not self._trees.projective or is_projective(heads))

    def log_probability(
        self, sentences: Any, y: Any = None, *, arc_features: Any = None
    ) -> FloatArray:
        """Return the log-probability of the tree of every sentence.

        Those of `sentences`, or of others with the same words, `y`. -inf for trees that
        the parser cannot predict: with crossing arcs, or with several roots.
        """
        trees = as_sentences(sentences)
        result: FloatArray = super().log_probability(
            trees, trees if y is None else y, arc_features=arc_features
        )
        return result

    def predict(
        self,
        sentences: Iterable[Sentence],
        *,
        decoding: str = "best",
        arc_features: Iterable[Any] | None = None,
        risk: float | None = None,
    ) -> list[Sentence]:
        """Return the sentences with their predicted trees.

        Parameters
        ----------
        sentences : iterable of Sentence
            Heads and labels that they have are ignored.
        decoding : {"best", "minimum_risk"}
            The tree with the highest score; or the one that has the most arcs right on
            average, by the probabilities of arcs.
        arc_features : iterable of sparse matrices, optional
            As in `fit`; needed if and only if `fit` was given some.
        risk : float, optional
            Abstain where the `predict_sets` of this risk has other heads than that of
            the tree: such words are in `Sentence.unknown`. For parsers with
            `calibrate`.

        Returns
        -------
        list of Sentence
            Everything but heads and labels is written as it was read.
        """
        check_choice("decoding", decoding, DECODERS)
        words, corpus = self._encode(sentences, arc_features)
        looked_at = self._within_reach(words, corpus) if decoding == "best" else corpus
        found = DECODERS[decoding](looked_at, self.weights_, self._jobs())
        bad = np.flatnonzero(~np.isfinite(found.scores))
        if bad.size:
            raise DataError(
                f"sentence {bad[0]}: its score overflows; scale the features"
            )
        best = self._with_trees(words, found)
        if risk is None:
            return Shown(best)
        return Shown(
            sentence.without_heads(
                word
                for word, head in enumerate(sentence.heads or (), 1)
                if sets[word - 1] != [head]
            )
            for sentence, sets in zip(
                best, self._sets(words, corpus, risk), strict=True
            )
        )

    def predict_marginals(
        self,
        sentences: Iterable[Sentence],
        *,
        arc_features: Iterable[Any] | None = None,
    ) -> list[FloatArray]:
        """Return the probability of every arc.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss, or with `calibrate`.
        `arc_features` are as in `predict`.

        Returns
        -------
        list of arrays of shape (n + 1, n + 1)
            ``[head, modifier]``, words counted from 1; head 0 is the root. Every column
            but the first sums to one.
        """
        words, corpus = self._encode(sentences, arc_features)
        return self._shares(words, corpus)

    def _shares(self, words: list[Sentence], corpus: Any) -> list[FloatArray]:
        lengths = np.array([len(sentence) for sentence in words], np.int64)
        return arc_shares(corpus, self._scaled_weights, lengths, self._jobs())

    def predict_sets(
        self,
        sentences: Iterable[Sentence],
        risk: float = 0.1,
        *,
        arc_features: Iterable[Any] | None = None,
    ) -> list[list[list[int]]]:
        """Return a set of heads for every word that has the right one.

        At most a share `risk` of the sets lacks it, on average over words of new
        sentences like those of the development data (split conformal prediction). For
        parsers with `calibrate`; `arc_features` are as in `predict`.

        Returns
        -------
        list of list of list of int
            The most probable head of a set is the first; head 0 is the root.
        """
        return self._sets(*self._encode(sentences, arc_features), risk)

    def _sets(
        self, words: list[Sentence], corpus: Any, risk: float
    ) -> list[list[list[int]]]:
        least = least_share(self._calibration, risk)
        return [
            [
                [int(h) for h in np.argsort(-heads, kind="stable") if heads[h] >= least]
                for heads in rows.T[1:]
            ]
            for rows in self._shares(words, corpus)
        ]

    def predict_kbest(
        self,
        sentences: Iterable[Sentence],
        k: int = 5,
        *,
        arc_features: Iterable[Any] | None = None,
    ) -> list[list[tuple[Sentence, float]]]:
        """Return the `k` best trees of every sentence with their scores.

        `arc_features` are as in `predict`.
        """
        check_k(k)
        words, corpus = self._encode(sentences, arc_features, k)
        found = kbest(corpus, self.weights_, k, self._jobs())
        return [
            [(self._tree(sentence, one.codes), one.score) for one in best]
            for sentence, best in zip(words, found, strict=True)
        ]

    def score(
        self,
        sentences: Iterable[Sentence],
        y: Any = None,
        *,
        metric: str = "uas",
        arc_features: Iterable[Any] | None = None,
    ) -> float:
        """Return how good the predicted trees are.

        Parameters
        ----------
        sentences : iterable of Sentence
            With the right trees.
        y : ignored
            For scikit-learn.
        metric : {"uas", "las", "complete"}
            The share of words with the right head; with the right head and label; of
            sentences with all heads right. `attachment_scores` has more.
        arc_features : iterable of sparse matrices, optional
            As in `predict`.
        """
        check_choice("metric", metric, MEASURES)
        if not isinstance(sentences, tuple):
            sentences = list(sentences)
        gold = as_sentences(split_vectors(sentences)[0])
        for i, sentence in enumerate(gold):
            refuse_unknown(sentence, i)
        predicted = self.predict(sentences, arc_features=arc_features)
        return MEASURES[metric](gold, predicted)

    def explain(
        self,
        sentence: Sentence,
        arc: int | tuple[int, int] | None = None,
        *,
        arc_features: Any = None,
    ) -> ArcChoice | list[ArcChoice]:
        """Say which features made a head win over the runner-up.

        Parameters
        ----------
        sentence : Sentence
            One sentence.
        arc : int or (int, int), optional
            A word, counted from 1: why it has the head it has. Or a pair of head and
            word: what speaks for this head, against the one that the best tree has (or
            the runner-up, if it is the same). By default all words.
        arc_features : sparse matrix, optional
            That of this sentence, if `fit` was given some; its column 17 is called
            "arc feature 17".

        Returns
        -------
        ArcChoice or list of ArcChoice
            The head, the other head, the margin between the two best trees with them,
            and the features' contributions.
        """
        given = None if arc_features is None else [arc_features]
        sentence, matrix = split_one(sentence)
        one = [sentence] if matrix is None else ([sentence], [matrix])
        words, corpus = self._encode(one, given)
        n = len(words[0])
        if arc is None:
            return [self._explain(words[0], corpus, None, m) for m in range(1, n + 1)]
        head, word = explanation.head_and_word(arc)
        if not 1 <= word <= n:
            raise ValueError(f"words are counted from 1 to {n}; there is no {word}")
        if head is not None and not (0 <= head <= n and head != word):
            raise ValueError(f"word {word} cannot have the head {head}")
        return self._explain(words[0], corpus, head, word)

    def _explain(
        self, sentence: Sentence, corpus: Any, head: int | None, word: int
    ) -> ArcChoice:
        return explanation.explain_arc(
            sentence, corpus, self.weights_, self._labels.classes, head, word,
            self._trees, self._vectors.names,
        )  # fmt: skip
