"""The part of constituency parsers that predicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from partwise._notebooks import Shown
from partwise.constituents import Bracket, Tree
from partwise.estimators.base import StructuredEstimator
from partwise.estimators.checks import check_choice, check_k
from partwise.estimators.constituency import corpus, decoding
from partwise.estimators.constituency.coarse import ChartPruner, ChartPruning
from partwise.estimators.constituency.corpus import GrammarSettings, TaggedWords
from partwise.estimators.constituency.decoding import Model
from partwise.estimators.constituency.grammar import TreebankGrammar
from partwise.estimators.constituency.known import Knowledge, whole_trees
from partwise.estimators.constituency.rule_features import (
    OwnFeatures,
    RuleFunction,
    check_as_trained,
    of_sentences,
)
from partwise.estimators.constituency.settings import ConstituencySettings
from partwise.estimators.distribution import Given, Samples
from partwise.metrics.brackets import bracket_scores
from partwise.structures.interface import FloatArray
from partwise.structures.probabilities import (
    log_probabilities,
    log_probabilities_without,
)

RuleFeatures = RuleFunction | Sequence[Any]

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "f1": lambda gold, found: bracket_scores(gold, found).f1,
    "precision": lambda gold, found: bracket_scores(gold, found).precision,
    "recall": lambda gold, found: bracket_scores(gold, found).recall,
    "exact_match": lambda gold, found: bracket_scores(gold, found).exact_match,
}
"""What may be measured on development data, by name."""

NO_PARSE = ("flat", "none")
"""What may stand for the tree of a sentence that the grammar cannot parse."""


class PredictsPhrases(StructuredEstimator, Samples, ConstituencySettings):
    """The part of parsers that predicts."""

    pruning_: dict[str, ChartPruning] | None = None
    _own: OwnFeatures | None = None
    _pruner: ChartPruner | None = None
    _settings: GrammarSettings
    _grammar: TreebankGrammar

    def _encode(self, sentences: Any, k: int = 1) -> list[TaggedWords]:
        self._check_fitted()
        found = corpus.as_words(sentences, self._settings.given_tags)
        self._settings.check_memory(self._grammar, found, self._jobs(), k)
        return found

    def _unproduced(self, sentences: Any) -> list[str]:
        """Return the words of sentences that no rule produces."""
        return decoding.unproduced(self._model(self.weights_), self._encode(sentences))

    def _model(self, w: FloatArray, rule_features: Any = None) -> Model:
        return Model(
            self._settings,
            self._grammar,
            w,
            self._jobs(),
            self._own,
            rule_features,
            self._pruner,
        )

    def _trained_model(self, rule_features: Any) -> Model:
        """Return what predicting needs, with features for what is predicted."""
        self._check_fitted()
        check_as_trained(self._own, rule_features, "rule_features")
        return self._model(self.weights_, rule_features)

    def _given(
        self, sentences: Any, y: Any = None, *, rule_features: Any = None
    ) -> Given:
        model, words = self._trained_model(rule_features), self._encode(sentences)
        return Given(
            model.corpus(words),
            self.weights_,
            lambda i, y: decoding.tree_of(model, y.tolist(), words[i]),
        )

    def log_probability(
        self,
        trees: Iterable[Tree],
        y: Any = None,
        *,
        rule_features: RuleFeatures | None = None,
    ) -> FloatArray:
        """Return the log-probability of every tree, given its words.

        Precisely, of its derivation under the grammar, or of all of them, where symbols
        have hidden states; -inf for trees that it does not derive, or that pruning has
        not left. Of `KnownBrackets`, that all of them are right. `y` is ignored,
        `rule_features` are as in `predict`.
        """
        self._check_fitted()
        given = corpus.as_examples(trees)
        whole = whole_trees(given)
        is_one = self._grammar.n_states == 1 and self._pruner is None
        if not is_one or len(whole) < len(given):
            encoded = self._trained_model(rule_features).corpus(self._encode(given))
            known = Knowledge(self._grammar, self._settings)
            ptr, ids, _ = known.wrong_parts(encoded, given)
            w, jobs = self.weights_, self._jobs()
            return log_probabilities_without(encoded, w, ptr, ids, jobs)
        result = np.full(len(whole), -np.inf)
        codes, _ = corpus.find_derivations(whole, self._grammar, self._settings)
        kept = list(codes)
        if kept:
            model = self._trained_model(of_sentences(rule_features, kept))
            derived = model.corpus(self._encode([whole[i] for i in kept]))
            gold = np.concatenate(list(codes.values())).astype(np.int32)
            derived = derived._replace(gold=gold)
            result[kept] = log_probabilities(derived, self.weights_, self._jobs())
        return result

    def predict(
        self,
        sentences: Iterable[Any],
        *,
        no_parse: str = "flat",
        rule_features: RuleFeatures | None = None,
    ) -> list[Tree | None]:
        """Return the predicted trees.

        Parameters
        ----------
        sentences : iterable
            Lists of words; lists of pairs of a word and its tag, if the parser was
            trained with `given_tags`; or trees, whose words, or words and tags, are
            taken. Round brackets become ``-LRB-`` and ``-RRB-``, as trees have them.
        no_parse : {"flat", "none"}
            What to return for a sentence that has no tree under the grammar: a tree
            whose words are all below the most common root label, or None. There is a
            warning that says how many there are, and names words that no rule
            produces.
        rule_features : function or list of sparse matrices, optional
            As in `fit`; needed if and only if `fit` was given some.

        Returns
        -------
        list of Tree
            Or of None, if `no_parse` says so.
        """
        check_choice("no_parse", no_parse, NO_PARSE)
        words = self._encode(sentences)
        model = self._trained_model(rule_features)
        found, failed = decoding.best_trees(model, words)
        trees: list[Tree | None] = Shown(found)
        if failed:
            unknown = decoding.unproduced(model, (words[i] for i in failed))
            shown = "flat" if no_parse == "flat" else "None"
            warnings.warn(
                f"{len(failed)} of {len(trees)} sentences have no tree under the "
                f"grammar (the first is sentence {failed[0]}): their trees are "
                f"{shown}{decoding.name_unproduced(unknown)}",
                UserWarning,
                stacklevel=3,
            )
        if no_parse == "none":
            for i in failed:
                trees[i] = None
        return trees

    def predict_marginals(
        self,
        sentences: Iterable[Any],
        *,
        at_least: float = 0.001,
        rule_features: RuleFeatures | None = None,
    ) -> list[dict[Bracket, float]]:
        """Return the probabilities of brackets.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss.

        Parameters
        ----------
        sentences : iterable
            As in `predict`.
        at_least : float
            Brackets that are less probable are left out.
        rule_features : function or list of sparse matrices, optional
            As in `predict`.

        Returns
        -------
        list of dict of Bracket to float
            For every sentence its brackets (label, start, end), the most probable
            first; empty if the sentence has no tree under the grammar. A bracket that
            a tree has twice counts twice.
        """
        if not 0.0 <= at_least <= 1.0:
            raise ValueError(f"at_least must lie between 0 and 1, not {at_least!r}")
        words = self._encode(sentences)
        return decoding.bracket_probabilities(
            self._trained_model(rule_features), words, at_least
        )

    def predict_kbest(
        self,
        sentences: Iterable[Any],
        k: int = 5,
        *,
        rule_features: RuleFeatures | None = None,
    ) -> list[list[tuple[Tree, float]]]:
        """Return the `k` best trees of every sentence with their scores.

        Where symbols remember more than trees show (`horizontal`, `vertical`), two
        derivations may be the same tree, which is then listed once, with the better
        score; there may be fewer than `k` trees.
        """
        check_k(k)
        return decoding.kbest_trees(
            self._trained_model(rule_features), self._encode(sentences, k), k
        )

    def score(
        self,
        trees: Iterable[Tree],
        y: Any = None,
        *,
        metric: str = "f1",
        rule_features: RuleFeatures | None = None,
    ) -> float:
        """Return how good the predicted trees are.

        Parameters
        ----------
        trees : iterable of Tree
            The right ones.
        y : ignored
            For scikit-learn.
        metric : {"f1", "precision", "recall", "exact_match"}
            Of labelled brackets, as EVALB counts them; or the share of sentences with
            all brackets right. `bracket_scores` has more.
        rule_features : function or list of sparse matrices, optional
            As in `predict`.
        """
        check_choice("metric", metric, MEASURES)
        gold = corpus.as_trees(trees)
        found = self.predict(gold, rule_features=rule_features)
        return MEASURES[metric](gold, found)
