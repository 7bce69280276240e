"""``partwise train tag``: from labelled tokens to a tagger."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated

from partwise.cli.cost_files import (
    CLASS_WEIGHT,
    Costs,
    chosen_costs,
    costs_file,
    read_class_weight,
)
from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    RUN,
    Continue,
    Dev,
    ModelPath,
    Partial,
    Train,
    in_panel,
)
from partwise.cli.sequence.files import SequenceFiles
from partwise.cli.sequence.tokens import TokenOptions
from partwise.cli.training_run import TrainingRun
from partwise.cli.vectors import KeepVectors, TrainVectors, read_word_vectors
from partwise.estimators.sequence.settings import TaggerSettings


@takes_learning(
    TaggerSettings,
    *options_in(FEATURES, "boundaries", "min_count", "hash_bits", "pairs"),
    *options_in(
        FEATURES, "order", "states", "transitions", "start", "end", "scale_vectors"
    ),
    SettingOption(
        "constraints",
        help="Allow only label sequences of this scheme: IOB1, IOB2 (BIO), IOBES, "
        "BILOU or BMEWO.",
    ),
    CLASS_WEIGHT,
    SettingOption("calibrate"),
    SettingOption("dev_metric"),
)
def tag(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    go_on_from: Continue = None,
    partial: Partial = False,
    costs: Costs = "hamming",
    vectors: TrainVectors = None,
    keep_vectors: KeepVectors = True,
    memory: Annotated[
        str | None,
        in_panel(
            RUN,
            "How much memory to take at most, such as 2GB, where TRAIN is a folder "
            "that partwise encode has written.",
        ),
    ] = None,
    *,
    tokens: TokenOptions,
    files: SequenceFiles,
    learning: Learning,
) -> None:
    """Train a tagger: one label for every token of a sequence.

    TRAIN holds one token per line and a blank line after each sentence; or it is
    CoNLL-U, with --predict; or a folder, which partwise encode has written. Ctrl-C ends
    training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import SequenceTagger
    from partwise.estimators.partial_labels import read_labels

    sources = {
        **{"TRAIN": train, "--dev": dev, "--continue": go_on_from},
        **{"--costs": costs_file(costs)},
        **tokens.sources,
        **{f"--vectors {path}": path for path in vectors or []},
    }
    run = TrainingRun(model, sources, learning)
    if os.path.isdir(train):
        if go_on_from or partial or vectors or tokens.choose_features:
            raise ValueError(
                f"{train} holds features and labels already; leave out --template, "
                "--columns, --features, --gazetteer, --clusters, --vectors, --partial "
                "and --continue"
            )
        _train_from_folder(run, train, dev, memory, costs, tokens, files)
        return
    if memory is not None:
        raise ValueError(
            "--memory is for a folder that partwise encode has written; encode TRAIN "
            "first, and train on the folder"
        )
    if not files.reads_columns and vectors:
        raise ValueError(
            f"{files.format} files name their features themselves; leave out --vectors"
        )
    if run.goes_on and tokens.choose_features:
        raise ValueError(
            "--continue uses the features of its model; leave out --template, "
            "--columns, --features, --gazetteer and --clusters"
        )
    tokens.check(files, train)
    token_features = tokens.read_features()
    class_weight = read_class_weight(learning.settings["class_weight"])
    tables = read_word_vectors(vectors, keep_vectors)
    tagger = run.make(
        SequenceTagger,
        class_weight=class_weight,
        costs=chosen_costs(costs, files),
        conllu_column=tokens.predict,
        vectors=tables,
    )
    X, y = tokens.labelled(files, train)
    if partial:
        y = read_labels(y)
    if files.reads_columns and not run.goes_on:
        tagger.set_params(template=tokens.template_for(X, token_features))
    held_out = None if dev is None else tokens.labelled(files, dev)
    sizes = {"sentences": len(y), "tokens": sum(map(len, y))}
    run.fit_and_save(tagger, X, y, held_out, sizes)


def _train_from_folder(
    run: TrainingRun,
    folder: str,
    dev: str | None,
    memory: str | None,
    costs: str,
    tokens: TokenOptions,
    files: SequenceFiles,
) -> None:
    """Train on a corpus that was encoded; development data is a file as any other."""
    from partwise import SequenceTagger, encoded

    corpus = encoded(folder, memory)
    weights = read_class_weight(run.learning.settings["class_weight"])
    place = corpus.setting("conllu_column", str)
    tagger = run.make(
        SequenceTagger,
        class_weight=weights,
        costs=chosen_costs(costs, files),
        conllu_column=place,
    )
    tokens = replace(tokens, predict=place)
    held_out = None if dev is None else tokens.labelled(files, dev)
    sizes = {"sentences": corpus.n_examples, "tokens": corpus.n_labels}
    run.fit_and_save(tagger, corpus, None, held_out, sizes)
