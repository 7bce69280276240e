"""What ``partwise evaluate`` measures of paths through lattices."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from partwise.cli.lattice.predict import in_batches
from partwise.cli.options import Encoding
from partwise.cli.output import Report
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise import LatticeInput, LatticePath, LatticeRanker
    from partwise.metrics.lattices import LatticeScores


def evaluate(
    model: LatticeRanker, file: str, *, encoding: Encoding = "utf-8"
) -> Report:
    """Measure a ranker on a file of lattices with good paths."""
    from partwise.data import iter_lattices

    lattices = iter_lattices(file, encoding=encoding)
    first = next(lattices, None)
    if first is None:
        raise DataError(
            f"{file}: holds no lattices (expected one JSON object per line)"
        )
    scores = measure(model, chain([first], lattices))
    return Report(scores, partial(_show, scores))


def measure(ranker: Any, lattices: Iterable[LatticeInput]) -> LatticeScores:
    """Compare the best paths with the good ones that lattices have."""
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
