"""Learning all weights from lattices with pseudo-references, by the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.bleu import total_bleu
from benchmarks.translation.costs import edit_costs
from benchmarks.translation.dense_features import N_DENSE
from benchmarks.translation.lattices import (
    Corpus,
    Paths,
    best_paths,
    restrict_features,
)
from benchmarks.translation.pseudo_references import find_pseudo_references
from benchmarks.translation.storage import load_corpus
from benchmarks.translation.vocabulary import IntArray
from partwise.losses import Loss, SetHinge, get_loss
from partwise.solvers import (
    ColumnGeneration,
    DualCoordinateDescent,
    KBestMIRA,
    Solver,
    make_problem,
    solve,
)
from partwise.structures import Lattice

FloatArray = NDArray[np.float64]

NEVER = 1e-6  # a gap that no run gets to, so that all make their passes


class Method(NamedTuple):
    """A solver with a loss; `l1` says whether the penalty is the L1 norm."""

    solver: Solver
    loss: Loss
    l1: bool = False


# Margins are costs, not one for all as in the paper. With LP (8), margins of one and
# lattices of 4,000 sentences, zero weights were optimal at C = 0.3, and nothing better
# was found at C = 1; larger C were hardly tried.
METHODS = {
    "k-best MIRA": Method(KBestMIRA(k=5), get_loss("hinge")),
    "DCD": Method(DualCoordinateDescent(), get_loss("squared_hinge")),
    "LP (7)": Method(
        ColumnGeneration("extragradient"),
        SetHinge("cost", compare="closest", distance="parts"),
        l1=True,
    ),
    "LP (8)": Method(ColumnGeneration("extragradient"), SetHinge("cost"), l1=True),
}


class GoodSets(NamedTuple):
    """How good translations are chosen, see `find_pseudo_references`."""

    k: int = 20
    n_good: int = 3
    slack: float = 2.0


def number_features(corpus: Corpus, least: int = 1) -> tuple[IntArray, int]:
    """Give numbers to features that occur so often, and to the dense ones."""
    kept = np.bincount(corpus.rows.idx, minlength=corpus.rows.n_columns) >= least
    kept[:N_DENSE] = True
    return np.where(kept, np.cumsum(kept) - 1, -1), int(kept.sum())


def training_set(
    corpus: Corpus, references: list[IntArray], w: FloatArray, sets: GoodSets
) -> tuple[Lattice, float]:
    """Return lattices to learn from, and the BLEU of their pseudo-references.

    Lattices all of whose translations were compared are left out: they have too few to
    learn from, and perhaps none that is bad.
    """
    found = find_pseudo_references(
        corpus, references, w, local=True, k=sets.k, n_good=sets.n_good,
        slack=sets.slack,
    )  # fmt: skip
    kept = np.flatnonzero(found.n_listed == sets.k)
    few = corpus.select(kept)
    good = [found.paths[i] for i in kept]
    costs = edit_costs(few, [paths[0] for paths in good])
    return few.structure(good, costs=costs, by_words=True), found.corpus_bleu


class Judge:
    """Measures weights by the BLEU of translations."""

    def __init__(self, corpus: Corpus, references: list[IntArray]) -> None:
        self.corpus, self.references = corpus, references
        self.structure = corpus.structure()

    def paths(self, w: FloatArray) -> Paths:
        """Return the best path of every lattice."""
        return best_paths(self.structure, w)

    def translations(self, w: FloatArray) -> list[IntArray]:
        """Return the words of the best translations."""
        return [self.corpus.words_of(i, path) for i, path in enumerate(self.paths(w))]

    def bleu(self, w: FloatArray) -> float:
        """Return the BLEU of the best translations."""
        return total_bleu(self.translations(w), self.references)


def train(
    method: Method, structure: Lattice, C: float, n_passes: int, dev: Judge
) -> dict[str, Any]:
    """Train, keeping the weights that are best on development data."""
    problem = make_problem(structure, method.loss, C, l1_ratio=float(method.l1))
    solution = solve(
        problem,
        method.solver,
        tol=NEVER,
        max_iter=n_passes,
        evaluate=dev.bleu,
        patience=n_passes,
    )
    rows = list(solution.trace)
    proof = solution.certificate
    return {
        "w": solution.w,
        "dev": max(row.dev_score for row in rows),
        "curve": [(row.seconds, row.dev_score) for row in rows],
        "seconds": rows[-1].seconds,
        "gap": None if proof is None else proof.relative_gap,
        "n_features": int(np.count_nonzero(solution.w)),
        "n_constraints": rows[-1].rows,
    }


def run_method(
    folder: str, name: str, costs: list[float], n_passes: int, n_search: int,
    sets: list[float],
) -> dict[str, Any]:  # fmt: skip
    """Choose C on some lattices, train on all; to be run in a process of its own.

    Parameters
    ----------
    folder : str
        Has the lattices, in ``train``, ``dev`` and ``test``, and the weights of the
        dense features.
    n_search : int
        How many lattices C is chosen on, if there are several values.

    Returns
    -------
    dict
        What `train` returns, but the weights: those go to ``NAME.npy``, for all
        features.
    """
    here = Path(folder)
    dense = np.load(here / "dense.npy")
    corpus, references = load_corpus(here / "train")
    width = corpus.rows.n_columns
    number, n_kept = number_features(corpus)
    dev = Judge(*_restricted(load_corpus(here / "dev"), number, n_kept))
    method = METHODS[name]
    good = GoodSets(int(sets[0]), int(sets[1]), float(sets[2]))
    corpus = restrict_features(corpus, number, n_kept)
    search = {}
    if len(costs) > 1:
        few = np.arange(min(n_search, len(corpus)))
        part, _ = training_set(corpus.select(few), references[: few.size], dense, good)
        for C in costs:
            search[C] = train(method, part, C, n_passes, dev)["dev"]
    C = max(search, key=search.__getitem__, default=costs[0])
    structure, pseudo_bleu = training_set(corpus, references, dense, good)
    n_lattices = structure.ptr.size - 1
    del corpus
    result = train(method, structure, C, n_passes, dev)
    w = np.zeros(width)
    w[number >= 0] = result.pop("w")
    np.save(here / f"{name}.npy", w)
    return {
        **result,
        "C": C,
        "search": {str(C): dev for C, dev in search.items()},
        "pseudo_bleu": pseudo_bleu,
        "n_lattices": n_lattices,
        "n_weights": n_kept,
    }


def _restricted(
    loaded: tuple[Corpus, list[IntArray]], number: IntArray, n_kept: int
) -> tuple[Corpus, list[IntArray]]:
    return restrict_features(loaded[0], number, n_kept), loaded[1]
