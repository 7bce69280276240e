"""The lattice ranker: the best path through a lattice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from partwise.data.lattice import LatticePath
from partwise.errors import DataError
from partwise.estimators.base import StructuredEstimator, TrainingData, untrained
from partwise.estimators.best_codes import kbest, split
from partwise.estimators.carrying import Blocks
from partwise.estimators.costs import sample_weights
from partwise.estimators.dev_metrics import find_measure
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.explanation import of_sign
from partwise.estimators.labels import LabelCodes
from partwise.estimators.lattice.corpus import (
    LatticeReader,
    edge_probabilities,
    encode_features,
)
from partwise.estimators.lattice.given_weights import encode_weights
from partwise.estimators.lattice.persistence import fill, store
from partwise.estimators.lattice.settings import LatticeSettings
from partwise.estimators.lattice.views import make_views
from partwise.estimators.settings import settings_of
from partwise.features import FeatureDictEncoder
from partwise.features.reading import know_both
from partwise.metrics.lattices import lattice_scores
from partwise.solvers.loop import Evaluate
from partwise.solvers.registry import make_solver
from partwise.structures import Lattice
from partwise.structures.decoding import decode, part_marginals
from partwise.structures.interface import CodeArray, FloatArray
from partwise.structures.lattice.parts import edge_score
from partwise.structures.pseudo_references import good_and_bad
from partwise.structures.rows import SparseRows

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "good_paths": lambda right, found: lattice_scores(right, found).good_paths,
    "good_words": lambda right, found: lattice_scores(right, found).good_words or 0.0,
    "edge_f1": lambda right, found: lattice_scores(right, found).edge_f1,
}
"""What may be measured on development data, by name."""


class PathSets(NamedTuple):
    """The paths of a lattice that a metric finds good, and the bad ones."""

    good: list[LatticePath]
    bad: list[LatticePath]


class LatticeRanker(StructuredEstimator, Samples, LatticeSettings):
    """Predict the best path through a lattice: a graph with features on its edges.

    The score of a path is the sum over its edges of weights times features. Lattices
    come from a speech recogniser, a translation system or any other search that keeps
    alternatives; the ranker learns weights that put good paths first.

    Attributes
    ----------
    feature_names_ : list of str
        The features; `weights_` has a weight for each.

    Notes
    -----
    Lattices are read one by one and need not be in memory together; what is kept is
    28 bytes per edge and 12 per feature of one, see `partwise.structures.make_lattice`.

    Examples
    --------
    >>> from partwise import LatticeInput, LatticeRanker
    >>> lattice = LatticeInput(
    ...     [
    ...         (0, 1, {"word": "the", "lm": -1.0}, "the"),
    ...         (0, 1, {"word": "teh", "lm": -9.0}, "teh"),
    ...         (1, 2, {"word": "house", "lm": -3.0}, "house"),
    ...     ]
    ... )
    >>> ranker = LatticeRanker(C=1.0).fit([lattice], [[0, 2]])
    >>> ranker.predict([lattice])[0].text
    'the house'
    """

    _store, _fill = store, fill
    _views = make_views
    least_labels = 0

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        lattices: Iterable[Any],
        good_paths: Iterable[Any] | None = None,
        sample_weight: Any = None,
        *,
        dev: Any = None,
    ) -> LatticeRanker:
        """Learn from lattices and their good paths.

        Parameters
        ----------
        lattices : iterable of LatticeInput or networkx.MultiDiGraph
            A generator will do: each is read once, and not kept.
        good_paths : iterable, optional
            For every lattice its good path, a list of numbers of edges or a
            `LatticePath`, or several: a list of these, the right one first. By default
            those that lattices have themselves. Losses that compare with one output
            take the first.
        sample_weight : array, optional
            A weight for every lattice: what multiplies its loss.
        dev : (lattices, good_paths) or lattices, optional
            Development data, for early stopping.

        Returns
        -------
        LatticeRanker
            Itself.
        """
        return self._fit(lattices, good_paths, sample_weight, dev=dev)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.outputs == "words" and self.compare == "closest":
            # Only the best path of every word sequence is looked at, but another one
            # may have another path closest to it, and be violated more.
            raise ValueError(
                "compare='closest' is for outputs='paths': paths with the same words "
                "may be close to different ones (choose these, or compare='worst')"
            )

    def _prepare(
        self,
        lattices: Any,
        good_paths: Any = None,
        sample_weight: Any = None,
        *,
        dev: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        encoder = FeatureDictEncoder(self.min_count, self.hash_bits)
        reader, rows = self._learn_features(encoder, lattices, good_paths)
        if not len(reader):
            raise DataError("there are no lattices to learn from")
        if not rows.idx.size:
            raise DataError(
                "no edge has a feature: there is nothing to learn"
                + f" (min_count is {self.min_count})" * (self.min_count > 1)
            )
        weight = sample_weights(sample_weight, len(reader))
        structure = reader.structure(rows)
        self._encoder = encoder
        self._set_labels(LabelCodes([]))
        evaluate = None if dev is None else self._evaluator(*_as_pair(dev))
        wants_costs = self.loss != "log_loss" and self.margin == "cost"
        if wants_costs and not structure.costs.any():
            raise DataError(
                f"no edge costs anything, so that loss={self.loss!r} has no margin to "
                "ask for (give edges costs; those on good paths have none by default)"
            )
        return TrainingData(structure, weight, evaluate)

    def _learn_features(
        self, encoder: FeatureDictEncoder, lattices: Any, good_paths: Any
    ) -> tuple[LatticeReader, SparseRows]:
        """Learn the features of lattices, besides those the model may have before."""

        def read(learn: bool) -> tuple[LatticeReader, SparseRows]:
            reader = LatticeReader(
                lattices,
                good_paths,
                learning=True,
                by_words=self.outputs == "words",
                keep_words=False,
            )
            return reader, encode_features(reader, encoder, learn=learn)

        found = read(learn=True)
        if self._start is None or self.hash_bits is not None:
            return found
        know_both(encoder, self._start._encoder)
        return read(learn=False)

    def _blocks(self) -> Blocks:
        return {"features": (int(self._encoder.n_attributes),)}

    def _evaluator(self, lattices: Any, good_paths: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        reader, corpus = self._read(lattices, good_paths, learning=True, what="dev")
        good = [reader.good_outputs(i) for i in range(len(reader))]
        if not good:
            raise DataError("there are no lattices in dev")
        measure = find_measure(self.dev_metric, MEASURES)
        measure(good, [paths[0] for paths in good])  # fail now rather than later

        def evaluate(w: FloatArray) -> float:
            return measure(good, self._best(reader, corpus, w))

        return evaluate

    @classmethod
    def with_weights(
        cls, weights: Mapping[Any, float], **settings: Any
    ) -> LatticeRanker:
        """Make a ranker with weights that are given instead of learnt.

        Parameters
        ----------
        weights : mapping
            The weights by the names of features; of features with a text for a value,
            by pairs ``(name, text)``. Others have none.
        **settings
            Of the ranker.

        Examples
        --------
        >>> from partwise import LatticeInput
        >>> edges = [(0, 1, {"lm": -1, "word": "a"}), (0, 1, {"lm": -2, "word": "b"})]
        >>> ranker = LatticeRanker.with_weights({"lm": 1.0, ("word", "b"): 1.5})
        >>> ranker.predict([LatticeInput(edges)])[0].score
        -0.5
        """
        encoder, values = encode_weights(weights)
        ranker = cls(**settings)
        if ranker.hash_bits is not None:
            raise ValueError("given weights have names, but hash_bits keeps none")
        ranker._check_settings()
        ranker._encoder = encoder
        ranker._set_labels(LabelCodes([]))
        name = "dcd" if ranker.solver == "auto" else ranker.solver
        given = untrained(values, "given", "weights were given, not learnt")
        ranker._keep(given, make_solver(name))
        return ranker

    # --- predicting -------------------------------------------------------------

    def _read(
        self,
        lattices: Any,
        good_paths: Any = None,
        *,
        learning: bool = False,
        by_words: bool = False,
        what: str = "lattice",
    ) -> tuple[LatticeReader, Lattice]:
        reader = LatticeReader(
            lattices,
            good_paths,
            learning=learning,
            by_words=by_words,
            keep_words=True,
            what=what,
        )
        rows = encode_features(reader, self._encoder, learn=False)
        # What is to be predicted may have nothing but good paths.
        was_learning, reader.learning = reader.learning, False
        corpus = reader.structure(rows)
        reader.learning = was_learning
        return reader, corpus

    def _best(
        self, reader: LatticeReader, corpus: Lattice, w: FloatArray
    ) -> list[LatticePath]:
        found = split(decode(corpus, w, self._jobs()))
        return [reader.path(corpus, i, *one) for i, one in enumerate(found)]

    def _given(self, lattices: Any, paths: Any = None) -> Given:
        self._check_fitted()
        if paths is None:
            reader, corpus = self._read(lattices)
        else:
            reader = LatticeReader(
                lattices, paths, learning=True, by_words=False, keep_words=True
            )
            corpus = reader.structure(
                encode_features(reader, self._encoder, learn=False)
            )
        theta = corpus.rows  # the score of a path is that of its edges

        def read(i: int, y: CodeArray) -> LatticePath:
            edges = corpus.ptr[i] + y[y >= 0]
            score = sum(edge_score(theta, int(e), self.weights_) for e in edges)
            return reader.path(corpus, i, y, score)

        return Given(corpus, self.weights_, read)

    def predict(self, lattices: Iterable[Any]) -> list[LatticePath]:
        """Return the best path of every lattice: its edges, its words, its score."""
        self._check_fitted()
        reader, corpus = self._read(lattices)
        return self._best(reader, corpus, self.weights_)

    def predict_kbest(
        self, lattices: Iterable[Any], k: int = 5, *, outputs: str | None = None
    ) -> list[list[LatticePath]]:
        """Return the `k` best paths of every lattice, best first.

        Parameters
        ----------
        lattices : iterable of lattices
            As in `fit`.
        k : int
            How many; there may be fewer.
        outputs : {"paths", "words"}, optional
            Whether the paths, or the words that they yield, are different: with
            "words" these are the best paths of the best word sequences. As in training
            by default.

        Examples
        --------
        Two paths yield the same words:

        >>> from partwise import LatticeInput
        >>> edges = [(0, 1, {"x": 2}, "a"), (0, 1, {"x": 1}, "a"), (0, 1, {}, "b")]
        >>> ranker = LatticeRanker(C=1.0).fit([LatticeInput(edges)], [[0]])
        >>> for outputs in ("paths", "words"):
        ...     [best] = ranker.predict_kbest([LatticeInput(edges)], outputs=outputs)
        ...     print([path.text for path in best])
        ['a', 'a', 'b']
        ['a', 'b']
        """
        self._check_fitted()
        chosen = self.outputs if outputs is None else outputs
        settings_of(LatticeRanker)["outputs"].check(chosen)
        reader, corpus = self._read(lattices, by_words=chosen == "words")
        found = kbest(corpus, self.weights_, k, self._jobs())
        return [
            [reader.path(corpus, i, *one) for one in best]
            for i, best in enumerate(found)
        ]

    def pseudo_references(
        self,
        lattices: Iterable[Any],
        metric: Callable[[int, LatticePath], float],
        *,
        k: int = 50,
        n_good: int = 1,
        slack: float = 0.0,
        outputs: str | None = None,
    ) -> list[PathSets]:
        """Find good paths to learn from, where lattices may lack the right one.

        Parameters
        ----------
        lattices : iterable of lattices
            As in `fit`.
        metric : function
            ``metric(i, path)`` returns how good a path of lattice `i` is, such as its
            sentence BLEU; more is better.
        k : int
            How many paths of a lattice are compared: the best by the weights of this
            ranker, which `with_weights` may have been given.
        n_good : int
            The most good paths of a lattice.
        slack : float
            How much worse than the best a good one may be.
        outputs : {"paths", "words"}, optional
            As in `predict_kbest`.

        Returns
        -------
        list of PathSets
            The good and the bad paths that were compared, the best first. `fit` takes
            the good ones.

        Examples
        --------
        >>> from partwise import LatticeInput
        >>> edges = [(0, 1, {"lm": -1}, "a"), (0, 1, {"lm": -2}, "b")]
        >>> edges += [(1, 2, {"lm": -1}, "dog"), (1, 2, {"lm": -3}, "cat")]
        >>> lattice, reference = LatticeInput(edges), {"b", "cow"}
        >>> def metric(i, path):
        ...     return len(reference & set(path.words))
        >>> ranker = LatticeRanker.with_weights({"lm": 1.0})
        >>> [sets] = ranker.pseudo_references([lattice], metric)
        >>> sets.good[0].text, [path.text for path in sets.bad]
        ('b dog', ['b cat', 'a dog', 'a cat'])
        """
        listed = self.predict_kbest(lattices, k, outputs=outputs)
        result = []
        for i, paths in enumerate(listed):
            quality = [metric(i, path) for path in paths]
            split = good_and_bad(quality, n_good=n_good, slack=slack)
            result.append(PathSets(*([paths[j] for j in own] for own in split)))
        return result

    def predict_marginals(self, lattices: Iterable[Any]) -> list[FloatArray]:
        """Return the probability of every edge to be on the path.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss.

        Returns
        -------
        list of arrays
            For every lattice a number for each of its edges.
        """
        self._check_fitted()
        reader, corpus = self._read(lattices)
        wanted = np.diff(corpus.ptr)
        ptr, mu, _ = part_marginals(corpus, self.weights_, wanted, self._jobs())
        return [
            edge_probabilities(corpus, i, mu[ptr[i] : ptr[i + 1]], reader)
            for i in range(len(reader))
        ]

    def score(self, lattices: Iterable[Any], good_paths: Any = None) -> float:
        """Return the share of lattices whose best path is good.

        With ``outputs="words"``, that yields the words of a good path.
        """
        self._check_fitted()
        reader, corpus = self._read(lattices, good_paths, learning=True)
        found = self._best(reader, corpus, self.weights_)
        good = [reader.good_outputs(i) for i in range(len(reader))]
        scores = lattice_scores(good, found)
        by_words = self.outputs == "words" and scores.good_words is not None
        return float(scores.good_words if by_words else scores.good_paths)  # type: ignore[arg-type]

    # --- understanding ----------------------------------------------------------

    @property
    def feature_names_(self) -> list[str]:
        """The names of the features, in the order of `weights_`."""
        self._check_fitted()
        return self._encoder.attribute_names()

    def top_features(
        self, n: int = 10, *, sign: str = "any"
    ) -> list[tuple[str, float]]:
        """Return the `n` features with the largest weights, in either direction.

        Or only those of one `sign`, "positive" or "negative".

        Examples
        --------
        >>> from partwise import LatticeInput
        >>> edges = [(0, 1, {"x": 2}), (0, 1, {"y": 1})]
        >>> ranker = LatticeRanker(C=1.0).fit([LatticeInput(edges)], [[0]])
        >>> [name for name, weight in ranker.top_features() if weight > 0]
        ['x']
        """
        names = self.feature_names_
        found = of_sign(self.weights_, sign)
        order = np.argsort(-np.abs(self.weights_[found]), kind="stable")
        return [(names[f], float(self.weights_[f])) for f in found[order][: max(n, 0)]]


def _as_pair(dev: Any) -> tuple[Any, Any]:
    """Return development data as lattices and good paths, which they may have."""
    if isinstance(dev, tuple) and len(dev) == 2:
        return dev
    return dev, None
