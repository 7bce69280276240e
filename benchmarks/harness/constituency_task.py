"""Learning to parse phrases: trees encoded once, for all solvers and values of C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.bench import Bench
from partwise import ConstituencyParser
from partwise.constituents import Tree, words
from partwise.data import read_brackets
from partwise.estimators.constituency.corpus import as_words
from partwise.estimators.constituency.decoding import Model, best_trees
from partwise.losses import get_loss
from partwise.metrics.brackets import BracketScores, bracket_scores
from partwise.solvers import make_problem
from partwise.solvers.base import Problem
from partwise.synthetic import make_corpus

PARTS = ("train", "dev", "test")
FILES = [f"wsj-sample/{part}.mrg.gz" for part in PARTS]
QUICK_SIZES = (60, 20, 20)

Trees = dict[str, list[Tree]]


def read_sample(bench: Bench, longest: int) -> Trees:
    """Return training, development and test trees of at most so many words."""

    def cut(trees: list[Tree], n: int) -> list[Tree]:
        short = [tree for tree in trees if len(words(tree)) <= longest]
        return short[:n] if bench.quick else short

    def real(*paths: Path) -> Trees:
        some = zip(PARTS, paths, QUICK_SIZES, strict=True)
        return {part: cut(read_brackets(path), n) for part, path, n in some}

    def generated() -> Trees:
        seeds = enumerate(zip(PARTS, QUICK_SIZES, strict=True))
        return {
            part: cut(make_corpus(4 * n, seed).to_constituents(), n)
            for seed, (part, n) in seeds
        }

    return bench.data("WSJ sample, trees", FILES, real, generated)


class ConstituencyTask:
    """Trees seen through the parser's grammar and features.

    Parameters
    ----------
    trees : dict of str to list of Tree
        Training, development and test trees.
    **settings
        Of the `ConstituencyParser`.
    """

    def __init__(self, trees: Trees, **settings: Any) -> None:
        self.trees = trees
        parser = ConstituencyParser(**settings)
        self.train = parser._prepare(trees["train"]).structure
        self.model = Model(parser._settings, parser._grammar, self.train.gold)
        self.sentences = {
            part: as_words(trees[part], parser._settings.given_tags) for part in PARTS
        }

    def problem(self, loss: str, C: float) -> Problem:
        """Return the problem to solve."""
        return make_problem(self.train, get_loss(loss), C)

    def score(self, w: Any, part: str) -> float:
        """Return the F1 of labelled brackets, in percent."""
        return 100 * self.scores(w, part).f1

    def scores(self, w: Any, part: str) -> BracketScores:
        """Return all that is known of the predicted trees; flat ones count."""
        return bracket_scores(self.trees[part], self.predicted(w, part)[0])

    def predicted(self, w: Any, part: str) -> tuple[list[Tree], list[int]]:
        """Return the trees, and which sentences have none under the grammar."""
        return best_trees(self.model._replace(weights=w), self.sentences[part])
