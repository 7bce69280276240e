"""``partwise train lattice``: from lattices and good paths to a ranker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from partwise.cli.lattice.predict import Outputs
from partwise.cli.learning import Learning, takes_learning
from partwise.cli.options import (
    FEATURES,
    LEARNING,
    Dev,
    Encoding,
    ModelPath,
    Train,
)
from partwise.cli.training_run import TrainingRun

if TYPE_CHECKING:
    from partwise.data.lattice import LatticeInput


@takes_learning("0.1 for squared_hinge and hinge, 1 for log_loss")
def lattice(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    encoding: Encoding = "utf-8",
    outputs: Annotated[
        Outputs,
        typer.Option(
            help="What tells outputs apart: their paths, or the words that they yield, "
            "so that all paths with the words of a good one are good.",
            rich_help_panel=LEARNING,
        ),
    ] = Outputs.paths,
    min_count: Annotated[
        int,
        typer.Option(
            help="Drop features of fewer edges than this.", rich_help_panel=FEATURES
        ),
    ] = 1,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            help="Keep no vocabulary; hash features to this many bits.",
            rich_help_panel=FEATURES,
        ),
    ] = None,
    compare: Annotated[
        str,
        typer.Option(
            help="With --loss hinge --penalty l1: the good path that a bad one is "
            "compared with, worst (scored) or closest.",
            rich_help_panel=LEARNING,
        ),
    ] = "worst",
    distance: Annotated[
        str,
        typer.Option(
            help="With --compare closest, what close means: parts (edges in common), "
            "features or codes.",
            rich_help_panel=LEARNING,
        ),
    ] = "parts",
    dev_metric: Annotated[
        str,
        typer.Option(
            help="What is measured on --dev: good_paths, good_words or edge_f1.",
            rich_help_panel=LEARNING,
        ),
    ] = "good_paths",
    *,
    learning: Learning,
) -> None:
    """Train a ranker of lattices: the best path through a graph.

    TRAIN has a lattice on every line, as JSON, with its good paths. Lattices are read
    one by one. Ctrl-C ends training early: the model so far is saved, and the exit code
    is 130.
    """
    from partwise import LatticeRanker
    from partwise.data import iter_lattices, read_lattices

    run = TrainingRun(model, {"TRAIN": train, "--dev": dev}, learning)
    ranker = run.make(
        LatticeRanker,
        outputs=outputs.value,
        min_count=min_count,
        hash_bits=hash_bits,
        compare=compare,
        distance=distance,
        dev_metric=dev_metric,
    )
    held_out = None if dev is None else read_lattices(dev, encoding=encoding)
    sizes = {"lattices": 0, "edges": 0}

    def counted() -> Iterator[LatticeInput]:
        for one in iter_lattices(train, encoding=encoding):
            sizes["lattices"] += 1
            sizes["edges"] += len(one.edges)
            yield one

    run.fit_and_save(
        ranker,
        counted(),
        None,
        held_out,
        sizes,
        _scores,
    )


def _scores(ranker: object, dev: list[LatticeInput]) -> dict[str, float | None]:
    from partwise.cli.lattice.evaluate import measure

    scores = measure(ranker, dev)
    return {"good paths": scores.good_paths, "good words": scores.good_words}
