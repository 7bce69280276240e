"""Training sets: lattices with pseudo-references and costs, kept in files.

They are made once. Every method then loads them in a process of its own, which so holds
little else than what the library needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.costs import edit_costs
from benchmarks.translation.dense_features import N_DENSE
from benchmarks.translation.lattices import Corpus, Paths, restrict_features
from benchmarks.translation.pseudo_references import find_pseudo_references
from benchmarks.translation.storage import load_corpus, save_corpus
from benchmarks.translation.vocabulary import IntArray
from partwise.structures import Lattice

FloatArray = NDArray[np.float64]

WHOLE, DEV = "training_set", "dev_set"


class GoodSets(NamedTuple):
    """How good translations are chosen, see `find_pseudo_references`."""

    k: int = 20
    n_good: int = 3
    slack: float = 2.0


class TrainingSet(NamedTuple):
    """Lattices to learn from, the good paths of each, and what edges cost."""

    corpus: Corpus
    good: list[Paths]
    costs: FloatArray

    def first(self, n: int) -> TrainingSet:
        """Return the first `n` lattices."""
        n = min(n, len(self.good))
        corpus = self.corpus.select(np.arange(n))
        return TrainingSet(corpus, self.good[:n], self.costs[: corpus.source.size])

    def structure(self) -> Lattice:
        """Return the set as the library wants it."""
        return self.corpus.structure(self.good, costs=self.costs, by_words=True)


def number_features(corpus: Corpus) -> tuple[IntArray, int]:
    """Give numbers to the features that occur, and to the dense ones."""
    kept = np.bincount(corpus.rows.idx, minlength=corpus.rows.n_columns) > 0
    kept[:N_DENSE] = True
    return np.where(kept, np.cumsum(kept) - 1, -1), int(kept.sum())


def make_training_set(
    corpus: Corpus, references: list[IntArray], w: FloatArray, sets: GoodSets
) -> tuple[TrainingSet, float]:
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
    return TrainingSet(few, good, costs), found.corpus_bleu


def save_training_set(folder: Path, made: TrainingSet) -> None:
    """Write a training set to a folder."""
    save_corpus(folder, made.corpus, [])
    paths = [path for own in made.good for path in own]
    for name, values in (
        ("n_good", [len(own) for own in made.good]),
        ("path_sizes", [len(path) for path in paths]),
        ("path_edges", [e for path in paths for e in path]),
    ):
        np.save(folder / f"{name}.npy", np.array(values, np.int64))
    np.save(folder / "costs.npy", made.costs)


def load_training_set(folder: Path) -> TrainingSet:
    """Read what `save_training_set` wrote."""
    corpus, _ = load_corpus(folder)
    edges = iter(np.load(folder / "path_edges.npy").tolist())
    sizes = np.load(folder / "path_sizes.npy").tolist()
    paths = iter([[next(edges) for _ in range(size)] for size in sizes])
    n_good = np.load(folder / "n_good.npy").tolist()
    good = [[next(paths) for _ in range(n)] for n in n_good]
    return TrainingSet(corpus, good, np.load(folder / "costs.npy"))


def prepare(folder: str, sets: list[float]) -> dict[str, Any]:
    """Make the training set; in a process of its own.

    Features that no training lattice has are left out everywhere, ``number.npy`` says
    which are left.

    Parameters
    ----------
    folder : str
        Has lattices and references, in ``train`` and ``dev``, and the weights of the
        dense features, in ``dense.npy``.
    sets : list
        As in `GoodSets`.
    """
    here = Path(folder)
    dense = np.load(here / "dense.npy")
    good = GoodSets(int(sets[0]), int(sets[1]), float(sets[2]))
    corpus, references = load_corpus(here / "train")
    number, n_kept = number_features(corpus)
    np.save(here / "number.npy", number)
    dev, dev_references = load_corpus(here / "dev")
    save_corpus(here / DEV, restrict_features(dev, number, n_kept), dev_references)
    corpus = restrict_features(corpus, number, n_kept)
    whole, pseudo_bleu = make_training_set(corpus, references, dense, good)
    save_training_set(here / WHOLE, whole)
    return {
        "pseudo_bleu": pseudo_bleu,
        "n_lattices": len(whole.corpus),
        "n_edges": whole.corpus.source.size,
        "n_weights": n_kept,
        "mean_good": float(np.mean([len(own) for own in whole.good])),
        "documented_mib": documented_mib(whole.corpus),
    }


def documented_mib(corpus: Corpus) -> float:
    """Return the memory that the documentation of `make_lattice` promises."""
    n_edges = corpus.source.size
    total = (
        (28 + 8) * n_edges + 12 * corpus.rows.idx.size + 4 * corpus.words.number.size
    )
    return float(total / 2**20)
