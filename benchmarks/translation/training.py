"""Learning all weights from lattices with pseudo-references, by the library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.bleu import total_bleu
from benchmarks.translation.lattices import Corpus, Paths, best_paths
from benchmarks.translation.storage import load_corpus
from benchmarks.translation.training_sets import (
    DEV,
    WHOLE,
    load_training_set,
)
from benchmarks.translation.vocabulary import IntArray
from partwise.losses import Loss, SetHinge, get_loss
from partwise.solvers import (
    Callback,
    ColumnGeneration,
    DualCoordinateDescent,
    KBestMIRA,
    Solver,
    TraceRow,
    make_problem,
    solve,
)
from partwise.structures import Lattice

FloatArray = NDArray[np.float64]

N_TO_COMPILE = 5
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
        ColumnGeneration("chambolle-pock"),
        SetHinge("cost", compare="closest", distance="parts"),
        l1=True,
    ),
    "LP (8)": Method(ColumnGeneration("chambolle-pock"), SetHinge("cost"), l1=True),
}


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


class Progress(Callback):
    """Tells whoever waits what every pass came to."""

    def __init__(self, title: str) -> None:
        self.title = title

    def on_pass(self, row: TraceRow, w: FloatArray) -> None:
        """Say the BLEU after a pass."""
        print(
            f"    {self.title}, pass {row.iteration}: {row.seconds:.1f} s, "
            f"development BLEU {row.dev_score:.2f}",
            file=sys.stderr,
            flush=True,
        )


def train(
    method: Method, structure: Lattice, C: float, n_passes: int, dev: Judge, title: str
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
        callbacks=[Progress(f"{title}, C = {C:g}")],
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
    }


def run_method(
    folder: str, name: str, costs: list[float], n_passes: int
) -> dict[str, Any]:
    """Train with every C, and keep what is best on development data.

    To be run in a process of its own.

    Parameters
    ----------
    folder : str
        Has what `training_sets.prepare` made.
    costs : list of float
        The values of C.

    Returns
    -------
    dict
        What `train` returns, but the weights: those go to ``NAME.npy``, for all
        features.
    """
    here = Path(folder)
    dev = Judge(*load_corpus(here / DEV))
    method = METHODS[name]
    whole = load_training_set(here / WHOLE)
    few = whole.first(N_TO_COMPILE).structure()
    train(method, few, costs[0], 1, dev, f"{name}, to compile")  # off the clock
    structure = whole.structure()
    del whole
    tried = {C: train(method, structure, C, n_passes, dev, name) for C in costs}
    C = max(tried, key=lambda C: float(tried[C]["dev"]))
    result = tried[C]
    number = np.load(here / "number.npy")
    w = np.zeros(number.size)
    w[number >= 0] = result.pop("w")
    np.save(here / f"{name}.npy", w)
    return {
        **result,
        "C": C,
        "search": {str(C): other["dev"] for C, other in tried.items()},
        "lattices_mib": held_bytes(structure) / 2**20,
    }


def held_bytes(structure: Any) -> int:
    """Return the bytes of all arrays in nested tuples."""
    if isinstance(structure, np.ndarray):
        return structure.nbytes
    if isinstance(structure, tuple):
        return sum(held_bytes(part) for part in structure)
    return 0
