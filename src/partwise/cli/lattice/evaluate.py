"""What ``partwise evaluate`` measures of paths through lattices."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import LatticeInput, LatticePath
    from partwise.metrics.lattices import LatticeScores


def measure(ranker: Any, lattices: Iterable[LatticeInput]) -> LatticeScores:
    """Compare the best paths with the good ones that lattices have."""
    from partwise.cli.lattice.predict import in_batches
    from partwise.metrics.lattices import lattice_scores

    good: list[list[LatticePath]] = []
    best: list[LatticePath] = []
    for batch in in_batches(lattices):
        good += map(_good_paths, batch)
        best += ranker.predict(batch)
    return lattice_scores(good, best)


def _good_paths(lattice: LatticeInput) -> list[LatticePath]:
    from partwise import LatticePath

    if not lattice.good:
        raise DataError(
            f'{lattice.title}: has no good path to compare with (give it "good")'
        )
    return [LatticePath(tuple(path), lattice.words_of(path)) for path in lattice.good]


def evaluate_lattices(ranker: Any, path: str, encoding: str, json: bool) -> None:
    """Measure a ranker on a file of lattices with good paths, and show it."""
    from partwise.cli.output import print_json
    from partwise.data import iter_lattices

    lattices = iter_lattices(path, encoding=encoding)
    first = next(lattices, None)
    if first is None:
        raise DataError(f"{path}: holds no lattices (expected one a line, as JSON)")
    scores = measure(ranker, chain([first], lattices))
    if json:
        print_json(scores.to_dict())
    else:
        _show(scores)


def _show(scores: LatticeScores) -> None:
    from partwise.cli.output import Percent, print_pairs

    print_pairs(
        f"result on {scores.n_lattices:,} lattices",
        [
            (name, None if share is None else Percent(share))
            for name, share in (
                ("good paths", scores.good_paths),
                ("good words", scores.good_words),
                ("word error rate", scores.word_error_rate),
                ("edge precision", scores.edge_precision),
                ("edge recall", scores.edge_recall),
                ("edge F1", scores.edge_f1),
            )
        ],
    )
