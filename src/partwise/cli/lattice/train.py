"""``partwise train lattice``: from lattices and good paths to a ranker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwise.cli.learning import Learning, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    LEARNING,
    Continue,
    Dev,
    Encoding,
    ModelPath,
    Train,
)
from partwise.cli.training_run import TrainingRun
from partwise.estimators.lattice.settings import LatticeSettings

if TYPE_CHECKING:
    from partwise.data.lattice import LatticeInput


@takes_learning(
    LatticeSettings,
    *options_in(FEATURES, "min_count", "hash_bits"),
    *options_in(LEARNING, "outputs", "compare", "distance", "dev_metric"),
)
def lattice(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    go_on_from: Continue = None,
    encoding: Encoding = "utf-8",
    *,
    learning: Learning,
) -> None:
    """Train a ranker of lattices: the best path through a graph.

    TRAIN holds lattices with their good paths, one JSON object per line. They are read
    one by one. Ctrl-C ends training early: the model so far is saved, and the exit code
    is 130.
    """
    from partwise import LatticeRanker
    from partwise.data import iter_lattices, read_lattices

    sources = {"TRAIN": train, "--dev": dev, "--continue": go_on_from}
    run = TrainingRun(model, sources, learning)
    ranker = run.make(LatticeRanker)
    held_out = None if dev is None else read_lattices(dev, encoding=encoding)
    sizes = {"lattices": 0, "edges": 0}

    def counted() -> Iterator[LatticeInput]:
        for one in iter_lattices(train, encoding=encoding):
            sizes["lattices"] += 1
            sizes["edges"] += len(one.edges)
            yield one

    run.fit_and_save(ranker, counted(), None, held_out, sizes, _scores)


def _scores(ranker: object, dev: list[LatticeInput]) -> dict[str, float | None]:
    from partwise.cli.lattice.evaluate import measure

    scores = measure(ranker, dev)
    return {"good paths": scores.good_paths, "good words": scores.good_words}
