"""The sequence tagger: one label per token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise import metrics
from partwise.errors import DataError
from partwise.estimators import checks, explanation
from partwise.estimators import costs as weighting
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.base import TrainingData
from partwise.estimators.calibration import (
    Calibration,
    best_scale,
    fit_isotonic,
    least_share,
    right_shares,
    split_dev,
)
from partwise.estimators.carrying import Block
from partwise.estimators.dev_metrics import rehearse, tagging_measure
from partwise.estimators.distribution import Given, Samples
from partwise.estimators.explanation import ChainWeights, Explanation
from partwise.estimators.given_vectors import split_one, split_vectors
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.partial_labels import (
    check_complete,
    check_sets,
    least_costs,
    one_of_each,
    possible_labels,
    wrong_labels,
)
from partwise.estimators.sequence import answers
from partwise.estimators.sequence.answers import Ranked, Span
from partwise.estimators.sequence.constraints import Masks, make_masks
from partwise.estimators.sequence.foreign import chain_model_of, fill_from
from partwise.estimators.sequence.inputs import Input, Tokens, choose_input
from partwise.estimators.sequence.orders import (
    Memory,
    TupleWeights,
    illegal_of,
    learn_memory,
    pair_weights,
)
from partwise.estimators.sequence.persistence import fill, store
from partwise.estimators.sequence.settings import TaggerSettings
from partwise.estimators.sequence.shards import ShardedTagging
from partwise.estimators.sequence.slates import Slates
from partwise.estimators.sequence.span_marginals import Spelling, span_probabilities
from partwise.estimators.sequence.vectors import add_vectors, learn_vectors, rereadable
from partwise.estimators.sequence.views import find_reasons, make_views
from partwise.estimators.suitable_defaults import SuitableDefaults, row_size
from partwise.features.word_vectors import as_word_vectors
from partwise.solvers.loop import Evaluate
from partwise.structures import rows as feature_rows
from partwise.structures.chain import (
    Chain,
    illegal_position,
    legal_sequences,
    make_chain,
    with_observed_transitions,
)
from partwise.structures.chain.known import first_contradiction, know_labels
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.ngrams import make_ngram_chain
from partwise.structures.partial import PartialOutputs
from partwise.structures.rows import DenseRows, Pairs, SparseRows


def _observed_pairs(
    rows: SparseRows,
    gold: CodeArray,
    n_labels: int,
    wrong: NDArray[np.bool_] | None = None,
) -> Pairs:
    """List the pairs of attribute and label that occur, as far as labels are known."""
    if wrong is None:
        return feature_rows.observed_pairs(rows, gold, n_labels)
    token, label = np.nonzero(~wrong & wrong.any(axis=1, keepdims=True))
    some = feature_rows.take_rows(rows, token)
    return feature_rows.observed_pairs(some, label.astype(np.int32), n_labels)


def _any_cost(chain: Chain) -> bool:
    """Say whether some mistake costs something."""
    costly = chain.costs.max(axis=1)[chain.labels] > 0
    if chain.token_weight.size:
        costly &= chain.token_weight > 0
    return bool(costly.any())


def _size_of_rows(tokens: Tokens, sample_weight: FloatArray | None) -> float | None:
    """Return the mean squared length of rows of numbers; None if there are names."""
    if not isinstance(tokens.nodes, DenseRows):
        return None
    weight = sample_weight
    if weight is not None:
        weight = np.repeat(weight, np.diff(tokens.ptr))
    return row_size(tokens.nodes.values, weight)


class SequenceTagger(
    ShardedTagging, HasVectors, SuitableDefaults, Samples, TaggerSettings
):
    r"""Predict a label for every token of a sequence, exactly.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    transitions_ : array of shape (n_classes, n_classes)
        The weight of every label (row) being followed by every other (column).

    Examples
    --------
    >>> from partwise import SequenceTagger
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["D", "N"], ["D", "N"]]
    >>> tagger = SequenceTagger(C=10.0).fit(X, y)
    >>> tagger.predict([[{"word": "a"}, {"word": "dog"}]])
    [['D', 'N']]
    >>> tagger.certificate_.relative_gap < 0.03
    True
    """

    _store, _fill = store, fill
    _views, _reasons = make_views, find_reasons
    _pairs: Pairs | None
    _weighs_tokens = False
    _memory: Memory | None = None  # of a model of higher order
    _fill_from, _chain_model = fill_from, chain_model_of
    can_forget = True
    least_labels = 1  # models of other programs may have one

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that inputs are sequences, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    # --- training ---------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: tuple[Any, Any] | None = None,
        allowed: Any = None,
    ) -> SequenceTagger:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : iterable of sequences, or pair
            Per sequence, per token: a feature dict or an iterable of strings; or a 2-D
            array per sequence; or, with a template, tuples of column strings. Features
            of dicts may be arrays. A pair ``(X, matrices)``, or `WithVectors` for every
            sequence, adds a vector to every token.
        y : iterable of sequences of labels
            A label (str or int) for every token. None where it is not known, a set
            where it is one of several.
        sample_weight : array, optional
            A weight for every sequence: what multiplies its loss.
        token_weight : list, optional
            Per sequence, a number >= 0 for every token: what multiplies the cost of
            getting it wrong. At zero, its label no longer needs a margin.
        dev : (X, y), optional
            Development data, for early stopping.
        allowed : list, optional
            Per sequence None or, per token, None or the labels it may have.

        Returns
        -------
        SequenceTagger
            Itself.
        """
        return self._fit(
            X, y, sample_weight, token_weight=token_weight, dev=dev, allowed=allowed
        )

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        dev: Any = None,
        allowed: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        if self.pairs == "observed" and self.hash_bits is not None:
            raise ValueError(
                "pairs='observed' keeps a vocabulary of pairs; with hash_bits use 'all'"
            )
        X, matrices = split_vectors(X)
        tables = as_word_vectors(self.vectors)
        source, X = choose_input(
            X,
            self.template,
            self.boundaries,
            self.min_count,
            self.hash_bits,
            self.transition_features,
        )
        y = checks.label_lists(y)
        X = rereadable(X, tables, source.kind)
        tokens = self._read(source, X)
        checks.check_labelled(tokens.ptr, y)
        tokens, self._vectors = learn_vectors(
            tokens, X, matrices, tables, self.scale_vectors
        )
        in_part = check_sets(y, "y, sequence", "token")
        flat = [label for labels in y for label in labels]
        self._set_source(source, self._all_classes(possible_labels(flat)))
        labels = self._labels
        wrong = wrong_labels(flat, labels) if in_part else None
        gold = labels.encode(flat, "y") if wrong is None else one_of_each(wrong)
        sample_weight = weighting.sample_weights(sample_weight, len(y))
        token_weight = weighting.token_weights(token_weight, tokens.ptr)
        self._row_size = _size_of_rows(tokens, sample_weight)
        self._weighs_tokens = token_weight is not None
        by_class = self._class_weights(gold, tokens.ptr, sample_weight, wrong)
        if self.pairs == "observed" and isinstance(tokens.nodes, SparseRows):
            self._pairs = _observed_pairs(tokens.nodes, gold, len(labels), wrong)
        if self.order > 1:
            self._memory = self._learn_memory(gold, tokens, wrong is not None)
        chain = self._labelled(tokens, y, gold, by_class, allowed, token_weight, wrong)
        calibrate = None
        if self.calibrate is not None:
            dev, held_out = split_dev(dev, self.calibrate)
            calibrate = self._calibrator(dev, held_out)
        evaluate = None if dev is None else self._evaluator(*checks.as_pair(dev))
        given = (self.costs, self.class_weight, token_weight)
        structure = self._with_costs(chain, any(x is not None for x in given))
        return TrainingData(structure, sample_weight, evaluate, calibrate=calibrate)

    def _has_costs(self) -> bool:
        weighs = self.class_weight is not None or self._weighs_tokens
        return weighs or super()._has_costs()

    def _read(self, source: Input, X: Any) -> Tokens:
        """Learn the features of `X` and encode it, going on from what is known."""
        if self._start is not None:
            return source.learn_beyond(self._start._input, X)
        if self._seen is not None:
            source.go_on_from(self._earlier("_input"))
        return source.fit_encode(X)

    def _as_start(self) -> SequenceTagger:
        if "observed" in (self.pairs, self.transitions):
            raise ValueError(
                "pairs='observed' and transitions='observed' need all examples; with "
                "forget=True use 'all'"
            )
        if self.order > 1:
            raise ValueError("forget=True needs order=1; or leave forget out")
        self._refuse_forgetting_vectors()
        return super()._as_start()

    def _blocks(self) -> list[Block]:
        source = self._input
        rows, edges = Block(source.n_features), Block(source.n_edge_features, 2)
        return [rows, Block(1, 2), Block(int(self.start)), Block(int(self.end)), edges]

    def _set_labels(self, labels: LabelCodes) -> None:
        """Set the labels of outputs; what was prepared for others is forgotten."""
        super()._set_labels(labels)
        self._slates = Slates()

    def _set_source(self, source: Input, classes: list[Label]) -> None:
        """Set the encoder, and all that follows from the labels."""
        labels = LabelCodes(classes)
        if len(labels) < 2:
            raise DataError(
                f"all tokens have the label {labels.classes[0]!r}: nothing to learn; "
                "give examples of at least two labels"
            )
        self._input: Input = source
        self._set_labels(labels)
        self._masks: Masks = make_masks(self.constraints, labels)
        self._costs = weighting.cost_matrix(self.costs, labels)
        self._pairs = None
        self._memory = None

    def _learn_memory(self, gold: CodeArray, tokens: Tokens, in_part: bool) -> Memory:
        """Find the label tuples of a tagger of higher order."""
        if in_part:
            raise ValueError(
                f"order={self.order} learns from tuples of complete labels; for labels "
                "that are known in part use order=1"
            )
        if tokens.edges.n_columns:
            raise ValueError(
                "transition_features, and templates that begin with B, are for "
                "order=1; leave them out"
            )
        return learn_memory(self.order, gold, tokens.ptr, self._masks, self.start)

    def _labelled(
        self,
        tokens: Tokens,
        y: list[list[Label]],
        gold: CodeArray,
        by_class: FloatArray,
        allowed: Any = None,
        token_weight: FloatArray | None = None,
        wrong: NDArray[np.bool_] | None = None,
    ) -> Any:
        """Return the corpus to learn from, checked.

        Where labels are known in part, those that are `wrong` say what is known.
        """
        costs = by_class[:, None] * self._costs
        chain = self._chain(tokens, gold, allowed, costs, token_weight)
        if wrong is not None:
            return self._known(chain, wrong, y)
        if self.transitions == "observed" and self._memory is None:
            chain = with_observed_transitions(chain)
        if self._chosen_loss() != "log_loss" and not _any_cost(chain):
            raise DataError("every mistake costs nothing: nothing to learn from")
        broken = illegal_position(chain, illegal_of(chain))
        if broken is not None:
            i, t = broken
            context = " ".join(map(str, y[i][max(t - 1, 0) : t + 1]))
            raise DataError(
                f"the constraints forbid the labels of sequence {i} at token {t} "
                f"({context}); correct the labels or loosen the constraints"
            )
        return chain

    def _known(
        self, chain: Chain, wrong: NDArray[np.bool_], y: list[list[Any]]
    ) -> PartialOutputs:
        """Return the corpus with labels that are known in part, checked."""
        if self.transitions == "observed":
            raise ValueError(
                "transitions='observed' counts pairs of complete labels; use 'all'"
            )
        found = first_contradiction(chain, wrong)
        if found is not None:
            i, t = found
            context = " ".join(map(str, y[i][max(t - 1, 0) : t + 1]))
            raise DataError(
                f"sequence {i}: no labels agree with what is known and with the "
                f"constraints up to token {t} ({context}); correct the labels or "
                "loosen the constraints"
            )
        costs = least_costs(wrong, chain.costs)
        if chain.token_weight.size:
            costs = costs * chain.token_weight[:, None]
        if self._chosen_loss() != "log_loss" and not costs[wrong].any():
            raise DataError("every mistake costs nothing: nothing to learn from")
        return know_labels(chain, wrong, costs)

    def _class_weights(
        self,
        gold: CodeArray,
        ptr: IntArray,
        sample_weight: FloatArray | None,
        wrong: NDArray[np.bool_] | None = None,
    ) -> FloatArray:
        per_token = None
        if sample_weight is not None:
            per_token = np.repeat(sample_weight, np.diff(ptr))
        if wrong is not None:  # count what is known
            is_known = wrong.sum(axis=1) == wrong.shape[1] - 1
            per_token = is_known * (1.0 if per_token is None else per_token)
        return weighting.class_weights(self.class_weight, self._labels, gold, per_token)

    def _chain(
        self,
        tokens: Tokens,
        gold: CodeArray | None = None,
        allowed: Any = None,
        costs: FloatArray | None = None,
        token_weight: FloatArray | None = None,
    ) -> Any:
        """Wrap encoded tokens, with everything the model knows, into a structure."""
        nodes = tokens.nodes
        if self._pairs is not None:
            nodes = feature_rows.make_pair_rows(nodes, self._pairs)
        if tokens.vectors is not None:
            nodes = feature_rows.make_mixed_rows(nodes, tokens.vectors)
        if self._memory is not None:
            return make_ngram_chain(
                nodes,
                tokens.ptr,
                gold,
                len(self._labels),
                self._memory.grams,
                end=self.end,
                costs=costs,
                token_weight=token_weight,
                forbidden_end=self._masks.end,
                forbidden_labels=checks.forbidden_labels(
                    tokens.ptr, allowed, self._labels
                ),
            )
        return make_chain(
            nodes,
            tokens.ptr,
            gold,
            len(self._labels),
            edges=tokens.edges if tokens.edges.n_columns else None,
            start=self.start,
            end=self.end,
            costs=costs,
            token_weight=token_weight,
            forbidden_transitions=self._masks.transitions,
            forbidden_start=self._masks.start,
            forbidden_end=self._masks.end,
            forbidden_labels=checks.forbidden_labels(tokens.ptr, allowed, self._labels),
        )

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        y = checks.label_lists(y)
        check_complete(y, "dev")
        tokens = self._tokens(X)
        checks.check_labelled(tokens.ptr, y)
        if {label for labels in y for label in labels}.isdisjoint(self._labels.classes):
            raise DataError("dev: none of its labels occurs in the training data")
        chain = self._chain(tokens)
        measure = tagging_measure(self.dev_metric, self._labels.classes)
        rehearse(measure, y)
        return lambda w: measure(y, self._decode(chain, w))

    def _calibrator(self, dev: Any, held_out: Any) -> Callable[..., Calibration]:
        """Make the function that calibrates weights on development data."""
        asked, unseen = self._gold_chain(*dev), self._gold_chain(*held_out)
        K, jobs = len(self._labels), self._jobs()

        def calibrate(w: FloatArray) -> Calibration:
            chain, codes = asked
            scale = best_scale(chain, w, jobs)
            found = Calibration(scale, *np.zeros((3, 0)))
            if self.calibrate == "isotonic":
                shares = answers.label_probabilities(chain, scale * w, K, jobs)
                right = np.eye(K + 1)[codes][:, :K]  # the code -1 is no label
                line = fit_isotonic(np.vstack(shares).ravel(), right.ravel())
                found = found._replace(given=line[0], meant=line[1])
            chain, codes = unseen
            shares = answers.label_probabilities(chain, scale * w, K, jobs)
            right = right_shares([*map(found.adjust, shares)], codes, chain.ptr)
            return found._replace(strangeness=np.sort(1.0 - right))

        return calibrate

    def _gold_chain(self, X: Any, y: Any) -> tuple[Chain, NDArray[np.int64]]:
        """Return labelled sequences, and codes that are -1 for unknown labels."""
        y = checks.label_lists(y)
        check_complete(y, "dev")
        tokens = self._tokens(X)
        checks.check_labelled(tokens.ptr, y)
        code = {label: k for k, label in enumerate(self._labels.classes)}
        codes = np.array([code.get(label, -1) for one in y for label in one], np.int64)
        return self._chain(tokens, np.maximum(codes, 0).astype(np.int32)), codes

    # --- predicting ---------------------------------------------------------------

    def _shares(self, chain: Chain) -> list[NDArray[np.float64]]:
        """Return the probability of every label at every token, calibrated if asked."""
        K, found = len(self._labels), self._calibration
        w = self._scaled_weights
        shares = answers.label_probabilities(chain, w, K, self._jobs())
        return shares if found is None else [*map(found.adjust, shares)]

    @property
    def _scaled_weights(self) -> FloatArray:
        """The weights whose probabilities are meant."""
        found = self._calibration
        return self.weights_ if found is None else found.scale * self.weights_

    def encode(self, X: Any) -> Tokens:
        """Return sequences as `predict` of taggers with the same features takes them.

        Taggers that learnt from the same `X`, with the same template, share features;
        `share_features` makes sure of it, and then `X` need be encoded only once.
        """
        self._check_fitted()
        return self._tokens(X)

    def share_features(self, other: SequenceTagger) -> bool:
        """Use the features of another tagger if they are the same; say whether so."""
        known: Any = self._input
        if not hasattr(known, "is_like") or not known.is_like(other._input):
            return False
        self._input = other._input
        return True

    def _tokens(self, X: Any) -> Tokens:
        """Encode sequences, with their vectors if the model has any."""
        if isinstance(X, Tokens):
            return X
        X, matrices = split_vectors(X)
        X = rereadable(X, self._vectors.tables, self._input.kind)
        tokens = self._input.encode(X, self._jobs())
        return add_vectors(tokens, X, matrices, self._vectors)

    def _encode(self, X: Any, allowed: Any = None) -> Any:
        self._check_fitted()
        return self._chain(self._tokens(X), None, allowed)

    def _decode(self, chain: Chain, w: FloatArray) -> list[list[Label]]:
        return answers.best_labels(chain, w, self._labels, self._jobs())

    def _given(self, X: Any, y: Any = None, *, allowed: Any = None) -> Given:
        chain = self._encode(X, allowed)
        legal = None
        if y is not None:
            y = checks.label_lists(y)
            checks.check_labelled(chain.ptr, y)
            flat = [label for labels in y for label in labels]
            chain = chain._replace(labels=self._labels.encode(flat, "y"))
            legal = legal_sequences(chain, illegal_of(chain))
        decode = self._labels.decode
        return Given(
            chain, self._scaled_weights, lambda i, y: decode(y.tolist()), legal
        )

    def predict(
        self, X: Any, *, allowed: Any = None, risk: float | None = None
    ) -> list[list[Label]]:
        """Return the best labels of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        allowed : list, optional
            Per sequence None or, per token, None or the labels it may have.
        risk : float, optional
            Abstain, with None for a label, where the `predict_sets` of this risk has
            other labels than the best one. For models with `calibrate`.

        Returns
        -------
        list of list of labels
        """
        self._check_fitted()
        tokens = self._tokens(X)
        alone = self._memory is None and self._slates.suit(tokens)
        if allowed is None and risk is None and alone:
            codes, score = self._slates.best(self._chain, self.weights_, tokens)
            checks.check_possible(score)
            return [self._labels.decode(codes)]
        chain = self._chain(tokens, None, allowed)
        best = self._decode(chain, self.weights_)
        if risk is None:
            return best
        sets = self._sets(chain, risk)
        return [
            [y if some == [y] else None for y, some in zip(*pair, strict=True)]
            for pair in zip(best, sets, strict=True)
        ]

    def predict_sets(
        self, X: Any, risk: float = 0.1, *, allowed: Any = None
    ) -> list[list[list[Label]]]:
        """Return a set of labels for every token that has the right one.

        At most a share `risk` of the sets lacks it, on average over tokens of new
        sequences like those of the development data (split conformal prediction). For
        models with `calibrate`.

        Returns
        -------
        list of list of list of labels
            The most probable label of a set is the first.
        """
        return self._sets(self._encode(X, allowed), risk)

    def _sets(self, chain: Chain, risk: float) -> list[list[list[Label]]]:
        least, classes = least_share(self._calibration, risk), self._labels.classes
        return [
            [
                [classes[k] for k in np.argsort(-row, kind="stable") if row[k] >= least]
                for row in rows
            ]
            for rows in self._shares(chain)
        ]

    def predict_marginals(
        self, X: Any, *, allowed: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every label at every token.

        Probabilities are those of the log-linear model with these weights; they are
        calibrated only for models trained with the log loss, or with `calibrate`.

        Returns
        -------
        list of arrays of shape (n_tokens, n_classes)
            Columns are in the order of `classes_`; rows add up to one.
        """
        return self._shares(self._encode(X, allowed))

    def predict_transitions(
        self, X: Any, *, allowed: Any = None
    ) -> list[NDArray[np.float64]]:
        """Return the probability of every pair of labels at neighbouring tokens.

        Returns
        -------
        list of arrays of shape (n_tokens - 1, n_classes, n_classes)
            ``[t, a, b]``: token `t` has label `a`, and the next one label `b`.
        """
        self._refuse_memory("predict_transitions")
        chain, K = self._encode(X, allowed), len(self._labels)
        return answers.transition_probabilities(chain, self.weights_, K, self._jobs())

    def predict_span_marginals(
        self,
        X: Any,
        *,
        at_least: float = 0.001,
        scheme: str | None = None,
        allowed: Any = None,
    ) -> list[list[Span]]:
        """Return all chunks that sequences may have, with their probabilities.

        `predict_spans` has those of the best labels only; and its score is that of the
        very labels, here all ways to spell a chunk count.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        at_least : float
            Chunks that are less probable are left out.
        scheme : str, optional
            How labels spell chunks; by default as the CoNLL evaluation reads them.
        allowed : list, optional
            As in `predict`.

        Returns
        -------
        list of list of Span
            ``(start, end, label, score)``, the most probable first.
        """
        self._refuse_memory("predict_span_marginals")
        chain, K = self._encode(X, allowed), len(self._labels)
        pairs = answers.transition_probabilities(chain, self.weights_, K, self._jobs())
        nodes = answers.label_probabilities(chain, self.weights_, K, self._jobs())
        spelling = Spelling(self._labels.classes, scheme)
        return [
            span_probabilities(*both, spelling, at_least)
            for both in zip(nodes, pairs, strict=True)
        ]

    def predict_kbest(
        self, X: Any, k: int = 5, *, allowed: Any = None
    ) -> list[list[Ranked]]:
        """Return the `k` best label sequences of every sequence, best first.

        Returns
        -------
        list of list of Ranked
            Each a ``(labels, score)``; fewer than `k` where fewer are possible.
        """
        chain = self._encode(X, allowed)
        return answers.best_ranked(chain, self.weights_, self._labels, k, self._jobs())

    def predict_spans(
        self, X: Any, *, scheme: str | None = None, allowed: Any = None
    ) -> list[list[Span]]:
        """Return the chunks of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        scheme : str, optional
            How labels spell chunks; by default as the CoNLL evaluation reads them.
        allowed : list, optional
            As in `predict`.

        Returns
        -------
        list of list of Span
            ``(start, end, label, score)``, `end` exclusive; the score is the
            probability that exactly these tokens carry these labels.
        """
        chain = self._encode(X, allowed)
        return answers.best_spans(
            chain, self._scaled_weights, self._labels, scheme, self._jobs()
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of tokens with the right label.

        `sample_weight` weighs sequences.
        """
        y = checks.label_lists(y)
        predicted = self.predict(X)
        accuracy = metrics.token_accuracy(y, predicted)  # checks the lengths too
        if sample_weight is None:
            return accuracy
        weight = np.asarray(sample_weight, np.float64)
        checks.check_same_length(len(y), len(weight), "sample_weight")
        lengths = np.array([len(labels) for labels in y])
        right = [
            sum(a == b for a, b in zip(p, q, strict=True))
            for p, q in zip(predicted, y, strict=True)
        ]
        return float(weight @ right / (weight @ lengths))

    # --- understanding --------------------------------------------------------------

    def _refuse_memory(self, method: str) -> None:
        """Refuse what only chains of first order answer."""
        self._check_fitted()
        if self._memory is not None:
            raise ValueError(f"{method} is for order=1; this model's is {self.order}")

    @property
    def _weights(self) -> ChainWeights | TupleWeights:
        self._check_fitted()
        return explanation.named_once(self, self._name_weights)

    def _name_weights(self) -> ChainWeights | TupleWeights:
        if self._memory is not None:
            return TupleWeights(
                self._input.names(),
                self._labels.classes,
                self._pairs,
                self._memory,
                self.start,
                vectors=self._vectors.names,
            )
        return ChainWeights(
            self._input.names(),
            self._labels.classes,
            self._pairs,
            self._input.edge_names(),
            self.start,
            self.end,
            vectors=self._vectors.names,
        )

    @property
    def transitions_(self) -> NDArray[np.float64]:
        """The weight of every label (row) being followed by every other (column)."""
        self._check_fitted()
        K, at = len(self._labels), self._weights.transition_at
        if self._memory is not None:
            return pair_weights(self._memory, self.weights_, at, K)
        return self.weights_[at : at + K * K].reshape(K, K).copy()

    def top_features(
        self, n: int = 20, label: Label | None = None, *, sign: str = "any"
    ) -> list[tuple[str, Label, float]]:
        """Return the `n` features with the largest weights, in absolute value.

        Parameters
        ----------
        n : int
            How many.
        label : label, optional
            Only weights of this label.
        sign : {"any", "positive", "negative"}
            Only weights of this sign: what speaks for a label, or against it.

        Returns
        -------
        list of (feature, label, weight)
        """
        self._check_fitted()
        code = None if label is None else self._labels.code(label, "top_features")
        return self._weights.top(self.weights_, n, code, sign)

    def explain(self, x: Any) -> Explanation:
        """Say which features made each label of one sequence win.

        For every token: its label, the runner-up (the other label that costs the whole
        sequence least), the margin between the two sequences, and what each feature
        added to that margin.

        Parameters
        ----------
        x : sequence
            One sequence, as in `fit`.

        Returns
        -------
        Explanation
        """
        x, matrix = split_one(x)
        x = x if hasattr(x, "__len__") else list(x)
        chain = self._encode([x] if matrix is None else ([x], [matrix]))
        words = [explanation.show_token(token) for token in x]
        return explanation.explain_sequence(chain, self.weights_, self._weights, words)
