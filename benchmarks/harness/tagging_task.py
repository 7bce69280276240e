"""Learning to tag: a corpus encoded once, for all solvers and values of C."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.tagging import PARTS, Corpus
from partwise.features import Encoded, TemplateEncoder, TokenFeatures
from partwise.losses import get_loss
from partwise.metrics import chunk_f1, token_accuracy
from partwise.solvers import make_problem
from partwise.solvers.base import Problem
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import decode
from partwise.structures.rows import make_sparse_rows


class Part(NamedTuple):
    """Some sentences of the corpus; `gold` is -1 for labels not seen in training."""

    encoded: Encoded
    chain: Chain
    gold: Any
    labels: list[list[str]]


class TaggingTask:
    """A corpus seen through features, with all label/attribute pairs.

    Parameters
    ----------
    corpus : Corpus
        Training, development and test sentences; the label is the last column.
    features : str
        Names of blocks, as `TokenFeatures` takes them.
    measure : {"F1", "accuracy"}
        What `score` returns.
    """

    def __init__(self, corpus: Corpus, features: str, measure: str) -> None:
        self.measure = measure
        n_columns = corpus.train.n_columns - 1
        template = TokenFeatures(features).template(n_columns)
        self.encoder = TemplateEncoder(template)
        self.labels = sorted(set(corpus.train.columns[-1]))
        code = {label: number for number, label in enumerate(self.labels)}
        self.parts: dict[str, Part] = {}
        for name, data in zip(PARTS, corpus, strict=True):
            learn = name == "train"
            encode = self.encoder.fit_encode if learn else self.encoder.encode
            encoded = encode(data)
            rows = make_sparse_rows(*encoded.nodes)
            gold = np.array([code.get(own, -1) for own in data.columns[-1]], np.int32)
            chain = make_chain(
                rows, encoded.ptr, gold if learn else None, len(self.labels)
            )
            labels = data.column_sequences(-1)
            self.parts[name] = Part(encoded, chain, gold, labels)

    def problem(self, loss: str, C: float) -> Problem:
        """Return the problem to solve."""
        return make_problem(self.parts["train"].chain, get_loss(loss), C)

    def score(self, w: Any, part: str) -> float:
        """Return F1 or accuracy of weights in percent."""
        _, _, gold, labels = self.parts[part]
        ptr, codes, _ = decode(self.parts[part].chain, w)
        if self.measure == "accuracy":
            return 100 * float(np.mean(codes == gold))
        names = [self.labels[code] for code in codes.tolist()]
        predicted = [names[a:b] for a, b in pairwise(ptr.tolist())]
        return 100 * chunk_f1(labels, predicted)

    def strings(self, part: str) -> Iterator[list[list[str]]]:
        """Name the attributes of every token, sentence by sentence, for a peer."""
        names = self.encoder.attribute_names()
        encoded = self.parts[part].encoded
        bounds, idx = encoded.nodes.ptr.tolist(), encoded.nodes.idx
        for a, b in pairwise(encoded.ptr.tolist()):
            ends = pairwise(bounds[a : b + 1])
            yield [[names[k] for k in idx[i:j].tolist()] for i, j in ends]

    def score_labels(self, predicted: list[list[str]], part: str) -> float:
        """Return F1 or accuracy of a peer's labels in percent."""
        labels = self.parts[part].labels
        if self.measure == "F1":
            return 100 * chunk_f1(labels, predicted)
        return 100 * token_accuracy(labels, predicted)
