"""What a segment tagger makes of sequences: corpora to learn from, and to cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.estimators import checks
from partwise.estimators.attached_vectors import HasVectors
from partwise.estimators.base import StructuredEstimator
from partwise.estimators.distribution import Samples
from partwise.estimators.given_vectors import split_vectors
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.segments.cuts import (
    encode_segments,
    forbidden_codes,
    segment_lists,
)
from partwise.estimators.segments.partial import known_in_part
from partwise.estimators.segments.settings import SegmentTaggerSettings
from partwise.estimators.segments.whole import (
    WholeSegments,
)
from partwise.estimators.sequence.constraints import Masks
from partwise.estimators.sequence.inputs import (
    Input,
    TemplateInput,
    Tokens,
    as_columns,
)
from partwise.estimators.sequence.vectors import add_vectors
from partwise.structures import rows as feature_rows
from partwise.structures.interface import CodeArray, FloatArray, IntArray
from partwise.structures.rows import Pairs
from partwise.structures.segments import Segments, make_segments


def as_lists(X: Any) -> Any:
    """Return inputs that can be read several times."""
    if hasattr(X, "columns") and hasattr(X, "ptr"):
        return X
    return [one if hasattr(one, "__len__") else list(one) for one in X]


class SegmentCorpora(HasVectors, StructuredEstimator, Samples, SegmentTaggerSettings):
    """What is learnt about inputs and labels, and the structures made of it."""

    _input: Input
    _labels: LabelCodes
    _limits: IntArray
    _whole: WholeSegments
    _masks: Masks
    _costs: FloatArray
    _pairs: Pairs | None

    @property
    def limits_(self) -> dict[Label, int]:
        """How many tokens a segment of each label may have."""
        self._check_fitted()
        return dict(zip(self._labels.classes, self._limits.tolist(), strict=True))

    @property
    def _scaled_weights(self) -> FloatArray:
        """The weights whose probabilities are meant."""
        found = self._calibration
        return self.weights_ if found is None else found.scale * self.weights_

    def _tokens(self, X: Any) -> tuple[Any, Tokens]:
        """Return sequences that can be read again, and encoded, with their vectors."""
        X, matrices = split_vectors(X)
        X = as_columns(X) if isinstance(self._input, TemplateInput) else as_lists(X)
        tokens = self._input.encode(X, self._jobs())
        return X, add_vectors(tokens, X, matrices, self._vectors)

    def _encode(
        self, X: Any, allowed: Any = None, known: Any = None, y: Any = None
    ) -> Segments:
        X, tokens = self._tokens(X)
        codes = None
        if y is not None:
            cuts = segment_lists(y, np.diff(tokens.ptr).tolist(), self.outside)
            if not known_in_part(cuts):
                codes = encode_segments(cuts, tokens.ptr, self._labels, self.outside)
        labels = checks.forbidden_labels(tokens.ptr, allowed, self._labels)
        forbidden = forbidden_codes(
            tokens.ptr, labels, known, self._labels, self.outside, self._limits
        )
        return self._segments(X, tokens, codes, forbidden=forbidden)

    def _new(self, X: Any, allowed: Any = None, known: Any = None) -> Segments:
        self._check_fitted()
        return self._encode(X, allowed, known)

    def _segments(
        self,
        X: Any,
        tokens: Tokens,
        codes: CodeArray | None = None,
        *,
        token_weight: FloatArray | None = None,
        forbidden: NDArray[np.bool_] | None = None,
        costs: FloatArray | None = None,
    ) -> Segments:
        """Wrap encoded tokens, with everything the model knows, into a structure."""
        nodes = tokens.nodes
        if self._pairs is not None:
            nodes = feature_rows.make_pair_rows(nodes, self._pairs)
        if tokens.vectors is not None:
            nodes = feature_rows.make_mixed_rows(nodes, tokens.vectors)
        is_inside = [label != self.outside for label in self._labels.classes]
        return make_segments(
            nodes,
            tokens.ptr,
            codes,
            self._limits,
            matches=self._whole.find(X, tokens.ptr),
            lengths=self.lengths,
            start=self.start,
            end=self.end,
            costs=self._costs if costs is None else costs,
            border_cost=self.border_cost,
            segment_costs=self.segment_cost * np.array(is_inside, np.float64),
            token_weight=token_weight,
            forbidden_transitions=self._masks.transitions,
            forbidden_start=self._masks.start,
            forbidden_end=self._masks.end,
            forbidden_codes=forbidden,
        )
