"""``partwise train parse``: from a treebank to a dependency parser."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.advice import advice_in_flags
from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.learning import Learning, takes_learning
from partwise.cli.options import (
    FEATURES,
    LEARNING,
    Dev,
    ModelPath,
    Train,
)
from partwise.cli.training_run import TrainingRun
from partwise.errors import DataError

if TYPE_CHECKING:
    from partwise.data import Sentence

TREES = "Trees"
# Settings whose options do not follow from their names.
FLAGS: dict[tuple[str, object], str] = {
    ("projective", False): "--nonprojective",
    ("single_root", False): "--multiple-roots",
    ("labelled", False): "--unlabelled",
}


class Crossing(StrEnum):
    """What to do with training trees whose arcs cross."""

    refuse = "refuse"
    lift = "lift"
    skip = "skip"


@takes_learning("0.01 for squared_hinge and hinge, 1 for log_loss", tol=0.1)
def parse(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    projective: Annotated[
        bool,
        typer.Option(
            "--projective/--nonprojective",
            help="Trees whose arcs do not cross, or all trees.",
            rich_help_panel=TREES,
        ),
    ] = True,
    crossing: Annotated[
        Crossing,
        typer.Option(
            help="With --projective, what to do with training trees whose arcs cross: "
            "refuse to train, lift words to heads higher up, or skip the sentences.",
            rich_help_panel=TREES,
        ),
    ] = Crossing.refuse,
    multiple_roots: Annotated[
        bool,
        typer.Option(
            "--multiple-roots",
            help="Let several words of a sentence hang from the root.",
            rich_help_panel=TREES,
        ),
    ] = False,
    unlabelled: Annotated[
        bool,
        typer.Option(
            "--unlabelled", help="Learn heads, but no labels.", rich_help_panel=TREES
        ),
    ] = False,
    hash_bits: Annotated[
        int,
        typer.Option(
            help="Arcs have 2^N weights, which their features share.",
            metavar="N",
            rich_help_panel=FEATURES,
        ),
    ] = 22,
    suffix: Annotated[
        int,
        typer.Option(
            help="How many letters of the end of a word are a feature.",
            rich_help_panel=FEATURES,
        ),
    ] = 3,
    features: Annotated[
        str,
        typer.Option(
            help="The groups of features that are on, with commas between them: words, "
            "lemmas, tags, morphology, suffixes, markers, neighbours, between, "
            "agreement.",
            metavar="NAMES",
            rich_help_panel=FEATURES,
        ),
    ] = "all",
    head_cost: Annotated[
        float,
        typer.Option(
            help="What a wrong head costs in training with margins.",
            rich_help_panel=LEARNING,
        ),
    ] = 1.0,
    label_cost: Annotated[
        float, typer.Option(help="What a wrong label costs.", rich_help_panel=LEARNING)
    ] = 1.0,
    punctuation_weight: Annotated[
        float,
        typer.Option(
            help="What multiplies these costs for punctuation; 0 if it does not count.",
            rich_help_panel=LEARNING,
        ),
    ] = 1.0,
    dev_metric: Annotated[
        str | None,
        typer.Option(
            help="What is measured on --dev: las, uas or complete (default: las; uas "
            "without labels).",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None,
    *,
    files: TreebankFiles,
    learning: Learning,
) -> None:
    """Train a parser: a head, and a label, for every word of a sentence.

    TRAIN is a treebank in CoNLL-U, CoNLL-X, or word, tag and head with tabs between
    them. Ctrl-C ends training early: the model so far is saved, and the exit code
    is 130.
    """
    from partwise import DependencyParser

    run = TrainingRun(model, {"TRAIN": train, "--dev": dev}, learning)
    parser = run.make(
        DependencyParser,
        projective=projective,
        single_root=not multiple_roots,
        labelled=False if unlabelled else None,
        crossing=crossing.value,
        hash_bits=hash_bits,
        suffix=suffix,
        features=features,
        head_cost=head_cost,
        label_cost=label_cost,
        punctuation_weight=punctuation_weight,
        dev_metric=dev_metric,
    )
    sentences = files.read(train)
    held_out = None if dev is None else files.read(dev)
    if held_out is not None:
        wants_labels = dev_metric in (None, "las") and not unlabelled
        _check_dev(held_out, wants_labels and any(one.labels for one in sentences))
    sizes = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    with advice_in_flags(FLAGS):
        run.fit_and_save(
            parser,
            sentences,
            None,
            held_out,
            sizes,
            _scores,
        )


def _check_dev(dev: Sequence[Sentence], wants_labels: bool) -> None:
    """Refuse development data on which nothing could be measured."""
    for sentence in dev:
        if sentence.heads is None:
            raise DataError(
                f"{sentence.place}: the heads are not given (--dev needs right trees)"
            )
        if wants_labels and len(sentence) and sentence.labels is None:
            raise DataError(
                f"{sentence.place}: the labels of arcs are not given, so that LAS "
                "cannot be measured (say --dev-metric uas, or --unlabelled to learn "
                "no labels)"
            )


def _scores(parser: Any, dev: Sequence[Sentence]) -> dict[str, float | None]:
    from partwise.metrics.attachment import attachment_scores

    scores = attachment_scores(dev, parser.predict(dev))
    return {"uas": scores.uas, "las": scores.las}
