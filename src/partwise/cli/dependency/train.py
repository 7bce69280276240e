"""``partwise train parse``: from a treebank to a dependency parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from partwise.cli.dependency.columns import columns_read, note_on_tags
from partwise.cli.dependency.files import TreebankFiles
from partwise.cli.dependency.pruning import told_of_pruning
from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    FILES,
    LEARNING,
    Continue,
    Dev,
    ModelPath,
    Train,
    in_panel,
)
from partwise.cli.training_run import TrainingRun
from partwise.cli.vectors import KeepVectors, TrainVectors, read_word_vectors
from partwise.errors import DataError
from partwise.estimators.dependency.settings import DependencySettings

if TYPE_CHECKING:
    from partwise.data import Sentence

TREES = "Trees"


@takes_learning(
    DependencySettings,
    SettingOption("projective", TREES, flags=("--projective/--nonprojective",)),
    *options_in(TREES, "order", "prune"),
    SettingOption("crossing", TREES),
    SettingOption("single_root", TREES, flags=("--single-root/--multiple-roots",)),
    SettingOption(
        "labelled",
        TREES,
        "Whether to learn labels of arcs (default: if the training data has them).",
        ("--labelled/--unlabelled",),
    ),
    *options_in(FEATURES, "hash_bits", "suffix", "scale_vectors"),
    SettingOption(
        "features",
        FEATURES,
        "The groups of features that are on, separated by commas: words, lemmas, tags, "
        "morphology, suffixes, markers, neighbours, between, agreement.",
    ),
    *options_in(
        LEARNING,
        "head_cost",
        "label_cost",
        "punctuation_weight",
        "calibrate",
        "dev_metric",
    ),
)
def parse(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    go_on_from: Continue = None,
    vectors: TrainVectors = None,
    keep_vectors: KeepVectors = True,
    partial: Annotated[
        bool,
        in_panel(
            FILES,
            "Trees of TRAIN may be known in part: the head _ is any word.",
            "--partial",
        ),
    ] = False,
    *,
    files: TreebankFiles,
    learning: Learning,
) -> None:
    """Train a parser: a head, and a label, for every word of a sentence.

    TRAIN is a treebank: CoNLL-U, CoNLL-X, or words, tags and heads separated by tabs.
    Ctrl-C ends training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import DependencyParser
    from partwise.cli.output import say

    sources = {
        **{"TRAIN": train, "--dev": dev, "--continue": go_on_from},
        **{f"--vectors {path}": path for path in vectors or []},
    }
    run = TrainingRun(model, sources, learning)
    tables = read_word_vectors(vectors, keep_vectors)
    parser = run.make(DependencyParser, vectors=tables)
    sentences = files.read(train, partial)
    held_out = None if dev is None else files.read(dev)
    if held_out is not None:
        wants_las = parser.dev_metric in (None, "las") and parser.labelled is not False
        _check_dev(held_out, wants_las and any(one.labels for one in sentences))
    sizes = {"sentences": len(sentences), "words": sum(map(len, sentences))}
    columns = columns_read(parser, sentences)
    run.fit_and_save(
        *(parser, sentences, None, held_out, sizes, _scores),
        tell=lambda fitted: {"reads": ", ".join(columns), **told_of_pruning(fitted)},
    )
    note = note_on_tags(columns, train)
    if note is not None and learning.verbose:
        say(note, err=True)


def _check_dev(dev: Sequence[Sentence], wants_labels: bool) -> None:
    """Refuse development data on which nothing could be measured."""
    for sentence in dev:
        if sentence.heads is None:
            raise DataError(
                f"{sentence.place}: the heads are not given (--dev needs trees)"
            )
        if wants_labels and len(sentence) and sentence.labels is None:
            raise DataError(
                f"{sentence.place}: the labels of arcs are not given, so LAS "
                "cannot be measured (use --dev-metric uas, or --unlabelled to learn "
                "no labels)"
            )


def _scores(parser: Any, dev: Sequence[Sentence]) -> dict[str, float | None]:
    from partwise.metrics.attachment import attachment_scores

    scores = attachment_scores(dev, parser.predict(dev))
    return {"uas": scores.uas, "las": scores.las}
