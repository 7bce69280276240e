"""What a tagger makes of sequences: corpora to learn from, and to label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.distribution import Samples
from partwise.estimators.given_vectors import split_vectors
from partwise.estimators.hidden_states import NOISE, HiddenStates
from partwise.estimators.labels import Label
from partwise.estimators.partial_labels import check_complete, least_costs
from partwise.estimators.sequence.constraints import Masks
from partwise.estimators.sequence.inputs import Input, Tokens
from partwise.estimators.sequence.mistaken import check_inputs
from partwise.estimators.sequence.orders import (
    Memory,
    contradiction_of,
    illegal_of,
    learn_memory,
)
from partwise.estimators.sequence.settings import TaggerSettings
from partwise.estimators.sequence.vectors import add_vectors, rereadable
from partwise.estimators.suitable_defaults import SuitableDefaults
from partwise.structures import rows as feature_rows
from partwise.structures.chain import (
    Chain,
    illegal_position,
    make_chain,
    with_observed_transitions,
)
from partwise.structures.chain.known import know_labels
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.ngrams import make_ngram_chain
from partwise.structures.partial import PartialOutputs
from partwise.structures.rows import Pairs


def _any_cost(chain: Chain) -> bool:
    """Say whether some mistake costs something."""
    costly = chain.costs.max(axis=1) > 0
    if chain.token_weight.size:
        return bool((costly[chain.labels] & (chain.token_weight > 0)).any())
    return bool(costly.all() or costly[chain.labels].any())


class TaggerCorpora(HasVectors, SuitableDefaults, Samples, TaggerSettings):
    """The part of taggers that encodes sequences, with all that the model knows."""

    _input: Input
    _masks: Masks
    _costs: FloatArray
    _pairs: Pairs | None
    _memory: Memory | None = None  # of a model of higher order
    _n_states: int = 1  # behind each label

    @property
    def _states(self) -> HiddenStates:
        """What the codes of chains mean."""
        return HiddenStates(self._labels, self._n_states)

    @property
    def _noise(self) -> float:  # type: ignore[override]
        """How random the first weights are."""
        return NOISE if self._n_states > 1 else 0.0

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.states > 1 and (
            self.order > 1
            or self.transitions == "observed"
            or self.rescaling == "slack"
        ):
            raise ValueError(
                f"states={self.states} is for order=1, transitions='all' and "
                "rescaling='margin'; choose these, or states=1"
            )

    def _output_space(self) -> Any:
        return super()._output_space(), self._n_states

    def encode(self, X: Any) -> Tokens:
        """Return sequences as `predict` of taggers with the same features takes them.

        Taggers that learnt from the same `X`, with the same template, share features;
        `share_features` makes sure of it, and then `X` need be encoded only once.
        """
        self._check_fitted()
        return self._tokens(X)

    def share_features(self, other: TaggerCorpora) -> bool:
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
        check_inputs(X, self._labels.classes, self._input)
        X = rereadable(X, self._vectors.tables, self._input.kind)
        tokens = self._input.encode(X, self._jobs())
        return add_vectors(tokens, X, matrices, self._vectors)

    def _encode(self, X: Any, allowed: Any = None) -> Any:
        self._check_fitted()
        return self._chain(self._tokens(X), None, allowed)

    def _learn_memory(
        self, gold: CodeArray, tokens: Tokens, wrong: NDArray[np.bool_] | None
    ) -> Memory:
        """Find the label tuples of a tagger of higher order."""
        if tokens.edges.n_columns:
            raise ValueError(
                "transition_features, and templates that begin with B, are for "
                "order=1; leave them out"
            )
        order, ptr = self.order, tokens.ptr
        unseen = self.transitions == "all"
        return learn_memory(order, gold, ptr, self._masks, self.start, wrong, unseen)

    def _labelled(
        self,
        tokens: Tokens,
        y: Sequence[list[Label]],
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
            return self._known(chain, self._states.spread(wrong, 1), y)
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
        self, chain: Chain, wrong: NDArray[np.bool_], y: Sequence[list[Any]]
    ) -> PartialOutputs:
        """Return the corpus with labels that are known in part, checked."""
        if self.transitions == "observed":
            raise ValueError(
                "transitions='observed' counts pairs of complete labels; use 'all'"
            )
        found = contradiction_of(chain, wrong)
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
        """Wrap encoded tokens, with everything the model knows, into a structure.

        Of hidden states, the first of each label is taken for the right one.
        """
        nodes, forbidden = tokens.nodes, self._masks
        if self._pairs is not None:
            nodes = feature_rows.make_pair_rows(nodes, self._pairs)
        if tokens.vectors is not None:
            nodes = feature_rows.make_mixed_rows(nodes, tokens.vectors)
        ruled_out = checks.forbidden_labels(tokens.ptr, allowed, self._labels)
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
                forbidden_end=forbidden.end,
                forbidden_labels=ruled_out,
            )
        states = self._states
        return make_chain(
            nodes,
            tokens.ptr,
            gold if gold is None else states.first[gold],
            len(states),
            edges=tokens.edges if tokens.edges.n_columns else None,
            start=self.start,
            end=self.end,
            costs=states.spread(costs, 0, 1),
            token_weight=token_weight,
            forbidden_transitions=states.spread(forbidden.transitions, 0, 1),
            forbidden_start=states.spread(forbidden.start, 0),
            forbidden_end=states.spread(forbidden.end, 0),
            forbidden_labels=states.spread(ruled_out, 1),
        )

    def _gold_chain(self, X: Any, y: Any) -> tuple[Chain, NDArray[np.int64]]:
        """Return labelled sequences, and codes that are -1 for unknown labels."""
        y = checks.label_lists(y)
        check_complete(y, "dev")
        tokens = self._tokens(X)
        checks.check_labelled(tokens.ptr, y)
        code = {label: k for k, label in enumerate(self._labels.classes)}
        codes = np.array([code.get(label, -1) for one in y for label in one], np.int64)
        return self._chain(tokens, np.maximum(codes, 0).astype(np.int32)), codes
