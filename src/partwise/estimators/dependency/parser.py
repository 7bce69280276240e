"""The dependency parser: a head, and a label, for every word of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from partwise.data.tree_format import NOT_GIVEN
from partwise.data.treebank import Sentence
from partwise.errors import Advice, DataError
from partwise.estimators.base import TrainingData
from partwise.estimators.carrying import Blocks
from partwise.estimators.costs import sample_weights
from partwise.estimators.dependency import features
from partwise.estimators.dependency.calibration import make_calibrator, split_trees
from partwise.estimators.dependency.corpus import (
    TreeSettings,
    as_sentences,
    check_training_trees,
    know_trees,
    named,
    without_crossings,
)
from partwise.estimators.dependency.measures import MEASURES, Trees
from partwise.estimators.dependency.persistence import fill, store
from partwise.estimators.dependency.predicting import PredictsTrees
from partwise.estimators.dependency.reach import learn_reach
from partwise.estimators.dependency.second_order import (
    learn_pruner,
    measure_pruning,
)
from partwise.estimators.dependency.vectors import encode_vectors, learn_vectors
from partwise.estimators.dependency.views import find_reasons, make_views
from partwise.estimators.dev_metrics import find_measure, rehearse
from partwise.estimators.given_vectors import split_vectors
from partwise.estimators.labels import LabelCodes, sorted_classes
from partwise.estimators.survey import Survey
from partwise.features.arc_groups import find_groups
from partwise.features.word_vectors import as_word_vectors
from partwise.metrics.attachment import is_punctuation
from partwise.solvers.loop import Evaluate
from partwise.structures.decoding import decode
from partwise.structures.interface import FloatArray


class DependencyParser(PredictsTrees):
    """Predict the dependency tree of a sentence from its words and tags.

    The score of a tree is the sum of the scores of its arcs, which come from sparse
    features of the two words and of what is around and between them; with ``order=2``,
    also of pairs of arcs: siblings, and grandparents. The best of all trees is found
    exactly; with ``order=2``, of all trees of arcs that pruning has left.

    Attributes
    ----------
    classes_ : array
        The labels of arcs, sorted; empty without labels.
    pruning_ : dict or None
        With ``order=2``, what pruning left of the "train" and of the "dev" sentences:
        `arcs_per_word`, and `oracle_heads`, the share of words whose right head is
        left. In training the right heads are put back.

    Examples
    --------
    >>> from partwise import DependencyParser
    >>> from partwise.data import Sentence
    >>> train = [
    ...     Sentence.from_columns(
    ...         forms=["dogs", "bark"], upos=["NOUN", "VERB"],
    ...         heads=[2, 0], labels=["nsubj", "root"],
    ...     )
    ... ]
    >>> parser = DependencyParser(hash_bits=12).fit(train)
    >>> [tree] = parser.predict(
    ...     [Sentence.from_columns(forms=["cats", "sleep"], upos=["NOUN", "VERB"])]
    ... )
    >>> tree.heads, tree.labels
    ((2, 0), ('nsubj', 'root'))
    """

    takes_labels = False
    _store, _fill = store, fill
    _views, _reasons = make_views, find_reasons
    least_labels = 0

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        sentences: Iterable[Sentence],
        y: Any = None,
        sample_weight: Any = None,
        *,
        arc_features: Iterable[Any] | None = None,
        dev: Iterable[Sentence] | None = None,
        dev_arc_features: Iterable[Any] | None = None,
    ) -> DependencyParser:
        """Learn from sentences with their trees.

        Parameters
        ----------
        sentences : iterable of Sentence, or pair
            As `read_trees` reads them, or made by ``Sentence.from_columns``; the heads
            of some words may be unknown. A pair
            ``(sentences, matrices)``, or `WithVectors` for every sentence, adds a
            vector to every word.
        y : ignored
            Sentences hold their trees; for scikit-learn.
        sample_weight : array, optional
            A weight for every sentence: what multiplies its loss.
        arc_features : iterable of sparse matrices, optional
            Features of your own besides those of the parser: for every sentence a
            matrix of `scipy.sparse` of shape ``((n + 1)**2, n_features)``, whose row
            ``h * (n + 1) + m`` belongs to the arc from head `h` (0 is the root) to
            word `m`. All other methods need the same columns then.
        dev : iterable of Sentence, optional
            Development data with trees, for early stopping.
        dev_arc_features : iterable of sparse matrices, optional
            The `arc_features` of the development data.

        Returns
        -------
        DependencyParser
            Itself.
        """
        return self._fit(
            sentences,
            y,
            sample_weight,
            arc_features=arc_features,
            dev=dev,
            dev_arc_features=dev_arc_features,
        )

    def _check_settings(self) -> None:
        super()._check_settings()
        find_groups(self.features)
        if self.order > 1 and not self.projective:
            raise ValueError(
                "order=2 is for projective trees only; use order=1 for all trees"
            )
        if self.order == 1 and self.prune != type(self).prune:
            raise ValueError(
                f"prune={self.prune!r} is for order=2; set order=2, or leave it out"
            )
        if self.order > 1 and self.reach != "any":
            raise ValueError("order=2 prunes arcs itself; leave reach as it is")

    def _settings(self) -> TreeSettings:
        return TreeSettings(
            bool(self.projective),
            bool(self.single_root),
            int(self.hash_bits),
            int(self.suffix),
            find_groups(self.features),
            order=int(self.order),
        )

    def _prepare(
        self,
        sentences: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        arc_features: Any = None,
        dev: Any = None,
        dev_arc_features: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        self._trees = self._settings()
        sentences, vectors = split_vectors(sentences)
        trees = as_sentences(sentences)
        check_training_trees(trees, self._trees, partial=True)
        if vectors is not None and len(vectors) != len(trees):
            raise DataError(
                f"{len(vectors)} matrices of vectors for {len(trees)} sentences"
            )
        sample_weight = sample_weights(sample_weight, len(trees))
        kept = list(range(len(trees)))
        matrices = (
            None if arc_features is None else features.as_matrices(arc_features, trees)
        )
        if self._trees.projective:
            trees, kept = without_crossings(trees, self.crossing)
            if sample_weight is not None:
                sample_weight = sample_weight[kept]
            if matrices is not None:
                matrices = [matrices[i] for i in kept]
            if vectors is not None:
                vectors = [vectors[i] for i in kept]
            if not any(len(sentence) for sentence in trees):
                raise DataError("no sentence is left to learn from: all have crossings")
        self._set_labels(LabelCodes(self._find_labels(trees)))
        data = self._encoded(
            trees, sample_weight, matrices, dev, dev_arc_features, vectors=vectors
        )
        if self._start is not None and self._start._trees != self._trees:
            raise DataError(
                "the parser has learnt with other features of arcs (hash_bits, suffix, "
                "features, arc_features or vectors), or from other trees; give the "
                "same, or fit a new model"
            )
        return replace(data, kept=kept)

    def _as_start(self) -> DependencyParser:
        self._refuse_forgetting_vectors()
        return super()._as_start()

    def _blocks(self) -> Blocks:
        trees = self._trees
        return {
            "arcs": (1 << trees.hash_bits,),
            "listed arcs": (trees.n_arc_features,),
            "labels": (1 << trees.label_bits, self._labels.classes),
            "pairs of arcs": (1 << trees.hash_bits if trees.order > 1 else 0,),
        }

    def _encoded(
        self,
        trees: list[Sentence],
        sample_weight: FloatArray | None,
        matrices: Any = None,
        dev: Any = None,
        dev_arc_features: Any = None,
        *,
        vectors: list[Any] | None = None,
    ) -> TrainingData:
        """Encode sentences whose trees are checked, and labels known."""
        listed = None
        if matrices is not None:
            n_features = matrices[0].shape[1]
            self._trees = replace(self._trees, n_arc_features=n_features)
            listed = features.list_arcs(matrices, trees, n_features)
        of_words, self._vectors = learn_vectors(
            trees, vectors, as_word_vectors(self.vectors), self.scale_vectors
        )
        self._trees = replace(self._trees, n_vector_columns=self._vectors.width)
        self._trees.check_memory(
            trees,
            len(self._labels),
            self._jobs(),
            training=True,
            n_listed=features.most_listed(listed),
        )
        weights = None
        if self.punctuation_weight != 1.0:
            weights = np.array(
                [
                    float(self.punctuation_weight) if is_punctuation(*word) else 1.0
                    for sentence in trees
                    for word in zip(sentence.forms, sentence.upos, strict=True)
                ]
            )
        given: dict[str, Any] = {
            "gold": True,
            "listed": listed,
            "vectors": of_words,
            "word_weight": weights,
            "head_cost": float(self.head_cost),
            "label_cost": float(self.label_cost),
        }
        self._pruner = self.pruning_ = self._reach = None  # of an earlier fit, maybe
        if self._trees.order > 1:
            self._learn_pruner(trees, given)
        elif self.reach == "seen":
            known = [one for one in trees if not one.unknown]
            self._reach = learn_reach(known, self._start and self._start._reach)
        structure = know_trees(self._structure(trees, **given), trees)
        evaluate = calibrate = None
        if self.calibrate is not None:
            asked, unseen = split_trees(dev, dev_arc_features, self.calibrate)
            dev, dev_arc_features = asked
            calibrate = make_calibrator(
                asked, unseen, self._trees, self._labels, self._jobs(), self._structure
            )
        if dev is not None:
            evaluate = self._evaluator(dev, dev_arc_features)
        elif dev_arc_features is not None:
            raise ValueError("dev_arc_features are given, but no dev sentences")
        return TrainingData(structure, sample_weight, evaluate, calibrate=calibrate)

    def _learn_pruner(self, trees: list[Sentence], given: dict[str, Any]) -> None:
        """Learn which arcs are worth a look."""
        if self._start is not None:  # examples that are forgotten taught it
            self._pruner = self._start._pruner
        else:
            first = self._trees.structure(trees, self._labels, **given)
            self._pruner = learn_pruner(first, trees, float(self.prune), self._seed())
        self.pruning_ = {}

    def _survey(self, sentences: Any, sample_weight: Any = None) -> Survey:
        """Return what a shard knows, and all have to agree on."""
        self._check_settings()
        if self.order > 1:
            raise ValueError("order=2 does not learn from shards; use order=1")
        if self.reach != "any":
            raise ValueError("reach='seen' does not learn from shards; leave it out")
        self._refuse_vectors()
        trees = as_sentences(sentences)
        check_training_trees(trees, self._settings())
        labels = self._find_labels(trees)
        survey = Survey(len(trees), form="labels" if labels else "no labels")
        survey.count_labels(labels)
        return survey

    def _settle(self, survey: Survey) -> None:
        """Set all that follows from the survey of the whole corpus."""
        self._trees = self._settings()
        classes = sorted_classes(list(survey.labels)) if survey.labels else []
        self._set_labels(LabelCodes(classes))

    def _prepare_shard(self, sentences: Any, sample_weight: Any = None) -> TrainingData:
        """Encode a shard, once things are settled."""
        trees = as_sentences(sentences)
        sample_weight = sample_weights(sample_weight, len(trees))
        if self._trees.projective:
            trees, kept = without_crossings(trees, self.crossing)
            if sample_weight is not None:
                sample_weight = sample_weight[kept]
        return self._encoded(trees, sample_weight)

    def _find_labels(self, trees: list[Sentence]) -> list[Any]:
        """Return the labels of the arcs; none if arcs are not to have any."""
        known = () if self._start is None else self._start._labels.classes
        if self.labelled is False:
            return []
        without = [
            i
            for i, s in enumerate(trees)
            if len(s) and s.labels is None and not s.unknown
        ]
        none = len(without) == sum(len(s) > 0 for s in trees)
        if none and self.labelled is None and not known:
            return []
        if without:
            i = without[0]
            raise DataError(
                "the labels of arcs are not given",
                where=named(trees[i], i),
                example=i,
                advice=[Advice("labelled", False, "trains without labels")],
            )
        return self._all_classes(
            label
            for s in trees
            for label in s.labels or ()
            if not (s.unknown and label == NOT_GIVEN)
        )

    def _measure(self) -> Callable[[Trees, Trees], float]:
        by_default = "las" if len(self._labels) else "uas"
        return find_measure(self.dev_metric or by_default, MEASURES)

    def _evaluator(self, given: Any, arc_features: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        given, matrices = split_vectors(given)
        dev = as_sentences(given, "dev")
        any_tree = replace(self._trees, single_root=False)
        check_training_trees(dev, any_tree, "dev")
        n_features = self._trees.n_arc_features
        listed = features.arcs_as_trained(
            arc_features, dev, n_features, "dev_arc_features"
        )
        self._trees.check_memory(dev, len(self._labels), self._jobs())
        if self.dev_metric == "las" and not len(self._labels):
            raise ValueError("dev_metric='las' needs labels, which arcs do not have")
        measure = self._measure()
        rehearse(measure, dev)
        vectors = encode_vectors(dev, matrices, self._vectors)
        corpus = self._structure(dev, listed=listed, vectors=vectors)
        corpus = self._within_reach(dev, corpus)
        if self.pruning_ is not None:
            heads = [head for sentence in dev for head in sentence.heads or ()]
            self.pruning_["dev"] = measure_pruning(corpus, heads)

        def evaluate(w: FloatArray) -> float:
            return measure(dev, self._with_trees(dev, decode(corpus, w, self._jobs())))

        return evaluate
