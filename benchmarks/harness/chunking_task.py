"""Learning to chunk: the encoded corpus, as solvers see it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.harness.chunking import TEMPLATE
from partwise.data import ColumnData
from partwise.features import TemplateEncoder
from partwise.losses import get_loss
from partwise.metrics import chunk_f1
from partwise.solvers import make_problem
from partwise.solvers.base import Problem
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import decode
from partwise.structures.rows import (
    SparseRows,
    make_pair_rows,
    make_sparse_rows,
    observed_pairs,
)


class ChunkingTask:
    """The encoded corpus, with all label/attribute pairs or the observed ones.

    Cells outside a sentence are one symbol, and no weight is tied to the start or end
    of a sentence: this is the model that CRFsuite trains on the same strings.
    """

    def __init__(
        self,
        train: ColumnData,
        test: ColumnData,
        C: float,
        observed: bool = False,
        loss: str = "squared_hinge",
    ) -> None:
        self.C = C
        self.loss = loss
        encoder = TemplateEncoder(TEMPLATE, boundaries="single")
        encoded = encoder.fit_encode(train)
        unseen = encoder.encode(test)
        self.n_attributes = encoder.n_attributes
        self.labels = sorted(set(train.columns[-1]))
        code = {label: number for number, label in enumerate(self.labels)}
        gold = np.array([code[label] for label in train.columns[-1]], np.int32)
        nodes, test_nodes = _rows(encoded.nodes), _rows(unseen.nodes)
        self.rows: Any = nodes
        self.test_rows: Any = test_nodes
        if observed:
            pairs = observed_pairs(nodes, gold, len(self.labels))
            self.rows = make_pair_rows(nodes, pairs)
            self.test_rows = make_pair_rows(test_nodes, pairs)
        K = len(self.labels)
        self.chain: Chain = make_chain(self.rows, encoded.ptr, gold, K)
        self.test_chain: Chain = make_chain(self.test_rows, unseen.ptr, None, K)
        self.test_gold = test.column_sequences(-1)

    def problem(self) -> Problem:
        """Return the problem to solve."""
        return make_problem(self.chain, get_loss(self.loss), self.C)

    def score(self, w: Any) -> float:
        """Return the F1 of the test data in percent."""
        ptr, codes, _ = decode(self.test_chain, w)
        labels = [self.labels[code] for code in codes.tolist()]
        predicted = [labels[a:b] for a, b in pairwise(ptr.tolist())]
        return 100 * chunk_f1(self.test_gold, predicted)


def _rows(rows: Any) -> SparseRows:
    return make_sparse_rows(rows.ptr, rows.idx, rows.val, rows.n_columns)
