"""Learning to parse: treebanks encoded once, for all solvers and values of C."""

from __future__ import annotations

import io
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.bench import Bench
from partwise.data import Sentence, iter_trees, read_trees
from partwise.estimators.dependency.corpus import TreeSettings
from partwise.estimators.labels import LabelCodes
from partwise.losses import get_loss
from partwise.solvers import make_problem
from partwise.solvers.base import Problem
from partwise.structures.decoding import decode
from partwise.structures.dependency import DependencyTrees
from partwise.synthetic import make_corpus
from partwise.trees import is_projective, lift

PARTS = ("train", "dev", "test")
QUICK_SIZES = (120, 40, 40)
HASH_BITS = 22
SUFFIX = 3


class Treebank(NamedTuple):
    """Where the sentences of a treebank are."""

    name: str
    files: list[str]


def _files(folder: str, ending: str) -> list[str]:
    return [f"{folder}/{part}.{ending}.gz" for part in PARTS]


WSJ = Treebank("WSJ sample", _files("wsj-sample", "dp"))
EWT = Treebank("EWT", _files("ud-english-ewt", "conllu"))
SLOVENE = Treebank("Slovene SSJ", _files("ud-slovenian-ssj", "conllu"))


def read_treebank(bench: Bench, treebank: Treebank) -> dict[str, list[Sentence]]:
    """Return training, development and test sentences."""
    sizes: Any = bench.choose((None, None, None), QUICK_SIZES)

    def real(*paths: Path) -> dict[str, list[Sentence]]:
        some = zip(PARTS, paths, sizes, strict=True)
        return {part: list(islice(iter_trees(path), n)) for part, path, n in some}

    def generated() -> dict[str, list[Sentence]]:
        text = make_corpus(sum(QUICK_SIZES), 0).to_conllu()
        sentences = iter(read_trees(io.StringIO(text)))
        return {
            part: list(islice(sentences, n))
            for part, n in zip(PARTS, QUICK_SIZES, strict=True)
        }

    return bench.data(treebank.name, treebank.files, real, generated)


class ParsingTask:
    """A treebank seen through the parser's features.

    Parameters
    ----------
    sentences : dict of str to list of Sentence
        Training, development and test sentences. For a projective parser the training
        trees are lifted; those to test on stay as they are.
    projective : bool
        Which trees the parser builds.
    labelled : bool
        Whether arcs have labels, if the treebank has any.
    """

    def __init__(
        self,
        sentences: dict[str, list[Sentence]],
        *,
        projective: bool = True,
        labelled: bool = True,
        hash_bits: int = HASH_BITS,
    ) -> None:
        self.sentences = sentences
        train = sentences["train"]
        self.n_crossing = sum(not is_projective(s.heads or ()) for s in train)
        if projective:
            train = [s.with_tree(lift(s.heads or ()), s.labels) for s in train]
        names = sorted({label for s in train for label in s.labels or ()})
        self.labels = LabelCodes(names if labelled else [])
        settings = TreeSettings(projective, True, hash_bits, SUFFIX)
        self.train = settings.structure(train, self.labels, gold=True)
        self.parts = {
            part: settings.structure(sentences[part], self.labels) for part in PARTS[1:]
        }
        self._gold = {part: _gold(sentences[part]) for part in PARTS[1:]}

    def problem(self, loss: str, C: float) -> Problem:
        """Return the problem to solve."""
        return make_problem(self.train, get_loss(loss), C)

    def score(self, w: Any, part: str) -> float:
        """Return the share of words with the right head, in percent."""
        return self.scores(w, part)[0]

    def scores(self, w: Any, part: str) -> tuple[float, float]:
        """Return UAS and LAS in percent, punctuation counted."""
        heads, labels = self.predicted(w, part)
        right_heads, right_labels = self._gold[part]
        attached = heads == right_heads
        if not len(self.labels):
            return 100 * float(attached.mean()), float("nan")
        names = np.array(self.labels.classes, object)[labels]
        found = attached & (names == right_labels)
        return 100 * float(attached.mean()), 100 * float(found.mean())

    def predicted(self, w: Any, part: str) -> tuple[Any, Any]:
        """Return the heads and the numbers of the labels of all words."""
        corpus: DependencyTrees = self.parts[part]
        codes = decode(corpus, w).codes
        if not len(self.labels):
            return codes, None
        lengths = np.diff(corpus.ptr)
        ends = np.cumsum(2 * lengths)
        is_head = np.ones(codes.size, bool)
        for n, end in zip(lengths.tolist(), ends.tolist(), strict=True):
            is_head[end - n : end] = False
        return codes[is_head], codes[~is_head]


def _gold(sentences: list[Sentence]) -> tuple[Any, Any]:
    heads = [head for s in sentences for head in s.heads or ()]
    labels = [label for s in sentences for label in s.labels or ()]
    return np.array(heads, np.int32), np.array(labels, object)
