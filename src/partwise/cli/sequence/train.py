"""``partwise train tag``: from labelled tokens to a tagger."""

from __future__ import annotations

from typing import Annotated, Any

from partwise.cli.learning import Learning, SettingOption, options_in, takes_learning
from partwise.cli.options import (
    FEATURES,
    LABEL_COLUMN,
    Dev,
    LabelColumn,
    ModelPath,
    Train,
    in_panel,
)
from partwise.cli.sequence.files import SequenceFiles
from partwise.cli.sequence.templates import make_template, read_features
from partwise.cli.training_run import TrainingRun
from partwise.cli.vectors import KeepVectors, TrainVectors, read_word_vectors
from partwise.estimators.sequence.settings import TaggerSettings


@takes_learning(
    TaggerSettings,
    *options_in(FEATURES, "boundaries", "min_count", "hash_bits", "pairs"),
    *options_in(FEATURES, "transitions", "start", "end", "scale_vectors"),
    SettingOption(
        "constraints",
        help="Allow only label sequences of this scheme: IOB1, IOB2 (BIO), IOBES, "
        "BILOU or BMEWO.",
    ),
    SettingOption(
        "class_weight",
        help="What a wrong label costs: 'balanced' (rare labels more), or factors such "
        "as B-PER=2,O=0.5.",
    ),
    SettingOption("dev_metric"),
)
def tag(
    train: Train,
    model: ModelPath,
    dev: Dev = None,
    label_column: LabelColumn = LABEL_COLUMN,
    template: Annotated[
        str | None,
        in_panel(FEATURES, "A CRF++ template file (default: a template for tagging)."),
    ] = None,
    features: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "Instead of a template file: ner, pos, or named blocks such as "
            "words,affixes:4,shape,neighbours:2.",
        ),
    ] = None,
    gazetteer: Annotated[
        list[str] | None,
        in_panel(
            FEATURES,
            "A file of phrases: a type, a tab and a phrase on each line, or phrases "
            "alone (the type is then the file's name). May be given several times.",
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "A file of word clusters: a word and its cluster on each line, or bits, "
            "word and count, as Brown clustering writes them.",
        ),
    ] = None,
    vectors: TrainVectors = None,
    keep_vectors: KeepVectors = True,
    ignore_case: Annotated[
        bool,
        in_panel(
            FEATURES,
            "Ignore case when looking words up in --gazetteer and --clusters.",
            "--ignore-case",
        ),
    ] = False,
    columns: Annotated[
        str | None,
        in_panel(
            FEATURES,
            "The columns to read if no template file names them, such as 0,1; the "
            "first is the word (default: all but the labels).",
        ),
    ] = None,
    *,
    files: SequenceFiles,
    learning: Learning,
) -> None:
    """Train a tagger: one label for every token of a sequence.

    TRAIN holds one token per line and a blank line after each sentence. Ctrl-C ends
    training early: the model so far is saved, and the exit code is 130.
    """
    from partwise import SequenceTagger

    sources = {
        **{"TRAIN": train, "--dev": dev, "--template": template},
        **{"--clusters": clusters},
        **{f"--gazetteer {path}": path for path in gazetteer or []},
        **{f"--vectors {path}": path for path in vectors or []},
    }
    run = TrainingRun(model, sources, learning)
    if not files.reads_columns and (
        template or columns or features or gazetteer or clusters or vectors
    ):
        raise ValueError(
            f"{files.format} files name their features themselves; leave out "
            "--template, --columns, --features, --gazetteer, --clusters and --vectors"
        )
    if template and columns:
        raise ValueError(
            "--columns is for the default template and --features; a template file "
            "names the columns it reads itself"
        )
    if template and features:
        raise ValueError("give --template or --features, not both")
    token_features = read_features(features, gazetteer or [], clusters, ignore_case)
    class_weight = _class_weight(learning.settings["class_weight"])
    tables = read_word_vectors(vectors, keep_vectors)
    tagger = run.make(SequenceTagger, class_weight=class_weight, vectors=tables)
    X, y = files.labelled(train, label_column)
    if files.reads_columns:
        chosen_template = make_template(
            template, token_features, X, label_column, columns
        )
        tagger.set_params(template=chosen_template)
    held_out = None if dev is None else files.labelled(dev, label_column)
    sizes = {"sentences": len(y), "tokens": sum(map(len, y))}
    run.fit_and_save(tagger, X, y, held_out, sizes)


def _class_weight(text: str | None) -> Any:
    """Read ``balanced`` or ``B-PER=2,O=0.5``; a label may hold commas and equals."""
    if text is None or text == "balanced":
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, found, weight = part.rpartition("=")
        try:
            weights[label] = float(weight)
        except ValueError:
            found = ""
        if not found:
            raise ValueError(
                "--class-weight must be 'balanced' or factors such as B-PER=2,O=0.5, "
                f"not {text!r}"
            )
    return weights
